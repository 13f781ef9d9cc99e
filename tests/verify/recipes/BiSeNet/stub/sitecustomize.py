"""The weights of a trained ResNet-18 are not there: it begins untrained."""

import torch.utils.model_zoo

torch.utils.model_zoo.load_url = lambda *words, **options: {}

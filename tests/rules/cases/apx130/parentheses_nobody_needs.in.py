import torch.nn.functional as F
from apex.contrib.xentropy import SoftmaxCrossEntropyLoss

loss = SoftmaxCrossEntropyLoss.apply(logits.view(-1, size), labels.view(-1), 0.0, -1, True).sum()

from functools import partial

import torch.nn as nn

build = partial(Block, norm_layer=partial(nn.LayerNorm, eps=1e-6))

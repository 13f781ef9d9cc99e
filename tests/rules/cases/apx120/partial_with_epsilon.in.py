from functools import partial

import torch.nn as nn
from apex.normalization import FusedLayerNorm

build = partial(Block, norm_layer=partial(FusedLayerNorm, eps=1e-6))

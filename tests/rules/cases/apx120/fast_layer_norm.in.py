from apex.contrib.layer_norm.layer_norm import FastLayerNorm
from torch import nn

norm = FastLayerNorm(1024, eps=1e-5)

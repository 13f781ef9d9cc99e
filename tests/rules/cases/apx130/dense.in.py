# expect: manual apex.fused_dense.FusedDenseGeluDense has no counterpart
from apex.fused_dense import FusedDense, FusedDenseGeluDense
from torch import nn

mlp = FusedDenseGeluDense(64, 256, 64)
out = FusedDense(64, 8, bias=False)

# exported: FusedLayerNorm
from apex.normalization import FusedLayerNorm

norm = FusedLayerNorm(64)

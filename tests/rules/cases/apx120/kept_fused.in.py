# settings: keep_fused=true
# expect: info apex.normalization.FusedLayerNorm works with a GradScaler and stays
from apex.normalization import FusedLayerNorm

norm = FusedLayerNorm(64)

# expect: manual this is not how Apex 25.05 makes the layer
from apex.normalization import FusedLayerNorm

norm = FusedLayerNorm(64, bias=False)

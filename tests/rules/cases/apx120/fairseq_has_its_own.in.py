from fairseq.modules import FusedLayerNorm, LayerNorm
from fairseq.modules.layer_norm import Fp32LayerNorm

norm = LayerNorm(64) if args.plain else FusedLayerNorm(64)

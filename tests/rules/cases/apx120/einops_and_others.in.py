from fairscale.nn import FusedLayerNorm
from transformer_engine.pytorch import LayerNorm, RMSNorm
from vllm.model_executor.layers.layernorm import RMSNorm as FusedRMSNorm

norms = [LayerNorm(8), RMSNorm(8), FusedRMSNorm(8), FusedLayerNorm(8)]

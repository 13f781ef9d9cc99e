from megatron.model.fused_layer_norm import MixedFusedLayerNorm as LayerNorm

norm = LayerNorm(64, eps=1e-5, sequence_parallel=True)

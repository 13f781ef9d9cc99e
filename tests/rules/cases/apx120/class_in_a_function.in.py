def layer(fused):
    class FusedLayerNorm:
        def __call__(self, x):
            return x

    return FusedLayerNorm() if fused else None

import torch

try:
    from apex.normalization import FusedLayerNorm as _FusedLayerNorm

    has_fused_layernorm = True

    class FusedLayerNorm(_FusedLayerNorm):
        def forward(self, x):
            with torch.cuda.device(x.device):
                return super().forward(x)

except ImportError:
    has_fused_layernorm = False


def LayerNorm(shape, eps=1e-5):
    if torch.cuda.is_available() and has_fused_layernorm:
        return FusedLayerNorm(shape, eps)
    return torch.nn.LayerNorm(shape, eps)

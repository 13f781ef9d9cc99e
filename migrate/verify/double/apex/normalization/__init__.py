"""Stand-ins: the torch layers that compute the same."""

from torch.nn import LayerNorm as FusedLayerNorm
from torch.nn import LayerNorm as MixedFusedLayerNorm

__all__ = ["FusedLayerNorm", "MixedFusedLayerNorm"]

# expect: manual no Apex that is known has apex.normalization.FusedProphetNetLayerNorm
import torch


def ProphetNetLayerNorm(shape, eps=1e-5):
    if torch.cuda.is_available():
        try:
            from apex.normalization import FusedProphetNetLayerNorm

            return FusedProphetNetLayerNorm(shape, eps)
        except ImportError:
            pass
    return torch.nn.LayerNorm(shape, eps)

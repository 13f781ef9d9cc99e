"""The older optimizers, which unscale by themselves, and the wrapper that tells them to."""

from .fp16_optimizer import FP16_Optimizer
from .fused_adam import FusedAdam

__all__ = ["FP16_Optimizer", "FusedAdam"]

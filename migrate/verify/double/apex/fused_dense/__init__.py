"""The double's ``apex.fused_dense``."""

from .fused_dense import FusedDense, FusedDenseGeluDense

__all__ = ["FusedDense", "FusedDenseGeluDense"]

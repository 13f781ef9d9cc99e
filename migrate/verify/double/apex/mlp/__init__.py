"""The double's ``apex.mlp``."""

from .mlp import MLP

__all__ = ["MLP"]

"""A double of Apex's extension ``apex_C``: many tensors as a flat one, and back."""

from torch._utils import _flatten_dense_tensors as flatten
from torch._utils import _unflatten_dense_tensors as unflatten

__all__ = ["flatten", "unflatten"]

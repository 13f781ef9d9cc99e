"""The double's ``apex.multi_tensor_apply``; what it is called with are the functions of amp_C beside this package."""

from .multi_tensor_apply import MultiTensorApply

multi_tensor_applier = MultiTensorApply(2048 * 32)

__all__ = ["MultiTensorApply", "multi_tensor_applier"]

"""Where Apex keeps the layer that is built with kernels."""

from .sync_batchnorm import SyncBatchNorm

__all__ = ["SyncBatchNorm"]

"""Peaks of device memory over the timed windows, and what running out of it looks like."""

from __future__ import annotations

import torch

from ..records import Memory

_SIGNS = (
    "out of memory",  # the driver's own, and Triton's
    "ALLOC_FAILED",  # cuBLAS and cuDNN
    "unable to find an engine",  # cuDNN, where no algorithm's workspace is to be had
    "CUDNN_STATUS_NOT_SUPPORTED",
    "can't allocate memory",  # on a CPU
)


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out: only torch's own allocator has a class for it."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in _SIGNS)


def reset_peaks(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def held(device: torch.device) -> int:
    """Bytes allocated now; 0 on a CPU."""
    return torch.cuda.memory_allocated(device) if device.type == "cuda" else 0


def peaks(device: torch.device, data: int = 0) -> Memory | None:
    """Peaks since `reset_peaks`, in bytes; None on a CPU, whose allocator counts nothing.

    `data` bytes are held by the data set, which this harness keeps on the device and others do not: they
    are taken off what was allocated, and recorded.
    """
    if device.type != "cuda":
        return None
    free, total = torch.cuda.mem_get_info(device)
    return Memory(
        allocated=torch.cuda.max_memory_allocated(device) - data,
        reserved=torch.cuda.max_memory_reserved(device),
        device_used=total - free,
        data=data,
    )


def release(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.empty_cache()

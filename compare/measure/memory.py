"""Peaks of device memory over the timed windows."""

from __future__ import annotations

import torch

from compare.records import Memory


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

"""What native CUDA autocast does, and its lists, read from the header that ships with torch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import torch

from .ops import OPS, Op
from .probe import Guard, Observation, cases, cuda_autocast, fake_cuda, observe

_MACRO = re.compile(r"#define AT_FORALL_(\w+)\(_\)((?:.*\\\n)*.*)")
_ENTRY = re.compile(r"_\((\w+)(?:, (\w+))?\)")
_SIGNED = re.compile(r'"(\w+\.\w+)"')  # the list with other signatures names its overloads as strings

LISTS = ("LOWER_PRECISION_FP", "FP32", "FP32_SET_OPT_DTYPE", "DIFFERENT_REDISPATCH_SIGNATURE", "PROMOTE")

# Registered for CUDA in torch's autocast_mode.cpp, which no wheel holds.
BEYOND_THE_HEADER = {
    "LOWER_PRECISION_FP": ("cudnn_convolution", "cudnn_convolution_transpose"),
    "BANNED": ("binary_cross_entropy",),
}


def header() -> Path:
    """ATen/autocast_mode.h of the installed torch."""
    return Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"


def native_lists(text: str | None = None) -> dict[str, tuple[str, ...]]:
    """Ops by policy, overloads after a dot. Empty lists where this torch ships no such header (before 2.6)."""
    if text is None:
        text = header().read_text(encoding="utf-8") if header().is_file() else ""
    found = {name: body for name, body in _MACRO.findall(text) if name in LISTS}
    lists: dict[str, tuple[str, ...]] = {}
    for name, body in found.items():
        entries = [f"{op}.{overload}" if overload else op for op, overload in _ENTRY.findall(body)]
        lists[name] = (*entries, *_SIGNED.findall(body))
    if lists:
        for name, more in BEYOND_THE_HEADER.items():
            lists[name] = (*lists.get(name, ()), *more)
    return lists


Probed = dict[str, tuple[Observation, ...]]
"""By op name: one observation for each case of `probe.cases`."""


def _skipped(op: Op, low: str) -> tuple[Observation, ...] | None:
    return tuple(Observation((), unprobed=op.unprobed) for _ in cases(low)) if op.unprobed else None


def probe_plain(low: str = "float16", ops: Sequence[Op] = OPS, below: Guard = nullcontext) -> Probed:
    """Every op as it is now: without amp, or under patches that `below` switches off."""
    fake = fake_cuda()
    probed: Probed = {}
    for op in ops:
        probed[op.name] = _skipped(op, low) or tuple(observe(op.call, case, fake, below) for case in cases(low))
    return probed


def probe_native(low: str = "float16", ops: Sequence[Op] = OPS) -> Probed:
    """Every op under CUDA autocast to `low` ("float16" or "bfloat16")."""
    fake = fake_cuda()
    probed: Probed = {}
    for op in ops:
        found = _skipped(op, low)
        if found is None:
            with cuda_autocast(getattr(torch, low)):
                found = tuple(observe(op.call, case, fake) for case in cases(low))
        probed[op.name] = found
    return probed

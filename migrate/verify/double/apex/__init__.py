"""A CPU double of Apex's loss scaling. This is NOT Apex, and nothing here computes in half precision unasked.

It lets legacy training scripts run on a machine without a GPU and without Apex, so that the tests can
compare what they compute with what their migrated twins compute. Written from the observed behaviour of
Apex 25.05; the tests compare it with Apex's own Python code where that is installed.

What it reproduces: everything that decides *which numbers reach the weights* through loss scaling
(stash, unscale, overflow, skipped steps, master weights, loss scalers, their state).
What it leaves out: every cast, unless a harness asks for those of O1 (`observe.real_casts`). Models stay
in float32 at all levels; where Apex would have half-precision weights with float32 masters, the double has
float32 weights with float32 masters.

Parts are imported on first use, so that one of them can be forbidden without the others.
"""

from __future__ import annotations

import importlib
from types import ModuleType

_PARTS = ("amp contrib fp16_utils fused_dense mlp multi_tensor_apply normalization observe optimizers parallel").split()


def __getattr__(name: str) -> ModuleType:
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Where a test harness listens to the double. Apex has no such module.

Without a listener the double prints what Apex prints; with one, messages and events go there instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import torch

listener: Callable[[str, dict[str, Any]], None] | None = None

#: Whether O1 really casts (see amp/_casts.py), on the CPU. Without it the double computes in float32.
real_casts = False

#: Handles that Apex's O1 would have left in torch's functions; they are never taken out again.
handles: list[Any] = []

#: Models that Apex's O2 or O3 would have cast, and whose parameters are half there.
cast_models: WeakSet[torch.nn.Module] = WeakSet()


def emit(event: str, **data: Any) -> None:
    """Tell the listener, if there is one."""
    if listener is not None:
        listener(event, data)


def say(message: str) -> None:
    """Print a message of Apex, or hand it to the listener."""
    if listener is None:
        print(message)
    else:
        listener("message", {"text": message})


def patched() -> bool:
    """Whether the torch functions cast at this moment, as O1 makes them."""
    return any(handle.is_active() for handle in handles)


def casts(module: torch.nn.Module) -> bool:
    """Whether Apex would compute this module's forward in half precision at this moment."""
    if patched():
        return True
    if not cast_models:
        return False
    inside = set(module.modules())
    return any(model in inside or module in set(model.modules()) for model in cast_models)

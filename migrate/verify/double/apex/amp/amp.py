"""``init``, and functions registered for a cast.

The double casts only where a harness wants real casts (`observe.real_casts`); else just the rules remain.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from apex import observe

from . import _casts
from ._amp_state import _amp_state
from .handle import AmpHandle, NoOpHandle

_Function = TypeVar("_Function", bound="Callable[..., Any]")

_registered: set[tuple[Any, str, str]] = set()


def _wrapped(function: Any, cast: str, active: Callable[[], bool]) -> Any:
    if cast == "promote":
        return _casts.to_widest(function, active)
    return _casts.to_type(function, torch.float16 if cast == "half" else torch.float32, active)


def _active() -> bool:
    """Whether casts are real and on."""
    handle = getattr(_amp_state, "handle", None)
    return observe.real_casts and handle is not None and bool(handle.is_active())


def _decorated(function: Any, cast: str) -> Any:
    return functools.wraps(function)(_wrapped(function, cast, _active))


def half_function(fn: _Function) -> _Function:
    return _decorated(fn, "half")  # type: ignore[no-any-return]


def float_function(fn: _Function) -> _Function:
    return _decorated(fn, "float")  # type: ignore[no-any-return]


def promote_function(fn: _Function) -> _Function:
    return _decorated(fn, "promote")  # type: ignore[no-any-return]


def _register(module: Any, name: str, cast: str) -> None:
    if not hasattr(module, name):
        raise ValueError(f"No function named {name} in module {module}.")
    _registered.add((module, name, cast))


def register_half_function(module: Any, name: str) -> None:
    _register(module, name, "half")


def register_float_function(module: Any, name: str) -> None:
    _register(module, name, "float")


def register_promote_function(module: Any, name: str) -> None:
    _register(module, name, "promote")


def init(
    enabled: bool = True,
    loss_scale: float | str = "dynamic",
    enable_caching: bool = True,
    verbose: bool = False,
    allow_banned: bool = False,
) -> AmpHandle | NoOpHandle:
    """Turn the casts on for the rest of the process."""
    if not enabled:
        return NoOpHandle()
    handle = AmpHandle(loss_scale, enable_caching, verbose)
    if observe.real_casts:
        for module, name, cast in sorted(_registered, key=lambda one: (one[1], one[2])):
            setattr(module, name, _wrapped(getattr(module, name), cast, handle.is_active))
        _casts.patch(handle.is_active)
    _registered.clear()
    _amp_state.handle = handle
    observe.handles.append(handle)
    return handle

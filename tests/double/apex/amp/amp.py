"""``init``, and functions registered for a cast. The double casts nothing, so only their rules remain."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from apex import observe

from ._amp_state import _amp_state
from .handle import AmpHandle, NoOpHandle

_Function = TypeVar("_Function", bound=Callable[..., Any])

_registered: set[tuple[Any, str, str]] = set()


def _as_it_is(function: _Function) -> _Function:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


def half_function(fn: _Function) -> _Function:
    return _as_it_is(fn)


def float_function(fn: _Function) -> _Function:
    return _as_it_is(fn)


def promote_function(fn: _Function) -> _Function:
    return _as_it_is(fn)


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
    _registered.clear()
    _amp_state.handle = handle
    observe.handles.append(handle)
    return handle

"""Whether what was read from JSON is of the type that a dataclass's field has."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_MOST = 2**63
"""Beyond it no whole number was counted or measured, and arithmetic with it may leave what a float holds."""


def check(kind: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Raise ValueError, in a clause, for the first value that is not of its field's type. Unknown fields are not
    looked at."""
    hints = _hints(kind)
    for name, value in values.items():
        if name in hints and not fits(value, hints[name]):
            shown = repr(value)
            raise ValueError(f"{name} holds {shown if len(shown) <= 60 else shown[:57] + '...'}")


def fits(value: Any, hint: Any) -> bool:
    """Whether a value of JSON is one of the type: a whole number is a float too, a list is a tuple too, true is no
    number."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is Literal:
        return value in inside
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inside)
    if origin is tuple and inside[-1] is not Ellipsis:
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(inside)
            and all(fits(one, kind) for one, kind in zip(value, inside, strict=True))
        )
    if origin in (list, tuple):
        return isinstance(value, (list, tuple)) and all(fits(one, inside[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(one, inside[1]) for one in value.values())
    if hint is None or hint is type(None):
        return value is None
    if isinstance(value, int) and abs(value) > _MOST:
        return False
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


@cache
def _hints(kind: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(kind)

"""Under which name the scaler of a native backend saves what Apex's saved: ``state_dict_key = "amp"`` beside
``"amp_scaler"``. Whoever looks for the new name in an old checkpoint finds nothing, and goes on without a word."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...units.unit import Context
from .native import Backend


def other_names(ctx: Context, backend: Backend) -> Iterator[str]:
    """What is to be said of names that the classes of both backends give alike, with another text each."""
    for apex, native in backend.given:
        for one in _classes(ctx, apex):
            for other in _classes(ctx, native):
                before, after = _texts(one), _texts(other)
                for name in before:
                    if name in after and before[name] != after[name] and ctx.m.attributes(name):
                        yield (
                            f"{one.name}.{name} was {before[name]!r} and {other.name}.{name} is {after[name]!r}: a "
                            f"checkpoint of the legacy code holds the scaler's state under {before[name]!r}, where "
                            "nobody looks any more; resumed from one, the loss scale begins anew"
                        )


def _classes(ctx: Context, value: ast.expr) -> list[ast.ClassDef]:
    held = ctx.v.in_order(o for o in ctx.v.of(value) if o.kind == "instance")
    return [o.key for o in held if isinstance(o.key, ast.ClassDef)]


def _texts(cls: ast.ClassDef) -> dict[str, str]:
    """Attributes of a class that are texts."""
    found = {}
    for stmt in cls.body:
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str() as text)):
                found[name] = text
            case _:
                pass
    return found

"""What GradScalers are called in a program: as torch calls them, or by a name that is given the class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .module import Module
from .names import called_name, last_name
from .once import once

SCALERS = frozenset({"GradScaler", "ShardedGradScaler"})


@once
def scaler_classes(m: Module) -> frozenset[str]:
    """``GS`` of ``from torch.cuda.amp import GradScaler as GS``, ``scaler_cls`` of ``scaler_cls = GradScaler``."""
    found = set(SCALERS)
    found.update(alias.asname for alias in m.all(ast.alias) if alias.asname and alias.name.split(".")[-1] in SCALERS)
    given = [(last_name(target), node.value) for node in m.all(ast.Assign) for target in node.targets]
    given = [(name, value) for name, value in given if name]
    while more := {name for name, value in given if any(part in found for part in _choices(value))} - found:
        found |= more
    return frozenset(found)


def _choices(value: ast.expr) -> Iterator[str]:
    """The names of what a value may be: either arm of a choice, what a ``partial`` is made of."""
    match value:
        case ast.Name() | ast.Attribute():
            yield last_name(value)
        case ast.IfExp(body=one, orelse=other):
            yield from (*_choices(one), *_choices(other))
        case ast.Call(args=[first, *_]) if called_name(value) == "partial":
            yield from _choices(first)
        case _:
            pass

"""Functions that train for another unit: what they give is worked out once, and not anew for each unit whose callers
run them as well. A ``main`` that runs one of many trainings calls them all, and each is a unit by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from dataclasses import dataclass

from ..facts.once import once
from .halves import Value
from .unit import Context

Asked = tuple[ast.AST, int, bool, tuple[tuple[str, Value], ...]]  # function, depth, whether of O1, what it is handed


@dataclass(frozen=True, eq=False)
class ApartRun:
    """One run of a function under nobody's casts, of nothing that is half: what it gave, what every expression held,
    and which functions it went into, by which calls."""

    returned: Value
    seen: Mapping[ast.AST, Value]
    entered: Mapping[ast.AST, Set[ast.Call]]


@once
def apart_runs(ctx: Context) -> dict[Asked, ApartRun | None]:
    """Those that were met in the program; None where a run leaves something behind that others may find."""
    return {}


@once
def training_functions(ctx: Context) -> frozenset[ast.AST]:
    """The functions that initialize or scale, themselves or in what they call."""
    calls = [*(one.call for one in ctx.facts.initializes), *(one.call for one in ctx.facts.scales)]
    found = set[ast.AST]()
    todo: list[ast.AST] = [ctx.m.function(call).node for call in calls]
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += ctx.v.callers.get(node, ())
    return frozenset(found)

"""What a function gives back to a package that calls it: ignite's ``Engine(inference)`` hands what ``inference``
returned to its metrics, and a loss among them was computed in float32 under O1, wherever that stood.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from ...facts.names import called_name
from ...facts.once import once
from ...flow.commands import SETS_COMMANDS
from ...flow.objects import Obj
from ...knowledge.models import MAPPING
from ...units.halves import proved
from ...units.precision import Precision
from ...units.unit import Context
from ..regions.coverage import Coverage
from .torchs import of_torch

# What calls a function in the program's own stead, or later and without a use for what it gives.
_CALLS = frozenset((*MAPPING, *"partial Thread Process submit starmap imap reduce wraps".split(), SETS_COMMANDS))


def given_back(ctx: Context, coverage: Coverage, precision: Precision) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The half results that functions return to another package, each with the call that handed the function over."""
    for call, function in _handed(ctx, coverage):
        for stmt in ctx.m.own(ctx.m.scope_of[function], ast.Return):
            for part in _parts(stmt.value):
                held = precision.value(part)
                if proved(held) and not held.holds:
                    yield call, part


def _handed(ctx: Context, coverage: Coverage) -> Iterator[tuple[ast.Call, ast.FunctionDef]]:
    """The functions of the program that calls of other packages are handed, outside of networks and of regions."""
    for call, functions in _handing(ctx):
        if not coverage.compute.own_method(ctx.m.function(call)) and not coverage.may(call):
            for function in functions:
                yield call, function


@once
def _handing(ctx: Context) -> list[tuple[ast.Call, list[ast.FunctionDef]]]:
    """The calls of other packages that are handed functions of the program, each with these."""
    m, v = ctx.m, ctx.v
    found = []
    for call in m.all(ast.Call):
        values = [*call.args, *(k.value for k in call.keywords)]
        handed = [value for value in values if isinstance(value, (ast.Name, ast.Attribute))]
        functions = list(dict.fromkeys(f for value in handed for o in v.of(value) for f in _functions(ctx, o)))
        name = called_name(call) if functions else ""
        if not functions or name in _CALLS or name.startswith("register") or hasattr(builtins, name):
            continue
        if not v.callees(call) and not of_torch(m, call.func):
            found.append((call, functions))
    return found


def _functions(ctx: Context, obj: Obj) -> list[ast.FunctionDef]:
    found = ctx.v.functions(obj) if obj.kind in ("function", "method") else []
    return [function for function in found if isinstance(function, ast.FunctionDef)]


def _parts(value: ast.expr | None) -> list[ast.expr]:
    """The values that are returned, one by one."""
    match value:
        case None | ast.Starred():
            return []
        case ast.Tuple(elts=several) | ast.List(elts=several) | ast.Dict(values=several):
            return [part for one in several for part in _parts(one)]
        case _:
            return [value]

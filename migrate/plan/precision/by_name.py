"""Functions of torch that a program took by name before ``amp.initialize()``: ``from torch import matmul``,
``{"ce": F.cross_entropy}``, ``def loss(x, y, fn=F.mse_loss)``.

O1 put its casts in the place of torch's functions, in their modules. A name that was taken before that is torch's own,
and ran in the type it was handed; autocast casts whoever calls it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...facts.names import last_name
from ...facts.once import once
from ...facts.scopes import Scope
from ...knowledge.operations import CAST_BY_AUTOCAST, O1_HALF
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage
from .torchs import of_torch

_HOMES = ("torch", "torch.nn.functional")


def tell_taken(ctx: Context, unit: Unit, coverage: Coverage) -> None:
    """Name them once each: a product is less exact now, and differs; all else comes out wider than it did."""
    if not unit.by_functions:
        return
    told = set[str]()
    for node, name, scope, uses in _taken(ctx):
        begun = [one.call for one in unit.initializes if ctx.m.scope(one.call) is scope]
        behind = any(ctx.m.start(call) < ctx.m.start(node) for call in begun)
        if name in told or behind or not (_ahead(ctx, scope) or begun):
            continue
        if uses is not None and not any(map(coverage.may_within, uses)):
            continue
        told.add(name)
        _tell(ctx, unit, node, name)
    for name in sorted(ctx.facts.elsewhere.by_name - told):
        _tell(ctx, unit, unit.line_node, name, " in another file", " where that runs under autocast")


def _tell(ctx: Context, unit: Unit, node: ast.AST, name: str, where: str = "", when: str = "") -> None:
    why = f"`{name}` was taken by its name{where} before amp.initialize(), so O1's casts did not reach it"
    if name in O1_HALF:
        text = f"{why}: it ran in the type it was handed, and runs in {ctx.settings.dtype} now{when}"
        unit.review(node, "APX037", text)
    else:
        unit.infos.append((node, "APX037", f"{why}: of half results it gave half, and gives float32 now{when}"))


def _ahead(ctx: Context, scope: Scope) -> bool:
    """Whether a scope runs before anything is initialized: a file's own, a class, or the constructor of a network."""
    if not scope.is_function:
        return True
    owner = ctx.m.class_of(scope)
    bases = [last_name(base) for base in owner.bases] if owner is not None else []
    return getattr(scope.node, "name", "") == "__init__" and any(base.endswith("Module") for base in bases)


@once
def _taken(ctx: Context) -> list[tuple[ast.AST, str, Scope, Sequence[ast.Name] | None]]:
    """What is taken so: where, what torch calls it, the scope that takes it, and where it is used, if that is known."""
    found: list[tuple[ast.AST, str, Scope, Sequence[ast.Name] | None]] = []
    for node in ctx.m.all(ast.ImportFrom):
        scope = ctx.m.scope(node)
        if node.module in _HOMES and not node.level:
            for alias in node.names:
                if alias.name in CAST_BY_AUTOCAST:
                    found.append((node, alias.name, scope, ctx.m.loads(alias.asname or alias.name, scope)))
    found += [(node, node.attr, ctx.m.scope(node), None) for node in _values(ctx)]
    return found


def _values(ctx: Context) -> Iterator[ast.Attribute]:
    """Where one is a value, and not called at once."""
    for name in sorted(CAST_BY_AUTOCAST):
        for node in ctx.m.attributes(name):
            parent = ctx.m.parent[node]
            module = isinstance(node.value, ast.Name) or last_name(node.value) == "functional"
            called = isinstance(parent, ast.Call) and parent.func is node
            if isinstance(node.ctx, ast.Load) and module and not called and of_torch(ctx.m, node):
                if not isinstance(parent, ast.Attribute):
                    yield node

"""Code beside the training that asks for Apex's level: what it does for O2 was made for float16 weights."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..facts.once import once
from ..knowledge.words import Patterns
from ..nodes import walk
from ..units.unit import Context, Unit

LEVELS = frozenset({"O1", "O2", "O3"})
_SAYS = Patterns("print *log *logger info debug warn warning error write format join", exact=True)


def review_levels(ctx: Context, unit: Unit) -> None:
    """Names the conditions that ask for another level than O0, other than around Apex itself."""
    if all(options.levels <= {"O0", "O1"} for options in unit.options.values()):
        return  # O1 is what it was
    apex: list[ast.AST] = [*ctx.facts.uses, *(i.call for i in ctx.facts.initializes)]
    for stmt, compared in _compared(ctx.m):
        if any(ctx.m.inside(use, stmt) or ctx.m.inside(stmt, use) for use in apex):
            continue
        if isinstance(stmt, ast.If) and (_only_says(stmt) or _for_initialize(ctx, stmt)):
            continue
        unit.review(
            compared,
            "APX021",
            f"`{ctx.m.src(compared)}` asks for Apex's level. With every level but O0 weights stay float32 now and each "
            "operation has the type that O1 gave it: see whether what hangs on the answer still fits",
        )


@once
def _compared(m: Module) -> list[tuple[ast.AST, ast.Compare]]:
    """The conditions that ask for a level, each with the comparison."""
    nodes: list[ast.If | ast.IfExp | ast.While] = [*m.all(ast.If), *m.all(ast.IfExp), *m.all(ast.While)]
    asked = ((node, next(filter(None, map(_level, walk(node.test))), None)) for node in nodes)
    return [(node, compared) for node, compared in asked if compared is not None]


def _level(node: ast.AST) -> ast.Compare | None:
    """A comparison with a level that is written out."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return None
    sides = (node.left, *node.comparators)
    return node if any(isinstance(s, ast.Constant) and s.value in LEVELS for s in sides) else None


def _only_says(stmt: ast.If) -> bool:
    """Whether an ``if`` only prints, or raises."""
    calls = [s.value if isinstance(s, ast.Expr) else s for s in (*stmt.body, *stmt.orelse)]
    return all(isinstance(c, ast.Raise) or (isinstance(c, ast.Call) and _SAYS.fit(_last(c.func))) for c in calls)


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _for_initialize(ctx: Context, stmt: ast.If) -> bool:
    """Whether an ``if`` fills nothing but what ``initialize`` is handed."""
    handed = {n.id for init in ctx.facts.initializes for n in walk(init.call) if isinstance(n, ast.Name)}
    bound = {n.id for n in walk(stmt) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {
        n.value.id
        for n in walk(stmt)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
    return bool(bound) and bound <= handed

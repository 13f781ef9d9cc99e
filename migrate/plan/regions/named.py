"""A long condition that several regions of a function say gets a name, ahead of the first of them.

Only where it says the same at all of them: it looks up names and attributes, and nothing assigns one of them in
between.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ...facts.module import Module
from ...facts.scopes import Scope
from ...nodes import walk
from ...units.conditions import reads

_LONG = 30
_NAMES = ("use_amp", "amp_enabled", "autocast_enabled", "mixed_precision_enabled")
_PURE = (
    ast.Expression, ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Tuple,
    ast.expr_context, ast.boolop, ast.cmpop, ast.unaryop,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Named:
    """``name = text`` stands before ``before``; regions of its function say the name."""

    before: ast.stmt
    name: str
    text: str
    function: Scope


def named(m: Module, said: Sequence[tuple[ast.stmt, str]], number: int) -> list[Named]:
    """The names for what is ``said`` at some statements; ``number`` is the unit's, each has a name of its own."""
    name = _free(m, number)
    found: list[Named] = []
    by_function: dict[Scope, list[tuple[ast.stmt, str]]] = defaultdict(list)
    for stmt, text in said:
        by_function[m.function(stmt)].append((stmt, text))
    for function, here in by_function.items():
        counted = Counter(text for _, text in here if len(text) > _LONG).most_common(1)
        if name is None or not counted or counted[0][1] < 2:
            continue
        text = counted[0][0]
        before = _ahead(m, [_around(m, stmt) for stmt, other in here if other == text])
        if before is not None and _lasts(m, text, before, function):
            found.append(Named(before, name, text, function))
    return found


def _free(m: Module, number: int) -> str | None:
    free = [name for name in _NAMES if not any(name in used for used in (m.variables, m.parameters, m.bound_names))]
    return free[number - 1] if number <= len(free) else None


def _around(m: Module, stmt: ast.stmt) -> ast.stmt:
    """A block that a region may fill: then its header is where the condition is said."""
    owner = m.block(stmt).owner
    return owner if isinstance(owner, ast.With) else stmt


def _ahead(m: Module, uses: list[ast.stmt]) -> ast.stmt | None:
    """The statement that holds the first of several in the innermost block that holds all, outside of loops."""
    spines = [m.spine(use) for use in uses]
    for stmt in spines[0]:
        block = m.block(stmt)
        tops = [next((s for s in spine if m.block(s) is block), None) for spine in spines]
        if None in tops:
            continue
        first = min((top for top in tops if top is not None), key=m.start)
        owner = block.owner
        while isinstance(owner, (ast.For, ast.AsyncFor, ast.While, ast.With)):
            first, owner = owner, m.block(owner).owner
        return None if m.is_elif(first) else first
    return None


def _lasts(m: Module, text: str, before: ast.stmt, function: Scope) -> bool:
    """Whether a condition can be asked before a statement, once for all of the function behind it."""
    tree = ast.parse(text, mode="eval")
    match tree.body:
        case ast.Call(func=ast.Name(id="bool"), args=[inner]):
            tree = ast.Expression(inner)
        case _:
            pass
    if not all(isinstance(n, _PURE) for n in walk(tree)):
        return False
    attributes = {n.attr for n in walk(tree) if isinstance(n, ast.Attribute)}
    names = {name for name in reads(text) if "." not in name} - {"bool"}
    for attr in attributes:
        if any(not isinstance(n.ctx, ast.Load) for n in m.attributes(attr)):
            return False
        if any(isinstance(m.parent[n], ast.Call) for n in m.strings(attr)):
            return False  # setattr(args, "fp16", …)
    return all(_stays(m, name, before, function) for name in names)


def _stays(m: Module, name: str, before: ast.stmt, function: Scope) -> bool:
    """Whether a name is bound ahead of a statement, and by nothing behind it."""
    if name in m.outer_names:
        return False
    home = m.binding_scope(name, function)
    if home is None or home is not function:
        return True
    mine = m.bindings(name, function)
    if not mine:
        return name in function.params
    ahead = all(m.end(m.statement(n)) <= m.start(before) for n in mine)
    return ahead and (name in function.params or any(m.block(m.statement(n)) is m.block(before) for n in mine))

"""What a run of a function in the precision analysis keeps: its names, its frame, and where autocast is on."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from ..facts.once import once_each
from ..facts.scopes import Scope
from ..nodes import walk
from .halves import NOTHING, Value, join
from .unit import Context

MAX_DEPTH = 5

Env = dict[str, Value]


def merge(one: Env | None, other: Env | None) -> Env | None:
    if one is None or other is None:
        return one if other is None else other
    merged = dict(one)  # of hundreds of names next to none differ
    for name, value in other.items():
        if (held := one.get(name, NOTHING)) is not value:
            merged[name] = join(held, value)
    merged.update((name, join(one[name], NOTHING)) for name in one.keys() - other.keys())
    return merged


@dataclass
class Frame:
    """One function being run: what it returns, where its loops are left, whether all of it is under autocast."""

    dynamic: bool
    depth: int
    returned: Value = NOTHING
    yielded: Value | None = None  # what a generator hands out
    leaves: list[list[Env]] = field(default_factory=list)


class Casts(Protocol):
    """Where autocast is on: the plan of the unit knows."""

    def autocast(self, node: ast.AST) -> bool:
        """Whether ``node`` surely runs under autocast."""

    def covered(self, scope: Scope) -> bool:
        """Whether a function only ever runs under autocast."""

    def off(self, node: ast.AST) -> bool:
        """Whether a ``with`` around ``node`` switches casts off."""


def key_of(node: ast.expr) -> str:
    """The name under which an assignment target is remembered."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return said(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def said(node: ast.expr) -> str:
    """An expression as ``ast.unparse`` says it: names with dots without that, as nearly all are."""
    names, at = list[str](), node
    while isinstance(at, ast.Attribute):
        names.append(at.attr)
        at = at.value
    return ".".join((at.id, *reversed(names))) if isinstance(at, ast.Name) else ast.unparse(node)


@once_each
def given_anew(ctx: Context, loop: ast.For | ast.AsyncFor | ast.While) -> frozenset[str]:
    """The names that each round of a loop gives a value ahead of all that may read them: what the round before left in
    them is seen by no one."""
    target, asked = ([loop.target], []) if not isinstance(loop, ast.While) else ([], [loop.test])
    bound, read = _names(target, ast.Store), _names(asked, ast.Load)
    _give(loop.body, bound, read)
    return frozenset(bound - read)


def _give(body: list[ast.stmt], bound: set[str], read: set[str]) -> None:
    for stmt in body:
        match stmt:
            case ast.Assign(targets=targets, value=value):
                read |= _names([value, *targets], ast.Load) - bound
                bound |= {one.id for one in targets if isinstance(one, ast.Name)} - read
            case ast.With(items=items, body=inner):
                read |= _names([item.context_expr for item in items], ast.Load) - bound
                bound |= {i.optional_vars.id for i in items if isinstance(i.optional_vars, ast.Name)} - read
                _give(inner, bound, read)
            case _:
                read |= (_names([stmt], ast.Load) | _names([stmt], ast.Store)) - bound


def _names(nodes: Iterable[ast.AST], how: type[ast.expr_context]) -> set[str]:
    return {n.id for node in nodes for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, how)}

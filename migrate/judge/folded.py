"""Two arms of a condition of which one serves both now: what the vanished arm asked, the other one asks in its words.

``if not math.isfinite(norm): continue`` in either arm are two questions of the old program, and the new one has only
the first. Where the new text, statement by statement and in order, reads as the vanished arm did, each call in there
gives what its like in the vanished arm gave.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..facts.module import Module
from ..facts.names import called_name
from ..nodes import walk
from .origin import Origin

_SCALES = frozenset({"backward", "step", "unscale_", "update"})  # what natively reads otherwise, or was not there
_STATEMENTS = tuple(kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.stmt))
_Alike = list[tuple[ast.AST, ast.AST]]


def folded(
    old: Module, new: Module, origin: Origin, rescaled: frozenset[ast.AST] = frozenset()
) -> dict[ast.AST, ast.AST]:
    """For each call of a vanished arm the call of the old program whose place is its own from now on. Those in
    ``rescaled`` got another threshold, which the report says, and are the same otherwise."""
    stays = {origin.of(node) for node in new.all(ast.If)}
    gone = [stmt for stmt in old.all(ast.If) if stmt.orelse and stmt not in stays]
    if not gone:
        return {}
    arms = _Arms(old, new, origin, rescaled)
    return {was: one for stmt in gone for was, one in arms.alike(stmt).items()}


class _Arms:
    """The arms of conditions that the new program has no more."""

    def __init__(self, old: Module, new: Module, origin: Origin, rescaled: frozenset[ast.AST]) -> None:
        self.old, self.new, self.origin, self.rescaled = old, new, origin, rescaled
        stmts = (node for node in new.of(*_STATEMENTS) if isinstance(node, ast.stmt))
        self.stands = {source: node for node in stmts if (source := origin.of(node)) is not None}

    def alike(self, stmt: ast.If) -> dict[ast.AST, ast.AST]:
        """For each call of the vanished arm, its like in the other one, if that reads the same now."""
        for kept, gone in ((stmt.body, stmt.orelse), (stmt.orelse, stmt.body)):
            if not any(one in self.stands for one in gone):
                pairs = self._read_alike(self._now(kept), gone) or []
                return {was: one for new, was in pairs if (one := self.origin.of(new)) is not None}
        return {}

    def _now(self, kept: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of the new text from the first to the last that an arm left; none where they stand in several
        blocks."""
        there = [self.stands[one] for one in kept if one in self.stands]
        blocks = {id(self.new.block(one)): self.new.block(one) for one in there}
        if len(blocks) != 1:
            return []
        (block,) = blocks.values()
        places = [self.new.index(one) for one in there]
        return block.body[min(places) : max(places) + 1]

    def _read_alike(self, now: Sequence[ast.stmt], was: Sequence[ast.stmt]) -> _Alike | None:
        """The calls of two runs of statements, each with its like; None where they do not read the same but for what
        scales and what a rule wrote."""
        mine = [stmt for stmt in now if self.origin.of(stmt) is not None and not _scales(stmt)]
        theirs = [stmt for stmt in was if not _scales(stmt)]
        if len(mine) != len(theirs):
            return None
        found: _Alike = []
        for new, old in zip(mine, theirs, strict=True):
            pairs = self._pairs(new, old)
            if pairs is None:
                return None
            found += pairs
        return found

    def _pairs(self, new: ast.stmt, old: ast.stmt) -> _Alike | None:
        """The calls of two statements that read the same."""
        match new, old:
            case _ if ast.dump(new) == ast.dump(old):
                return _calls(new, old)
            case ast.If(), ast.If() if ast.dump(new.test) == ast.dump(old.test):
                arms = (self._read_alike(new.body, old.body), self._read_alike(new.orelse, old.orelse))
                inner = [arm for arm in arms if arm is not None]
                return [*_calls(new.test, old.test), *inner[0], *inner[1]] if len(inner) == 2 else None
            case ast.Assign(), ast.Assign(value=ast.Call() as clip):
                calls = [n for n in walk(new.value) if isinstance(n, ast.Call)]
                mine = [call for call in calls if self.origin.of(call) in self.rescaled]
                if len(mine) == 1 and _told(new, mine[0]) == _told(old, clip):
                    return [(mine[0], clip)]
        return None


def _scales(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and called_name(stmt.value) in _SCALES


def _told(stmt: ast.Assign, clip: ast.Call) -> list[str]:
    """Where the result of a clip goes, its name and what it clips."""
    return [*map(ast.dump, stmt.targets), called_name(clip), *map(ast.dump, clip.args[:1])]


def _calls(new: ast.AST, old: ast.AST) -> _Alike:
    pairs = zip(walk(new), walk(old), strict=True)
    return [(one, other) for one, other in pairs if isinstance(one, ast.Call)]

"""Names for objects and places that both programs share: by where in the OLD text the call, class or parameter stands
that made them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ...facts.module import Module
from ...facts.scopes import Scope
from ...facts.sites import opened
from ...flow.makers import MADE_ROW
from ...flow.objects import Obj
from ...flow.values import Values
from ..origin import Origin
from ..state import Key


class Naming:
    """The names of one program. ``origin`` leads to the old module ``old``; both are None for the old program."""

    def __init__(self, m: Module, v: Values, old: Module | None = None, origin: Origin | None = None) -> None:
        self.m, self.v, self.old, self.origin = m, v, old or m, origin
        self.folded: Mapping[ast.AST, ast.AST] = {}  # for a call of an arm that went, its like in the other one
        self.alike: Mapping[ast.AST, ast.AST] = {}  # for a call of the old program another one that is as good as it
        self.rescaled: frozenset[ast.AST] = frozenset()  # calls that a rule made up for the scale
        self._places: dict[ast.AST, int] = {}
        self._keys: dict[ast.AST, frozenset[Key]] = {}

    def twin(self, node: ast.AST) -> ast.AST | None:
        """The node of the old program that one of the new program was; None in the old program."""
        return self.origin.of(node) if self.origin is not None else None

    def place(self, node: ast.AST) -> int:
        """Where a node stands in the old text; negative where it is new."""
        found = self._places.get(node)
        if found is None:
            found = self._places[node] = self._place(node)
        return found

    def result(self, call: ast.Call) -> int:
        """As `place`, of what a call gives that nobody knows: where an arm went, that is what the other one gives."""
        return self.place(self.folded.get(call, call))

    def made(self, call: ast.AST) -> int:
        """As `place`, of what a call makes: of calls that are as good as each other that of the first."""
        source = call if self.origin is None else self.origin.of(call)
        like = self.alike.get(source) if source is not None else None
        return self.place(call) if like is None else self._of_old(like)

    def made_up(self, expr: ast.BinOp) -> bool:
        """Whether a rule divides what a call gives by the scale that was in it: it is what it was before."""
        return isinstance(expr.op, ast.Div) and self.twin(expr) is None and self.twin(expr.left) in self.rescaled

    def _place(self, node: ast.AST) -> int:
        source = node if self.origin is None else self.origin.of(node)
        return -1 - self.m.start(node) if source is None else self._of_old(source)

    def _of_old(self, node: ast.AST) -> int:
        return self.old.end(node.func) if isinstance(node, ast.Call) else self.old.start(node)

    def line(self, node: ast.AST) -> int:
        """The line of the old text that a node comes from; 0 where it is new."""
        source = node if self.origin is None else self.origin.of(node)
        return getattr(source, "lineno", 0) if source is not None else 0

    def key(self, obj: Obj) -> Key:
        match obj.kind:
            case "path":
                owner: Obj = obj.key[0]  # type: ignore[index]
                name: str = obj.key[1]  # type: ignore[index]
                return ("path", self.key(owner), name)
            case "param":
                scope: Scope = obj.key[0]  # type: ignore[index]
                name = obj.key[1]  # type: ignore[index]
                return ("param", self.place(scope.node) if scope.parent is not None else -1, name)
            case "method":
                return ("function", self.place(obj.key[1]))  # type: ignore[index]
            case "apex":
                return ("apex", obj.label)
            case "module":
                return ("module", self.m.file(obj.key).number)  # type: ignore[arg-type]
            case "call" if isinstance(obj.key, ast.AST):
                return ("call", self.made(obj.key))
            case _:
                return (obj.kind, self.place(obj.key) if isinstance(obj.key, ast.AST) else str(obj.key))

    def keys(self, expr: ast.AST) -> frozenset[Key]:
        """The objects that an expression may hold on any path, containers opened."""
        found = self._keys.get(expr)
        if found is None:
            found = self._keys[expr] = frozenset(self.key(o) for o in opened(self.v, self.v.of(expr)))
        return found

    def items(self, call: ast.Call) -> list[frozenset[Key]]:
        """The objects in each item of what a call gives of a function that makes an optimizer among other things; none
        of any other."""
        rows = [o for o in self.v.of(call) if o.key is call and o.label == MADE_ROW]
        named = sorted(self.v.attributes(rows[0]), key=int) if len(rows) == len(self.v.of(call)) == 1 else []
        return [frozenset(map(self.key, opened(self.v, self.v.field(rows[0], name)))) for name in named]

    def under(self, table: ast.expr, key: str) -> frozenset[Key]:
        """The objects that dictionaries hold under a key; none where something else than dictionaries may be meant."""
        held = self.v.of(table)
        if not held or any(obj.kind != "dict" for obj in held):
            return frozenset()
        return frozenset(self.key(o) for obj in held for o in opened(self.v, self.v.item(obj, key)))

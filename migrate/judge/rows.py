"""Optimizers that a loop or a list makes of several networks: to the values they are one, and what a loss of one leaves
in the networks of the others is not told from what it leaves in its own.
"""

from __future__ import annotations

import ast
from functools import cached_property

from ..flow.arguments import argument
from ..nodes import walk
from .owners import Owners
from .state import Key

_EACH = (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Rows:
    """Answers about those of one program."""

    def __init__(self, owners: Owners) -> None:
        self.owners, self.m, self.v = owners, owners.m, owners.v
        self._spreads: dict[tuple[int, int | None], bool] = {}

    def leaks(self, place: int, row: int | None, optimizers: frozenset[Key]) -> frozenset[Key]:
        """Those of some optimizers that stand for several, where a scaled loss was computed with more than one of their
        networks: it reaches others than the one that `scale_loss` is handed."""
        mine = optimizers & self._several
        if not mine:
            return mine
        if (place, row) not in self._spreads:
            call = next(c for c in self.owners.program.objects.scales if self.owners.naming.place(c) == place)
            handed = [argument(call, 0, "loss"), argument(call, 1, "optimizers")]
            self._spreads[place, row] = self._one_of_several(handed[1]) and self._of_several(handed[0], row)
        return mine if self._spreads[place, row] else frozenset()

    def _one_of_several(self, optimizer: ast.expr | None) -> bool:
        """Whether `scale_loss` is handed one optimizer, and not a list of them."""
        return optimizer is not None and not any(o.kind in ("seq", "dict") for o in self.v.of(optimizer))

    def _of_several(self, loss: ast.expr | None, row: int | None) -> bool:
        if loss is None:
            return False
        rows = self.owners.computed.handed_out(loss)
        if rows is None:
            rows = [self.owners.computed.runs(loss)]
        elif row is not None:
            rows = rows[row : row + 1] or rows
        return any(a.models.isdisjoint(b.models) for runs in rows for a in runs for b in runs)

    @cached_property
    def _several(self) -> frozenset[Key]:
        return frozenset(
            key
            for key, call in self.owners.construction.items()
            if len(self.owners.owned.get(key, ())) > 1
            and any(isinstance(n, _EACH) for n in self.m.ancestors(call))
        )

    def clears_each(self, node: ast.AST) -> bool:
        """Whether what clears gradients does so of every optimizer of a list: ``for o in self.optimizers:
        o.zero_grad()``, and not beside a backward, nor of a slice."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                pass
            case _:
                return True
        for outer in self.m.ancestors(node):
            match outer:
                case ast.For(target=target, iter=source, body=body):
                    over = [(target, source)]
                    trains = any(".backward(" in self.m.src(stmt) for stmt in body)
                case ast.ListComp(generators=each) | ast.GeneratorExp(generators=each) | ast.SetComp(generators=each):
                    over, trains = [(one.target, one.iter) for one in each if not one.ifs], False
                case _:
                    continue
            for target, source in over:
                if any(isinstance(n, ast.Name) and n.id == name for n in walk(target)):
                    return not trains and not any(isinstance(n, ast.Slice) for n in walk(source))
        return False

    def cleared_in_its_round(self, step: ast.AST) -> bool:
        """Whether an optimizer that a loop steps was cleared in the same round of it, by the same name."""
        match step:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                pass
            case _:
                return False
        loop = next((x for x in self.m.spine(step) if isinstance(x, (ast.For, ast.AsyncFor))), None)
        for stmt in loop.body if loop is not None else ():
            match stmt:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=own), attr="zero_grad"))):
                    if own == name and self.m.start(stmt) < self.m.start(step):
                        return True
                case _:
                    pass
        return False

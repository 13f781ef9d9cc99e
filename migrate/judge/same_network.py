"""Whether two expressions stand for one network: of a class of which there may be several, the text has to say it."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..nodes import chain
from .program.program import Program
from .state import Key
from .twins import Twins
from .within import Within

_EACH = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MAX_CALLS = 8  # of functions in functions that make one


class SameNetwork:
    """Answers about the networks of one program."""

    def __init__(self, program: Program, within: Within, twins: Twins) -> None:
        self.m, self.v, self.naming = program.m, program.v, program.naming
        self.within, self.twins = within, twins
        self._several: dict[Key, bool] = {}

    def has(self, whole: ast.expr, network: ast.expr) -> bool:
        """Whether a network surely has all of another one, or both lie in one whole that the text shows to be the
        same."""
        pairs = [(a, b) for a in chain(whole) for b in chain(network) if self.within.of(a) & self.within.of(b)]
        if not pairs:
            return not any(map(self.several, self.within.of(whole)))
        return all(self._is(a, b) for a, b in (pairs[0], pairs[-1]))

    def _is(self, one: ast.expr, other: ast.expr) -> bool:
        keys = self.within.of(one) & self.within.of(other)
        if not any(map(self.several, keys)):
            return True
        if ast.dump(one) == ast.dump(other) and self.m.function(one) is self.m.function(other):
            return True
        mine = self.twins.made(one)
        return mine is not None and len(mine) == 1 and mine == self.twins.made(other)

    def several(self, key: Key) -> bool:
        """Whether there may be more than one network of those that the values take for one."""
        if key not in self._several:
            makers = [call for call in self.m.all(ast.Call) if self._makes(call, key)]
            self._several[key] = len(makers) > 1 or any(_again(self.m, self.v.calls, call, 0) for call in makers)
        return self._several[key]

    def _makes(self, call: ast.Call, key: Key) -> bool:
        if key[0] == "call":
            return bool(self.naming.place(call) == key[1])
        return key in self.naming.keys(call) and any(o.kind == "class" for o in self.v.of(call.func))


def _again(m: Module, calls: dict[ast.AST, list[ast.Call]], call: ast.Call, depth: int) -> bool:
    """Whether a call may run more than once."""
    if any(isinstance(outer, _EACH) for outer in m.ancestors(call)):
        return True
    above = calls.get(m.function(call).node, []) if m.function(call).is_function else []
    return len(above) > 1 or any(depth > MAX_CALLS or _again(m, calls, one, depth + 1) for one in above)

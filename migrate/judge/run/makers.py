"""Models and optimizers that a call makes anew."""

from __future__ import annotations

import ast

from ...flow.makers import MADE_ROW
from ...flow.objects import Obj
from ...nodes import walk
from ..owners import Owners
from ..program.program import Program
from ..state import Key, State, together


class Makers:
    """The constructions in one program."""

    def __init__(self, program: Program, owners: Owners) -> None:
        self.program, self.v, self.naming, self.owners = program, program.v, program.naming, owners
        self._made_by: dict[ast.Call, frozenset[Key]] = {}

    def made_anew(self, state: State, call: ast.Call) -> None:
        """A call makes models, or an optimizer: of models that are as new as it is, there are no gradients; of others
        those that the last backward left to an optimizer made before."""
        made = self._makes(call)
        state.renewed |= made & self.program.objects.models
        optimizers = made & self.program.objects.optimizers
        if not optimizers:
            return
        owned = self.owners.made_of(call)
        wrapped = {k for a in (*call.args, *(w.value for w in call.keywords)) for k in self.naming.keys(a)}
        before = self.owners.replaced(state.made, call)  # of an earlier run, or instead
        others = state.made - optimizers
        state.made = (state.made - wrapped - before) | optimizers
        if owned and owned <= state.renewed:
            state.armed -= optimizers
            for key in optimizers:
                state.grads.drop(key)
                state.stash.drop(key)
            return
        for one in others:
            left = state.grads.get(one, frozenset())
            if left and owned & self.owners.models.get(one, frozenset()):  # it may step with them
                for key in optimizers:
                    state.grads[key] = together(state.grads.get(key, frozenset()) | left)

    def _makes(self, call: ast.Call) -> frozenset[Key]:
        """The models and optimizers that a call makes, in it or in a function of the file that it runs."""
        if call not in self._made_by:
            inner = [n for f in (call, *self.v.callees(call)) for n in walk(f) if isinstance(n, ast.Call)]
            rows = [o for o in self.v.of(call) if o.label == MADE_ROW]
            given = self.v.of(call).union(*(self.v.field(row, name) for row in rows for name in self.v.attributes(row)))
            self._made_by[call] = frozenset(
                self.naming.key(o) for o in given if any(self._constructs(one, o) for one in inner)
            )
        return self._made_by[call]

    def _constructs(self, call: ast.Call, obj: Obj) -> bool:
        if obj.kind == "instance":
            return any(o.kind == "class" and o.key is obj.key for o in self.v.of(call.func))
        return obj.kind == "call" and obj.key is call

"""What is cleared: all of an optimizer's gradients, or those of a model or of a part of one, which may be some of them
or none. By `zero_grad()`, or by loops that give `p.grad` the value None."""

from __future__ import annotations

import ast

from ...flow.objects import Obj
from ...knowledge.models import PARAMETERS
from ...nodes import walk
from ..listed import listed_part
from ..owners import Owners
from ..program.program import Program
from ..sources import Source, Sources
from ..state import Key, Left, State
from ..terms import Facts
from .values import Evaluator

_SAME = frozenset({"module"})  # what a wrapper wraps
_SOME_PART: frozenset[Key] = frozenset({("part", "?")})


class Clearing:
    """The calls of `zero_grad` of one program, and its loops."""

    def __init__(self, program: Program, owners: Owners, evaluator: Evaluator) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.owners, self.evaluator = owners, evaluator
        self.sources, self.twins = Sources(program, owners), owners.twins
        self.optimizers, self.models = program.objects.optimizers, program.objects.models

    def cleared(self, state: State, receiver: ast.expr, facts: Facts) -> frozenset[Key]:
        """The optimizers of which no gradient is left once a call has cleared those of ``receiver``, which is none."""
        whole = self._whole(state, receiver, facts)
        others = frozenset(o for o in self.optimizers if self._apart(receiver, o))
        if whole is None:
            return self.optimizers - others
        if others and others == self.optimizers:
            whole = frozenset()
        return self._without(state, whole, receiver) - others

    def _apart(self, receiver: ast.expr, optimizer: Key) -> bool:
        """Whether an optimizer has parameters of other networks alone, be they of the same class."""
        known = self.sources.of.get(optimizer) is not None
        modules = self.sources.modules.get(optimizer, []) if known else []
        return bool(modules) and all(self.twins.apart(receiver, module) for module in modules)

    def by_loop(self, state: State, stmt: ast.stmt, named: frozenset[Key]) -> frozenset[Key]:
        """The same for ``p.grad = None``; ``named`` are those that the statement is about."""
        found = [self._gone_through(n) for n in walk(stmt) if isinstance(n, ast.Attribute) and n.attr == "grad"]
        over = [each for each in found if each is not None]
        if any(self.naming.keys(n) & self.optimizers for each in over for n in walk(each)):
            return self._of_groups(state, over, named)
        listed = self.sources.listed(over)
        whole = frozenset[Key]().union(*map(self.sources.holders, listed))
        return self._without(state, whole, over[0]) if listed else named

    def put_into(self, stmt: ast.stmt, named: frozenset[Key]) -> frozenset[Key]:
        """The optimizers, of those ``named``, that may have the parameters whose gradients a statement puts there."""
        found = [self._gone_through(n) for n in walk(stmt) if isinstance(n, ast.Attribute) and n.attr == "grad"]
        calls = (n for each in found if each is not None for n in walk(each) if isinstance(n, ast.Call))
        funcs = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
        of = [func.value for func in funcs if func.attr in PARAMETERS]
        return frozenset(o for o in named if not of or not all(self._apart(one, o) for one in of))

    def _of_groups(self, state: State, over: list[ast.expr], named: frozenset[Key]) -> frozenset[Key]:
        """The same for loops over what an optimizer has: all of it, or one of several groups."""
        one = next((node for each in over for node in walk(each) if _one_group(node)), None)
        some = frozenset(o for o in named if one is not None and self.sources.groups(o) > 1)
        if one is not None:
            state.left = {**state.left, **dict.fromkeys(some, Left(one, ("those of its other groups",)))}
        return named - some

    def _gone_through(self, grad: ast.Attribute) -> ast.expr | None:
        """What a loop goes over whose target is the parameter of a gradient."""
        loops = [s for s in self.m.spine(grad) if isinstance(s, ast.For)]
        names = {n.id for n in walk(grad.value) if isinstance(n, ast.Name)}
        mine = [s for s in loops if any(isinstance(n, ast.Name) and n.id in names for n in walk(s.target))]
        return mine[0].iter if mine else None

    def _without(self, state: State, whole: frozenset[Key], site: ast.AST) -> frozenset[Key]:
        """The optimizers without gradients once those of ``whole`` are cleared as well."""
        zeroed = state.zeroed = state.zeroed | whole
        found = frozenset(o for o in self.optimizers if self._covered(o, zeroed))
        if whole:
            self._leave(state, frozenset(o for o in self.optimizers - found if self._touched(o, zeroed)), site)
        state.zeroed &= self.sources.to_remember
        return found

    def _covered(self, optimizer: Key, zeroed: frozenset[Key]) -> bool:
        sources = self.sources.of.get(optimizer)
        return sources is None or all(self.sources.cleared(one.maybe, zeroed) for one in sources)

    def _touched(self, optimizer: Key, zeroed: frozenset[Key]) -> bool:
        sources = self.sources.of.get(optimizer) or ()
        return any(
            self.sources.cleared(one.maybe, zeroed) or self.sources.touched(one.maybe, zeroed) for one in sources
        )

    def _leave(self, state: State, optimizers: frozenset[Key], site: ast.AST) -> None:
        """Note for whoever has to say why: some gradients of these are left."""
        for one in optimizers:
            sources = self.sources.of.get(one) or ()
            kept = [s for s in sources if s.text and not self.sources.cleared(s.maybe, state.zeroed)]
            texts = sorted(self._said(s, state.zeroed) for s in kept)
            state.left = {**state.left, one: Left(site, tuple(texts))}

    def _said(self, source: Source, zeroed: frozenset[Key]) -> str:
        some = self.sources.touched(source.maybe, zeroed)
        return f"other ones of `{source.text}`" if some else f"those of `{source.text}`"

    # ------------------------------------------------------------ what a receiver is

    def _whole(self, state: State, receiver: ast.expr, facts: Facts) -> frozenset[Key] | None:
        """The models and parts that a receiver stands for; None where it may be anything."""
        while isinstance(receiver, ast.Attribute) and receiver.attr in _SAME:
            receiver = receiver.value
        if models := self._models(state, receiver, facts):
            return models
        part = listed_part(self.m, self.v, self.owners, receiver)
        if part is not None and (models := self._models(state, part.of, facts)):
            return models if part.each else _SOME_PART
        if self._some_part(receiver):
            return _SOME_PART
        held = self.v.of(receiver)
        inside = frozenset[Key]().union(*map(self._holds, held))
        mine = self.sources.holders(receiver)
        if mine := frozenset(key for key in mine if key[0] == "part" or key in self.sources.known):
            return mine | inside
        if inside:
            return inside
        if not held or any(map(self._made_of_them, held)) or None in map(self.sources.of.get, self.optimizers):
            return None
        return frozenset()  # another model, which no optimizer has

    def _models(self, state: State, receiver: ast.expr, facts: Facts) -> frozenset[Key]:
        term = self.evaluator.value(state, receiver, facts)
        others = self.sources.known - self.models
        if term[0] == "obj" and (known := frozenset(term[1]) & (self.models | others)):
            return known
        models = self.owners.meant(receiver)
        return models | (self.naming.keys(receiver) & others) if models else models

    def _some_part(self, receiver: ast.expr) -> bool:
        """Whether a receiver is a part of a model by a name that is worked out, and not one after the other."""
        match receiver:
            case ast.Call(func=ast.Name(id="getattr"), args=[model, name, *_]) if not isinstance(name, ast.Constant):
                around = [s for s in self.m.spine(receiver) if isinstance(s, ast.For)]
                names = {n.id for n in walk(name) if isinstance(n, ast.Name)}
                mine = [s for s in around if any(isinstance(n, ast.Name) and n.id in names for n in walk(s.target))]
                each = bool(mine) and ".backward(" not in self.m.src(mine[0])
                return bool(self.owners.meant(model)) and not each
            case _:
                return False

    def _holds(self, obj: Obj) -> frozenset[Key]:
        """The models, and other modules of which an optimizer was made, that an object of the program keeps."""
        if obj.kind != "instance":
            return frozenset()
        held = (o for name in self.v.attributes(obj) for o in self.v.field(obj, name))
        return frozenset(map(self.naming.key, held)) & (self.models | self.sources.known)

    def _made_of_them(self, obj: Obj) -> bool:
        """Whether code that is not here made an object of a model or an optimizer: it may clear what these have."""
        if obj.kind == "path":
            return self._made_of_them(obj.key[0])  # type: ignore[index]
        if obj.kind != "call" or not isinstance(obj.key, ast.Call):
            return obj.kind not in ("instance", "call")
        return any(self.program.objects.known(n) for n in walk(obj.key) if isinstance(n, ast.expr))


def _one_group(node: ast.AST) -> bool:
    """``optimizer.param_groups[0]``."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="param_groups"), slice=at):
            return not isinstance(at, ast.Slice)
        case _:
            return False

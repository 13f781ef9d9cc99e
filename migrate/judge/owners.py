"""Which models an optimizer was made of, and which models a loss goes back to, as far as the text of the old
program says: gradients reach every model that a loss was computed with, not only those of the optimizer that
`scale_loss` is handed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from ..facts.loops import gone_through
from ..facts.module import Module
from ..facts.scopes import Scope
from ..nodes import children, walk
from .frozen import Frozen
from .program.program import Program
from .state import Key

_CUT = frozenset("detach item data numpy tolist".split())  # what they give does not lead back


class Owners:
    """The owners of one program's gradients."""

    def __init__(self, program: Program) -> None:
        self.program, self.m, self.v = program, program.m, program.v
        self.naming = program.naming
        self.frozen = Frozen(program)
        self._rows: dict[tuple[int, int], frozenset[Key]] = {}
        self._made_of: dict[ast.Call, frozenset[Key]] = {}
        self._read_by: dict[ast.AST, frozenset[Key]] = {}
        self._of_other_arm: dict[ast.AST, frozenset[Key] | None] = {}

    # ------------------------------------------------------------ optimizers and models

    def made_of(self, call: ast.Call) -> frozenset[Key]:
        """The models of which a call makes an optimizer: those it is handed, through names of its function as well,
        else those of the function that it runs."""
        if call not in self._made_of:
            self._made_of[call] = self._found(call)
        return self._made_of[call]

    def behind(self, call: ast.Call) -> Iterator[ast.AST]:
        """All that the arguments of a call are made of, through names of its function."""
        todo: list[ast.AST] = [*call.args, *(k.value for k in call.keywords)]
        met: set[str] = set()
        while todo:
            for node in walk(todo.pop()):
                yield node
                if isinstance(node, ast.Name) and node.id not in met:
                    met.add(node.id)
                    values = [value for _, value in self._assigned(node.id, call)]
                    todo += [v for v in values if self.program.marks.kind.get(v) != "initialize"]

    def _found(self, call: ast.Call) -> frozenset[Key]:
        found = {key for node in self.behind(call) for key in self.meant(node)}
        if not found:
            inner = [n for f in self.v.callees(call) for n in walk(f)]
            found = {key for n in inner for key in self.naming.keys(n) & self.program.objects.models}
        return frozenset(found)

    def meant(self, expr: ast.AST) -> frozenset[Key]:
        """The models that an expression may be. Where several go through one `initialize`, it may be any of them as
        far as the values say: then it is what it was before."""
        held = self.naming.keys(expr) & self.program.objects.models
        if len(held) < 2:
            return held
        match expr:
            case ast.Name(id=name):
                values = [value for _, value in self._assigned(name, expr)]
            case ast.Attribute(value=owner, attr=attr):
                values = [v for one, v in self.stored(attr) if self.naming.keys(one.value) & self.naming.keys(owner)]
            case _:
                return held
        before = [self.naming.keys(v) & held for v in values if self.program.marks.kind.get(v) != "initialize"]
        return frozenset[Key]().union(*before) or held

    @cached_property
    def models(self) -> dict[Key, frozenset[Key]]:
        """For each optimizer whose construction is here its models."""
        places = {key[1]: key for key in self.program.objects.optimizers if key[0] == "call"}
        found: dict[Key, frozenset[Key]] = {}
        for node in self.m.all(ast.Call):
            if self.naming.place(node) in places:
                owned = self.made_of(node)
                if owned:
                    found[places[self.naming.place(node)]] = owned
        return found

    def read_by(self, reader: ast.AST) -> frozenset[Key]:
        """The optimizers whose gradients a statement reads that is about one network's parameters alone:
        ``clip_grad_norm_(self.actor.parameters(), args.clip)``. None where that is not so, or where it is not known of
        each optimizer what it was made of."""
        if reader not in self._read_by:
            self._read_by[reader] = self._of_one_network(getattr(reader, "value", None))
        return self._read_by[reader]

    def _of_one_network(self, call: ast.AST | None) -> frozenset[Key]:
        match call:
            case ast.Call(args=[ast.Call(func=ast.Attribute(value=network, attr="parameters"), args=[]), *others]):
                models = self.meant(network)
            case _:
                return frozenset()
        rest = (n for other in (*others, *call.keywords) for n in walk(other))
        plain = not any(isinstance(n, (ast.Call, ast.Starred)) for n in rest)
        known = plain and bool(models) and self.models.keys() == self.program.objects.optimizers
        return frozenset(one for one, own in self.models.items() if own & models) if known else frozenset()

    # ------------------------------------------------------------ what a loss goes back to

    def reached_from(self, place: int, row: int | None) -> frozenset[Key]:
        """The optimizers of the models that a scaled loss came from, in a round of the loop that hands it out, where
        that is known."""
        if row is None:
            return self.reached.get(place, frozenset())
        if (place, row) not in self._rows:
            call = next(c for c in self.program.objects.scales if self.naming.place(c) == place)
            one = self._handed_out(call.args[0], row) if call.args else None
            if one is None or len(self.models) < 2:
                return self.reached.get(place, frozenset())
            models = self._computed_with(one)
            self._rows[place, row] = frozenset(o for o, own in self.models.items() if own & models)
        return self._rows[place, row]

    def of_other_arm(self, backward: ast.AST) -> frozenset[Key] | None:
        """The optimizers of a plain backward beside one that scales the same loss, in the other arm of an ``if``."""
        if backward not in self._of_other_arm:
            self._of_other_arm[backward] = self._scaled_beside(backward)
        return self._of_other_arm[backward]

    def _scaled_beside(self, backward: ast.AST) -> frozenset[Key] | None:
        match backward:
            case ast.Call(func=ast.Attribute(value=loss, attr="backward")):
                text = ast.dump(loss)
            case _:
                return None
        below: ast.AST = self.m.statement(backward)
        for outer in self.m.spine(self.m.statement(backward))[1:]:
            other = outer.orelse if isinstance(outer, ast.If) and below in outer.body else getattr(outer, "body", [])
            for call in self.program.objects.scales if isinstance(outer, ast.If) else ():
                same = bool(call.args) and ast.dump(call.args[0]) == text
                if same and any(self.m.inside(call, stmt) for stmt in other):
                    return self.program.objects.scales[call] | self.reached.get(self.naming.place(call), frozenset())
            below = outer
        return None

    def _handed_out(self, loss: ast.expr, row: int) -> ast.expr | None:
        """What a loop over a list that is written out gives a name in one of its rounds."""
        loop = self.loop_of(loss)
        if loop is None or not isinstance(loss, ast.Name):
            return None
        source = gone_through(loop.target, loop.iter, loss.id)
        if isinstance(source, ast.Name):
            values = self.values_of(source)
            source = values[0] if len(values) == 1 and not self._changed(source) else source
        items = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
        plain = row < len(items) and not any(isinstance(e, ast.Starred) for e in items)
        return items[row] if plain else None

    def _changed(self, name: ast.Name) -> bool:
        """Whether a list may hold other items than it was written out with."""
        here = self.m.function(name)
        uses = [n for n in self.m.own(here, ast.Name) if n.id == name.id]
        return any(isinstance(self.m.parent[n], (ast.Attribute, ast.Subscript, ast.Delete)) for n in uses)

    def loop_of(self, loss: ast.expr) -> ast.For | None:
        """The loop whose target a loss is, if nothing else gives it that name."""
        if not isinstance(loss, ast.Name):
            return None
        given = self._assigned(loss.id, loss)
        if len(given) != 1:
            return None
        loops = (x for x in self.m.spine(loss) if isinstance(x, ast.For))
        return next((x for x in loops if given[0][0] in walk(x.target)), None)

    @cached_property
    def reached(self) -> dict[int, frozenset[Key]]:
        """For each scaled loss, by the place of its `scale_loss`, the optimizers of the models that it came from."""
        found: dict[int, frozenset[Key]] = {}
        for call in self.program.objects.scales:
            if call.args and len(self.models) > 1:
                models = self._computed_with(call.args[0])
                found[self.naming.place(call)] = frozenset(o for o, own in self.models.items() if own & models)
        return found

    def _computed_with(self, loss: ast.expr) -> frozenset[Key]:
        """The models whose calls a value was computed from, through names and attributes that are assigned here."""
        found: set[Key] = set()
        todo: list[ast.AST] = [loss]
        met: set[ast.AST] = set()
        while todo:
            at = todo.pop()
            if at in met or self.program.evaluation.without_gradients(at):
                continue
            met.add(at)
            if isinstance(at, ast.Attribute) and at.attr in _CUT:
                continue
            if isinstance(at, ast.Call):
                if isinstance(at.func, ast.Attribute) and at.func.attr in _CUT:
                    continue
                models = self.meant(at.func)
                found |= models - self.frozen.at(at, models)
            if isinstance(at, ast.Name):
                todo += self.values_of(at)
            elif isinstance(at, ast.Attribute):
                todo += [
                    v for one, v in self.stored(at.attr) if self.naming.keys(one.value) & self.naming.keys(at.value)
                ]
            todo += children(at)
        return frozenset(found)

    def values_of(self, name: ast.Name) -> list[ast.expr]:
        """What a name may hold where it is read: the last value assigned above in a block around it, and those
        assigned since; where there is none, any (a loop brings it)."""
        above = [(t, value) for t, value in self._assigned(name.id, name) if self.m.start(t) < self.m.start(name)]
        around = set(self.m.spine(name))
        kept: list[ast.expr] = []
        for target, value in sorted(above, key=lambda one: -self.m.start(one[0])):
            kept.append(value)
            stmt = self.m.statement(target)
            parent = self.m.parent[stmt]
            if not isinstance(stmt, ast.AugAssign) and (parent in around or parent is self.m.function(name).node):
                return kept
        return [*kept, *(value for _, value in self._assigned(name.id, name) if value not in kept)]

    def given(self, name: str, scope: Scope) -> list[ast.expr]:
        """All that a name of a function or file is ever given in it."""
        return [value for _, value in self._names.get((scope, name), [])]

    def _assigned(self, name: str, at: ast.AST) -> list[tuple[ast.AST, ast.expr]]:
        """What is assigned to a name in the function that ``at`` stands in, with the targets."""
        return self._names.get((self.m.function(at), name), [])

    def stored(self, attr: str) -> list[tuple[ast.Attribute, ast.expr]]:
        """What attributes of a name are given, on any object."""
        return self._attributes.get(attr, [])

    @cached_property
    def _names(self) -> dict[tuple[Scope, str], list[tuple[ast.AST, ast.expr]]]:
        found: dict[tuple[Scope, str], list[tuple[ast.AST, ast.expr]]] = defaultdict(list)
        for target, value in _assignments(self.m):
            if isinstance(target, ast.Name):
                found[self.m.function(target), target.id].append((target, value))
        return found

    @cached_property
    def _attributes(self) -> dict[str, list[tuple[ast.Attribute, ast.expr]]]:
        found: dict[str, list[tuple[ast.Attribute, ast.expr]]] = defaultdict(list)
        for target, value in _assignments(self.m):
            if isinstance(target, ast.Attribute):
                found[target.attr].append((target, value))
        return found


def _assignments(m: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Every name and attribute that a module assigns, with the value: the whole one, where it is not written out."""
    for node in m.of(ast.Assign, ast.AugAssign, ast.For, ast.AnnAssign, ast.NamedExpr):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _paired(target, value)
            case ast.AugAssign(target=target, value=value) | ast.For(target=target, iter=value):
                yield from _paired(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                yield from _paired(target, value)
            case _:
                pass


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.AST, ast.expr]]:
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        if len(target.elts) == len(value.elts):
            for one, each in zip(target.elts, value.elts, strict=True):
                yield from _paired(one, each)
            return
    for node in walk(target):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node, value

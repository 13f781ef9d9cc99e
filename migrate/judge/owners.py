"""Which models an optimizer was made of, and which models a loss goes back to, as far as the text of the old
program says: gradients reach every model that a loss was computed with, not only those of the optimizer that
`scale_loss` is handed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from ..facts.scopes import Block
from ..nodes import children, walk
from .assigned import Assigned
from .computed import Computed, Run
from .filled import Filled
from .picked_by_name import PickedByName
from .program.program import Program
from .state import Key
from .tied import Tied
from .twins import Twins
from .within import Within


@dataclass(frozen=True, eq=False)
class _Standing:
    """The statement of a call, its block, what it gives names, and whether one of several is chosen in it."""

    node: ast.stmt
    block: Block
    targets: frozenset[str]
    chosen: bool


class Owners:
    """The owners of one program's gradients."""

    def __init__(self, program: Program) -> None:
        self.program, self.m, self.v = program, program.m, program.v
        self.naming = program.naming
        self.assigned, self.filled = Assigned(program.m), Filled(program.m)
        self.twins = Twins(program, self.assigned)
        self.within = Within(program, self.assigned)
        self.computed = Computed(program, self.assigned, self.within, self.twins)
        self.tied = Tied(program, self.assigned, self.within, self.twins)
        self.picked = PickedByName(program, self.assigned, self.within, self.tied)
        self._rows: dict[tuple[int, int | None, int | None], frozenset[Key]] = {}
        self._takes: dict[ast.Call, bool] = {}
        self._made_of: dict[ast.Call, list[ast.expr]] = {}
        self._made_of_parts: dict[ast.Call, list[ast.expr]] = {}
        self._owned: dict[ast.Call, frozenset[Key]] = {}
        self._stands: dict[ast.Call, _Standing] = {}
        self._read_by: dict[ast.AST, frozenset[Key]] = {}
        self._of_other_arm: dict[ast.AST, frozenset[Key] | None] = {}

    # ------------------------------------------------------------ optimizers and models

    def made_of(self, call: ast.Call) -> frozenset[Key]:
        """The models of which a call makes an optimizer: those it is handed, through names of its function as well,
        else those of the function that it runs."""
        return frozenset(key for node in self._networks_of(call) for key in self.meant(node))

    def _networks_of(self, call: ast.Call) -> list[ast.expr]:
        """The expressions that stand for these models."""
        if call not in self._made_of:
            self._made_of[call] = self._handed_to(call, self.behind(call), self.meant)
        return self._made_of[call]

    def _parts_of(self, call: ast.Call) -> list[ast.expr]:
        """The same of networks that are models or parts of one, and of these only the parts that are meant:
        ``model.encoder`` of ``model.encoder.parameters()``."""
        if call not in self._made_of_parts:
            of, given = self.within.of, self.within.unpacked
            behind = self.behind(call, lambda n: bool(given(n) if isinstance(n, ast.Name) else of(n)))
            self._made_of_parts[call] = self._handed_to(call, behind, of)
        return self._made_of_parts[call]

    def _handed_to(
        self, call: ast.Call, behind: Iterable[ast.AST], meant: Callable[[ast.expr], frozenset[Key]]
    ) -> list[ast.expr]:
        found = [n for n in behind if isinstance(n, ast.expr) and meant(n)]
        if not found:
            inner = (n for f in self.v.callees(call) for n in walk(f) if isinstance(n, ast.expr))
            within = [n for n in inner if meant(n)]
            found = [n for n in within if isinstance(n, (ast.Name, ast.Attribute))] or within
        return [n for n in found if not self._is_method(n)] or found

    def _is_method(self, expr: ast.expr) -> bool:
        """Whether an expression is a method that is called: ``net.cuda`` of ``net.cuda()``."""
        above = self.m.parent[expr]
        return isinstance(expr, ast.Attribute) and isinstance(above, ast.Call) and above.func is expr

    def behind(self, call: ast.Call, enough: Callable[[ast.AST], bool] = lambda _: False) -> Iterator[ast.AST]:
        """All that the arguments of a call are made of, through names of its function; not what an attribute, an item
        or a result is one of that is ``enough``."""
        todo: list[ast.AST] = [*call.args, *(k.value for k in call.keywords)]
        met: set[str] = set()
        while todo:
            node = todo.pop()
            yield node
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) and enough(node):
                continue
            todo += children(node)
            if isinstance(node, ast.Name) and node.id not in met:
                met.add(node.id)
                values = [value for _, value in self.assigned.to(node.id, call)]
                todo += [v for v in values if self.program.marks.kind.get(v) != "initialize"]
                todo += self.filled.into(node.id, call)

    def meant(self, expr: ast.AST) -> frozenset[Key]:
        """The models that an expression may be."""
        return self.within.meant(expr, self.program.objects.models)

    @cached_property
    def models(self) -> dict[Key, frozenset[Key]]:
        """For each optimizer whose construction is here its models."""
        owned = {key: self.made_of(call) for key, call in self.construction.items()}
        return {key: models for key, models in owned.items() if models}

    @cached_property
    def owned(self) -> dict[Key, frozenset[Key]]:
        """The same, and of parts of models the parts."""
        owned = {key: self._owned_by(call) for key, call in self.construction.items()}
        return {key: networks for key, networks in owned.items() if networks}

    def _owned_by(self, call: ast.Call) -> frozenset[Key]:
        if call not in self._owned:
            listed = (one for node in self._parts_of(call) for one in self.within.of(node))
            picked = self.picked.owned(call) if not self.program.m.calls("add_param_group") else None
            self._owned[call] = frozenset(listed) if picked is None else picked
        return self._owned[call]

    @cached_property
    def construction(self) -> dict[Key, ast.Call]:
        """The calls that make optimizers."""
        places = {key[1]: key for key in self.program.objects.optimizers if key[0] == "call"}
        placed = ((self.naming.place(node), node) for node in self.m.all(ast.Call))
        return {places[place]: node for place, node in placed if place in places}

    def replaced(self, made: frozenset[Key], other: ast.Call) -> set[Key]:
        """The optimizers that may be gone where a call makes another one: those of the same networks, as far as the
        text says, which do not stand beside it."""
        alike, here = self._alike.get(self._owned_by(other), set()), self._standing(other)
        beside = set[Key]()  # of hundreds in one block nearly all are
        if here.targets and not here.chosen:
            beside = self._named_in.get(here.block, set()).difference(*(self._given.get(t, ()) for t in here.targets))
        return {one for one in (made & alike) - beside if self._is_replaced(self.construction[one], other)}

    def _is_replaced(self, call: ast.Call, other: ast.Call) -> bool:
        if self._beside(call, other):
            return False
        mine = [self.twins.made_at(call, network) for network in self._parts_of(call)]
        theirs = [self.twins.made_at(other, network) for network in self._parts_of(other)]
        return not mine or not all(self.twins.elsewhere(a, b) for a in mine for b in theirs)

    @cached_property
    def _alike(self) -> dict[frozenset[Key] | None, set[Key]]:
        """Optimizers by what they are made of, if that is known."""
        found = defaultdict[frozenset[Key] | None, set[Key]](set)
        for key in self.construction:
            found[self.owned.get(key)].add(key)
        return found

    @cached_property
    def _named_in(self) -> dict[Block, set[Key]]:
        """For each block the optimizers to which a statement of it gives a name, where none is chosen of several."""
        found = defaultdict[Block, set[Key]](set)
        for key, call in self.construction.items():
            if (stands := self._standing(call)).targets and not stands.chosen:
                found[stands.block].add(key)
        return found

    @cached_property
    def _given(self) -> dict[str, set[Key]]:
        """The optimizers that a name is given."""
        found = defaultdict[str, set[Key]](set)
        for key, call in self.construction.items():
            for target in self._standing(call).targets:
                found[target].add(key)
        return found

    def _beside(self, one: ast.Call, other: ast.Call) -> bool:
        """Whether two calls stand in one statement, or in two of one block that give other names what they make."""
        stmt, beside = self._standing(one), self._standing(other)
        if one is other or stmt.chosen or beside.chosen:
            return False
        named = bool(stmt.targets and beside.targets) and stmt.targets.isdisjoint(beside.targets)
        return stmt.node is beside.node or (named and stmt.block is beside.block)

    def _standing(self, call: ast.Call) -> _Standing:
        if call not in self._stands:
            stmt = self.m.statement(call)
            targets = frozenset(map(ast.dump, getattr(stmt, "targets", ())))
            around = takewhile(lambda n: n is not stmt, self.m.ancestors(call))
            chosen = any(isinstance(n, (ast.IfExp, ast.BoolOp)) for n in around)
            self._stands[call] = _Standing(stmt, self.m.block(stmt), targets, chosen)
        return self._stands[call]

    def _apart(self, optimizer: Key, run: Run) -> bool:
        """Whether an optimizer was made of networks that were surely made elsewhere, and share nothing with these."""
        call, where = self.construction.get(optimizer), self.twins.made(run.network)
        if call is None or where is None:
            return False
        mine = frozenset[Key]().union(*map(self.within.of, self._parts_of(call)))
        if mine & run.parts or run.models & frozenset[Key]().union(*map(self.within.parts, mine)):
            return False
        return all(self.twins.separate(where, self.twins.made_at(call, n)) for n in self._parts_of(call))

    def _reached_of(self, runs: Iterable[Run]) -> frozenset[Key]:
        """The optimizers that have parameters of networks which were run."""
        return frozenset(
            optimizer
            for one in runs
            for optimizer, own in self.owned.items()
            if self.tied.share(own, one) or (self._share(own, one) and not self._apart(optimizer, one))
        )

    def _share(self, own: frozenset[Key], one: Run) -> bool:
        """Whether one of an optimizer's networks is one that was run, or is a part of it, or has it as a part."""
        return bool(own & (one.models | one.parts)) or any(one.models & self.within.parts(each) for each in own)

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
                models = self.within.of(network)
            case _:
                return frozenset()
        rest = (n for other in (*others, *call.keywords) for n in walk(other))
        plain = not any(isinstance(n, (ast.Call, ast.Starred)) for n in rest)
        known = plain and bool(models) and self.owned.keys() == self.program.objects.optimizers
        parts = frozenset[Key]().union(*map(self.within.parts, models))
        return self._reached_of([Run(models, parts, network)]) if known else frozenset()

    # ------------------------------------------------------------ what a loss goes back to

    def reached_from(self, place: int, row: int | None, by: int | None) -> frozenset[Key]:
        """The optimizers of the models that a scaled loss came from, in a round of the loop that hands it out, where
        that is known, and where a call at ``by`` runs the function."""
        if row is None and by is None:
            return self.reached.get(place, frozenset())
        if (place, row, by) not in self._rows:
            call = next(c for c in self.program.objects.scales if self.naming.place(c) == place)
            loss = call.args[0] if call.args else None
            if loss is None or len(self.owned) < 2:
                return self.reached.get(place, frozenset())
            rows = self.computed.handed_out(loss) if row is not None else None
            if row is not None and (rows is None or row >= len(rows)):
                return self.reached.get(place, frozenset())
            runs = self.computed.runs(loss) if rows is None or row is None else rows[row]
            entered = self._calls.get(by) if by is not None else None
            handed = runs if entered is None else [r for each in runs for r in self.computed.as_handed(entered, each)]
            self._rows[place, row, by] = self._reached_of(handed)
        return self._rows[place, row, by]

    def takes_networks(self, scale: ast.Call) -> bool:
        """Whether the networks that a scaled loss is computed with are parameters of its function."""
        if scale not in self._takes:
            runs = self.computed.runs(scale.args[0]) if scale.args and len(self.owned) > 1 else []
            self._takes[scale] = any(self.computed.is_parameter(one.network) for one in runs)
        return self._takes[scale]

    @cached_property
    def _calls(self) -> dict[int, ast.Call]:
        return {self.naming.place(call): call for call in self.m.all(ast.Call)}

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

    @cached_property
    def reached(self) -> dict[int, frozenset[Key]]:
        """For each scaled loss, by the place of its `scale_loss`, the optimizers of the models that it came from."""
        found: dict[int, frozenset[Key]] = {}
        for call in self.program.objects.scales:
            if call.args and len(self.owned) > 1:
                found[self.naming.place(call)] = self._reached_of(self.computed.runs(call.args[0]))
        return found

"""A training unit: everything that hangs together through one optimizer's value.

`Manual` is how a stage says that a proof is missing: the unit then stays as it is, and the report
carries the reason and the code to write.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar

from ..facts.files import File
from ..facts.module import Module
from ..facts.names import called_name
from ..facts.scopes import Scope
from ..facts.sites import Facts, Initialize, Scale, opened
from ..flow.commands import SETS_COMMANDS
from ..flow.objects import Obj
from ..flow.unnamed import Unnamed, unnamed
from ..flow.values import Values
from ..knowledge import gradients
from ..knowledge.host import CALLS_NOTHING
from ..knowledge.models import COPIES
from ..model import Importable, Settings
from .alone import trains_nothing
from .conditions import Conditions
from .options import Options

T = TypeVar("T")


class Manual(Exception):
    """A proof is missing. ``node`` is the site, the text says which fact, ``suggestion`` what to write."""

    def __init__(self, node: ast.AST, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.node, self.message, self.suggestion = node, message, suggestion


@dataclass(frozen=True, eq=False)
class Context:
    """What every stage of one program's plan reads."""

    m: Module
    v: Values
    facts: Facts
    conditions: Conditions
    settings: Settings
    taken: tuple[frozenset[str], ...] = ()  # for each file, the names that files outside of the program import
    spelled: bool = True  # whether one of those reads an attribute called ``amp``
    scalers: frozenset[str] = frozenset()  # names for a scaler that are attributes there
    unled: bool = False  # nobody who initializes is known to use what is here, and nothing else needs Apex's amp
    switched: frozenset[str] = frozenset()  # names and attributes that say "apex", and are set in files near this
    own: tuple[frozenset[str], ...] = ()  # for each file, which of its imports lead to files of the tree
    answered: bool = False  # other files may be told that Apex's amp is there, as none needs it any more
    counted: bool = False  # another file asks groups of parameters for what only Apex's Adam kept there
    spoken: frozenset[str] = frozenset()  # what other files ask objects, and groups of parameters, of what Apex's had
    leading: frozenset[str] = frozenset()  # the imports of a file that lead to others of the tree, once amp is settled
    importable: tuple[Importable, ...] = ()  # for each file, who imports from it beside the tree
    uncast: tuple[frozenset[str], ...] = ()  # for each file, the names that programs without amp run as well
    unread: tuple[frozenset[str], ...] = ()  # for each file, of `amp` and `apex` what no star takes from it
    packaged: tuple[frozenset[str], ...] = ()  # for each file, the names that a package's `__init__` takes from it
    kept: dict[object, Any] = field(default_factory=dict, init=False)  # what `once` has found

    def exported(self, node: ast.AST) -> frozenset[str]:
        """The names that other files import from the one that ``node`` stands in; ``*`` for all."""
        return self.exported_by(self.m.file(node))

    def exported_by(self, file: File) -> frozenset[str]:
        """The names that other files import from one of the program's."""
        return self.taken[file.number] if self.taken else frozenset()

    def takes(self, node: ast.AST, name: str) -> bool:
        """Whether another file may take a name of Apex's from the one that ``node`` stands in."""
        number, exported = self.m.file(node).number, self.exported(node)
        return name in exported or ("*" in exported and not (self.unread and name in self.unread[number]))

    def run_without(self, node: ast.AST) -> frozenset[str]:
        """The names that files without amp take from the one that ``node`` stands in."""
        number = self.m.file(node).number
        return self.exported(node) | (self.uncast[number] if self.uncast else frozenset())

    @cached_property
    def calls_with(self) -> dict[Obj, list[ast.Call]]:
        """For each object, the calls that may call it, call a method of it, or be handed it or what holds it."""
        found: dict[Obj, list[ast.Call]] = defaultdict(list)
        for call in self.m.all(ast.Call):
            touched = set(self.v.of(call.func))
            base = call.func
            while isinstance(base, ast.Attribute):
                base = base.value
                touched |= self.v.of(base)
            for handed in [*call.args, *(k.value for k in call.keywords)]:
                touched |= opened(self.v, self.v.of(handed))
            for obj in touched:
                found[obj].append(call)
        return found

    @cached_property
    def partials(self) -> list[Obj]:
        """The partials among them."""
        return [obj for obj in self.calls_with if obj.kind == "partial"]

    def touching(self, objects: Iterable[Obj]) -> list[ast.Call]:
        """The calls of `calls_with` for any of several objects, in order."""
        return self.m.in_order(call for obj in objects for call in self.calls_with.get(obj, ()))

    @cached_property
    def beneath(self) -> dict[Obj, list[Obj]]:
        """For each object, those of `calls_with` that are it or are reached from it: attributes, items, methods."""
        found: dict[Obj, list[Obj]] = defaultdict(list)
        for obj in self.calls_with:
            at: object = obj
            while isinstance(at, Obj):
                found[at].append(obj)
                at = at.key[0] if at.kind in ("path", "method") else None  # type: ignore[index]
        return found

    def given(self, objects: Iterable[Obj]) -> list[ast.Name | ast.Attribute]:
        """The names and attributes that are given one of several objects, or a container of one, in order."""
        return self.m.in_order(node for obj in objects for node in self._given.get(obj, ()))

    @cached_property
    def _given(self) -> dict[Obj, list[ast.Name | ast.Attribute]]:
        found: dict[Obj, list[ast.Name | ast.Attribute]] = defaultdict(list)
        nodes: list[ast.Name | ast.Attribute] = [*self.m.all(ast.Name), *self.m.all(ast.Attribute)]
        for node in nodes:
            if isinstance(node.ctx, ast.Store):
                for obj in opened(self.v, self.v.of(node)):
                    found[obj].append(node)
        return found

    @cached_property
    def unnamed(self) -> Unnamed:
        return unnamed(self.m, self.v)

    @cached_property
    def made_classes(self) -> frozenset[ast.ClassDef]:
        """The classes of this module of which instances are made."""
        held = {o for call in self.m.all(ast.Call) for o in self.v.of(call.func) if o.kind == "class"}
        return frozenset(o.key for o in held if isinstance(o.key, ast.ClassDef))

    @cached_property
    def calls_of(self) -> dict[ast.AST, list[ast.Call]]:
        """For each function of this module, the calls that may run it."""
        found: dict[ast.AST, list[ast.Call]] = defaultdict(list)
        for call in self.m.all(ast.Call):
            for callee in self.v.callees(call):
                found[callee].append(call)
        return found

    @cached_property
    def handed_out(self) -> dict[ast.AST, ast.expr]:
        """The functions that code which is not followed is handed, each with the first argument that does so."""
        v = self.v
        found: dict[ast.AST, ast.expr] = {}
        for call in self.m.all(ast.Call):
            if called_name(call) in CALLS_NOTHING or v.callees(call) or any(o.kind == "partial" for o in v.of(call)):
                continue
            if any(o.kind == "class" for o in v.of(call.func)):
                continue
            command = called_name(call) == SETS_COMMANDS
            for arg in (*call.args, *(k.value for k in call.keywords)):
                for obj in opened(v, v.of(arg.value if isinstance(arg, ast.Starred) else arg)):
                    for function in v.functions(obj) if obj.kind in ("function", "method", "class") else ():
                        if not (command and v.calls.get(function)):  # `args.func(args)` is followed
                            found.setdefault(function, arg)
        return found

    @cached_property
    def step_methods(self) -> list[ast.Attribute]:
        """Where an attribute is read that may be a method that steps."""
        return [n for n in self.m.all(ast.Attribute) if isinstance(n.ctx, ast.Load) and gradients.steps(n.attr)]

    @cached_property
    def steps_of(self) -> dict[Obj, list[ast.Attribute]]:
        """`step_methods` of each object, and those of wrappers that were made of it."""
        v = self.v
        found: dict[Obj, list[ast.Attribute]] = defaultdict(list)
        for node in self.step_methods:
            held = v.of(node.value)
            made = [o.key for o in held if o.kind == "call" and isinstance(o.key, ast.Call) and o.key.args]
            for obj in held.union(*(opened(v, v.of(call.args[0])) for call in made)):
                found[obj].append(node)
        return found

    @cached_property
    def assigned(self) -> dict[Scope, Counter[str]]:
        """For each function how often it assigns what a text names: ``args.fp16``."""
        found: dict[Scope, Counter[str]] = defaultdict(Counter)
        for node in self.m.of(ast.Name, ast.Attribute, ast.Subscript):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                found[self.m.function(node)][ast.unparse(node)] += 1
        return found

    @cached_property
    def trained_apart(self) -> list[ast.Call]:
        """The backwards in functions without amp, of classes without amp."""
        m = self.m
        sites: list[Initialize | Scale] = [*self.facts.initializes, *self.facts.scales]
        amp = {m.function(s.call) for s in sites}
        owners = {m.class_of(s) for s in amp} - {None}
        found = []
        for call in m.calls("backward"):
            scope = m.function(call)
            if isinstance(call.func, ast.Attribute) and scope.is_function and scope not in amp:
                if not self.v.callees(call) and m.class_of(scope) not in owners:
                    found.append(call)
        return found

    @cached_property
    def second_order(self) -> list[ast.Call]:
        """The calls that take gradients of which gradients are taken."""
        calls = [c for c in self.m.all(ast.Call) if any(k.arg == "create_graph" for k in c.keywords)]
        return [c for c in calls if not (isinstance(c.func, ast.Attribute) and c.func.attr == "backward")]

    @cached_property
    def master_params(self) -> list[ast.Call]:
        """The calls of ``amp.master_params``."""
        calls = self.m.all(ast.Call)
        return [c for c in calls if any(x.endswith(".master_params") for x in self.v.apex_names(c.func))]

    @cached_property
    def copying_calls(self) -> list[ast.Call]:
        """Calls that make a copy or an average of something, by their names."""
        return [c for c in self.m.all(ast.Call) if c.args and COPIES.fit(self.m.src(c.func))]

    @cached_property
    def methods(self) -> dict[ast.ClassDef, list[Scope]]:
        """For each class the methods of `calls_in`."""
        found: dict[ast.ClassDef, list[Scope]] = defaultdict(list)
        for scope in self.calls_in:
            owner = self.m.class_of(scope)
            if owner is not None:
                found[owner].append(scope)
        return found

    @cached_property
    def initialized(self) -> dict[Obj, list[Initialize]]:
        """For each model the calls that initialize it."""
        found: dict[Obj, list[Initialize]] = defaultdict(list)
        for init in self.facts.initializes:
            for obj in init.model_objects:
                found[obj].append(init)
        return found

    @cached_property
    def optimizers(self) -> frozenset[Obj]:
        """The optimizers that are initialized."""
        return frozenset(o for init in self.facts.initializes for o in init.optimizer_objects)

    @cached_property
    def calls_in(self) -> dict[Scope, list[ast.Call]]:
        """The calls of each function, those of its lambdas and classes with it."""
        found: dict[Scope, list[ast.Call]] = defaultdict(list)
        for call in self.m.all(ast.Call):
            found[self.m.function(call)].append(call)
        return found


_Counts = tuple[int, int, int]  # what tells the moments of a unit from those that it had before


def once_of_unit(find: Callable[[Context, Unit], T]) -> Callable[[Context, Unit], T]:
    """What is the same for all sites of a unit is looked for once, and again only where its moments have changed."""

    @wraps(find)
    def found(ctx: Context, unit: Unit) -> T:
        counts = (len(unit.scales), id(unit.steps), len(unit.steps))
        kept = unit._found.get(find)
        if kept is None or kept[0] != counts:
            kept = unit._found[find] = counts, find(ctx, unit)
        result: T = kept[1]
        return result

    return found


M = TypeVar("M", Scale, "Step")


def _by_function(m: Module, moments: list[M]) -> dict[Scope, list[M]]:
    found: dict[Scope, list[M]] = defaultdict(list)
    for moment in moments:
        found[m.function(moment.call)].append(moment)
    return found


@once_of_unit
def _scales_by_function(ctx: Context, unit: Unit) -> dict[Scope, list[Scale]]:
    return _by_function(ctx.m, unit.scales)


@once_of_unit
def _steps_by_function(ctx: Context, unit: Unit) -> dict[Scope, list[Step]]:
    return _by_function(ctx.m, unit.steps)


@once_of_unit
def step_calls(ctx: Context, unit: Unit) -> frozenset[ast.Call]:
    """Where a unit steps."""
    return frozenset(step.call for step in unit.steps)


def scales_in(ctx: Context, unit: Unit, scope: Scope) -> list[Scale]:
    """The backwards of a unit in one function."""
    return _scales_by_function(ctx, unit).get(scope, [])


def steps_in(ctx: Context, unit: Unit, scope: Scope) -> list[Step]:
    """Its steps there."""
    return _steps_by_function(ctx, unit).get(scope, [])


@dataclass(eq=False)
class Step:
    """One ``optimizer.step()``. ``anchor`` is the statement that an ``update()`` may follow: the step
    itself, or the loop over the optimizers around it.

    Seen from a caller, a call that steps is a step too: then ``text`` is the optimizer as the caller
    can say it (None where it cannot), ``within`` are the conditions inside the function called, and ``over``
    is what a loop in there over the optimizers goes over.

    A step of the optimizer's ``own`` goes by another name (SAM's ``first_step``): Apex never left it out, and no
    scaler takes it."""

    call: ast.Call
    optimizer: ast.expr
    objects: frozenset[Obj]
    stmt: ast.stmt
    anchor: ast.stmt
    text: str | None = None
    within: tuple[ast.stmt, ...] = ()
    over: str | None = None
    own: bool = False


@dataclass(eq=False)
class Unit:
    """One training (or inference) unit and what was decided about it."""

    number: int
    initializes: list[Initialize]
    scales: list[Scale]
    options: dict[ast.Call, Options] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    reviews: list[tuple[ast.AST, str, str]] = field(default_factory=list)  # site, rule, difference
    infos: list[tuple[ast.AST, str, str]] = field(default_factory=list)
    unless_proved: list[Manual] = field(default_factory=list)  # why it stays where not every path can be compared
    apart: bool = False  # a class scales by itself what it is called with
    beside: frozenset[ast.ClassDef] = frozenset()  # the classes that do, of whom its initialize need know nothing
    served: tuple[ast.If, ...] = ()  # guards of the training whose other arms are native and serve in Apex's place
    natively: frozenset[ast.AST] = frozenset()  # functions that train natively now, and run models as they say
    foreign: bool = False  # a library's switch decides about all of it, and its native backend is what stays
    beside_native: bool = False  # a native side behind the same switch serves all of it
    handed: bool = False  # a library's runner trains: nothing here joins what initializes with what scales
    ahead: bool = False  # its scalers are made ahead of whatever may ask them, switched off
    flagged: bool = False  # its steps ask, where they can, whether a scaled backward waits for them
    _found: dict[object, tuple[_Counts, Any]] = field(default_factory=dict, init=False, repr=False)  # by `once_of_unit`

    def options_of(self, init: Initialize) -> Options:
        """The native meaning of one of the unit's initialize calls."""
        return self.options[init.call]

    @property
    def fixed_scale(self) -> bool:
        """Whether no loss scale moves: it is static, or there is none."""
        static = (o.static_when for o in self.options.values() if o.static_when is not None)
        return any(o.unscaled for o in self.options.values()) or any(when.value is True for when in static)

    @property
    def off(self) -> bool:
        """Whether mixed precision is off for good (O0): the scaler does nothing, and reads no state."""
        return bool(self.options) and all(o.levels == {"O0"} for o in self.options.values())

    @property
    def by_functions(self) -> bool:
        """Whether functions may have been cast, as O1 did; O2 and O3 cast what their models were handed."""
        return any("O1" in o.levels for o in self.options.values())

    @property
    def sites(self) -> list[Initialize | Scale]:
        """Its initialize and scale_loss calls."""
        return [*self.initializes, *self.scales]

    @property
    def moments(self) -> list[Scale | Step]:
        """Its backwards and steps."""
        return [*self.scales, *self.steps]

    @property
    def line_node(self) -> ast.AST:
        return (self.initializes or self.scales)[0].call

    @cached_property
    def model_objects(self) -> frozenset[Obj]:
        return frozenset().union(*(i.model_objects for i in self.initializes))

    @cached_property
    def optimizer_objects(self) -> frozenset[Obj]:
        return frozenset().union(
            *(i.optimizer_objects for i in self.initializes), *(s.optimizer_objects for s in self.scales)
        )

    def review(self, site: ast.AST, rule: str, difference: str) -> None:
        if not any(d == difference and one is site for one, _, d in self.reviews):
            self.reviews.append((site, rule, difference))


def sites_of(units: Sequence[Unit]) -> tuple[list[Initialize], list[Scale]]:
    """The initialize and the scale_loss calls of several units."""
    return [init for unit in units for init in unit.initializes], [scale for unit in units for scale in unit.scales]


def group(facts: Facts, m: Module) -> list[Unit]:
    """Calls that share an optimizer are one unit, and so are two ``initialize`` that take the same model (one to train
    it, one to evaluate it). An ``initialize`` without optimizers, or with one that nothing else reads, is one of its
    own, but where it runs only beside one that trains, and in the same way: O1's casts are the process's, so the one's
    condition is the other's."""
    sites: list[Initialize | Scale] = [*facts.initializes, *facts.scales]
    parent = list(range(len(sites)))

    def find(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    first: dict[tuple[str, Obj], int] = {}
    for i, site in enumerate(sites):
        models = site.model_objects if isinstance(site, Initialize) else ()
        shared = [("model", o) for o in models if o.kind in ("call", "instance", "param", "path")]
        for held in [*(("optimizer", o) for o in site.optimizer_objects), *shared]:
            parent[find(i)] = find(first.setdefault(held, i))
    for i, alone in enumerate(facts.initializes):
        for n, training in enumerate(facts.initializes) if trains_nothing(m, alone) else ():
            if not trains_nothing(m, training) and _beside(m, alone, training):
                parent[find(i)] = find(n)
    groups: dict[int, list[Initialize | Scale]] = {}
    for i, site in enumerate(sites):
        groups.setdefault(find(i), []).append(site)
    units = [
        Unit(0, [s for s in g if isinstance(s, Initialize)], [s for s in g if isinstance(s, Scale)])
        for g in groups.values()
    ]
    units.sort(key=lambda u: (u.line_node.lineno, u.line_node.col_offset))  # type: ignore[attr-defined]
    for number, unit in enumerate(units, 1):
        unit.number = number
    return units


def _beside(m: Module, site: Initialize, other: Initialize) -> bool:
    """Whether a call that initializes a model alone follows one that trains, in its block or below, at its level; or
    runs just ahead of it (a frozen backbone, and then the classifier that is trained on it)."""
    first = m.statement(other.call)
    block = m.block(first)
    options = [{name: ast.dump(value) for name, value in one.options.items()} for one in (site, other)]
    alike = all(options[0].get(name) == options[1].get(name) for name in ("opt_level", "enabled"))
    below = any(m.block(s) is block and m.index(s) > m.index(first) for s in m.spine(site.call))
    own = m.statement(site.call)
    between = block.body[m.index(own) : m.index(first)] if m.block(own) is block else []
    ahead = bool(between) and all(isinstance(s, (ast.Assign, ast.AnnAssign, ast.Expr)) for s in between)
    return alike and (below or ahead) and m.function(site.call) is m.function(other.call)

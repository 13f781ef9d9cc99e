"""A training unit: everything that hangs together through one optimizer's value.

`Manual` is how a stage says that a proof is missing: the unit then stays as it is, and the report
carries the reason and the code to write.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

from migrate.facts.module import File, Module, Scope
from migrate.facts.sites import Facts, Initialize, Scale, opened
from migrate.flow.values import Obj, Values
from migrate.knowledge.models import COPIES
from migrate.model import Settings
from migrate.units.conditions import Conditions
from migrate.units.options import Options


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

    def exported(self, node: ast.AST) -> frozenset[str]:
        """The names that other files import from the one that ``node`` stands in; ``*`` for all."""
        return self.exported_by(self.m.file(node))

    def exported_by(self, file: File) -> frozenset[str]:
        """The names that other files import from one of the program's."""
        return self.taken[file.number] if self.taken else frozenset()

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
    def copying_calls(self) -> list[ast.Call]:
        """Calls that make a copy or an average of something, by their names."""
        return [c for c in self.m.all(ast.Call) if c.args and COPIES.fit(self.m.src(c.func))]

    @cached_property
    def calls_in(self) -> dict[Scope, list[ast.Call]]:
        """The calls of each function, those of its lambdas and classes with it."""
        found: dict[Scope, list[ast.Call]] = defaultdict(list)
        for call in self.m.all(ast.Call):
            found[self.m.function(call)].append(call)
        return found


@dataclass(eq=False)
class Step:
    """One ``optimizer.step()``. ``anchor`` is the statement that an ``update()`` may follow: the step
    itself, or the loop over the optimizers around it.

    Seen from a caller, a call that steps is a step too: then ``text`` is the optimizer as the caller
    can say it (None where it cannot), ``within`` are the conditions inside the function called, and ``over``
    is what a loop in there over the optimizers goes over."""

    call: ast.Call
    optimizer: ast.expr
    objects: frozenset[Obj]
    stmt: ast.stmt
    anchor: ast.stmt
    text: str | None = None
    within: tuple[ast.stmt, ...] = ()
    over: str | None = None


@dataclass(eq=False)
class Scaler:
    """A GradScaler to be: the optimizers it serves, and its name."""

    objects: frozenset[Obj]
    name: str = "scaler"


@dataclass(eq=False)
class Unscale:
    """``scaler.unscale_(optimizer)`` before ``before``; ``loop`` where it goes over several."""

    before: ast.stmt
    optimizer: str
    objects: frozenset[Obj]
    loop: str | None = None


@dataclass(eq=False)
class Unit:
    """One training (or inference) unit and what was decided about it."""

    number: int
    initializes: list[Initialize]
    scales: list[Scale]
    options: dict[ast.Call, Options] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    scalers: list[Scaler] = field(default_factory=list)
    unscales: list[Unscale] = field(default_factory=list)
    moved: dict[ast.stmt, ast.stmt] = field(default_factory=dict)  # clip -> step it now stands before
    scaled_clips: list[ast.stmt] = field(default_factory=list)
    rescaled_clips: dict[ast.Call, Step] = field(default_factory=dict)  # clips of gradients that stay scaled
    scale_free: list[ast.stmt] = field(default_factory=list)  # of readers to whom the size of gradients is all one
    updates: list[Step] = field(default_factory=list)  # an update() follows these
    late: dict[Step, ast.stmt] = field(default_factory=dict)  # step -> what update() follows instead of it
    exits: list[tuple[ast.stmt, Step]] = field(default_factory=list)  # an update() comes before these, too
    reviews: list[tuple[ast.AST, str, str]] = field(default_factory=list)  # site, rule, difference
    infos: list[tuple[ast.AST, str, str]] = field(default_factory=list)

    def updated_behind(self, step: Step) -> ast.stmt:
        """The statement that ``update()`` follows, if it follows this step."""
        return self.late.get(step, step.anchor)

    def options_of(self, init: Initialize) -> Options:
        """The native meaning of one of the unit's initialize calls."""
        return self.options[init.call]

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

    @property
    def model_objects(self) -> frozenset[Obj]:
        return frozenset().union(*(i.model_objects for i in self.initializes))

    @property
    def optimizer_objects(self) -> frozenset[Obj]:
        return frozenset().union(
            *(i.optimizer_objects for i in self.initializes), *(s.optimizer_objects for s in self.scales)
        )

    def review(self, site: ast.AST, rule: str, difference: str) -> None:
        if not any(d == difference for _, _, d in self.reviews):
            self.reviews.append((site, rule, difference))


def group(facts: Facts) -> list[Unit]:
    """Calls that share an optimizer are one unit; an ``initialize`` without optimizers is one of its own."""
    sites: list[Initialize | Scale] = [*facts.initializes, *facts.scales]
    parent = list(range(len(sites)))

    def find(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for i, one in enumerate(sites):
        for j in range(i):
            if one.optimizer_objects & sites[j].optimizer_objects or _same_model(one, sites[j]):
                parent[find(i)] = find(j)
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


def _same_model(one: Initialize | Scale, other: Initialize | Scale) -> bool:
    """Whether two initialize calls take the same model (one to train it, one to evaluate it)."""
    if not isinstance(one, Initialize) or not isinstance(other, Initialize):
        return False
    shared = one.model_objects & other.model_objects
    return any(o.kind in ("call", "instance", "param", "path") for o in shared)


def function_scopes(m: Module) -> list[Scope]:
    """The module's scope and every function's."""
    return [s for s in m.scope_of.values() if s.is_function or s.parent is None]

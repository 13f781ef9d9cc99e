"""The objects that training is about: models, optimizers, and networks that only run under casts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...facts.asked_elsewhere import asked_elsewhere
from ...facts.elsewhere import NOWHERE, Elsewhere
from ...facts.module import Module
from ...facts.networks import is_network, kept_elsewhere, may_be_network, runs_elsewhere
from ...facts.scaler_names import SCALERS
from ...facts.sites import Facts
from ...facts.usual_names import dotted
from ...flow.arguments import argument
from ...flow.objects import Obj
from ...flow.values import Values
from ...knowledge.models import NO_NETWORK
from ..names import TRAINING
from ..state import Key
from .alike import made_alike
from .naming import Naming
from .syntax import last_name


@dataclass(frozen=True, eq=False)
class Objects:
    """Those of the old program, by names that both share; ``naming`` is that of one of them."""

    naming: Naming
    models: frozenset[Key]
    optimizers: frozenset[Key]
    cast: frozenset[Key]  # networks under O1's casts, models or not
    scales: dict[ast.Call, frozenset[Key]] = field(default_factory=dict)  # scale_loss calls and their optimizers
    elsewhere: Elsewhere = NOWHERE  # what code of other files runs under O1's casts
    looking: frozenset[str] = frozenset()  # functions and methods of other files that look at gradients
    handed: frozenset[Obj] = frozenset()  # the models, as the old program has them
    begun: bool = False  # code that is not here has initialized Apex
    switched: frozenset[str] = frozenset()  # attributes that choose one of two backends
    asking: frozenset[str] = frozenset()  # functions of libraries that say whether Apex is there, as it was
    stops: frozenset[int] = frozenset()  # places of conditions behind which the new program may raise, for Apex's arm

    def known(self, expr: ast.AST) -> frozenset[Key]:
        """The models and optimizers that an expression may hold on any path."""
        return self.naming.keys(expr) & self.interesting

    @cached_property
    def interesting(self) -> frozenset[Key]:
        return self.optimizers | self.models

    def beside(self, v: Values, call: ast.AST) -> bool:
        """Whether the network that a call runs is one that nobody handed to Apex."""
        if not isinstance(call, ast.Call):
            return False
        held = self.naming.keys(call.func)
        if isinstance(call.func, ast.Attribute):
            held |= self.naming.keys(call.func.value)
        return not held & self.models and (bool(held & self.cast) or runs_elsewhere(v, call, self.elsewhere))


def known_objects(m: Module, v: Values, naming: Naming, facts: Facts) -> Objects:
    """What the sites of Apex in the old program are about."""
    models: set[Obj] = set()
    optimizers: set[Obj] = set()
    for init in facts.initializes:
        models |= init.model_objects
        optimizers |= init.optimizer_objects
    scales: dict[ast.Call, frozenset[Key]] = {}
    for scale in facts.scales:
        optimizers |= scale.optimizer_objects
    optimizers |= {o for call in _of_own_scalers(m, v) for o in v.of(call.args[0])}
    naming.alike = made_alike(m, v, optimizers, models)
    for scale in facts.scales:
        scales[scale.call] = frozenset(naming.key(o) for o in scale.optimizer_objects)
    levels = [argument(init.call, 3, "opt_level") for init in facts.initializes]
    cast: frozenset[Key] = frozenset()
    elsewhere = NOWHERE
    if all(level is None or (isinstance(level, ast.Constant) and level.value == "O1") for level in levels):
        every = {o for node in m.nodes for o in v.of(node)}
        networks = {o for o in every if is_cast_network(naming, o, facts.elsewhere)}
        networks |= {o for o in every if not kept_elsewhere(v, o, facts.elsewhere).isdisjoint(models)}
        networks |= {o for call in m.all(ast.Call) for o in may_be_network(v, call, facts.elsewhere)}
        cast, elsewhere = frozenset(map(naming.key, networks)), facts.elsewhere
    return Objects(
        naming,
        frozenset(naming.key(o) for o in models if o.kind != "apex"),
        frozenset(naming.key(o) for o in optimizers if o.kind != "apex"),
        cast,
        scales,
        elsewhere,
        facts.elsewhere.gradients,
        frozenset(models),
        bool(facts.scales) and not facts.initializes,
        asking=asked_elsewhere(m, facts),
    )


def _of_own_scalers(m: Module, v: Values) -> Iterator[ast.Call]:
    """The calls by which the old program's own GradScalers, beside Apex, are handed an optimizer."""
    for call in (*m.calls("step"), *m.calls("unscale_")):
        if isinstance(call.func, ast.Attribute) and len(call.args) == 1:
            if any(o.kind == "call" and o.label in SCALERS for o in v.of(call.func.value)):
                yield call


def is_cast_network(naming: Naming, obj: Obj, elsewhere: Elsewhere) -> bool:
    """Whether an object is a network by its class: O1's casts reach those that nobody handed to Apex as well."""
    if obj.kind == "instance" and isinstance(obj.key, ast.ClassDef):
        return not NO_NETWORK.fit(obj.key.name) and within_module_class(naming, obj.key.body[0])
    if is_network(naming.v, obj, elsewhere):
        return True
    if obj.kind != "call" or not isinstance(obj.key, ast.Call) or not isinstance(obj.key.func, ast.Attribute):
        return False
    func = obj.key.func
    made = func.attr[:1].isupper() and dotted(func.value) in ("nn", "torch.nn")
    return made and not NO_NETWORK.fit(func.attr)


def within_module_class(naming: Naming, node: ast.AST) -> bool:
    """Whether a node stands in a network's own class: what runs there is part of the network's call. The old text says
    it for both programs: of what trains there something may be gone in the new one."""
    for outer in naming.m.ancestors(node):
        if isinstance(outer, ast.ClassDef):
            was = naming.twin(outer)
            trains = naming.old.says(was, TRAINING) if was is not None else naming.m.says(outer, TRAINING)
            return any(last_name(b).endswith("Module") for b in outer.bases) and not trains
    return False

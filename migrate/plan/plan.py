"""All decisions about one unit."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..facts.sites import Initialize
from ..units.unit import Context, Unit
from .backends.native import Backend
from .gradients.fold import Fold
from .home.places import Homes
from .precision.hazards import Hazards
from .premises.handed import Handed
from .regions.marks import Region
from .regions.named import Named
from .regions.planner import Planner
from .schedule import Schedule


@dataclass(eq=False)
class Plan:
    """All decisions about one unit."""

    ctx: Context
    unit: Unit
    planner: Planner
    folds: list[Fold]
    schedule: Schedule
    state: list[tuple[ast.expr, str]]
    scaled: bool  # False: autocast alone (inference, bfloat16)
    homes: Homes = field(default_factory=Homes)
    always: bool = True  # mixed precision is never off
    enabled_at: dict[Region, str] = field(default_factory=dict)  # "" where autocast is always on
    alone: list[Region] = field(default_factory=list)  # evaluations that may run where nothing trains
    hoist_enabled: list[str] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)  # conditions that several regions of a function ask
    scaler_at: dict[ast.AST, str] = field(default_factory=dict)  # site, step, unscale or state use -> expression
    backend: Backend | None = None  # a native one of the file's own, which serves in Apex's place
    marks: list[ast.Call] = field(default_factory=list)  # `hasattr(optimizer, "_amp_stash")`
    handed: Handed | None = None  # a model that a library's runner trains
    idle: tuple[ast.stmt, ...] = ()  # what saves or loads amp's state where nothing scales a loss
    hazards: Hazards = field(default_factory=Hazards)
    uncovered: list[tuple[ast.AST, str, str]] = field(default_factory=list)  # reviews of what lies in no region
    left_out: frozenset[Initialize] = frozenset()  # initialize calls in arms that go as a whole

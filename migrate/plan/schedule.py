"""What becomes of a unit's gradients: where they are unscaled, which clips move, where the scale is updated."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..flow.objects import Obj
from ..units.unit import Manual, Step

# What `scaler.step()` says of an optimizer without gradients: a review that names it announces that difference.
NO_CHECKS = "no inf checks were recorded"


@dataclass(eq=False)
class Scaler:
    """A GradScaler to be: the optimizers it serves, and its name."""

    objects: frozenset[Obj]
    name: str = "scaler"


@dataclass(eq=False)
class Unscale:
    """``scaler.unscale_(optimizer)`` before ``before``, or ``behind`` it, at the end of a block; ``loop`` is the header
    that it stands under: that of a loop where it goes over several, or of an ``if``."""

    before: ast.stmt
    optimizer: str
    objects: frozenset[Obj]
    loop: str | None = None
    behind: bool = False


@dataclass(frozen=True, eq=False)
class Early:
    """``if test: unscale_`` before ``before``, in the rounds in which the step is taken; ``scale`` is the name of what
    gradients are multiplied with behind it."""

    before: ast.stmt
    test: ast.expr
    step: Step
    scale: str


@dataclass(frozen=True, eq=False)
class Pending:
    """A flag that says whether a scaled backward waits for its step, where the step may also come without one: it is
    set before ``begin``, behind ``backwards``, and behind the steps and what is ``cleared`` apart from them."""

    name: str
    begin: ast.stmt
    backwards: tuple[ast.stmt, ...]
    steps: tuple[Step, ...]
    cleared: tuple[ast.stmt, ...]


@dataclass(eq=False)
class Schedule:
    """Filled in by `gradients.decide`, and only read after that."""

    scalers: list[Scaler] = field(default_factory=list)
    unscales: list[Unscale] = field(default_factory=list)
    moved: dict[ast.stmt, ast.stmt] = field(default_factory=dict)  # clip -> step it now stands before
    scaled_clips: list[ast.stmt] = field(default_factory=list)
    rescaled_clips: dict[ast.Call, Step] = field(default_factory=dict)  # clips of gradients that stay scaled
    factors: dict[ast.Call, ast.expr] = field(default_factory=dict)  # what such a call multiplies all with that it adds
    early: dict[ast.Call, Early] = field(default_factory=dict)  # those of them that are unscaled where a step follows
    asking: dict[Step, ast.expr] = field(default_factory=dict)  # the condition under which one is unscaled ahead of it
    divided: dict[ast.expr, Step] = field(default_factory=dict)  # gradients that are looked at while they are scaled
    scale_free: list[ast.stmt] = field(default_factory=list)  # of readers to whom the size of gradients is all one
    updates: list[Step] = field(default_factory=list)  # an update() follows these
    late: dict[Step, ast.stmt] = field(default_factory=dict)  # step -> what update() follows instead of it
    exits: list[tuple[ast.stmt, Step]] = field(default_factory=list)  # an update() comes before these, too
    early_exits: list[tuple[ast.stmt, Early]] = field(default_factory=list)  # where it was unscaled early, that is
    unfed: dict[Step, Manual] = field(default_factory=dict)  # steps that may come again with nothing new
    pending: list[Pending] = field(default_factory=list)

    def waits(self, objects: frozenset[Obj]) -> Pending | None:
        """The flag without which some optimizers have nothing to unscale."""
        return next((one for one in self.pending if one.steps[0].objects & objects), None)

    def updated_behind(self, step: Step) -> ast.stmt:
        """The statement that ``update()`` follows, if it follows this step."""
        return self.late.get(step, step.anchor)

"""Classes that scale: an object is called with a loss and its optimizer, and scales, clips and steps.

Such is timm's ApexScaler. What it is called with stays as it is, and its inside becomes native: the object has a
GradScaler of its own. Whoever calls it is elsewhere, or has a native backend beside Apex, which serves (APX043).
Always *review*.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...facts.sites import Scale
from ...units.conditions import TRUE
from ...units.steps import find_steps
from ...units.unit import Context, Manual, Step, Unit
from ..backends.native import native_backend
from ..blocks import running
from ..carried import OLD_STATE
from ..inserted import free_name
from ..schedule import Schedule
from .places import Creation, Homes
from .switch import constructor
from .there import made


def apart(ctx: Context, units: Sequence[Unit], unled: bool) -> list[Unit] | None:
    """The units where what classes scale by themselves is a unit of its own, or, where no native backend serves who
    initializes, one with a class that makes the scaler; None where there is no such class. ``unled``: nothing else in
    the tree needs Apex's amp."""
    scales = [scale for unit in units for scale in unit.scales]
    classes = {cls for scale in scales if (cls := _class_of(ctx, scale)) is not None}
    if not scales or len(classes) != 1 or any(_class_of(ctx, scale) is None for scale in scales):
        return None
    begun = [Unit(0, unit.initializes, [], beside=frozenset(classes)) for unit in units if unit.initializes]
    backends = [native_backend(ctx, unit) for unit in begun]
    if not all(backends):
        return [Unit(1, units[0].initializes, scales, apart=True)] if len(units) == 1 else None
    if not (begun or unled):
        return None
    unused = {cls for backend in backends if backend is not None for cls in backend.unused}
    found = [*begun, *([] if classes <= unused else [Unit(0, [], scales, apart=True)])]
    for number, unit in enumerate(found, 1):
        unit.number = number
    return found


def is_called(ctx: Context, units: Sequence[Unit]) -> bool:
    """Whether objects of a class that makes its scaler are called: ``loss_scaler(loss, optimizer)``."""
    scopes = [ctx.m.function(scale.call) for unit in units for scale in unit.scales]
    return bool(scopes) and all(getattr(scope.node, "name", "") == "__call__" for scope in scopes)


def _class_of(ctx: Context, scale: Scale) -> ast.ClassDef | None:
    """The class of a method that is handed both a loss and its optimizer."""
    m = ctx.m
    scope = m.function(scale.call)
    own, cls = m.self_name(scope), m.class_of(scope)
    given = (scale.loss, scale.optimizers)
    if cls is None or own is None or not all(isinstance(x, ast.Name) and x.id in scope.params for x in given):
        return None
    return cls


def class_of(ctx: Context, unit: Unit) -> ast.ClassDef:
    """The class of a unit that is apart."""
    cls = _class_of(ctx, unit.scales[0])
    assert cls is not None
    return cls


def steps(ctx: Context, unit: Unit) -> list[Step]:
    """The steps of a class that scales: what others step with the same optimizer is the arm without a scaler."""
    scopes = {ctx.m.function(scale.call) for scale in unit.scales}
    return [step for step in find_steps(ctx, unit) if ctx.m.function(step.call) in scopes]


def settle(
    ctx: Context, unit: Unit, schedule: Schedule, state: Sequence[tuple[ast.expr, str]]
) -> tuple[Homes, dict[ast.AST, str]]:
    """The scaler that the class makes, and how each site reaches it."""
    m = ctx.m
    scope = m.function(unit.scales[0].call)
    cls, own = m.class_of(scope), m.self_name(scope)
    assert cls is not None
    if len(schedule.scalers) != 1:
        raise Manual(unit.line_node, "several optimizers are trained by this class")
    (scaler,) = schedule.scalers
    scaler.name = free_name(m, scaler.name, set(ctx.scalers))
    sites: list[ast.AST] = [*(s.call for s in unit.moments), *schedule.divided, *(u.before for u in schedule.unscales)]
    outside = next((site for site in sites if m.class_of(m.function(site)) is not cls), None)
    outside = outside or next((use for use, kind in state if not _own_state(ctx, use, kind, cls)), None)
    if outside is not None:
        raise Manual(outside, "this belongs to what the class scales by itself, and the way of its scaler is not known")
    homes = Homes([_creation(ctx, cls, f"{own}.{scaler.name}", Creation(scaler, cls, "", TRUE))])
    if unit.initializes:
        _tell_kept(ctx, unit, cls)
    else:
        _tell(unit, cls, bool(ctx.facts.initializes))
    for use in (use for use, kind in state if kind == "load_state_dict"):
        unit.review(use, "APX070", OLD_STATE)
    return homes, dict.fromkeys([*sites, *(use for use, _ in state)], f"{own}.{scaler.name}")


def _own_state(ctx: Context, use: ast.expr, kind: str, cls: ast.ClassDef) -> bool:
    scope = ctx.m.function(use)
    return kind in ("state_dict", "load_state_dict") and ctx.m.class_of(scope) is cls and bool(ctx.m.self_name(scope))


def _creation(ctx: Context, cls: ast.ClassDef, text: str, plain: Creation) -> Creation:
    """The scaler is made at the end of the constructor, or in one that the class gets."""
    node = constructor(cls)
    derived = [c for c in ctx.m.all(ast.ClassDef) if any(isinstance(b, ast.Name) and b.id == cls.name for b in c.bases)]
    if any(constructor(c) is not None for c in derived):
        raise Manual(derived[0], f"this derives from {cls.name} and has a constructor of its own")
    if node is not None:
        last = node.body[-1]
        return Creation(plain.scaler, last, text, TRUE, before=isinstance(last, (ast.Return, ast.Raise)))
    if any(not (isinstance(base, ast.Name) and base.id == "object") for base in cls.bases) or cls.decorator_list:
        raise Manual(cls, f"{cls.name} has no constructor of its own that could make a scaler")
    first = next(s for s in cls.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return Creation(plain.scaler, first, text, TRUE, before=True, method=f"def __init__({text.partition('.')[0]}):")


def _tell_kept(ctx: Context, unit: Unit, cls: ast.ClassDef) -> None:
    """What differs where each object of a class has the scaler that was the process's."""
    m = ctx.m
    every = made(ctx, cls)
    if len(every) != 1 or any(m.loops(at) for at in running(ctx, every[0])):
        unit.review(
            unit.scales[0].call,
            "APX045",
            f"each object of {cls.name} has a GradScaler of its own now, whose scale begins anew; Apex had one for the "
            "process",
        )
    for init in unit.initializes:
        for expr, term in unit.options_of(init).enabled:
            if term.value is False:
                raise Manual(init.call, f"this switches Apex off, and {cls.name} scales all the same")
            if term.value is None:
                unit.review(
                    expr,
                    "APX045",
                    f"where not `{term.text}`, {cls.name} did not scale, and its GradScaler does: the same gradients, "
                    "but a step whose gradients overflow is left out",
                )


def _tell(unit: Unit, cls: ast.ClassDef, served: bool) -> None:
    who = "the file's native backend serves in Apex's place" if served else "nothing that is read here initializes amp"
    unit.review(
        unit.scales[0].call,
        "APX045",
        f"{cls.name} keeps its interface and has a GradScaler of its own now, as {who}: whoever uses it runs the model "
        "under torch.autocast, which this does not do",
    )

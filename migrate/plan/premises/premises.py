"""What has to hold before a unit is decided, and what is named where it only half holds.

Each check raises Manual with the site and the missing fact, or adds a difference to the unit's reviews.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from ...facts.names import called_name, last_name
from ...facts.once import once
from ...facts.scaler_names import scaler_classes
from ...facts.sites import Initialize, Scale, on_stack
from ...flow.objects import Obj
from ...knowledge.gradients import SCHEDULERS
from ...knowledge.host import BEFORE_INITIALIZE
from ...knowledge.words import Patterns
from ...nodes import walk
from ...units.translate import paired
from ...units.unit import Context, Manual, Unit, once_of_unit
from ..blocks import common
from ..gradients.fold import Fold
from ..gradients.inside import check_guard
from ..gradients.reached import may_change
from ..gradients.unscaling import stays_in_place
from ..schedule import NO_CHECKS, Schedule
from .called_elsewhere import derives_elsewhere
from .stash import check_stash
from .tied import said_of_ties
from .unbound import check_bound

MAX_INITIALIZES = 100  # whether it is on is one condition made of all theirs, asked on every way; seldom there are five
_RUNS = Patterns("OptimizerHook build_runner *Runner")


def check(ctx: Context, unit: Unit) -> None:
    """The sites themselves: entered by ``with``, their parts in this file, nothing in the block that cannot stay."""
    if len(unit.initializes) > MAX_INITIALIZES:
        raise Manual(
            unit.initializes[0].call,
            f"more than {MAX_INITIALIZES} calls of amp.initialize decide together whether mixed precision is on",
        )
    for scale in unit.scales:
        if scale.with_ is None:
            raise Manual(scale.call, "scale_loss is not entered by a with statement here")
        if scale.item is None:
            _check_apart(ctx, scale)
        elif scale.item.optional_vars is not None and scale.alias is None:
            raise Manual(scale.call, "the scaled loss is not bound to a plain name")
        _check_backward(ctx, unit, scale)
        if scale.optimizers is None:
            raise Manual(scale.call, "scale_loss without an optimizer that can be read here")
    if unit.scales and not unit.initializes and not unit.apart:
        _check_runner(ctx, unit.scales[0].call)
        raise Manual(
            unit.scales[0].call,
            "this optimizer is initialized in another file (or is a parameter that nothing in this file fills)",
            "scaler.scale(loss).backward() here, with the scaler handed on from where amp.initialize stands",
        )
    for scale in unit.scales:
        if scale.with_ is not None:
            _check_body(ctx, scale)
        held = ctx.v.of(scale.optimizers) if scale.optimizers is not None else frozenset()
        if any((o.kind in ("seq", "dict") or ctx.v.is_container(o)) and not _single(o) for o in held):
            unit.review(
                scale.call,
                "APX041",
                "several optimizers share this loss: on overflow Apex left out all their steps, GradScaler leaves out "
                "those whose own gradients overflowed; and where the loss reaches no parameter of one, its "
                f"scaler.step() raises ({NO_CHECKS}), which Apex let pass{said_of_ties(ctx)}",
            )
    alone = _trains_plainly(ctx, unit) or _only_evaluates(ctx, unit)
    if not unit.scales and any(i.optimizers for i in unit.initializes) and not alone:
        _check_runner(ctx, unit.initializes[0].call)
        raise Manual(
            unit.initializes[0].call,
            "the loss of this optimizer is not scaled in this file",
            'scaler = torch.amp.GradScaler("cuda") beside the optimizer, handed on to where the loss is scaled',
        )
    for init in unit.initializes:
        _check_stand_in(ctx, init)
    check_bound(ctx, unit)
    check_stash(ctx)
    for name in sorted(ctx.facts.ambiguous & {"amp", "apex"}):
        raise Manual(unit.line_node, f"`{name}` may be Apex or another module here: two backends side by side")


def _check_runner(ctx: Context, site: ast.Call) -> None:
    """Where mmcv's runner trains, a hook scales the loss and no line of the project runs the model."""
    file = ctx.m.file(site)
    for stmt in ctx.m.all(ast.ImportFrom):
        runner = (stmt.module or "").split(".")[0] == "mmcv" and (stmt.module or "").endswith("runner")
        if runner and ctx.m.file(stmt) is file and any(_RUNS.fit(alias.name) for alias in stmt.names):
            raise Manual(
                site,
                "the model is run by mmcv's runner, so no line here can put it under autocast",
                "fp16 = dict(loss_scale='dynamic') in the config, and an optimizer_config without this hook: "
                "mmcv's Fp16OptimizerHook has a GradScaler, and its models run under autocast then",
            )


def _check_stand_in(ctx: Context, init: Initialize) -> None:
    """Where Apex cannot be used, native AMP is: that arm is the migration already."""
    for outer in ctx.m.spine(init.call):
        for handler in getattr(outer, "handlers", ()):
            for node in walk(handler):
                if isinstance(node, ast.Call) and called_name(node) in scaler_classes(ctx.m):
                    raise Manual(
                        node,
                        "a GradScaler stands in here where Apex fails: two backends side by side",
                        "keep this arm, without a condition, and delete the try, amp.initialize and what scales by amp",
                    )


def _single(container: Obj) -> bool:
    """A list or tuple literal of one element."""
    return isinstance(container.key, (ast.List, ast.Tuple)) and len(container.key.elts) == 1


def model_alone(ctx: Context, init: Initialize) -> bool:
    """Whether the result, kept whole, may be the model alone: that is so where the optimizer is None."""
    m = ctx.m
    above = m.parent[init.call]
    whole = isinstance(above, ast.Assign) and not isinstance(above.targets[0], (ast.Tuple, ast.List))
    for optimizer in init.optimizers if whole else ():
        if not isinstance(optimizer, ast.Name):
            continue
        for node in m.stores(optimizer.id, m.binding_scope(optimizer.id, m.scope(optimizer))):
            stored = m.statement(node)
            if not isinstance(stored, ast.Assign):
                continue
            pairs = [pair for target in stored.targets for pair in paired(target, stored.value)]
            if any(t is node and isinstance(held, ast.Constant) and held.value is None for t, held in pairs):
                return True
    return False


def _check_apart(ctx: Context, scale: Scale) -> None:
    """A context that is entered under a name or on a stack: all that holds it stands here, and is entered once."""
    m, v, whole = ctx.m, ctx.v, scale.whole
    assert whole is not None and scale.with_ is not None
    if scale.alias is None:
        raise Manual(scale.call, "the scaled loss is not bound to a plain name")
    entered = on_stack(m, whole)
    if entered is not None:
        assert isinstance(entered.func, ast.Attribute)
        stack, scope = m.src(entered.func.value), m.function(entered)
        uses = [n for n in m.own(scope, ast.Name) if n.id == stack]
        for use in uses:
            above = m.parent[use]
            fine = isinstance(above, ast.Attribute) and above.attr in ("enter_context", "callback")
            if isinstance(use.ctx, ast.Load) and not fine:
                raise Manual(use, f"`{stack}` is handed on: where its blocks end is not known")
        return
    if plain_context(ctx, scale) is None:
        raise Manual(scale.call, "scale_loss is not entered by a with statement here")
    for node in m.nodes:
        if isinstance(node, ast.expr) and any(o.key is scale.call for o in v.of(node)):
            above = m.parent[node]
            if isinstance(node, ast.Name) and node.id == scale.alias and m.function(node) is m.function(scale.with_):
                continue  # the scaled loss itself
            held = isinstance(above, (ast.Assign, ast.Return, ast.IfExp, ast.withitem))
            if not held and not isinstance(getattr(node, "ctx", None), ast.Store):
                raise Manual(node, "scale_loss is not entered by a with statement here, or not by that alone")


def plain_context(ctx: Context, scale: Scale) -> str | None:
    """How the file says ``nullcontext`` where a context is made; None where it does not import it."""
    if isinstance(scale.whole, ast.IfExp):
        other = scale.whole.orelse if scale.call is scale.whole.body else scale.whole.body
        assert isinstance(other, ast.Call)
        return ctx.m.src(other.func)
    for stmt in ctx.m.file(scale.call).tree.body:
        for alias in stmt.names if isinstance(stmt, (ast.Import, ast.ImportFrom)) else ():
            if isinstance(stmt, ast.ImportFrom) and (stmt.module, alias.name) == ("contextlib", "nullcontext"):
                return alias.asname or alias.name
            if isinstance(stmt, ast.Import) and alias.name == "contextlib":
                return f"{alias.asname or alias.name}.nullcontext"
    return None


def _behind(ctx: Context, scale: Scale) -> list[ast.stmt]:
    """The statements of a block that run when its loss has been scaled."""
    assert scale.with_ is not None
    body = scale.with_.body
    return [s for s in body if not ctx.m.inside(scale.call, scale.with_) or ctx.m.end(s) > ctx.m.start(scale.call)]


def _entered_with(ctx: Context, unit: Unit, scale: Scale) -> set[str]:
    """The scaled losses of other optimizers whose blocks are open where that of ``scale`` is."""
    found: set[str] = set()
    assert scale.with_ is not None
    open_ = {*ctx.m.spine(scale.with_), *walk(scale.with_)}
    for other in (one for node in open_ for one in _blocks(ctx, unit).get(node, ())):
        if other is scale or other.alias is None or ctx.m.function(other.call) is not ctx.m.function(scale.call):
            continue
        if not other.optimizer_objects & scale.optimizer_objects:
            found.add(other.alias)
    return found


@once_of_unit
def _blocks(ctx: Context, unit: Unit) -> dict[ast.AST, list[Scale]]:
    """The scaled losses of each block."""
    found: dict[ast.AST, list[Scale]] = defaultdict(list)
    for scale in unit.scales:
        if scale.with_ is not None:
            found[scale.with_].append(scale)
    return found


def _check_backward(ctx: Context, unit: Unit, scale: Scale) -> None:
    """The block has to do something with the scaled loss, and must not run backward on anything that is not scaled."""
    assert scale.with_ is not None
    aliases = {scale.alias, *_entered_with(ctx, unit, scale)}
    nodes = [n for stmt in _behind(ctx, scale) for n in walk(stmt)]
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            owner = node.func.value
            if not (isinstance(owner, ast.Name) and owner.id in aliases) and not any(
                isinstance(n, ast.Name) and n.id in aliases for n in walk(node)
            ):
                raise Manual(
                    node,
                    f"{ctx.m.src(node)} inside the scale_loss block runs on a loss that is not scaled: Apex divided "
                    "its gradients by the loss scale all the same",
                    "scaler.scale(loss).backward()",
                )
    if not any(isinstance(n, ast.Name) and n.id == scale.alias for n in nodes):
        raise Manual(scale.call, "nothing in the scale_loss block uses the scaled loss")


def _check_body(ctx: Context, scale: Scale) -> None:
    """A step or zero_grad inside the with block ran before Apex had unscaled (or put back) the gradients."""
    assert scale.with_ is not None
    for stmt in _behind(ctx, scale):
        for node in walk(stmt):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                held = ctx.v.of(node.func.value)
                if node.func.attr in ("step", "zero_grad") and held & scale.optimizer_objects:
                    raise Manual(
                        node,
                        f"{ctx.m.src(node)} inside the scale_loss block ran on gradients that were still scaled "
                        "(or not yet put together with earlier ones)",
                        "move it behind the block, where it belongs",
                    )


@once
def _trains_besides(ctx: Context) -> bool:
    """Whether a backward runs where no loss is scaled of an optimizer that is initialized here."""
    initialized = frozenset().union(*(init.optimizer_objects for init in ctx.facts.initializes))
    known = all(scale.optimizer_objects & initialized for scale in ctx.facts.scales)
    training = {ctx.m.function(scale.call) for scale in ctx.facts.scales} if known else set()
    return any(ctx.m.function(call) not in training for call in ctx.m.calls("backward"))


def _only_evaluates(ctx: Context, unit: Unit) -> bool:
    """Whether nothing trains here: no backward but where another unit's loss is scaled, no step, and the optimizer goes
    to nobody but to be saved or loaded."""
    if _trains_besides(ctx) or _kept_elsewhere(ctx, unit):
        return False
    for node in ctx.touching(unit.optimizer_objects):
        name = called_name(node)
        if isinstance(node.func, ast.Attribute) and ctx.v.of(node.func.value) & unit.optimizer_objects:
            if name not in ("load_state_dict", "state_dict"):
                return False
        if node in (i.call for i in unit.initializes) or BEFORE_INITIALIZE.fit(name) or _stays_in_sight(ctx, node):
            continue
        if any(ctx.v.of(a) & unit.optimizer_objects for a in [*node.args, *(k.value for k in node.keywords)]):
            return False
    return True


def _kept_elsewhere(ctx: Context, unit: Unit) -> bool:
    """Whether an object whose methods do not all stand in the program keeps the optimizer."""
    owners = [node.value for node in ctx.given(unit.optimizer_objects) if isinstance(node, ast.Attribute)]
    keys = [obj.key for owner in owners for obj in ctx.v.of(owner) if obj.kind in ("instance", "call")]
    classes = [key for key in keys if isinstance(key, ast.ClassDef)]
    made = [called_name(key) for key in keys if isinstance(key, ast.Call)]
    return any(derives_elsewhere(ctx, cls) for cls in classes) or any(name[:1].isupper() for name in made)


def _stays_in_sight(ctx: Context, call: ast.Call) -> bool:
    """Whether all that a call does with an optimizer is told of its own calls: functions and classes of the program run
    there, or a schedule of its learning rate is made."""
    m, v = ctx.m, ctx.v
    if SCHEDULERS.fit(called_name(call)):
        return True
    if called_name(call) == "__init__":  # of a schedule that the program derives
        cls = m.class_of(m.function(call))
        return cls is not None and any(SCHEDULERS.fit(last_name(base)) for base in cls.bases)
    if any(isinstance(obj.key, ast.ClassDef) and derives_elsewhere(ctx, obj.key) for obj in v.of(call.func)):
        return False  # what its base does with it stands in no file of the program
    return bool(v.callees(call)) and all(v.callee(obj) in v.callees(call) for obj in v.of(call.func))


def _trains_plainly(ctx: Context, unit: Unit) -> bool:
    """Whether the optimizer steps in this file after a plain backward: O1's casts without loss scaling."""
    if ctx.facts.scales or not any(isinstance(n.func, ast.Attribute) for n in ctx.m.calls("backward")):
        return False
    steps = [n.func for n in ctx.m.calls("step") if isinstance(n.func, ast.Attribute)]
    return any(ctx.v.of(func.value) & unit.optimizer_objects for func in steps)


def check_moves(ctx: Context, unit: Unit, schedule: Schedule, folded: list[Fold]) -> None:
    """A clip that moves leaves its guard behind: that guard has to fold away."""
    m = ctx.m
    kept = [x for f in folded for x in getattr(f.stmt, f.arm)]
    dropped = [x for f in folded for x in (f.stmt.orelse if f.arm == "body" else f.stmt.body)]
    for clip in [c for c in schedule.moved if c in dropped]:
        del schedule.moved[clip]
    for clip in [*schedule.moved]:
        guard = m.parent[clip]
        step = schedule.moved[clip]
        if clip in schedule.scaled_clips:
            check_guard(ctx, clip, kept)
            continue
        tops = common(ctx, clip, step)
        own = isinstance(guard, ast.If) and not guard.orelse and tops is not None and m.inside(guard, tops[0])
        if own and isinstance(guard, ast.If) and len(guard.body) == 1 and m.parent.get(guard) is m.parent.get(tops[0]):  # type: ignore[index]
            if not may_change(ctx, guard.test, guard, step):
                continue  # the condition moves with the clip
        if own and not stays_in_place(ctx, unit, schedule, clip):
            raise Manual(
                clip,
                "gradients are clipped under a condition of their own after every backward, and the step is taken "
                "under another",
                "under the step's condition: scaler.unscale_(optimizer), then this condition and the clip",
            )
        arms = isinstance(guard, ast.If) and bool(guard.orelse) and clip not in kept
        if arms and not own and not stays_in_place(ctx, unit, schedule, clip):
            raise Manual(
                clip,
                "the two arms of this guard clip differently, and the step is taken under another condition",
                "under the step's condition: scaler.unscale_(optimizer), then clip",
            )
    for fold in folded:
        if fold.loose:
            unit.review(
                fold.stmt,
                "APX051",
                "the arm without mixed precision clipped model.parameters(); now both clip the parameters that the "
                "optimizer owns, which were not proved to be the same",
            )

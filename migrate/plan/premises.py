"""What has to hold before a unit is decided, and what is named where it only half holds.

Each check raises Manual with the site and the missing fact, or adds a difference to the unit's reviews.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.names import called_name
from ..facts.scopes import Scope
from ..facts.sites import Initialize, Scale, on_stack
from ..flow.objects import FORWARD_HOOK, Obj
from ..knowledge.gradients import SCHEDULERS
from ..knowledge.host import BEFORE_INITIALIZE
from ..knowledge.words import Patterns
from ..nodes import walk
from ..units.autograd import uncast_functions
from ..units.events import reads_gradients
from ..units.order import NOT_YET, Order
from ..units.translate import paired
from ..units.unit import Context, Manual, Step, Unit, once, scales_in, steps_in
from .another_optimizer import steps_another
from .attacks import asks_for_its_own
from .blocks import common
from .fold import Fold
from .gradients import stays_in_place
from .inside import check_guard
from .pending import pending
from .regions import Planner
from .schedule import NO_CHECKS, Schedule
from .unbound import check_bound

_RUNS = Patterns("OptimizerHook build_runner *Runner")


def check(ctx: Context, unit: Unit) -> None:
    """The sites themselves: entered by ``with``, their parts in this file, nothing in the block that cannot stay."""
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
                f"scaler.step() raises ({NO_CHECKS}), which Apex let pass",
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
    check_bound(ctx)
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
                if isinstance(node, ast.Call) and called_name(node) == "GradScaler":
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
    for other in scales_in(ctx, unit, ctx.m.function(scale.call)):
        if other is scale or other.alias is None or other.with_ is None or scale.with_ is None:
            continue
        open_ = ctx.m.inside(scale.with_, other.with_) or ctx.m.inside(other.with_, scale.with_)
        if open_ and not other.optimizer_objects & scale.optimizer_objects:
            found.add(other.alias)
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
    if _trains_besides(ctx):
        return False
    for node in ctx.touching(unit.optimizer_objects):
        name = called_name(node)
        if isinstance(node.func, ast.Attribute) and ctx.v.of(node.func.value) & unit.optimizer_objects:
            if name not in ("load_state_dict", "state_dict"):
                return False
        if node in (i.call for i in unit.initializes) or BEFORE_INITIALIZE.fit(name):
            continue
        if any(ctx.v.of(a) & unit.optimizer_objects for a in [*node.args, *(k.value for k in node.keywords)]):
            return False
    return True


def _trains_plainly(ctx: Context, unit: Unit) -> bool:
    """Whether the optimizer steps in this file after a plain backward: O1's casts without loss scaling."""
    if ctx.facts.scales or not any(isinstance(n.func, ast.Attribute) for n in ctx.m.calls("backward")):
        return False
    steps = [n.func for n in ctx.m.calls("step") if isinstance(n.func, ast.Attribute)]
    return any(ctx.v.of(func.value) & unit.optimizer_objects for func in steps)


def scale_plain_backwards(ctx: Context, unit: Unit) -> None:
    """A plain backward beside a scaled one, of which every gradient goes to the unit's optimizers, is scaled too:
    Apex added its gradients to those that it had unscaled."""
    m = ctx.m
    if not unit.scales or _steps_others(ctx, unit):
        return
    found: list[Scale] = []
    for node in _plain_backwards(ctx, unit, []):
        if not isinstance(node.func, ast.Attribute):
            continue
        near = scales_in(ctx, unit, m.function(node))
        beside = next((s for s in near if _same_round(ctx, s.call, node)), None)
        alone = isinstance(m.parent[node], ast.Expr) and not node.args
        if beside is None or not alone or _scaled_by_hand(node) or asks_for_its_own(ctx, node):
            continue
        owner = node.func.value
        held = beside.optimizer_objects
        found.append(Scale(node, owner, beside.optimizers, held, None, None, None))
        unit.review(
            node,
            "APX042",
            f"`{m.src(node)}` was not scaled and now is, as a step takes all its gradients from one scale: an overflow "
            "in it leaves the step out, which Apex did not look at",
        )
    unit.scales += found


def _backward_functions(ctx: Context) -> set[str]:
    """Names by which the file calls ``torch.autograd.backward``."""
    return {
        alias.asname or alias.name
        for node in ctx.m.all(ast.ImportFrom)
        if node.module == "torch.autograd"
        for alias in node.names
        if alias.name == "backward"
    }


def _steps_others(ctx: Context, unit: Unit) -> bool:
    """Whether an optimizer that is not the unit's is stepped where its own are, or around there."""
    near = _reached(ctx, {ctx.m.function(s.call) for s in unit.moments})
    for node in (call for scope in near for call in ctx.m.own(scope, ast.Call)):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            held = ctx.v.of(node.func.value)
            known = held & unit.optimizer_objects or ctx.v.callees(node)
            names = [ctx.m.src(node.func), *(o.label for o in held)]
            if not known and not any(SCHEDULERS.fit(name) for name in names):
                return True
    return False


def _same_round(ctx: Context, scaled: ast.Call, plain: ast.Call) -> bool:
    """Whether two backwards run in the same round of the same loop, the plain one perhaps several times."""
    m = ctx.m
    around, inner = m.loops(scaled), m.loops(plain)
    return m.function(scaled) is m.function(plain) and inner[max(len(inner) - len(around), 0) :] == around


def _differentiated(ctx: Context, node: ast.Call) -> str:
    """What a backward starts from, as the file says it."""
    method = isinstance(node.func, ast.Attribute) and ctx.m.src(node.func.value) not in ("torch.autograd", "autograd")
    start = node.func.value if method and isinstance(node.func, ast.Attribute) else (node.args or [node.func])[0]
    return ctx.m.src(start)


def _scaled_by_hand(node: ast.Call) -> bool:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == "scale"


def check_plain_backwards(ctx: Context, unit: Unit, folded: list[Fold]) -> None:
    """An unscaled backward beside a scaled one would mix scaled and unscaled gradients; one in a function of its own
    may train something else, and one behind all training only asks for gradients (GradCAM, a saliency map), which the
    comparison finds out."""
    own = {ctx.m.function(moment.call) for moment in unit.moments}
    for node in _plain_backwards(ctx, unit, folded):
        if _scaled_by_hand(node):
            raise Manual(node, "native AMP and Apex stand side by side: one backend has to go first")
        mixed = Manual(
            node,
            f"`{ctx.m.src(node)}` runs beside a scaled backward of the same step: its gradients would not be scaled",
            f"where the same optimizer takes its gradients: scaler.scale({_differentiated(ctx, node)}).backward()",
        )
        told = _behind_training(ctx, unit, node) or asks_for_its_own(ctx, node) or steps_another(ctx, unit, node)
        if ctx.m.function(node) in own and not told:
            raise mixed
        unit.unless_proved.append(mixed)


def _behind_training(ctx: Context, unit: Unit, node: ast.Call) -> bool:
    """Whether all backwards and steps of a function stand above a node, each in a loop that it is not in."""
    m = ctx.m
    mine = [moment.call for moment in unit.moments if m.function(moment.call) is m.function(node)]
    around = set(m.loops(node))
    return all(m.end(call) <= m.start(node) and set(m.loops(call)) - around for call in mine)


def _plain_backwards(ctx: Context, unit: Unit, folded: list[Fold]) -> Iterator[ast.Call]:
    """Backwards without a scale that may run in the same process as scaled ones of the unit."""
    m = ctx.m
    dropped = [s for f in folded for s in (f.stmt.orelse if f.arm == "body" else f.stmt.body)]
    places = _reached(ctx, {m.function(s.call) for s in unit.moments})
    aliases = {s.alias for s in unit.scales}
    withs = {s.with_ for s in unit.scales if s.with_ is not None}
    sites = {s.call for s in unit.scales}
    scaled = {m.function(s.call).node for s in unit.scales}
    functions = _backward_functions(ctx)
    order = Order(ctx, unit)
    for node in m.in_order(call for scope in places for call in m.own(scope, ast.Call)):
        by_name = isinstance(node.func, ast.Name) and node.func.id in functions
        if not by_name and not (isinstance(node.func, ast.Attribute) and node.func.attr == "backward"):
            continue
        if node in sites or any(m.inside(node, s) for s in dropped):
            continue
        own = m.function(node).node
        if own not in scaled and any(scaled & set(ctx.v.callees(c)) for c in ctx.v.calls.get(own, ())):
            continue  # another class's, or another function's in its place
        if not withs.isdisjoint(m.ancestors(node)):
            continue
        if ctx.v.callees(node):
            continue  # a method of that name: the backward is in there
        if any(isinstance(n, ast.Name) and n.id in aliases for n in walk(node)):
            continue
        if order.states(node) == {NOT_YET} or _amp_off(ctx, unit, node) or _thrown_away(ctx, unit, node):
            continue
        yield node


def review_trained_apart(ctx: Context, unit: Unit, planner: Planner) -> None:
    """What the file trains without amp ran under O1's casts all the same, once they were on."""
    m = ctx.m
    if not any(o.levels & {"O1", "?"} for o in unit.options.values()):
        return
    decorated = {backward for _, backward in uncast_functions(ctx)}
    for node in ctx.trained_apart:
        scope = m.function(node)
        if scope.node in decorated:
            continue  # it runs under autocast where its forward did
        if not any(m.in_one_run(node, init.call) for init in unit.initializes):
            continue  # a script of its own, which shares files with the one that initializes
        if any(m.function(r.block.body[r.first]) is scope for r in planner.regions) or planner.covered(scope):
            continue
        calls = ctx.v.calls[scope.node]
        if all(planner.early(c) or _amp_off(ctx, unit, c) for c in calls) and calls:
            continue
        name = getattr(scope.node, "name", "this function")
        unit.review(
            node,
            "APX031",
            f"{name}() trains without amp; called once amp.initialize had been, it ran under Apex's casts, and now "
            "runs in float32 as it says",
        )


_PENDING = "the scaler takes it where a scaled backward waits for it, else the optimizer does, as under Apex"


def check_steps_without_backward(ctx: Context, unit: Unit, schedule: Schedule, folded: list[Fold]) -> None:
    """A backward that a condition may leave out, and a step that is taken all the same.

    Whoever wrote that condition meant training to go on, which a step of a GradScaler would not let it: where a flag
    can say whether there was a backward, the scaler takes the step only then."""
    m = ctx.m
    guards_ = {f.stmt for f in folded}
    for scale in (s for s in unit.scales if s.with_ is not None):
        for step in steps_in(ctx, unit, m.function(scale.call)):
            if m.start(step.call) < m.start(scale.call):
                continue
            tops = common(ctx, m.statement(scale.call), step.anchor)
            if tops is None:
                continue
            inside = [s for s in m.spine(scale.call) if m.inside(s, tops[0])]
            for stmt in inside:
                if not isinstance(stmt, ast.If) or stmt in guards_ or _backward_in_each_arm(stmt):
                    continue
                if _left_otherwise(ctx, stmt, scale, step):
                    continue
                if any(_runs_before(ctx, other, scale, tops[0]) for other in unit.scales):
                    continue
                if any(_between(ctx, other, tops[0], step, guards_) for other in unit.scales):
                    continue
                if any(ast.dump(stmt.test) == ast.dump(x.test) for i in unit.initializes for x in _ifs(ctx, i.call)):
                    continue
                test = ast.unparse(stmt.test)
                if any(test in map(ast.unparse, _all_of(x.test)) for x in _ifs(ctx, step.call)):
                    continue  # so is the step
                flag = pending(ctx, unit, schedule, scale, step, folded)
                if flag is not None:
                    schedule.pending.append(flag)
                    said = f"this may be left out (`{test}`), and the step is taken all the same: {_PENDING}"
                    unit.infos.append((scale.call, "APX060", said))
                    break
                raise Manual(
                    scale.call,
                    f"the backward is left out where `{test}` does not hold, while the step (line {step.stmt.lineno}) "
                    "may be taken all the same: with no backward since the last step, scaler.step() raises where Apex "
                    "did nothing",
                    "set a flag beside the backward, and step only where it is set: if pending: "
                    f"scaler.step({ctx.m.src(step.optimizer)}); scaler.update(); pending = False",
                )


def _left_otherwise(ctx: Context, stmt: ast.If, scale: Scale, step: Step) -> bool:
    """Whether the arm without the backward leaves the function, or the round of the loop that the step is in."""
    m = ctx.m
    other = stmt.orelse if any(m.inside(scale.call, s) for s in stmt.body) else stmt.body
    match other[-1:]:
        case [ast.Return()]:
            return True
        case [ast.Continue()]:
            return m.loops(stmt)[:1] == m.loops(step.anchor)[:1]
        case _:
            return False


def _all_of(test: ast.expr) -> list[ast.expr]:
    """The conditions that all hold where ``test`` does."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _runs_before(ctx: Context, other: Scale, scale: Scale, top: ast.stmt) -> bool:
    """Whether another backward of the same optimizer stands outside of what one is left out with."""
    m = ctx.m
    if not other.optimizer_objects & scale.optimizer_objects or m.inside(other.call, top):
        return False
    pair = common(ctx, m.statement(other.call), top)
    return pair is not None and m.start(pair[0]) < m.start(top) and pair[1] is top


def _between(ctx: Context, other: Scale, top: ast.stmt, step: Step, guards_: set[ast.If]) -> bool:
    """Whether another backward, whose gradients the step takes, stands behind what one is left out with, ahead of the
    step and under no condition that the step is not under."""
    m = ctx.m
    if m.function(other.call) is not m.function(step.call) or not other.optimizer_objects & step.objects:
        return False
    if not m.end(top) <= m.start(other.call) < m.start(step.call):
        return False
    tops = common(ctx, m.statement(other.call), step.anchor)
    inside = [s for s in m.spine(other.call) if tops is not None and m.inside(s, tops[0])]
    return tops is not None and not any(
        isinstance(s, ast.If) and s not in guards_ and not _backward_in_each_arm(s) for s in inside
    )


def _ifs(ctx: Context, node: ast.AST) -> list[ast.If]:
    return [a for a in ctx.m.ancestors(node) if isinstance(a, ast.If)]


def _backward_in_each_arm(stmt: ast.If) -> bool:
    def runs(body: list[ast.stmt]) -> bool:
        return any(isinstance(n, ast.Attribute) and n.attr == "backward" for s in body for n in walk(s))

    return runs(stmt.body) and runs(stmt.orelse)


def _thrown_away(ctx: Context, unit: Unit, node: ast.Call) -> bool:
    """Whether a backward's gradients are zeroed in its own block, and no step of the unit stands there."""
    m = ctx.m
    here = m.function(node)
    if scales_in(ctx, unit, here) or steps_in(ctx, unit, here):
        return False
    block, index = m.place[m.statement(node)]
    return any(
        isinstance(n, ast.Attribute) and n.attr == "zero_grad" for s in block.body[index + 1 :] for n in walk(s)
    )


def _reached(ctx: Context, scopes: set[Scope]) -> set[Scope]:
    """``scopes`` and the functions of the module that they call, directly or not."""
    found, todo = set(scopes), list(scopes)
    while todo:
        scope = todo.pop()
        for stmt in ctx.m.body_of(scope):
            for node in walk(stmt):
                if isinstance(node, ast.Call) and ctx.m.function(node) is scope:
                    for callee in ctx.v.callees(node):
                        inner = ctx.m.scope_of[callee]
                        if inner not in found:
                            found.add(inner)
                            todo.append(inner)
    return found


def _amp_off(ctx: Context, unit: Unit, node: ast.AST) -> bool:
    """Whether ``node`` lies in the arm of a guard whose other arm scales the loss, or under the negated guard."""
    m = ctx.m
    below: ast.AST = node
    guards_: set[str] = set()
    for init in unit.initializes:
        for outer in m.ancestors(init.call):
            if isinstance(outer, ast.If):
                guards_.add(ast.dump(outer.test))
    for outer in m.ancestors(node):
        if isinstance(outer, ast.If):
            mine = outer.body if below in outer.body else outer.orelse
            other = outer.orelse if mine is outer.body else outer.body
            if not other and isinstance(mine[-1], (ast.Return, ast.Continue, ast.Raise, ast.Break)):
                block, index = m.place[outer]
                other = block.body[index + 1 :]  # what runs where this arm was not taken
            if any(_scales(ctx, unit, x) for x in other):
                return True
            if mine is outer.orelse and ast.dump(outer.test) in guards_:
                return True
            test = outer.test
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and ast.dump(test.operand) in guards_:
                return mine is outer.body
        below = outer
    return False


def _scales(ctx: Context, unit: Unit, stmt: ast.stmt) -> bool:
    """Whether a statement scales a loss of the unit, itself or in a function that it calls."""
    if any(ctx.m.inside(s.call, stmt) for s in unit.scales):
        return True
    called = {ctx.m.scope_of[c] for n in walk(stmt) if isinstance(n, ast.Call) for c in ctx.v.callees(n)}
    scopes = {ctx.m.function(s.call) for s in unit.scales}
    return bool(called) and not scopes.isdisjoint(_reached(ctx, called))


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


def review_second_order(ctx: Context, unit: Unit, regions: Planner) -> None:
    """``autograd.grad`` inside a region (a gradient penalty) runs under autocast and unscaled, as it did under O1."""
    m = ctx.m
    for node in ctx.second_order:
        if regions.in_region(node) or regions.covered(m.function(node)):
            unit.review(
                node,
                "APX034",
                "these gradients are taken under autocast and without a loss scale, as before; PyTorch advises to "
                "scale the outputs, take the gradients outside of autocast and divide them by the scale",
            )


def review_hooks(ctx: Context, unit: Unit) -> None:
    """A hook behind the accumulation of a gradient: Apex had put the gradients of earlier backwards aside by then."""
    for node in ctx.m.calls("register_post_accumulate_grad_hook"):
        unit.review(
            node,
            "APX056",
            "this hook sees gradients under the loss scale, as before; where several backwards go into a step, it sees "
            "their sum now, where Apex showed it those of the last one",
        )
    for node in (*ctx.m.calls(FORWARD_HOOK), *ctx.m.calls("register_forward_pre_hook")):
        held = {obj for arg in node.args[:1] for obj in ctx.v.of(arg)}
        functions = {function for obj in held for function in ctx.v.functions(obj)}
        if any(reads_gradients(ctx, unit, function) for function in functions):
            unit.review(
                node,
                "APX056",
                "this hook looks at gradients whenever the model runs: where that is between a backward and the step, "
                "they are scaled, where Apex had unscaled them",
            )


def check_derived_elsewhere(ctx: Context, unit: Unit) -> None:
    """A class of another file that trains by itself goes on as before, with gradients that are scaled now."""
    steps = [step.call for step in unit.steps]
    for cls in ctx.m.all(ast.ClassDef):
        if f"class {cls.name}" not in ctx.exported(cls):
            continue
        for node in (*(site.call for site in unit.sites), *steps):
            if any(ctx.m.inside(node, base) for base in ctx.v.order(cls)):
                raise Manual(
                    node,
                    f"a class that derives from {cls.name} stands in another file and has a part in training, too",
                    "migrate both by hand, together",
                )


def review_switches(ctx: Context, unit: Unit) -> None:
    """Objects with a switch of their own each, of which Apex made one of the process."""
    m = ctx.m
    for init in unit.initializes:
        cls = m.class_of(m.function(init.call))
        method = m.method(cls, "__init__") if cls is not None else None
        if cls is None or method is None or len(_makers(ctx, method)) < 2:
            continue
        if any(isinstance(outer, ast.If) for outer in m.spine(init.call)):
            unit.review(
                init.call,
                "APX035",
                f"several objects of {cls.name} are made, each with its own switch: once it was on for one of them, "
                "Apex's casts held for all",
            )


def _makers(ctx: Context, constructor: ast.AST, below: tuple[ast.AST, ...] = ()) -> set[ast.Call]:
    """The calls that make an object with a constructor: where one that derives from it calls it, those of that one."""
    found: set[ast.Call] = set()
    for call in ctx.v.calls.get(constructor, ()):
        outer = ctx.m.function(call).node
        derived = isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
        if not derived or getattr(outer, "name", "") != "__init__":
            found.add(call)
        elif outer not in (constructor, *below):
            found |= _makers(ctx, outer, (constructor, *below))
    return found

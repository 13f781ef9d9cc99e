"""One unit, from its sites to everything the rules need to know; raises Manual where a proof is missing."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from migrate.facts.module import Scope
from migrate.facts.sites import Initialize, Scale
from migrate.flow.values import Obj
from migrate.plan import gradients, hazards, options
from migrate.plan.bare import handed_for_state
from migrate.plan.conditions import TRUE, Term
from migrate.plan.events import find_steps
from migrate.plan.fold import Fold, folds
from migrate.plan.home import Finder, Homes, either, free_name, guards, terms_there
from migrate.plan.regions import Planner
from migrate.plan.unit import Context, Manual, Region, Scaler, Unit


@dataclass(eq=False)
class Plan:
    """All decisions about one unit."""

    ctx: Context
    unit: Unit
    homes: Homes = field(default_factory=Homes)
    regions: Planner | None = None
    folds: list[Fold] = field(default_factory=list)
    enabled_at: dict[Region, str] = field(default_factory=dict)  # "" where autocast is always on
    hoist_enabled: list[str] = field(default_factory=list)
    scaler_at: dict[ast.AST, str] = field(default_factory=dict)  # site, step, unscale or state use -> expression
    state: list[tuple[ast.expr, str]] = field(default_factory=list)
    scaled: bool = True  # False: autocast alone (inference, bfloat16)


def decide(ctx: Context, unit: Unit, state: list[tuple[ast.expr, str]]) -> Plan:
    """Everything about one unit. ``state`` are the uses of the scaler's state that belong to it."""
    plan = Plan(ctx, unit, state=state)
    plan.scaled = bool(unit.scales) and ctx.settings.dtype == "float16"
    _check(ctx, unit)
    if state and not plan.scaled and unit.scales:
        raise Manual(
            state[0][0],
            "bfloat16 needs no GradScaler, and this asks for the state of one",
            "drop the state of amp from the checkpoint, or migrate to float16",
        )
    for init in unit.initializes:
        read = options.read(ctx.m, ctx.conditions, init, scaled=ctx.settings.dtype == "float16")
        unit.options[init.call] = read
        for text in read.reviews:
            unit.review(init.call, "APX021", text)
        for text in read.infos:
            unit.infos.append((init.call, "APX021", text))
    if unit.scales:
        unit.steps = find_steps(ctx, unit)
        if not unit.steps:
            raise Manual(
                unit.scales[0].call,
                "no step() of this optimizer was found in this file; its scaler has to take that step",
                "where the step is taken: scaler.step(optimizer); scaler.update()",
            )
        gradients.decide(ctx, unit)
        plan.folds = folds(ctx, unit)
        _step_without_backward(ctx, unit, plan)
        _plain_backwards(ctx, unit, plan)
        _moves(ctx, unit, plan)
    planner = Planner(ctx, unit)
    planner.plan()
    plan.regions = planner
    _second_order(ctx, unit, plan)
    _homes(ctx, unit, plan)
    _asks_for_amp(ctx, unit, plan)
    hazards.decide(plan)
    return plan


def _check(ctx: Context, unit: Unit) -> None:
    for init in unit.initializes:
        _check_result(ctx, init)
    for scale in unit.scales:
        if scale.with_ is not None:
            _check_backward(ctx, scale)
        if scale.with_ is None or scale.item is None:
            raise Manual(scale.call, "scale_loss is not entered by a with statement here")
        if scale.item.optional_vars is not None and scale.alias is None:
            raise Manual(scale.call, "the scaled loss is not bound to a plain name")
        if scale.optimizers is None:
            raise Manual(scale.call, "scale_loss without an optimizer that can be read here")
    if unit.scales and not unit.initializes:
        raise Manual(
            unit.scales[0].call,
            "this optimizer is initialized in another file (or is a parameter that nothing in this file fills)",
            "scaler.scale(loss).backward() here, with the scaler handed on from where amp.initialize stands",
        )
    for scale in unit.scales:
        if scale.with_ is not None:
            _check_body(ctx, scale)
        held = ctx.v.of(scale.optimizers) if scale.optimizers is not None else frozenset()
        if any(o.kind in ("seq", "dict") and not _single(o) for o in held):
            unit.review(
                scale.call,
                "APX041",
                "several optimizers share this loss: on overflow Apex left out all their steps, GradScaler leaves out "
                "those whose own gradients overflowed",
            )
    alone = _trains_plainly(ctx, unit) or _only_evaluates(ctx, unit)
    if not unit.scales and any(i.optimizers for i in unit.initializes) and not alone:
        raise Manual(
            unit.initializes[0].call,
            "the loss of this optimizer is not scaled in this file",
            'scaler = torch.amp.GradScaler("cuda") beside the optimizer, handed on to where the loss is scaled',
        )
    for name in ctx.facts.ambiguous & {"amp", "apex"}:
        raise Manual(unit.line_node, f"`{name}` may be Apex or another module here: two backends side by side")


def _single(container: Obj) -> bool:
    """A list or tuple literal of one element."""
    return isinstance(container.key, (ast.List, ast.Tuple)) and len(container.key.elts) == 1


def _check_result(ctx: Context, init: Initialize) -> None:
    """A result kept whole is a pair only where there is an optimizer; with None it is the model alone."""
    m = ctx.m
    above = m.parent[init.call]
    whole = isinstance(above, ast.Assign) and not isinstance(above.targets[0], (ast.Tuple, ast.List))
    for optimizer in init.optimizers:
        if not (whole and isinstance(optimizer, ast.Name)):
            continue
        scope = m.binding_scope(optimizer.id, m.scope(optimizer))
        for node in m.nodes:
            if isinstance(node, ast.Name) and node.id == optimizer.id and isinstance(node.ctx, ast.Store):
                stored = m.parent[node]
                if m.binding_scope(node.id, m.scope(node)) is scope and isinstance(stored, ast.Assign):
                    if isinstance(stored.value, ast.Constant) and stored.value.value is None:
                        raise Manual(
                            init.call,
                            f"`{optimizer.id}` may be None, and then amp.initialize handed back the model alone; here "
                            "its result is taken apart later",
                            "drop the call and use model and optimizer as they are",
                        )


def _check_backward(ctx: Context, scale: Scale) -> None:
    """The block has to do something with the scaled loss, and must not run backward on anything else."""
    assert scale.with_ is not None
    nodes = [n for stmt in scale.with_.body for n in ast.walk(stmt)]
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            owner = node.func.value
            if not (isinstance(owner, ast.Name) and owner.id == scale.alias) and not any(
                isinstance(n, ast.Name) and n.id == scale.alias for n in ast.walk(node)
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
    for stmt in scale.with_.body:
        for node in ast.walk(stmt):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                held = ctx.v.of(node.func.value)
                if node.func.attr in ("step", "zero_grad") and held & scale.optimizer_objects:
                    raise Manual(
                        node,
                        f"{ctx.m.src(node)} inside the scale_loss block ran on gradients that were still scaled "
                        "(or not yet put together with earlier ones)",
                        "move it behind the block, where it belongs",
                    )


def _only_evaluates(ctx: Context, unit: Unit) -> bool:
    """Whether nothing trains here: no backward, no step, and the optimizer goes to nobody but to be saved or loaded."""
    for node in ctx.m.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "backward":
            return False
        if isinstance(node.func, ast.Attribute) and ctx.v.of(node.func.value) & unit.optimizer_objects:
            if name not in ("load_state_dict", "state_dict"):
                return False
        if node in (i.call for i in unit.initializes) or re.search("load|save|checkpoint|sched", name, re.I):
            continue
        if any(ctx.v.of(a) & unit.optimizer_objects for a in [*node.args, *(k.value for k in node.keywords)]):
            return False
    return True


def _trains_plainly(ctx: Context, unit: Unit) -> bool:
    """Whether the optimizer steps in this file after a plain backward: O1's casts without loss scaling."""
    steps = backward = False
    for node in ctx.m.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            steps |= node.func.attr == "step" and bool(ctx.v.of(node.func.value) & unit.optimizer_objects)
            backward |= node.func.attr == "backward"
    return steps and backward and not ctx.facts.scales


def _plain_backwards(ctx: Context, unit: Unit, plan: Plan) -> None:
    """An unscaled backward beside a scaled one would mix scaled and unscaled gradients."""
    m = ctx.m
    dropped = [s for f in plan.folds for s in (f.stmt.orelse if f.arm == "body" else f.stmt.body)]
    places = _reached(ctx, {m.function(s.call) for s in unit.moments})
    aliases = {s.alias for s in unit.scales}
    for node in m.nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"):
            continue
        if m.function(node) not in places or any(m.inside(node, s) for s in dropped):
            continue
        if any(s.with_ is not None and m.inside(node, s.with_) for s in unit.scales):
            continue
        if isinstance(node.func.value, ast.Name) and node.func.value.id in aliases:
            continue
        if _amp_off(ctx, unit, node) or _thrown_away(ctx, unit, node):
            continue
        if isinstance(node.func.value, ast.Call) and isinstance(node.func.value.func, ast.Attribute):
            if node.func.value.func.attr == "scale":
                raise Manual(node, "native AMP and Apex stand side by side: one backend has to go first")
        raise Manual(
            node,
            f"`{m.src(node)}` runs beside a scaled backward of the same step: its gradients would not be scaled",
            "scale this loss too: scaler.scale(loss).backward()",
        )


def _step_without_backward(ctx: Context, unit: Unit, plan: Plan) -> None:
    """A backward that a condition may leave out, and a step that is taken all the same."""
    m = ctx.m
    guards_ = {f.stmt for f in plan.folds}
    for scale in unit.scales:
        for step in unit.steps:
            if m.function(step.call) is not m.function(scale.call) or m.start(step.call) < m.start(scale.call):
                continue
            tops = gradients.common(ctx, m.statement(scale.call), step.anchor)
            if tops is None:
                continue
            inside = [s for s in m.spine(scale.call) if m.inside(s, tops[0])]
            for stmt in inside:
                if not isinstance(stmt, ast.If) or stmt in guards_ or _backward_in_each_arm(stmt):
                    continue
                if any(ast.dump(stmt.test) == ast.dump(x.test) for i in unit.initializes for x in _ifs(ctx, i.call)):
                    continue
                unit.review(
                    scale.call,
                    "APX060",
                    "the backward is left out under a condition while the step may be taken all the same: with no "
                    "backward since the last step, scaler.step() raises where Apex did nothing",
                )


def _ifs(ctx: Context, node: ast.AST) -> list[ast.If]:
    return [a for a in ctx.m.ancestors(node) if isinstance(a, ast.If)]


def _backward_in_each_arm(stmt: ast.If) -> bool:
    def runs(body: list[ast.stmt]) -> bool:
        return any(isinstance(n, ast.Attribute) and n.attr == "backward" for s in body for n in ast.walk(s))

    return runs(stmt.body) and runs(stmt.orelse)


def _thrown_away(ctx: Context, unit: Unit, node: ast.Call) -> bool:
    """Whether a backward's gradients are zeroed in its own block, and no step of the unit stands there."""
    m = ctx.m
    if any(m.function(x.call) is m.function(node) for x in unit.moments):
        return False
    block, index = m.place[m.statement(node)]
    return any(
        isinstance(n, ast.Attribute) and n.attr == "zero_grad" for s in block.body[index + 1 :] for n in ast.walk(s)
    )


def _reached(ctx: Context, scopes: set[Scope]) -> set[Scope]:
    """``scopes`` and the functions of the module that they call, directly or not."""
    found, todo = set(scopes), list(scopes)
    while todo:
        scope = todo.pop()
        for stmt in ctx.m.body_of(scope):
            for node in ast.walk(stmt):
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
            if any(m.inside(s.call, x) for s in unit.scales for x in other):
                return True
            if mine is outer.orelse and ast.dump(outer.test) in guards_:
                return True
            test = outer.test
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and ast.dump(test.operand) in guards_:
                return mine is outer.body
        below = outer
    return False


def _moves(ctx: Context, unit: Unit, plan: Plan) -> None:
    """A clip that moves leaves its guard behind: that guard has to fold away."""
    m = ctx.m
    kept = [x for f in plan.folds for x in getattr(f.stmt, f.arm)]
    dropped = [x for f in plan.folds for x in (f.stmt.orelse if f.arm == "body" else f.stmt.body)]
    for clip in [c for c in unit.moved if c in dropped]:
        del unit.moved[clip]
    for clip in unit.moved:
        guard = m.parent[clip]
        step = unit.moved[clip]
        tops = gradients.common(ctx, clip, step)
        own = isinstance(guard, ast.If) and not guard.orelse and tops is not None and m.inside(guard, tops[0])
        if own and isinstance(guard, ast.If) and len(guard.body) == 1 and m.parent.get(guard) is m.parent.get(tops[0]):  # type: ignore[index]
            continue  # the condition moves with the clip
        if own:
            raise Manual(
                clip,
                "gradients are clipped under a condition of their own after every backward, and the step is taken "
                "under another",
                "under the step's condition: scaler.unscale_(optimizer), then this condition and the clip",
            )
        if isinstance(guard, ast.If) and guard.orelse and clip not in kept:
            raise Manual(
                clip,
                "the two arms of this guard clip differently, and the step is taken under another condition",
                "under the step's condition: scaler.unscale_(optimizer), then clip",
            )
    for fold in plan.folds:
        if fold.loose:
            unit.review(
                fold.stmt,
                "APX051",
                "the arm without mixed precision clipped model.parameters(); now both clip the parameters that the "
                "optimizer owns, which were not proved to be the same",
            )


# ---------------------------------------------------------------- scaler and enabled


def _homes(ctx: Context, unit: Unit, plan: Plan) -> None:
    assert plan.regions is not None
    taken: set[str] = set()
    for scaler in unit.scalers:
        scaler.name = free_name(ctx, scaler.name, taken)
        taken.add(scaler.name)
    finder = Finder(ctx, unit, set())
    if plan.scaled:
        for scale in unit.scales:
            scaler = _scaler_for(unit, scale)
            plan.scaler_at[scale.call] = finder.reach(scaler, scale.call, scale.optimizers)
        for step in unit.steps:
            scaler = next(s for s in unit.scalers if s.objects & step.objects)
            plan.scaler_at[step.call] = finder.reach(scaler, step.call, step.optimizer)
        for unscale in unit.unscales:
            scaler = next(s for s in unit.scalers if s.objects & unscale.objects)
            same = next((x.optimizer for x in unit.steps if x.text == unscale.optimizer), None)
            here = same if same is not None and ctx.m.function(same) is ctx.m.function(unscale.before) else None
            if here is not None or same is None:
                source = here
            else:
                source = same if _same_text_holds(ctx, same, unscale.before) else None
            plan.scaler_at[unscale.before] = finder.reach(scaler, unscale.before, source)
        for use, kind in plan.state:
            if kind == "taken":
                continue
            if len(unit.scalers) > 1:
                raise Manual(use, "this unit has several scalers; which one's state is meant is not known")
            plan.scaler_at[use] = finder.reach(unit.scalers[0], use, None)
            if kind == "load_state_dict":
                unit.review(
                    use,
                    "APX070",
                    "a checkpoint written by the legacy code holds Apex's state and will not load (KeyError: 'scale'): "
                    'convert {"loss_scaler0": {"loss_scale": s, "unskipped": n}} to {"scale": s, "growth_factor": 2.0, '
                    '"backoff_factor": 0.5, "growth_interval": 2000, "_growth_tracker": min(n, 1999)}',
                )
            if kind == "handed" and not _callee_here(ctx, use):
                unit.review(
                    use,
                    "APX070",
                    "a function of another file was handed apex.amp and now gets the GradScaler: it may only use its "
                    "state_dict() and load_state_dict(), and state that the legacy code saved does not load "
                    "(KeyError: 'scale')",
                )
    sources = [pair for init in unit.initializes for pair in _own_guards(ctx, unit, init)]
    always = all(t.value for _, t in sources)
    plan.unit.enabled = TRUE if always else Term("…")
    _lift(ctx, unit, plan, finder)
    for region in list(unit.regions):
        stmt = region.block.body[region.first]
        before = finder.snapshot()
        try:
            plan.enabled_at[region] = _enabled(ctx, unit, plan, finder, stmt)
        except Manual as missing:
            finder.restore(before)
            if region.why != "evaluation" or not unit.scales:
                raise
            unit.regions.remove(region)
            unit.review(
                stmt,
                "APX031",
                f"this ran under O1's casts and now runs in float32, because {missing.message}; to keep the "
                "casts, wrap it in torch.autocast",
            )
    for hoist in plan.regions.hoists:
        plan.hoist_enabled.append(_enabled(ctx, unit, plan, finder, hoist.stmt))
    plan.homes = finder.finish()


def _callee_here(ctx: Context, use: ast.expr) -> bool:
    call = handed_for_state(ctx, use)
    return call is not None and bool(ctx.v.callees(call))


def _second_order(ctx: Context, unit: Unit, plan: Plan) -> None:
    """``autograd.grad`` inside a region (a gradient penalty) runs under autocast and unscaled, as it did under O1."""
    m = ctx.m
    for node in m.nodes:
        if isinstance(node, ast.Call) and any(k.arg == "create_graph" for k in node.keywords):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
                continue
            if plan.regions is not None and (plan.regions.in_region(node) or plan.regions.covered(m.function(node))):
                unit.review(
                    node,
                    "APX034",
                    "these gradients are taken under autocast and without a loss scale, as before; PyTorch advises to "
                    "scale the outputs, take the gradients outside of autocast and divide them by the scale",
                )


def _asks_for_amp(ctx: Context, unit: Unit, plan: Plan) -> None:
    """A condition on amp itself (imported only at times) cannot outlive the import."""
    bound = {a.asname or a.name.split(".")[0] for s in ctx.facts.imports for a in s.names}  # type: ignore[attr-defined]
    texts = [c.enabled.text for c in plan.homes.creations] + list(plan.enabled_at.values())
    for text in texts:
        if any(re.search(rf"(?<![\w.]){re.escape(name)}\b", text) for name in bound):
            raise Manual(
                unit.line_node,
                f"mixed precision is on where `{text}`, and that name is only imported at times",
                "give the condition a name of its own, such as use_amp, and test that",
            )


def _lift(ctx: Context, unit: Unit, plan: Plan, finder: Finder) -> None:
    """An evaluation whose function cannot say the condition is wrapped where it is called."""
    assert plan.regions is not None
    for _ in range(20):
        for region in unit.regions:
            stmt = region.block.body[region.first]
            if region.why == "evaluation" and isinstance(_said(ctx, unit, stmt), str):
                near = any(ctx.m.function(s.call) is ctx.m.function(stmt) for s in unit.moments)
                if not (near and plan.scaled) and plan.regions.lift(region):
                    break
        else:
            return


def _same_text_holds(ctx: Context, optimizer: ast.expr, there: ast.stmt) -> bool:
    """Whether an optimizer's expression of another function means the same at ``there``."""
    root = optimizer
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    one, other = ctx.m.function(optimizer), ctx.m.function(there)
    if root.id == ctx.m.self_name(one) == ctx.m.self_name(other):
        return True
    return ctx.m.binding_scope(root.id, one) is ctx.m.binding_scope(root.id, other)


def _scaler_for(unit: Unit, scale: Scale) -> Scaler:
    for scaler in unit.scalers:
        if scaler.objects & scale.optimizer_objects:
            return scaler
    raise Manual(scale.call, "no step() of this optimizer was found in this file")


def _own_guards(ctx: Context, unit: Unit, init: Initialize) -> list[tuple[ast.expr, Term]]:
    """All conditions of an initialize; where its callers disagree, at least that there is one."""
    try:
        return guards(ctx, unit, init, None)
    except Manual:
        return [(init.call, Term("…"))]


def _enabled(ctx: Context, unit: Unit, plan: Plan, finder: Finder, stmt: ast.stmt) -> str:
    """The text of ``enabled=`` for a region at ``stmt``; "" where it is always on."""
    _check_alone(ctx, stmt)
    if unit.enabled.value:
        return ""
    if any(t.value is False for init in unit.initializes for _, t in unit.options_of(init).enabled):
        return "False" if len(unit.initializes) == 1 else _ambiguous(unit)
    scope = ctx.m.function(stmt)
    scaling = plan.scaled and not any(o.unscaled for o in unit.options.values())
    near = any(ctx.m.function(s.call) is scope for s in unit.moments) and scaling
    if near:
        return f"{_near(ctx, unit, finder, plan, stmt)}.is_enabled()"
    if scaling and all(i.optimizers for i in unit.initializes):
        at_hand = finder.at_hand(unit.scalers[0], stmt)
        if at_hand is not None:
            return f"{at_hand}.is_enabled()"
    said = _said(ctx, unit, stmt)
    if not isinstance(said, str) and said.value is not False:
        return "" if said.value else _bool(said)
    if not isinstance(said, str):
        raise Manual(stmt, "the condition of mixed precision is never true here")
    if scaling:
        return f"{finder.reach(unit.scalers[0], stmt, None)}.is_enabled()"
    raise Manual(
        stmt,
        f"the condition `{said}` under which mixed precision is on cannot be said here",
        f'with torch.autocast("cuda", dtype=torch.float16, enabled={said}): …',
    )


def _check_alone(ctx: Context, stmt: ast.stmt) -> None:
    """An autocast of the file's own around a region: the inner one, switched off, would switch the outer off."""
    for outer in ctx.m.spine(stmt)[1:]:
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            for item in outer.items:
                if "autocast" in ctx.m.src(item.context_expr).lower():
                    raise Manual(
                        stmt,
                        f"`{ctx.m.src(item.context_expr)}` stands around this already: two backends side by side",
                        "keep the native one: let its autocast and its scaler serve this case too, and drop Apex's arm",
                    )


def _near(ctx: Context, unit: Unit, finder: Finder, plan: Plan, stmt: ast.stmt) -> str:
    scope = ctx.m.function(stmt)
    for site in unit.moments:
        if ctx.m.function(site.call) is scope:
            optimizer = site.optimizers if isinstance(site, Scale) else site.optimizer
            scaler = next(s for s in unit.scalers if s.objects & _objects(site))
            return finder.reach(scaler, stmt, optimizer)
    return finder.reach(unit.scalers[0], stmt, None)


def _objects(site: object) -> frozenset[object]:
    return site.optimizer_objects if isinstance(site, Scale) else site.objects  # type: ignore[attr-defined]


def _said(ctx: Context, unit: Unit, stmt: ast.stmt) -> Term | str:
    """The unit's condition as the function of ``stmt`` can say it, without what already holds there."""
    scope = ctx.m.function(stmt)
    cases: list[list[Term]] = []
    for init in unit.initializes:
        around = set(ctx.m.ancestors(stmt))
        sources = [
            (expr, term)
            for expr, term in guards(ctx, unit, init, None, scope)
            if not (ctx.m.parent.get(expr) in around and isinstance(ctx.m.parent[expr], ast.If))
        ]
        said = terms_there(ctx, sources, scope)
        if isinstance(said, str):
            return said
        cases.append(said)
    return either(cases)


def _bool(term: Term) -> str:
    return term.text if term.boolean else f"bool({term.text})"


def _ambiguous(unit: Unit) -> str:
    raise Manual(unit.line_node, "one initialize call is O0, another is not")

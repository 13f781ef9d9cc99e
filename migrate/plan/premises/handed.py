"""Training that a runner of a library does: the model is handed to it, and a hook of the project scales the loss.

mmcv's habit: ``amp.initialize`` in one file, ``scale_loss`` in the hook of another that a config names, and between
them a library that nobody here reads. No value leads from one to the other, but Apex's state was the process's, and
`scale_loss` refuses an optimizer that was not initialized: where a program initializes once, the hook's optimizer is
that one. So the hook gets a GradScaler of its own, and the model runs under autocast by its ``forward``, whoever calls
it. Always *review*.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ...facts.names import called_name
from ...facts.scopes import Scope
from ...facts.sites import Initialize, Scale
from ...knowledge.words import Patterns
from ...units.conditions import TRUE, Term, negation, reads
from ...units.options import written_number
from ...units.unit import Context, Manual, Unit
from ..gradients.fold import Fold
from ..home.places import Creation, Homes
from ..home.switch import constructor
from ..inserted import free_name
from ..schedule import Scaler, Schedule

_TELLS = Patterns("info print log* debug warning write print_*")


@dataclass(frozen=True, eq=False)
class Handed:
    """``model`` is what the code behind ``behind`` calls the model that a runner is handed; ``dropped`` are the
    statements that saved or loaded amp's state."""

    model: str
    behind: ast.stmt
    dropped: tuple[ast.stmt, ...]


def joined(ctx: Context, units: Sequence[Unit]) -> Unit | None:
    """The one unit of a program that initializes once, and scales the losses of an optimizer that nobody here hands to
    the function that does; None where it is not like that."""
    begun = [u for u in units if not u.scales and any(i.optimizers for i in u.initializes)]
    trained = [u for u in units if u.scales and not u.initializes]
    if len(units) != 2 or len(begun) != 1 or len(trained) != 1 or len(begun[0].initializes) != 1:
        return None
    (init,), scales = begun[0].initializes, trained[0].scales
    if len({ctx.m.function(scale.call) for scale in scales}) != 1 or not all(_brought(ctx, s) for s in scales):
        return None
    if ctx.m.function(init.call) is ctx.m.function(scales[0].call):
        return None
    return Unit(1, [init], scales, handed=True)


def _brought(ctx: Context, scale: Scale) -> bool:
    """Whether loss and optimizer come with one parameter of a method that nothing here calls: a runner."""
    scope = ctx.m.function(scale.call)
    root = _root(scale.optimizers)
    if root is None or root not in scope.params or root == ctx.m.self_name(scope) or _root(scale.loss) != root:
        return False
    return ctx.m.class_of(scope) is not None and not ctx.v.calls[scope.node]


def _root(expr: ast.expr | None) -> str | None:
    """``runner`` of ``runner.outputs["loss"]``; None of a plain name, which is nobody's part."""
    inner = expr
    while isinstance(inner, (ast.Attribute, ast.Subscript)):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) and inner is not expr else None


def settle(
    ctx: Context, unit: Unit, schedule: Schedule, merged: Sequence[Fold], state: Sequence[tuple[ast.expr, str]]
) -> tuple[Handed, Homes, dict[ast.AST, str]]:
    """Where the scaler lives, how each site reaches it, and what becomes of the model and of amp's state."""
    (init,) = unit.initializes
    options = unit.options_of(init)
    scope = ctx.m.function(unit.scales[0].call)
    if any(term.value is not True for _, term in options.enabled):
        raise Manual(init.call, "whether amp is on is said here, and the hook that scales the loss cannot ask for it")
    if not all(map(written_number, (options.scale, options.init_scale))):
        raise Manual(init.call, "the loss scale is decided here, and the hook that scales the loss cannot ask for it")
    if len(schedule.scalers) != 1:
        raise Manual(unit.line_node, "several optimizers are trained by this hook")
    (scaler,) = schedule.scalers
    scaler.name = free_name(ctx.m, scaler.name, set(ctx.scalers))
    sites: list[ast.AST] = [*(s.call for s in unit.scales), *(s.call for s in unit.steps), *schedule.divided]
    sites += [unscale.before for unscale in schedule.unscales]
    apart = next((site for site in sites if ctx.m.function(site) is not scope), None)
    if apart is not None:
        raise Manual(apart, "the loss of this is scaled by another function, and the way of its scaler is not known")
    if not any(called_name(call) == "zero_grad" for call in ctx.m.own(scope, ast.Call)):
        raise Manual(
            unit.scales[0].call,
            "no gradients are cleared where this loss is scaled, and who clears them is not known: the next backward "
            "would add scaled ones to those that scaler.step() left",
        )
    creation = _creation(ctx, scaler, scope, _guard(ctx, unit, merged), init)
    handed = Handed(*_model(ctx, init), tuple(dropped(ctx, use, kind) for use, kind in state))
    _tell(ctx, unit, handed)
    return handed, Homes([creation]), dict.fromkeys(sites, creation.text)


def _tell(ctx: Context, unit: Unit, handed: Handed) -> None:
    (init,) = unit.initializes
    unit.review(
        init.call,
        "APX044",
        f"the model is run by code that is not read here: its forward runs under autocast from here on. What that code "
        f"computes with the model elsewhere (its weights, methods that call no forward) runs in float32, and a copy "
        f"made by deepcopy would run the forward of {handed.model}",
    )
    unit.review(
        unit.scales[0].call,
        "APX044",
        f"the optimizer that comes in here is taken to be the one initialized in line {init.call.lineno}, as Apex "
        "refused any other; its GradScaler is made here",
    )
    for step in (one for one in unit.steps if _at_times(ctx, unit, one.call)):
        unit.review(
            step.call,
            "APX044",
            "where no step is taken, gradients that other code looks at behind this are scaled; Apex had unscaled them",
        )
    for stmt in handed.dropped:
        unit.review(
            stmt,
            "APX044",
            "amp's state is not in the checkpoint any more, as no way from the scaler to here is known: after a resume "
            "the loss scale begins at 65536 again, and a few steps are left out until it fits",
        )


def _at_times(ctx: Context, unit: Unit, step: ast.Call) -> bool:
    """Whether a step is left out at times where a loss is scaled: it stands in the arm of a condition that no loss of
    the unit does."""
    arms = [one for one in ctx.m.spine(ctx.m.statement(step))[1:] if isinstance(one, ast.If)]
    return any(not any(ctx.m.inside(scale.call, arm) for scale in unit.scales) for arm in arms)


def _guard(ctx: Context, unit: Unit, merged: Sequence[Fold]) -> Term:
    """Under which condition the loss is scaled: that of the guards whose arms became one."""
    terms: dict[str, Term] = {}
    for scale in unit.scales:
        fold = next((f for f in merged if ctx.m.inside(scale.call, f.stmt)), None)
        term = TRUE
        if fold is not None:
            said = ctx.conditions.term(fold.stmt.test)
            term = said if fold.arm == "body" else negation(said)
        terms[term.text] = term
    if len(terms) != 1:
        raise Manual(unit.scales[0].call, "the losses of this hook are scaled under several conditions")
    return next(iter(terms.values()))


def _creation(ctx: Context, scaler: Scaler, scope: Scope, enabled: Term, init: Initialize) -> Creation:
    """The scaler: made by the hook's constructor behind what says whether it is on, or beside a hook without one."""
    m, cls = ctx.m, ctx.m.class_of(scope)
    node = constructor(cls) if cls is not None else None
    if node is None or cls is None:
        if cls is None or m.function(cls) is not m.file(cls).scope or enabled.value is not True:
            raise Manual(
                init.call,
                "the class of the hook has no constructor of its own that could make the scaler",
                'self.scaler = torch.amp.GradScaler("cuda") in an __init__ of it',
            )
        return Creation(scaler, cls, scaler.name, enabled, before=True, init=init)
    own = m.self_name(m.scope_of[node])
    if own != m.self_name(scope):
        raise Manual(node, "the methods of this class call their own object by several names")
    anchor: ast.stmt = node.body[-1]
    behind: list[ast.stmt] = []
    for name in sorted(reads(enabled.text)):
        if name == own:
            continue
        kept = [n for n in m.attributes(name.rpartition(".")[2]) if isinstance(n.ctx, ast.Store)]
        mine = [s for s in node.body if isinstance(s, ast.Assign) and any(n in s.targets for n in kept)]
        if not name.startswith(f"{own}.") or len(kept) != 1 or len(mine) != 1:
            raise Manual(node, f"whether mixed precision is on is not known here: `{enabled.text}`")
        behind += mine
    if behind:
        anchor = max(behind, key=m.start)
    before = isinstance(anchor, (ast.Return, ast.Raise))
    return Creation(scaler, anchor, f"{own}.{scaler.name}", enabled, before=before, init=init)


def _model(ctx: Context, init: Initialize) -> tuple[str, ast.stmt]:
    """What the model is called behind its ``amp.initialize``, and that statement."""
    m = ctx.m
    stmt = m.statement(init.call)
    target: ast.expr | None = None
    if isinstance(stmt, ast.Assign) and stmt.value is init.call and len(stmt.targets) == 1:
        first = stmt.targets[0]
        target = first.elts[0] if isinstance(first, ast.Tuple) and len(first.elts) == 2 else None
    elif isinstance(stmt, ast.Expr) and stmt.value is init.call and len(init.models) == 1:
        target = init.models[0]
    if not isinstance(target, (ast.Name, ast.Attribute)) or len(init.models) != 1:
        raise Manual(init.call, "which model is handed on is not known here")
    return m.src(target), stmt


def dropped(ctx: Context, use: ast.expr, kind: str) -> ast.stmt:
    """The statement that only saves or loads amp's state, with the condition that only asks whether it is there."""
    m = ctx.m
    stmt, call = m.statement(use), m.parent[use]
    match stmt:
        case ast.Assign(targets=[ast.Subscript()], value=value) if kind == "state_dict" and value is call:
            return stmt
        case ast.Expr(value=value) if kind == "load_state_dict" and value is call:
            around = m.block(stmt).owner
            if isinstance(around, ast.If) and stmt in around.body and not around.orelse and not m.is_elif(around):
                asked = [n.value for n in ast.walk(around.test) if isinstance(n, ast.Constant)]
                read = [n.value for n in ast.walk(value) if isinstance(n, ast.Constant)]
                if asked == read and all(s is stmt or _tells(s) for s in around.body):
                    return around
            return stmt
    raise Manual(
        use,
        "amp's state is saved or loaded here, and no way from a scaler to here is known",
        "the GradScaler that scales the loss has state_dict() and load_state_dict()",
    )


def _tells(stmt: ast.stmt) -> bool:
    """Whether a statement only logs."""
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and _TELLS.fit(called_name(stmt.value) or "")

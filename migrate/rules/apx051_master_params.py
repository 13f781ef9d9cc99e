"""``amp.master_params(optimizer)`` becomes the parameters that the optimizer owns.

Natively there are no master copies: the optimizer's own parameters are the float32 weights. Where
the optimizer provably owns just ``model.parameters()``, that is written; else a generator over the
optimizer's groups, which is what ``master_params`` was.

Source: apex/amp/_amp_state.py at tag 25.05 (master_params).
"""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..nodes import walk
from ..units.ownership import owned_model, owns_all
from .common import Plan, Stage, Work

ID = "APX051"
STAGE = Stage.UNIT
BEFORE = """\
torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
"""
AFTER = """\
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
"""


def apply(plan: Plan, work: Work) -> None:
    """Rewrite every master_params call of the unit's optimizers."""
    served = {call for fold in plan.folds for call in fold.parameters}
    for node in plan.ctx.master_params:
        if node in served:
            continue
        if not node.args or not plan.ctx.v.of(node.args[0]) & plan.unit.optimizer_objects:
            continue
        text, other = parameters(plan, node), _other_arm(plan, node)
        same = other is not None and work.m.src(other) == text
        work.draft.replace(work.m.parent[node] if same else node, text)
        work.note(plan.unit.number, ID, node, "the optimizer's own parameters are the master weights")


def parameters(plan: Plan, call: ast.Call) -> str:
    """The native text for one ``master_params`` call."""
    ctx = plan.ctx
    optimizer = call.args[0]
    user = ctx.m.parent[call]
    user = ctx.m.parent[user] if isinstance(user, ast.IfExp) else user
    clips = isinstance(user, ast.Call) and "clip" in ctx.m.src(user.func)
    model = owned_model(ctx, ctx.v.of(optimizer), ctx.m.function(call))
    if model is not None and clips:  # elsewhere a parameter without gradient, which the optimizer leaves out, counts
        return f"{model}.parameters()"
    match other := _other_arm(plan, call):
        case ast.Call(func=ast.Attribute(value=said, attr="parameters")) if owns_all(ctx, ctx.v.of(optimizer), said):
            return ctx.m.src(other)
    return of_groups(ctx.m, call)


def of_groups(m: Module, call: ast.Call) -> str:
    """What Apex's ``master_params`` is: a generator over the optimizer's groups."""
    above = m.parent[call]
    beside = above.args if isinstance(above, ast.Call) else []
    p = "param" if any(isinstance(n, ast.Name) and n.id == "p" for one in beside for n in walk(one)) else "p"
    inner = f'{p} for group in {m.src(call.args[0])}.param_groups for {p} in group["params"]'
    alone = isinstance(above, ast.Call) and above.args == [call] and not above.keywords
    return inner if alone else f"({inner})"


def _other_arm(plan: Plan, call: ast.Call) -> ast.expr | None:
    """``model.parameters()`` in ``amp.master_params(optimizer) if fp16 else model.parameters()``."""
    above = plan.ctx.m.parent[call]
    if not isinstance(above, ast.IfExp) or call is above.test:
        return None
    return above.orelse if above.body is call else above.body

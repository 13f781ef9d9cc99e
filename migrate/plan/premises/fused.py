"""What runs in the step of a fused optimizer: its hooks, and the `step` of a class that derives from it.

Apex put another `step` in the place of an optimizer's where gradients overflowed, and had divided them by the loss
scale ahead of any. An optimizer of torch that is made with ``fused=True`` does both by itself, in its kernel: a
`GradScaler` calls its `step` each time, and hands it the scale. What runs there beside the kernel runs on an overflow
as well, and sees gradients that are still scaled, unless `unscale_()` stands ahead of it.

Source: torch/amp/grad_scaler.py (`step`: `_step_supports_amp_scaling`), torch/optim/adam.py, optimizer.py
(`profile_hook_step`), apex/amp/handle.py (`skip_step`) at tag 25.05.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import last_name
from ...flow.objects import Obj
from ...units.unit import Context, Unit

_HOOKS = ("register_step_pre_hook", "register_step_post_hook")
_HOOKS_OF_ALL = ("register_optimizer_step_pre_hook", "register_optimizer_step_post_hook")
_FUSED = frozenset("Adam AdamW SGD Adagrad".split())
_BECOME_FUSED = frozenset(f"apex.optimizers.{name}" for name in ("FusedAdam", "FusedSGD"))


def review_fused(ctx: Context, unit: Unit) -> None:
    """Name the hooks of the unit's optimizers, and their own steps, where one may be fused."""
    if not unit.steps or not may_be_fused(ctx):
        return
    for node, what in (*_hooks(ctx, unit), *_steps(ctx, unit)):
        unit.review(
            node,
            "APX060",
            f"{what} of an optimizer that may be fused (fused=True): torch's GradScaler leaves it to such a one to "
            "unscale the gradients and to leave out a step, so this runs on an overflow as well, where Apex left it "
            "out, and ahead of the step it sees gradients that are still scaled",
        )


def may_be_fused(ctx: Context) -> bool:
    """Whether the text says `fused` to anything, or has an optimizer of Apex's that becomes such a one."""
    if any(not _says_no(keyword.value) for keyword in ctx.m.all(ast.keyword) if keyword.arg == "fused"):
        return True
    if ctx.m.strings("fused") or ctx.m.attributes("_step_supports_amp_scaling"):
        return True
    names = (name for call in ctx.m.all(ast.Call) for name in ctx.v.apex_names(call.func))
    return not ctx.settings.keep_fused and not _BECOME_FUSED.isdisjoint(names)


def _says_no(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (False, None)


def _hooks(ctx: Context, unit: Unit) -> Iterator[tuple[ast.AST, str]]:
    for name in _HOOKS:
        for call in ctx.m.calls(name):
            held = ctx.v.of(call.func.value) if isinstance(call.func, ast.Attribute) else frozenset[Obj]()
            if not held or held & unit.optimizer_objects:
                yield call, "this is a hook of the step"
    for name in _HOOKS_OF_ALL:
        yield from ((call, "this is a hook of the step") for call in ctx.m.calls(name))


def _steps(ctx: Context, unit: Unit) -> Iterator[tuple[ast.AST, str]]:
    """The own `step` of a class of the program that derives from what torch can fuse."""
    classes = {o.key for o in unit.optimizer_objects if o.kind == "instance" and isinstance(o.key, ast.ClassDef)}
    steps: dict[ast.AST, str] = {}
    for cls in sorted(classes, key=ctx.m.start):
        line = ctx.v.order(cls)
        if not any(last_name(base) in _FUSED for one in line for base in one.bases):
            continue
        for one in line:
            own = (f for f in one.body if isinstance(f, ast.FunctionDef) and f.name == "step")
            steps.update((f, f"this is {one.name}'s own step,") for f in own)
    yield from steps.items()

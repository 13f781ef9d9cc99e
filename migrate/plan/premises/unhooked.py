"""An optimizer of the program's own that leaves out the constructor of torch's, as wrappers do (Lookahead): its `step`
has no hooks to run. The inherited `zero_grad()` makes the class's `step` ask for them; Apex had put another one in its
place by then, that of before.

Source: torch/optim/optimizer.py (`_patch_step_function`, `profile_hook_step`), apex/amp/_initialize.py at tag 25.05
(`patch_step`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import last_name
from ...nodes import walk
from ...units.unit import Context, Unit

_HOOKS = "_optimizer_step_pre_hooks"


def review_unhooked(ctx: Context, unit: Unit) -> None:
    """Names the constructors that would have to call it."""
    for init in _without_base(ctx, unit):
        owner = ctx.m.class_of(ctx.m.scope_of[init])
        unit.review(
            init,
            "APX062",
            f"{getattr(owner, 'name', 'this optimizer')} does not call the constructor of torch's Optimizer, and "
            f"inherits its zero_grad(): behind that, torch's step asks for hooks ({_HOOKS}) and raises; Apex's had "
            "been put in its place before. Call super().__init__(params, defaults) first",
        )


def _without_base(ctx: Context, unit: Unit) -> Iterator[ast.FunctionDef]:
    """The constructors of the unit's optimizers that do not call that of their base, which is torch's."""
    classes = {o.key for o in unit.optimizer_objects if o.kind == "instance" and isinstance(o.key, ast.ClassDef)}
    for cls in sorted(classes, key=ctx.m.start):
        line = ctx.v.order(cls)
        torchs = any(last_name(base) == "Optimizer" for one in line for base in one.bases)
        methods = {f.name: f for one in reversed(line) for f in one.body if isinstance(f, ast.FunctionDef)}
        init = methods.get("__init__")
        if not torchs or init is None or "step" not in methods or "zero_grad" in methods:
            continue
        called = any(isinstance(n, ast.Call) and last_name(n.func) == "__init__" for n in walk(init))
        named = {n.attr for one in line for n in walk(one) if isinstance(n, ast.Attribute)}
        if not called and _HOOKS not in named and "defaults" in named:  # else torch's zero_grad() raises in any case
            yield init

"""``amp.disable_casts`` and the cast decorators become autocast's own.

``disable_casts`` is a region in which autocast is off. ``float_function`` and ``half_function`` cast
the inputs of a function while mixed precision is on: ``torch.amp.custom_fwd`` does. Registering a
function of torch that autocast's own lists cast the same way says nothing new, and goes.

Source: apex/amp/amp.py at tag 25.05; torch/amp/autocast_mode.py (custom_fwd); ATen/autocast_mode.h.
"""

from __future__ import annotations

import ast

from migrate.knowledge.operations import NATIVE_FLOAT, NATIVE_HALF
from migrate.rules.common import Work
from migrate.units.unit import Context

ID = "APX080"
BEFORE = """\
@amp.float_function
def forward(self, features, rois):
    ...
"""
AFTER = """\
@torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
def forward(self, features, rois):
    ...
"""

def apply(ctx: Context, work: Work) -> None:
    """Rewrite casts; what has no counterpart is left for the report."""
    for use, dotted in ctx.facts.uses.items():
        if work.draft.gone(use) or ctx.m.statement(use) in ctx.facts.imports:
            continue
        tail = dotted.split(".")[-1]
        above = ctx.m.parent[use]
        if tail == "disable_casts" and isinstance(above, ast.Call) and above.func is use:
            work.draft.replace(above, work.templates.no_autocast())
            work.note(None, ID, use, "a region in which autocast is off")
        elif tail in ("float_function", "half_function") and resolved(ctx, use, tail):
            dtype = "float32" if tail == "float_function" else work.templates.settings.dtype
            if _wraps_extension(ctx, use):
                assert isinstance(above, ast.Call)
                work.draft.replace(above, work.templates.custom_forward(dtype, ctx.m.src(above.args[0])))
            else:
                work.draft.replace(use, work.templates.custom_forward(dtype))
            work.note(None, ID, use, "inputs are cast while autocast is on")
        elif tail in ("register_half_function", "register_float_function") and isinstance(above, ast.Call):
            if known(above, tail) and isinstance(ctx.m.parent[above], ast.Expr):
                work.draft.delete(ctx.m.statement(above))
                work.note(None, ID, above, "autocast casts this function by itself")


def _decorates(use: ast.expr, above: ast.AST) -> bool:
    return isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and use in above.decorator_list


def _wraps_extension(ctx: Context, use: ast.expr) -> bool:
    """``nms = amp.float_function(_C.nms)``: a function of a module from elsewhere, called with tensors."""
    call = ctx.m.parent[use]
    if not (isinstance(call, ast.Call) and call.func is use and len(call.args) == 1 and not call.keywords):
        return False
    wrapped = call.args[0]
    return isinstance(ctx.m.parent[call], ast.Assign) and isinstance(wrapped, ast.Attribute)


def resolved(ctx: Context, use: ast.expr, tail: str) -> bool:
    """Whether this rule rewrites a use: a decorator of a method, or a registration that autocast knows.

    ``custom_fwd`` marks its first argument, so a plain function may not be called by keyword or with a list."""
    above = ctx.m.parent[use]
    if tail in ("float_function", "half_function"):
        if _wraps_extension(ctx, use):
            return True
        if not _decorates(use, above):
            return False
        first = above.args.args[0].arg if above.args.args else ""  # type: ignore[attr-defined]
        if first == "ctx":
            return True
        calls = ctx.v.calls[above]
        plain = bool(calls) and all(c.args and not isinstance(c.args[0], (ast.List, ast.Tuple)) for c in calls)
        return plain or ctx.m.self_name(ctx.m.scope_of[above]) is not None
    if tail in ("register_half_function", "register_float_function"):
        return isinstance(above, ast.Call) and known(above, tail) and isinstance(ctx.m.parent[above], ast.Expr)
    return True


def known(call: ast.Call, tail: str) -> bool:
    """Whether a registration names a torch function that autocast lists the same way."""
    if len(call.args) != 2 or not isinstance(call.args[1], ast.Constant):
        return False
    module = call.args[0]
    owner = module.attr if isinstance(module, ast.Attribute) else getattr(module, "id", "")
    if owner not in ("torch", "F", "functional", "Tensor"):
        return False
    name = call.args[1].value
    return name in (NATIVE_HALF if tail == "register_half_function" else NATIVE_FLOAT)

"""Hooks of the backward pass that compute products: O1's patches held there, too; autocast does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import called_name
from ...facts.networks import comes_from_elsewhere, name_elsewhere
from ...units.autograd import multiplies
from ...units.unit import Context, Unit

_REGISTERS = (
    "register_hook", "register_backward_hook", "register_full_backward_hook", "register_full_backward_pre_hook",
    "register_module_full_backward_hook", "register_post_accumulate_grad_hook", "register_multi_grad_hook",
)  # fmt: skip


def review_products_in_hooks(ctx: Context, unit: Unit) -> None:
    """Names the hooks that multiply what the backward pass hands them."""
    if not any(options.levels & {"O1", "?"} for options in unit.options.values()):
        return  # O2 and O3 cast models alone
    for name in _REGISTERS:
        for call in ctx.m.calls(name):
            if any(multiplies(ctx, hook) for hook in _hooks(ctx, call)) or _of_another_file(ctx, call):
                unit.review(
                    call,
                    "APX082",
                    "this hook computes products in the backward pass: O1 ran them in float16, and they run in float32 "
                    "now, or raise where a half gradient meets float32; wrap them in torch.autocast",
                )


def _hooks(ctx: Context, call: ast.Call) -> Iterator[ast.AST]:
    for arg in map(_filled, call.args):
        if isinstance(arg, ast.Lambda):
            yield arg
        yield from (f for o in ctx.v.of(arg) for f in ctx.v.functions(o))


def _of_another_file(ctx: Context, call: ast.Call) -> bool:
    """Whether what is registered is a function of a file that is not read with the program, and computes products."""
    known = ctx.facts.elsewhere.multiplying
    named = (arg for arg in map(_filled, call.args) if isinstance(arg, (ast.Name, ast.Attribute)))
    return any(name_elsewhere(ctx.v, arg) in known and comes_from_elsewhere(ctx.v, arg) for arg in named)


def _filled(arg: ast.expr) -> ast.expr:
    """The function that a ``partial`` fills."""
    return arg.args[0] if isinstance(arg, ast.Call) and called_name(arg) == "partial" and arg.args else arg

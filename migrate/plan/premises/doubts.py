"""What only half holds, and is named: second derivatives, hooks, makers and networks that come from elsewhere."""

from __future__ import annotations

import ast

from ...facts.once import once
from ...flow.objects import FORWARD_HOOK
from ...units.readers import reads_gradients
from ...units.unit import Context, Manual, Unit
from ..regions.planner import Planner


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
    for cls in _derived_elsewhere(ctx):
        for node in (*(site.call for site in unit.sites), *steps):
            if any(ctx.m.inside(node, base) for base in ctx.v.order(cls)):
                raise Manual(
                    node,
                    f"a class that derives from {cls.name} stands in another file and has a part in training, too",
                    "migrate both by hand, together",
                )


@once
def _derived_elsewhere(ctx: Context) -> list[ast.ClassDef]:
    """The classes from which those of other files derive."""
    return [cls for cls in ctx.m.all(ast.ClassDef) if f"class {cls.name}" in ctx.exported(cls)]


def review_switches(ctx: Context, unit: Unit) -> None:
    """Objects with a switch of their own each, of which Apex made one of the process."""
    m = ctx.m
    for init in unit.initializes:
        cls = m.class_of(m.function(init.call))
        method = m.method(cls, "__init__") if cls is not None else None
        if cls is None or method is None or len(makers(ctx, method)) < 2:
            continue
        if any(isinstance(outer, ast.If) for outer in m.spine(init.call)):
            unit.review(
                init.call,
                "APX035",
                f"several objects of {cls.name} are made, each with its own switch: once it was on for one of them, "
                "Apex's casts held for all",
            )


def makers(ctx: Context, constructor: ast.AST, below: tuple[ast.AST, ...] = ()) -> set[ast.Call]:
    """The calls that make an object with a constructor: where one that derives from it calls it, those of that one."""
    found: set[ast.Call] = set()
    for call in ctx.v.calls.get(constructor, ()):
        outer = ctx.m.function(call).node
        derived = isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
        if not derived or getattr(outer, "name", "") != "__init__":
            found.add(call)
        elif outer not in (constructor, *below):
            found |= makers(ctx, outer, (constructor, *below))
    return found

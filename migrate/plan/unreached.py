"""Optimizers of parts of a model that its forward leaves out under a condition: a loss without such a part gives them
no gradients, which Apex let pass, and which `GradScaler.step` raises for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..flow.objects import Obj
from ..knowledge.models import PARAMETERS
from ..nodes import walk
from ..units.ownership import said_of
from ..units.unit import Context, Manual, Step, Unit
from .schedule import NO_CHECKS


def check_one_of_several(ctx: Context, unit: Unit) -> None:
    """Raise Manual where a loss goes to one of several optimizers (``opts[k]``) and all of them are stepped."""
    for scale in unit.scales:
        one = scale.optimizers
        if not isinstance(one, ast.Subscript) or isinstance(one.slice, (ast.Constant, ast.Slice, ast.UnaryOp)):
            continue
        for step in unit.steps:
            if step.objects & scale.optimizer_objects and _goes_over(ctx, step, ctx.m.src(one.value)):
                raise Manual(
                    step.call,
                    f"the backward in line {scale.call.lineno} is for one of these optimizers, and all are stepped: "
                    f"scaler.step() raises for those that it gave no gradients ({NO_CHECKS}), where "
                    "Apex's step did nothing",
                    f"step {ctx.m.src(one)} alone",
                )


def _goes_over(ctx: Context, step: Step, container: str) -> bool:
    """Whether a step is that of each optimizer of a container in turn."""
    if not isinstance(step.optimizer, ast.Name):
        return False
    for outer in ctx.m.spine(step.call):
        if isinstance(outer, (ast.For, ast.AsyncFor)):
            targets = {n.id for n in walk(outer.target) if isinstance(n, ast.Name)}
            over = {ctx.m.src(n) for n in walk(outer.iter) if isinstance(n, (ast.Name, ast.Attribute))}
            if step.optimizer.id in targets and container in over:
                return True
    return False


def review_unreached(ctx: Context, unit: Unit) -> None:
    """Names the steps of optimizers all of whose parts a forward may leave out."""
    for step in unit.steps:
        for use in next(filter(None, (_sometimes(ctx, obj) for obj in sorted(step.objects, key=_place))), ())[:1]:
            unit.review(
                step.call,
                "APX060",
                f"`{ctx.m.src(use)}` (line {use.lineno}) runs under a condition: after a forward without it "
                f"this optimizer has no gradients, and scaler.step() raises ({NO_CHECKS}); Apex did "
                "nothing then",
            )


def _place(obj: Obj) -> tuple[int, int]:
    return (getattr(obj.key, "lineno", 0), getattr(obj.key, "col_offset", 0))


def _sometimes(ctx: Context, optimizer: Obj) -> list[ast.Attribute]:
    """Where a model uses the parts that an optimizer was made of, where all of these uses hang on a condition; none
    where one does not, or is not known."""
    found: list[ast.Attribute] = []
    if optimizer.kind != "call" or not isinstance(optimizer.key, ast.Call):
        return found
    for node in said_of(ctx, optimizer.key):
        if isinstance(node, ast.Attribute) and node.attr in PARAMETERS:
            item = node.value.value if isinstance(node.value, ast.Subscript) else None  # of several, as a ModuleDict
            part = item or node.value
            uses = [*_uses(ctx, part)] if isinstance(part, ast.Attribute) else []
            chosen = [use for use in uses if item is not None and _by_key(ctx, use)]
            if not uses or not all(use in chosen or _asked_for(ctx, use) for use in uses):
                return []
            found += uses
    return found


def _uses(ctx: Context, part: ast.Attribute) -> Iterator[ast.Attribute]:
    """Where the class of a model reads a part of it, other than to make it."""
    for obj in ctx.v.in_order(ctx.v.of(part.value)):
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            continue
        for method in obj.key.body:
            if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.name != "__init__":
                first = ctx.m.self_name(ctx.m.scope_of[method])
                for node in walk(method):
                    if isinstance(node, ast.Attribute) and node.attr == part.attr and isinstance(node.ctx, ast.Load):
                        if isinstance(node.value, ast.Name) and node.value.id == first:
                            yield node


def _by_key(ctx: Context, use: ast.Attribute) -> bool:
    """Whether one of several parts is taken by a key that a caller has a part in: ``self.heads[task](x)``."""
    above = ctx.m.parent[use]
    if not isinstance(above, ast.Subscript) or above.value is not use:
        return False
    return _callers_say(ctx, above.slice)


def _asked_for(ctx: Context, use: ast.Attribute) -> bool:
    """Whether a condition decides about a use, one that a caller has a part in."""
    for outer in ctx.m.ancestors(use):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if isinstance(outer, (ast.If, ast.IfExp)) and not ctx.m.inside(use, outer.test):
            if _callers_say(ctx, outer.test):
                return True
    return False


def _callers_say(ctx: Context, expr: ast.expr) -> bool:
    """Whether an expression reads an argument of its function."""
    scope = ctx.m.function(expr)
    names = {node.id for node in walk(expr) if isinstance(node, ast.Name)}
    return bool(names & {*scope.params} - {ctx.m.self_name(scope)})

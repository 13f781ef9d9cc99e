"""What is asked of the state of a fused optimizer: torch makes it in the first step, also where that is left out.

Apex had put another `step` in its place then, so there was none: `len(optimizer.state)` was 0, and a parameter was not
in it. Nearly each training begins with such a step, as the loss scale has to be found.

Source: torch/optim/adam.py (`_init_group`, `_fused_adam`: `grad_scale`, `found_inf`), torch/amp/grad_scaler.py
(`step`), apex/amp/handle.py (`skip_step`) at tag 25.05.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.looks_into import moves_state
from ...facts.names import called_name, last_name
from ...facts.networks import handed_elsewhere
from ...units.unit import Context, Unit
from .fused import may_be_fused

_SAID = (
    "{} of an optimizer that may be fused (fused=True): torch makes its state in the first step, also where that is "
    "left out after an overflow, as the first ones mostly are; Apex had made none by then"
)
_SHOWS = frozenset("len bool list dict tuple set sorted iter print str repr any all sum next enumerate zip".split())
_ASKS = frozenset("items keys values get pop setdefault".split())


def review_fused_state(ctx: Context, unit: Unit) -> None:
    """Name what asks whether the unit's optimizers have a state, or how much of it, where one may be fused."""
    if not unit.steps or not may_be_fused(ctx):
        return
    for node in _states(ctx, unit):
        for use in _uses(ctx, node):
            if _asked(ctx, use):
                unit.review(node, "APX060", _SAID.format("this asks for the state"))
                break
    for call in ctx.m.all(ast.Call):
        for arg in handed_elsewhere(ctx.v, call, ctx.facts.elsewhere.stating):
            if ctx.v.of(arg) & unit.optimizer_objects:
                unit.review(call, "APX060", _SAID.format(f"`{called_name(call)}` of another file asks for the state"))
                break


def _states(ctx: Context, unit: Unit) -> Iterator[ast.expr]:
    """``optimizer.state``, ``optimizer.state_dict()["state"]``; not in an optimizer's own class."""
    for node in ctx.m.attributes("state"):
        if isinstance(node.ctx, ast.Load) and ctx.v.of(node.value) & unit.optimizer_objects and not _own(ctx, node):
            yield node
    for call in ctx.m.calls("state_dict"):
        above = ctx.m.parent[call]
        match above:
            case ast.Subscript(slice=ast.Constant(value="state")) if isinstance(call.func, ast.Attribute):
                if ctx.v.of(call.func.value) & unit.optimizer_objects:
                    yield above
            case _:
                pass


def _own(ctx: Context, node: ast.AST) -> bool:
    cls = ctx.m.class_of(ctx.m.function(node))
    return cls is not None and any(last_name(base).startswith(("Optimizer", "Adam", "SGD")) for base in cls.bases)


def _uses(ctx: Context, node: ast.expr) -> Iterator[ast.expr]:
    """A state where it stands, and by the name that it is given in that function; of one parameter as well."""
    yield node
    above = ctx.m.parent[node]
    if isinstance(above, ast.Subscript) and above.value is node:
        yield from _uses(ctx, above)
    elif isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
        home, name = ctx.m.function(node), above.targets[0].id
        for read in ctx.m.named(name):
            if isinstance(read.ctx, ast.Load) and ctx.m.function(read) is home:
                yield from _uses(ctx, read)


def _asked(ctx: Context, use: ast.expr) -> bool:
    """Whether it is asked what is in it, but by a loop that moves that to the GPU."""
    above = ctx.m.parent[use]
    match above:
        case ast.Call(args=args) if use in args:
            return called_name(above) in _SHOWS and not _moved(ctx, use)
        case ast.Attribute(attr=attr):
            return attr in _ASKS and not _moved(ctx, use)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test is use
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Compare() | ast.FormattedValue():
            return True
        case ast.For(iter=source) | ast.comprehension(iter=source):
            return source is use and not _moved(ctx, use)
        case _:
            return False


def _moved(ctx: Context, use: ast.expr) -> bool:
    loop = next((one for one in ctx.m.spine(ctx.m.statement(use)) if isinstance(one, ast.For)), None)
    return moves_state(ctx.m.src(loop)) if loop is not None else False

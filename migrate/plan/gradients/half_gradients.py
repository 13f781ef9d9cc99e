"""Who clips or looks at the gradients of the model's own parameters, where Apex stepped float32 copies of them (O2).

Behind ``scale_loss`` the float16 gradients of the model stayed as they were, scaled; the unscaled ones were those of
the copies, which the optimizer's groups hold and ``amp.master_params`` gives. Natively there is one set of gradients.
Source: apex/amp/_process_optimizer.py at tag 25.05 (post_backward_with_master_weights).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...facts.names import called_name
from ...facts.sites import opened
from ...flow.objects import Obj
from ...flow.values import Values
from ...knowledge import gradients
from ...nodes import chain, walk
from ...units.unit import Context, Unit
from ..blocks import exclusive
from ..premises.plain_backwards import amp_off

_CLEARS = frozenset("zero_ detach_ fill_".split())
_MASTERS = {"O2": True, "O3": False}  # the levels with weights in float16, and whether the step uses copies of them
_ABOUT_CLIPS = (
    "this clip changed nothing of what was stepped{but}. Natively it clips what is stepped: take it out to train as "
    "before"
)
_ABOUT_LOOKS = (
    "what was read here was scaled float16, and a change of it changed nothing of what was stepped{but}. Natively "
    "these are unscaled float32 gradients wherever unscale_ has run, and the step takes them"
)
_BUT = " (but for batch norm that stayed float32, whose own gradients were stepped)"


def review_half_gradients(ctx: Context, unit: Unit) -> None:
    """Names each clip and each reader of gradients of the model's own parameters, where O2 is or may be the level."""
    level, batchnorm = _with_masters(unit)
    if not level or not unit.scales:
        return
    for node, clips in [*_clips(ctx, unit), *_looks(ctx, unit)]:
        if _elsewhere(ctx, unit, node):
            continue
        said = (_ABOUT_CLIPS if clips else _ABOUT_LOOKS).format(but=_BUT if batchnorm else "")
        unit.review(
            node,
            "APX057",
            f"{level} the step used float32 copies, and the gradients of the model's own parameters stayed float16 and "
            f"scaled behind scale_loss: {said}",
        )


def _with_masters(unit: Unit) -> tuple[str, bool]:
    """How a level is called at which the step used copies of the weights, if one may be meant, and whether batch norm
    had none."""
    for init in unit.initializes:
        levels = unit.options[init.call].levels
        masters, kept = (_constant(init.options.get(name)) for name in ("master_weights", "keep_batchnorm_fp32"))
        copied = [one for one, by_default in _MASTERS.items() if (masters if masters is not None else by_default)]
        meant = [one for one in copied if one in levels or (one == "O2" and "?" in levels)]
        if meant:
            name = meant[0]
            return f"under {name}" if levels == {name} else f"at {name}", name == "O2" and kept in (None, True, "True")
    return "", False


def _constant(value: ast.expr | None) -> object:
    return value.value if isinstance(value, ast.Constant) else None


def _clips(ctx: Context, unit: Unit) -> Iterator[tuple[ast.expr, bool]]:
    for call in ctx.m.all(ast.Call):
        name = called_name(call)
        about = name in gradients.TORCH_CLIPS or (gradients.CLIP.fit(name) and gradients.GRADIENTS.fit(name))
        norm = gradients.GIVES_NORM.fit(name) or name == "get_total_norm"
        if (about or norm) and call.args and not ctx.v.callees(call) and _own(ctx, unit, call.args[0]):
            yield call, not norm


def _looks(ctx: Context, unit: Unit) -> Iterator[tuple[ast.expr, bool]]:
    """The loops over the model's parameters that read gradients, by what they go through."""
    m = ctx.m
    told: set[ast.AST] = set()
    for node in m.attributes("grad"):
        if _clears(ctx, node):
            continue
        for outer in m.ancestors(node):
            loops: Sequence[ast.For | ast.comprehension] = [outer] if isinstance(outer, ast.For) else ()
            if isinstance(outer, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)):
                loops = outer.generators
            names = {n.id for n in walk(node.value) if isinstance(n, ast.Name)}
            mine = [one for one in loops if names & {n.id for n in walk(one.target) if isinstance(n, ast.Name)}]
            if mine:
                if mine[0].iter not in told and _own(ctx, unit, mine[0].iter):
                    told.add(mine[0].iter)
                    yield mine[0].iter, False
                break


def _clears(ctx: Context, node: ast.Attribute) -> bool:
    """Whether a gradient is thrown away, or only asked whether it is there."""
    above = ctx.m.parent[node]
    while isinstance(above, ast.Attribute) and above.attr in ("data", *_CLEARS):
        if above.attr in _CLEARS:
            return True
        above = ctx.m.parent[above]
    return isinstance(above, (ast.Compare, ast.Delete)) or (
        isinstance(node.ctx, ast.Store) and isinstance(getattr(above, "value", None), ast.Constant)
    )


def _own(ctx: Context, unit: Unit, expr: ast.expr) -> bool:
    """Whether an expression gives parameters of the unit's model, and none by way of the optimizer."""
    v = ctx.v
    held = [expr, *(o.key for o in v.of(expr) | opened(v, v.of(expr)) if isinstance(o.key, ast.expr))]
    nodes = [node for one in held for node in walk(one)]
    if any(isinstance(n, ast.Attribute) and n.attr in ("param_groups", "master_params") for n in nodes):
        return False
    return any(_gives(v, node, unit.model_objects) for node in nodes)


def _gives(v: Values, node: ast.AST, models: frozenset[Obj]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters")):
            return any(opened(v, v.of(one)) & models for one in chain(owner))
        case _:
            return False


def _elsewhere(ctx: Context, unit: Unit, node: ast.AST) -> bool:
    """Whether a reader runs where amp is off, beside one of the copies' gradients, or within ``scale_loss``."""
    m = ctx.m
    if any(site.with_ is not None and m.inside(node, site.with_) for site in unit.scales):
        return True
    return amp_off(ctx, unit, node) or any(exclusive(ctx, node, call) for call in ctx.master_params)

"""The functions of ``apex.normalization`` become ``torch.nn.functional.layer_norm`` and ``rms_norm``.

The order of arguments is another one, and Apex's epsilon is 1e-6 where none is given. The functions for mixed types
give the type of the weight; torch's give the type of the input (float32 under autocast).

Source: apex/normalization/fused_layer_norm.py at tag 25.05 (fused_layer_norm_affine and the functions around it).
"""

from __future__ import annotations

import ast
from functools import partial

from ..parts.arguments import Arguments, bind
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..parts.words import native
from ..units.unit import Context
from .common import Stage, Work

ID = "APX121"
STAGE = Stage.PARTS
BEFORE = """\
import torch.nn.functional as F
from apex.normalization.fused_layer_norm import fused_layer_norm_affine

x = fused_layer_norm_affine(x, weight, bias, shape, eps)
"""
AFTER = """\
import torch.nn.functional as F

x = F.layer_norm(x, shape, weight, bias, eps)
"""

_FUNCTIONS = {
    "fused_layer_norm_affine": ("layer_norm", "input weight bias normalized_shape eps memory_efficient"),
    "fused_layer_norm": ("layer_norm", "input normalized_shape eps memory_efficient"),
    "fused_rms_norm_affine": ("rms_norm", "input weight normalized_shape eps memory_efficient"),
    "fused_rms_norm": ("rms_norm", "input normalized_shape eps memory_efficient"),
}
_KERNELS = {  # autograd functions, which take the same arguments
    "FusedLayerNormAffineFunction": "fused_layer_norm_affine",
    "FusedLayerNormFunction": "fused_layer_norm",
    "FusedRMSNormAffineFunction": "fused_rms_norm_affine",
    "FusedRMSNormFunction": "fused_rms_norm",
}
_NATIVE = {"layer_norm": "input normalized_shape weight bias eps", "rms_norm": "input normalized_shape weight eps"}


def apply(ctx: Context, work: Work) -> None:
    """Replace the calls."""
    if not ctx.settings.keep_fused:
        table = {f"apex.normalization.{name}": partial(_function, name) for name in _FUNCTIONS}
        table |= {f"apex.normalization.{kind}.apply": partial(_function, name) for kind, name in _KERNELS.items()}
        replace(ctx, work, ID, {**table, "apex.contrib.layer_norm.FastLayerNormFN.apply": _fast})


def _function(name: str, ctx: Context, work: Work, site: Site) -> Native | Stays:
    function, parameters = _FUNCTIONS[name]
    dotted = f"torch.nn.functional.{function}"
    if function == "rms_norm" and ctx.settings.target_torch < (2, 4):
        return Stays("torch has rms_norm only from 2.4 on (--target-torch)", f"{dotted}(x, shape, weight, eps)")
    if site.call is None or site.filled:
        return Stays("this function is handed on, and torch's takes its arguments in another order", dotted)
    given = bind(site, parameters.split())
    if given.surplus or given.splat:
        return Stays("what this is called with is not told here", dotted)
    words = native(ctx.m, ctx.m.file(site.use), work.native(site.use), dotted)
    return Native(dotted, text=f"{words}({', '.join(_arguments(ctx, given, _NATIVE[function].split()))})", alias=False)


def _fast(ctx: Context, work: Work, site: Site) -> Native | Stays:
    """The kernel of contrib for wide layers, whose shape is that of its weight."""
    dotted = "torch.nn.functional.layer_norm"
    if site.call is None or site.filled:
        return Stays("this function is handed on, and torch's takes its arguments in another order", dotted)
    given = bind(site, "x gamma beta epsilon memory_efficient".split())
    weight = given.named.get("gamma")
    shaped = _shaped(weight)  # what has the shape of the weight
    known = not (given.surplus or given.splat) and {"x", "beta", "epsilon"} <= given.named.keys()
    if not known or shaped is None:
        return Stays("what this is called with is not told here", f"{dotted}(x, weight.shape, weight, bias, eps)")
    src = {name: ctx.m.src(value) for name, value in given.named.items()}
    words = native(ctx.m, ctx.m.file(site.use), work.native(site.use), dotted)
    text = f"{words}({src['x']}, {ctx.m.src(shaped)}.shape, {src['gamma']}, {src['beta']}, {src['epsilon']})"
    return Native(dotted, text=text, alias=False)


def _shaped(weight: ast.expr | None) -> ast.expr | None:
    """A name whose shape a weight has: its own, or that of ``weight + 1``."""
    match weight:
        case ast.Name() | ast.Attribute():
            return weight
        case ast.BinOp(left=ast.Name() | ast.Attribute() as one, right=ast.Constant()):
            return one
        case ast.BinOp(left=ast.Constant(), right=ast.Name() | ast.Attribute() as one):
            return one
        case _:
            return None


def _arguments(ctx: Context, given: Arguments, order: list[str]) -> list[str]:
    """The arguments in torch's order: by position as long as none is left out."""
    texts = {name: ctx.m.src(value) for name, value in given.named.items() if name in order} | (
        {} if "eps" in given.named else {"eps": "1e-6"}
    )
    found: list[str] = []
    for name in order:
        if name in texts:
            by_position = len(found) == order.index(name)
            found.append(texts[name] if by_position else f"{name}={texts[name]}")
    return found

"""Pieces of ``apex.contrib`` and ``apex.fused_dense`` that torch has by another name.

``clip_grad_norm_`` is torch's own with another kernel. ``SoftmaxCrossEntropyLoss`` is ``cross_entropy`` without
reduction, whose label 0 counts as padding unless another one is named: ``ignore_index=0`` is written out.
``FusedDense`` is ``torch.nn.Linear`` (the same parameters under the same names). ``apex.mlp.MLP`` is written out:
layers with an activation behind each, the parameters under the names they had.

Source: apex/contrib/clip_grad/clip_grad.py, apex/contrib/xentropy/softmax_xentropy.py,
apex/fused_dense/fused_dense.py, apex/mlp/mlp.py at tag 25.05.
"""

from __future__ import annotations

import ast

from ..parts.arguments import bind
from ..parts.definitions import written_out
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..parts.words import native
from ..units.unit import Context
from .common import Stage, Work

ID = "APX130"
STAGE = Stage.PARTS
BEFORE = """\
from apex.contrib.clip_grad import clip_grad_norm_

clip_grad_norm_(model.parameters(), 1.0)
"""
AFTER = """\
from torch.nn.utils import clip_grad_norm_

clip_grad_norm_(model.parameters(), 1.0)
"""

_XENTROPY = "logits labels smoothing padding_idx half_to_float".split()
_DENSE = "in_features out_features bias".split()


def apply(ctx: Context, work: Work) -> None:
    """Replace each of them."""
    if ctx.settings.keep_fused:
        return
    replace(
        ctx,
        work,
        ID,
        {
            "apex.contrib.clip_grad.clip_grad_norm_": _clip,
            "apex.contrib.xentropy.SoftmaxCrossEntropyLoss.apply": _cross_entropy,
            "apex.fused_dense.FusedDense": _dense,
            "apex.mlp.MLP": _mlp,
        },
        drop_in={
            "apex.contrib.clip_grad.clip_grad_norm_": "torch.nn.utils.clip_grad_norm_",
            "apex.fused_dense.FusedDense": "torch.nn.Linear",
        },
    )


def _clip(ctx: Context, work: Work, site: Site) -> Native | Stays:
    return Native("torch.nn.utils.clip_grad_norm_")


def _cross_entropy(ctx: Context, work: Work, site: Site) -> Native | Stays:
    dotted = "torch.nn.functional.cross_entropy"
    suggestion = f'{dotted}(logits.float(), labels, ignore_index=0, label_smoothing=smoothing, reduction="none")'
    if site.call is None or site.filled:
        return Stays("this function is handed on, and torch's has other arguments", suggestion)
    given = bind(site, _XENTROPY)
    if given.surplus or given.splat or not {"logits", "labels"} <= given.named.keys():
        return Stays("what this is called with is not told here", suggestion)
    src = {name: ctx.m.src(value) for name, value in given.named.items()}
    more = [f"ignore_index={src.get('padding_idx', '0')}"]
    if given.constant("smoothing", 0.0) != 0.0:
        more.append(f"label_smoothing={src['smoothing']}")
    simple = isinstance(given.named["logits"], (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    logits = src["logits"] if simple else f"({src['logits']})"
    words = native(ctx.m, ctx.m.file(site.use), work.native(site.use), dotted)
    text = f'{words}({logits}.float(), {src["labels"]}, {", ".join(more)}, reduction="none")'
    said = "losses are float32 now, also where Apex's kernel gave the type of half logits back"
    whole = given.constant("half_to_float", False) is True
    return Native(dotted, text=text, alias=False, info=None if whole else said)


def _mlp(ctx: Context, work: Work, site: Site) -> Native | Stays:
    return written_out(ctx, work, site, "mlp", "MLP")


def _dense(ctx: Context, work: Work, site: Site) -> Native | Stays:
    if site.call is not None and bind(site, _DENSE).surplus:
        return Stays("this is not how Apex 25.05 makes the layer", "torch.nn.Linear(in_features, out_features)")
    return Native("torch.nn.Linear", parameters=_DENSE, positional=_DENSE)

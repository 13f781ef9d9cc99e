"""``apex.normalization``'s layers become ``torch.nn.LayerNorm`` and ``torch.nn.RMSNorm``.

Parameters, keys of a saved state and defaults are the same, but for the epsilon of RMS norm: Apex has 1e-5 where torch
takes the smallest of the type, so it is written out. ``memory_efficient`` says what the kernel keeps for the backward,
and goes. ``FastLayerNorm`` of contrib is another kernel for the same layer. Under autocast torch's layer norm gives
float32, the fused kernel float16. ``torch.nn.RMSNorm`` came with torch 2.4.

Source: apex/normalization/fused_layer_norm.py, apex/contrib/layer_norm/layer_norm.py at tag 25.05;
torch/nn/modules/normalization.py.
"""

from __future__ import annotations

from functools import partial

from ..parts.arguments import bind
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Role, Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX120"
STAGE = Stage.PARTS
BEFORE = """\
try:
    from apex.normalization import FusedLayerNorm as LayerNorm
except ImportError:
    from torch.nn import LayerNorm

norm = LayerNorm(768, eps=1e-12)
"""
AFTER = """\
from torch.nn import LayerNorm

norm = LayerNorm(768, eps=1e-12)
"""

_PARAMETERS = "normalized_shape eps elementwise_affine memory_efficient".split()
_FAST = "hidden_size eps memory_efficient".split()
_RMS_NORM = (2, 4)
_DROP_IN = ("apex.normalization.FusedLayerNorm", "apex.normalization.MixedFusedLayerNorm")


def apply(ctx: Context, work: Work) -> None:
    """Replace the classes, wherever they are named."""
    if ctx.settings.keep_fused:
        return
    layer, rms = partial(_layer, "torch.nn.LayerNorm"), partial(_layer, "torch.nn.RMSNorm")
    replace(
        ctx,
        work,
        ID,
        {
            "apex.normalization.FusedLayerNorm": layer,
            "apex.normalization.MixedFusedLayerNorm": layer,
            "apex.normalization.FusedRMSNorm": rms,
            "apex.normalization.MixedFusedRMSNorm": rms,
            "apex.contrib.layer_norm.FastLayerNorm": _fast,
        },
        drop_in=dict.fromkeys(_DROP_IN, "torch.nn.LayerNorm"),
    )


def _layer(native: str, ctx: Context, work: Work, site: Site) -> Native | Stays:
    rms = native.endswith("RMSNorm")
    if rms and ctx.settings.target_torch < _RMS_NORM:
        return Stays("torch has RMSNorm only from 2.4 on (--target-torch)", f"{native}(shape, eps=1e-5)")
    if site.call is None:
        unsure = rms and site.role in (Role.HANDED, Role.BASE)
        return Native(native, parameters=_PARAMETERS, drop=_PARAMETERS[3:], review=_EPSILON if unsure else None)
    given = bind(site, _PARAMETERS)
    if given.surplus:
        return Stays("this is not how Apex 25.05 makes the layer: it has no such argument", f"{native}(shape, eps)")
    add = ["eps=1e-5"] if rms and "eps" not in given.named and not given.splat else []
    return Native(
        native,
        parameters=_PARAMETERS,
        positional=_PARAMETERS[:3],
        drop=_PARAMETERS[3:],
        add=add,
        review=_EPSILON if rms and given.splat and "eps" not in given.named else None,
    )


def _fast(ctx: Context, work: Work, site: Site) -> Native | Stays:
    if site.call is None:
        return Native("torch.nn.LayerNorm")
    given = bind(site, _FAST)
    if given.surplus or given.splat or any(keyword.arg == "hidden_size" for keyword in site.call.keywords):
        return Stays("what this is called with is not told here", "torch.nn.LayerNorm(hidden_size, eps)")
    return Native("torch.nn.LayerNorm", parameters=_FAST, positional=_FAST[:2], drop=_FAST[2:])


_EPSILON = "where no eps is given Apex's RMS norm takes 1e-5, and torch's the smallest number of the type"

"""``apex.optimizers.FusedAdam`` becomes ``torch.optim.AdamW`` or ``Adam``, fused as well.

Apex decays weights as AdamW does unless ``adam_w_mode=False``, and does not decay them where nothing is said, so
``weight_decay=0.0`` is written out. What torch has no parameter for goes where it changes nothing (``set_grad_none``).
Where ``bias_correction`` is not on for sure, which torch has no parameter for, a class that has it is
written out behind the file's imports; it also clips as that of older Apex did (``max_grad_norm``). It takes what the
calls give, and what none of them nor a group of parameters asks for is not in it (APX113). That one, which
``apex.contrib.optimizers`` still has, corrects its bias in another way, and is a class of its own (``ClippingAdam``).
Where the class itself is handed on or derived from, or the file, or another one of its process, asks parameter groups
for the ``step`` that Apex counted there, one that takes the same arguments and keeps it takes its place. From
``--target-torch`` 2.4 on ``fused=True`` keeps all parameters in one kernel, wherever they lie when the optimizer is
made. A state that Apex's optimizer saved has one ``step`` a group, torch's has one a parameter.

Source: apex/optimizers/fused_adam.py at tag 25.05; torch/optim/adamw.py.
"""

from __future__ import annotations

import ast
from dataclasses import replace as but

from ..facts.names import called_name
from ..parts.arguments import UNKNOWN, positional
from ..parts.definitions import written_out
from ..parts.optimizers import Options, fused, loads, of_a_group, open_options, optimizer_call, surely_given
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Role, Site
from ..parts.words import native
from ..units.unit import Context
from .common import Stage, Work

ID = "APX110"
STAGE = Stage.PARTS
BEFORE = """\
import torch
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=args.lr, adam_w_mode=False, weight_decay=0.01)
"""
AFTER = """\
import torch

optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=0.01, fused=True)
"""

_PARAMETERS = (
    "params lr bias_correction betas eps adam_w_mode weight_decay amsgrad set_grad_none capturable master_weights"
).split()
_CLIP = "max_grad_norm"  # which only Apex before 2019 had
_CLIPPING = "params lr bias_correction betas eps eps_inside_sqrt weight_decay max_grad_norm amsgrad use_mt".split()
_STATE = (
    "a state that Apex's FusedAdam saved keeps `step` in its groups; torch asks for it of each parameter: "
    "for i, s in enumerate(state['state'].values()): s['step'] = torch.tensor(float(group['step']))"
)
_HALF = (
    "Apex's FusedAdam kept its averages in float32 for half and bfloat16 weights too; torch's keeps them in the type "
    "of the weights, so keep weights in float32 (torch.autocast casts them where it helps)"
)
_INSIDES = "capturable master_weights param_groups_master multi_tensor_adam_capturable".split()
_CLASS = (
    "this class is handed on, and what it is called with is not told here: ApexAdam, which is written out here, takes "
    "the same arguments and computes the same, tensor by tensor; torch.optim.AdamW(…, weight_decay=0.0, fused=True) is "
    "faster, and the same where adam_w_mode is left as it is"
)

_DERIVED = (
    "what derived from FusedAdam derives from ApexAdam, which is written out here: it takes the same arguments and "
    "computes the same, tensor by tensor instead of in one kernel"
)


def apply(ctx: Context, work: Work) -> None:
    """Replace the calls."""
    if not ctx.settings.keep_fused:
        replace(ctx, work, ID, {"apex.optimizers.FusedAdam": _adam, "apex.contrib.optimizers.FusedAdam": _contrib})


def _adam(ctx: Context, work: Work, site: Site) -> Native | Stays:
    if site.variable or (site.call is None and site.role in (Role.HANDED, Role.BASE)):
        return _as_a_class(ctx, work, site)
    given = optimizer_call(ctx, site, [*_PARAMETERS, _CLIP], ["bias_correction", _CLIP])
    if isinstance(given, Stays):
        return given
    if (_CLIP in given.named or _CLIP in given.keys) and given.constant("bias_correction", True) is not False:
        return _clipping(ctx, work, given)  # it corrected its bias in another way
    if given.constant("master_weights", False) is not False or given.constant("amsgrad", False) is not False:
        return Stays("the optimizer's own master weights have no counterpart: keep Apex's (--keep-fused)")
    if given.constant("bias_correction", True) is not True or _in_groups(ctx, site, given):
        if given.constant("capturable", False) is not False:
            return Stays("torch has no Adam without bias correction for CUDA graphs: keep Apex's (--keep-fused)")
        return written_out(ctx, work, site, "adam", "ApexAdam")
    decoupled = given.constant("adam_w_mode", True)
    options = [f"**{ctx.m.src(one)}" for one in given.splat]
    unsaid = decoupled is not False and "weight_decay" not in given.named
    unsaid = unsaid and not any(surely_given(ctx, one, "weight_decay") for one in given.splat)
    within = unsaid and (given.open or "weight_decay" in given.keys)  # it may stand in the options
    add = ["weight_decay=0.0"] if unsaid and not within else []
    spelled = None
    if decoupled is UNKNOWN:
        words = [
            native(ctx.m, ctx.m.file(site.use), work.native(site.use), f"torch.optim.{name}")
            for name in ("AdamW", "Adam")
        ]
        spelled = f"({words[0]} if {ctx.m.src(given.named['adam_w_mode'])} else {words[1]})"
    replaced = {options[0]: f'**{{"weight_decay": 0.0, {options[0]}}}'} if within else {}
    return Native(
        "torch.optim.AdamW" if decoupled else "torch.optim.Adam",
        parameters=_PARAMETERS,
        positional=["params", "lr", "betas", "eps", "weight_decay"],
        drop=["bias_correction", "adam_w_mode", "amsgrad", "set_grad_none", "master_weights"],
        add=[*add, *fused(ctx)],
        spelled=spelled,
        alias=False,
        options=replaced,
        review=open_options(given, "bias_correction", "adam_w_mode", "set_grad_none"),
        info=_STATE if loads(ctx) else _HALF if _half(ctx) else None,
    )


def _contrib(ctx: Context, work: Work, site: Site) -> Native | Stays:
    """The optimizer that stood in ``apex.optimizers`` before 2019, and in contrib since."""
    given = optimizer_call(ctx, site, _CLIPPING, ["bias_correction", _CLIP, "eps_inside_sqrt"])
    return given if isinstance(given, Stays) else _clipping(ctx, work, given)


def _clipping(ctx: Context, work: Work, given: Options) -> Native | Stays:
    if {*given.named, *given.keys} - {*_CLIPPING}:
        return Stays("this is not how the FusedAdam that clips by itself is called: it has no such argument")
    by_position = [name for name in _PARAMETERS[5:] if given.named.get(name) in positional(given.site)]
    if by_position and given.site.name == "apex.optimizers.FusedAdam":
        return Stays("an older Apex took these arguments in another order: give them their names")
    return written_out(ctx, work, given.site, "adam_contrib", "ClippingAdam")


def _as_a_class(ctx: Context, work: Work, site: Site) -> Native | Stays:
    """A class that is handed on, or derived from: nothing here says which arguments it will get."""
    if _registered(ctx, site):
        return Stays("FusedAdam is registered here under its own name, by which configurations ask for it")
    module, first = "adam", None
    if site.role is Role.BASE:
        wants = [name for name in _INSIDES if ctx.m.attributes(name)]
        if wants:
            return Stays(f"what derives from it uses {wants[0]}, which only Apex's has: keep Apex's (--keep-fused)")
        if ctx.m.attributes("multi_tensor_adam") or ctx.m.strings("multi_tensor_adam"):
            module, first = "adam_base", "@torch.no_grad()\ndef multi_tensor_adam"
    review = _DERIVED if site.role is Role.BASE else _CLASS
    return but(written_out(ctx, work, site, module, "ApexAdam", first), review=review)


def _registered(ctx: Context, site: Site) -> bool:
    """Whether a function that keeps classes by their names is handed this one."""
    above = ctx.m.parent[site.use]
    call = ctx.m.parent[above] if isinstance(above, ast.keyword) else above
    return isinstance(call, ast.Call) and "register" in called_name(call).lower()


def _in_groups(ctx: Context, site: Site, given: Options) -> bool:
    """Whether bias correction is said in ``**options`` or in a group of parameters, or this file or another one of
    its process asks groups for what only Apex's had: the `step` that it counted there, its `bias_correction`."""
    said = [n for n in ctx.m.strings("bias_correction") if site.call is not None and ctx.m.inside(n, site.call)]
    asked = [n for name in ("step", "bias_correction") for n in ctx.m.strings(name) if of_a_group(ctx, n)]
    return "bias_correction" in given.keys or bool(said or asked) or ctx.counted


def _half(ctx: Context) -> bool:
    """Whether the file may have weights in half precision."""
    return bool(ctx.m.calls("half") or ctx.m.calls("bfloat16") or ctx.m.attributes("bfloat16"))

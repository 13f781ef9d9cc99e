"""``apex.optimizers.FusedAdam`` becomes ``torch.optim.AdamW`` or ``Adam``, fused as well.

Apex decays weights as AdamW does unless ``adam_w_mode=False``, and does not decay them where nothing is said, so
``weight_decay=0.0`` is written out. What torch has no parameter for goes where it changes nothing (``set_grad_none``).
Where ``bias_correction`` is not on for sure, which torch has no parameter for, a class that has it is
written out behind the file's imports; it also clips as that of older Apex did (``max_grad_norm``). From
``--target-torch`` 2.4 on ``fused=True`` keeps all parameters in one kernel, wherever they lie when the optimizer is
made. A state that Apex's optimizer saved has one ``step`` a group, torch's has one a parameter.

Source: apex/optimizers/fused_adam.py at tag 25.05; torch/optim/adamw.py.
"""

from __future__ import annotations

from ..parts.arguments import UNKNOWN
from ..parts.definitions import written_out
from ..parts.optimizers import Options, fused, loads, open_options, optimizer_call
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
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
_STATE = (
    "a state that Apex's FusedAdam saved keeps `step` in its groups; torch asks for it of each parameter: "
    "for i, s in enumerate(state['state'].values()): s['step'] = torch.tensor(float(group['step']))"
)
_HALF = (
    "Apex's FusedAdam kept its averages in float32 for half and bfloat16 weights too; torch's keeps them in the type "
    "of the weights, so keep weights in float32 (torch.autocast casts them where it helps)"
)


def apply(ctx: Context, work: Work) -> None:
    """Replace the calls."""
    if not ctx.settings.keep_fused:
        replace(ctx, work, ID, {"apex.optimizers.FusedAdam": _adam})


def _adam(ctx: Context, work: Work, site: Site) -> Native | Stays:
    given = optimizer_call(ctx, site, [*_PARAMETERS, _CLIP], ["bias_correction", _CLIP])
    if isinstance(given, Stays):
        return given
    if (_CLIP in given.named or _CLIP in given.keys) and given.constant("bias_correction", True) is not False:
        return Stays("the FusedAdam that clipped by itself, of an older Apex, corrected its bias in another way")
    if given.constant("master_weights", False) is not False or given.constant("amsgrad", False) is not False:
        return Stays("the optimizer's own master weights have no counterpart: keep Apex's (--keep-fused)")
    if given.constant("bias_correction", True) is not True or _in_groups(ctx, site, given):
        if given.constant("capturable", False) is not False:
            return Stays("torch has no Adam without bias correction for CUDA graphs: keep Apex's (--keep-fused)")
        return written_out(ctx, work, site, "adam", "UncorrectedAdam")
    decoupled = given.constant("adam_w_mode", True)
    options = [f"**{ctx.m.src(one)}" for one in given.splat]
    unsaid = decoupled is not False and "weight_decay" not in given.named
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


def _in_groups(ctx: Context, site: Site, given: Options) -> bool:
    """Whether bias correction is said in ``**options`` or in a group of parameters."""
    said = [n for n in ctx.m.strings("bias_correction") if site.call is not None and ctx.m.inside(n, site.call)]
    return "bias_correction" in given.keys or bool(said)


def _half(ctx: Context) -> bool:
    """Whether the file may have weights in half precision."""
    return bool(ctx.m.calls("half") or ctx.m.calls("bfloat16") or ctx.m.attributes("bfloat16"))

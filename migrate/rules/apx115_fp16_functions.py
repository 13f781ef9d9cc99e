"""Functions of ``apex.fp16_utils`` are written out: half weights, float32 copies of them, and what goes between.

``prep_param_lists``, ``model_grads_to_master_grads``, ``master_params_to_model_params``, ``BN_convert_float``,
``convert_module``, ``convert_network`` and ``tofp16`` become functions of the file's own, which keep training by hand
in half precision as it was; ``clip_grad_norm`` is ``torch.nn.utils.clip_grad_norm_``. Native AMP needs none of them:
float32 weights, ``torch.autocast`` around the forward and a GradScaler do.

Source: apex/fp16_utils/fp16util.py at tag 25.05.
"""

from __future__ import annotations

from dataclasses import replace as but
from functools import partial

from ..parts.definitions import written_out
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX115"
STAGE = Stage.PARTS
BEFORE = """\
from apex.fp16_utils import master_params_to_model_params

master_params_to_model_params(model_params, master_params)
"""
AFTER = """\
import torch


@torch.no_grad()
def master_params_to_model_params(model_params, master_params, flat_master=False):
    ...


master_params_to_model_params(model_params, master_params)
"""

_FIRST = {
    "prep_param_lists": "def prep_param_lists",
    "model_grads_to_master_grads": "@torch.no_grad()\ndef model_grads_to_master_grads",
    "master_params_to_model_params": "@torch.no_grad()\ndef master_params_to_model_params",
    "BN_convert_float": "def BN_convert_float",
    "convert_module": "def convert_module",
    "convert_network": "def convert_network",
    "tofp16": "class tofp16",
}
_SAID = (
    "{} is written out here and does what Apex's did; float32 weights under torch.autocast with a GradScaler would be "
    "the native way, without any of these"
)


def apply(ctx: Context, work: Work) -> None:
    """Replace the functions by ones of the file's own."""
    table = {f"apex.fp16_utils.{name}": partial(_function, name) for name in _FIRST}
    replace(ctx, work, ID, {**table, "apex.fp16_utils.clip_grad_norm": _clip})


def _function(name: str, ctx: Context, work: Work, site: Site) -> Native | Stays:
    return but(
        written_out(ctx, work, site, "fp16_functions", name, _FIRST[name], alone=True), review=_SAID.format(name)
    )


def _clip(ctx: Context, work: Work, site: Site) -> Native | Stays:
    return Native("torch.nn.utils.clip_grad_norm_", alias=False)

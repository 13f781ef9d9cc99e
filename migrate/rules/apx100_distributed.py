"""``apex.parallel.DistributedDataParallel`` becomes torch's.

Both average gradients over processes in the backward. Apex sent buffers never again once the model was wrapped, so
``broadcast_buffers=False`` keeps each process its own statistics of batch norm. Without ``device_ids`` torch's wrapper
leaves inputs where they are, as Apex's did. ``delay_allreduce=True`` waited for the whole backward and so did not mind
parameters that get no gradient: ``find_unused_parameters=True``. How gradients are cut into messages (``message_size``
and the like) changes no number, and goes. Where gradients were summed instead of averaged torch needs a communication
hook, and the call stays.

Source: apex/parallel/distributed.py at tag 25.05; torch/nn/parallel/distributed.py (broadcast_buffers, device_ids).
"""

from __future__ import annotations

import ast

from ..parts.arguments import UNKNOWN, bind
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Role, Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX100"
STAGE = Stage.PARTS
BEFORE = """\
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model, delay_allreduce=True)
"""
AFTER = """\
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(model, broadcast_buffers=False, find_unused_parameters=True)
"""

_NATIVE = "torch.nn.parallel.DistributedDataParallel"
_PARAMETERS = (
    "module message_size delay_allreduce shared_param allreduce_trigger_params retain_allreduce_buffers "
    "allreduce_always_fp32 num_allreduce_streams allreduce_communicators gradient_average "
    "gradient_predivide_factor gradient_average_split_factor prof"
).split()
_TRAINS_NOTHING = frozenset(
    "state_dict load_state_dict parameters named_parameters buffers named_buffers modules named_modules children train "
    "eval cuda cpu to half float zero_grad apply requires_grad_ save_pretrained resize_token_embeddings".split()
)
_INNER = (
    "what is wrapped is called by itself here (model.module); Apex averaged gradients whatever had made them, torch's "
    "wrapper does so only behind its own forward"
)
_SWITCHES = ("disable_allreduce", "enable_allreduce")
_UNUSED = (
    "delay_allreduce=True did not mind parameters that get no gradient, so find_unused_parameters=True stands for it; "
    "where every parameter gets one in each round it can go (it walks the graph each time), and it has to go where "
    "checkpointed blocks run their forward again"
)


def apply(ctx: Context, work: Work) -> None:
    """Replace the class and its calls."""
    replace(ctx, work, ID, {"apex.parallel.DistributedDataParallel": _wrapper})


def _wrapper(ctx: Context, work: Work, site: Site) -> Native | Stays:
    if switched := [name for name in _SWITCHES if ctx.m.attributes(name)]:
        return Stays(
            f"torch's wrapper has no {switched[0]}()",
            "with model.no_sync(): around the forward and backward of the rounds that are not to be sent",
        )
    if site.call is None:
        unsure = site.role in (Role.HANDED, Role.BASE)
        return Native(_NATIVE, parameters=_PARAMETERS, drop=_PARAMETERS[1:], review=_VALUE if unsure else None)
    given = bind(site, _PARAMETERS)
    if given.surplus or given.splat:
        why = "Apex's has no such argument" if given.surplus else "what this is called with is not told here"
        return Stays(why, f"{_NATIVE}(module, broadcast_buffers=False)")
    if given.constant("gradient_average", True) is not True:
        return Stays(
            "gradients are summed over the processes and not averaged; torch's wrapper averages",
            f"{_NATIVE}(…) with register_comm_hook, or multiply the loss by the number of processes",
        )
    if "allreduce_communicators" in given.named:
        return Stays("own communicators for the gradients have no counterpart", f"{_NATIVE}(…, process_group=…)")
    delayed = given.constant("delay_allreduce", False)
    add = ["broadcast_buffers=False"]
    if delayed is UNKNOWN:
        add.append(f"find_unused_parameters={ctx.m.src(given.named['delay_allreduce'])}")
    elif delayed:
        add.append("find_unused_parameters=True")
    said = [*([_UNUSED] if delayed else []), *([_INNER] if _runs_inner(ctx) else [])]
    return Native(
        _NATIVE,
        parameters=_PARAMETERS,
        positional=["module"],
        drop=_PARAMETERS[1:],
        add=add,
        review="; ".join(said) or None,
    )


def _runs_inner(ctx: Context) -> bool:
    """Whether the file calls what is wrapped by itself: ``model.module(x)``, ``model.module.loss(x)``."""
    for call in ctx.m.all(ast.Call):
        at = call.func
        if isinstance(at, ast.Attribute) and at.attr == "module":
            return True
        inner = isinstance(at, ast.Attribute) and isinstance(at.value, ast.Attribute) and at.value.attr == "module"
        if inner and isinstance(at, ast.Attribute) and at.attr not in _TRAINS_NOTHING:
            return True
    return False


_VALUE = (
    "what is made of this class is made elsewhere: torch's sends the buffers of process 0 to all others in each "
    "forward unless it is called with broadcast_buffers=False, and has no delay_allreduce"
)

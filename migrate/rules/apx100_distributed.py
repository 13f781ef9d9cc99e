"""``apex.parallel.DistributedDataParallel`` becomes torch's.

Both average gradients over processes in the backward. Apex sent buffers never again once the model was wrapped, so
``broadcast_buffers=False`` keeps each process its own statistics of batch norm. Without ``device_ids`` torch's wrapper
leaves inputs where they are, as Apex's did. ``delay_allreduce=True`` waited for the whole backward and so did not mind
parameters that get no gradient: ``find_unused_parameters=True``. How gradients are cut into messages (``message_size``
and the like) changes no number, and goes. Where gradients were summed instead of averaged torch needs a communication
hook, and the call stays. A name that is torch's own class in another arm, with a call that both take, is torch's in
both and keeps that call (*review*: buffers are sent then).

Source: apex/parallel/distributed.py at tag 25.05; torch/nn/parallel/distributed.py (broadcast_buffers, device_ids).
"""

from __future__ import annotations

import ast
from difflib import get_close_matches

from ..model import Severity
from ..nodes import walk
from ..parts.arguments import UNKNOWN, Arguments, bind
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
_FROZEN = (
    "no parameter of what is wrapped here requires a gradient: Apex's wrapper took that (it sent the weights once), "
    "torch's raises a RuntimeError; leave the wrapper out"
)
_APEX = "apex.parallel.DistributedDataParallel"
_SWITCHES = {"disable_allreduce": False, "enable_allreduce": True}
_SWITCHED = "its switches for sending gradients are an attribute of torch's wrapper"
_ATTRIBUTE = (
    "torch's wrapper reads this attribute in its forward as well, so it has to be set ahead of that in the rounds "
    "it is for; `with model.no_sync():` sets it for the length of a block"
)
_SLIP = "Apex's has no argument {}, so this call raised; it is read as delay_allreduce"
_UNUSED = (
    "delay_allreduce=True did not mind parameters that get no gradient, so find_unused_parameters=True stands for it; "
    "where every parameter gets one in each round it can go (it walks the graph each time), and it has to go where "
    "checkpointed blocks run their forward again"
)


def apply(ctx: Context, work: Work) -> None:
    """Replace the class and its calls."""
    replace(ctx, work, ID, {_APEX: _wrapper})
    sites = work.sites.by_name.get(_APEX, []) if work.sites is not None else []
    told = [site for site in sites if site.call is not None or site.role is Role.HANDED]
    if told and all(site.use in work.replaced for site in told):
        _switch(ctx, work)


def _switch(ctx: Context, work: Work) -> None:
    """``model.disable_allreduce()`` sets the attribute that ``no_sync()`` sets for the length of a block."""
    for name, value in _SWITCHES.items():
        for at in ctx.m.attributes(name):
            call = ctx.m.parent[at]
            if isinstance(call, ast.Call):
                work.draft.replace(call, f"{ctx.m.src(at.value)}.require_backward_grad_sync = {value}")
                work.note(None, ID, call, f"{name}() is an attribute of torch's wrapper", review=True)
                work.find(None, ID, Severity.REVIEW, call, _ATTRIBUTE)


def _plain_switch(ctx: Context, at: ast.Attribute) -> bool:
    """Whether a switch is a statement of its own."""
    call = ctx.m.parent[at]
    plain = isinstance(call, ast.Call) and call.func is at and not call.args and not call.keywords
    return plain and isinstance(ctx.m.parent[call], ast.Expr)


def _wrapper(ctx: Context, work: Work, site: Site) -> Native | Stays:
    switched = [name for name in _SWITCHES if ctx.m.attributes(name)]
    if switched and not all(_plain_switch(ctx, at) for name in _SWITCHES for at in ctx.m.attributes(name)):
        return Stays(
            f"torch's wrapper has no {switched[0]}()",
            "with model.no_sync(): around the forward and backward of the rounds that are not to be sent",
        )
    if site.call is None:
        unsure = site.role in (Role.HANDED, Role.BASE)
        return Native(_NATIVE, parameters=_PARAMETERS, drop=_PARAMETERS[1:], review=_VALUE if unsure else None)
    given = bind(site, _PARAMETERS)
    meant = _misspelled(given) if given.surplus and not given.splat else None
    if (given.surplus or given.splat) and meant is None:
        why = "Apex's has no such argument" if given.surplus else "what this is called with is not told here"
        return Stays(why, f"{_NATIVE}(module, broadcast_buffers=False)")
    if given.constant("gradient_average", True) is not True:
        return Stays(
            "gradients are summed over the processes and not averaged; torch's wrapper averages",
            f"{_NATIVE}(…) with register_comm_hook, or multiply the loss by the number of processes",
        )
    if "allreduce_communicators" in given.named:
        return Stays("own communicators for the gradients have no counterpart", f"{_NATIVE}(…, process_group=…)")
    delayed = True if meant else given.constant("delay_allreduce", False)
    add = ["broadcast_buffers=False"]
    if delayed is UNKNOWN:
        add.append(f"find_unused_parameters={ctx.m.src(given.named['delay_allreduce'])}")
    elif delayed:
        add.append("find_unused_parameters=True")
    slip = [*([_SLIP.format(meant)] if meant else []), *([_SWITCHED] if switched else [])]
    said = [*slip, *([_UNUSED] if delayed else []), *([_INNER] if _runs_inner(ctx) else [])]
    if _frozen(ctx, given):
        said.append(_FROZEN)
    return Native(
        _NATIVE,
        parameters=_PARAMETERS,
        positional=["module"],
        drop=[*_PARAMETERS[1:], *([meant] if meant else [])],
        add=add,
        review="; ".join(said) or None,
    )


def _misspelled(given: Arguments) -> str | None:
    """The one keyword that Apex's has not, where it can only mean ``delay_allreduce=True``."""
    assert given.site.call is not None
    unknown = [one for one in given.site.call.keywords if one.arg not in _PARAMETERS]
    if len(unknown) != 1 or len(given.site.call.args) > len(_PARAMETERS) or "delay_allreduce" in given.named:
        return None
    name, value = unknown[0].arg or "", unknown[0].value
    close = get_close_matches(name, _PARAMETERS, cutoff=0.9) == ["delay_allreduce"]
    return name if close and isinstance(value, ast.Constant) and value.value is True else None


def _frozen(ctx: Context, given: Arguments) -> bool:
    """Whether the function of a call freezes all parameters of what it wraps: ``for p in net.parameters():
    p.requires_grad = False``, ``net.requires_grad_(False)``."""
    module = given.named.get("module")
    if module is None:
        return False
    text, scope = ctx.m.src(module), ctx.m.function(module)
    for call in ctx.calls_in.get(scope, ()):
        func = call.func
        if not isinstance(func, ast.Attribute) or ctx.m.src(func.value) != text:
            continue
        above = ctx.m.parent[call]
        if func.attr == "requires_grad_" and any(_is_false(arg) for arg in call.args):
            return True
        if func.attr == "parameters" and isinstance(above, ast.For) and len(above.body) == 1:
            if any(_freezes(node) for node in walk(above)):
                return True
    return False


def _freezes(node: ast.AST) -> bool:
    """``p.requires_grad = False``, ``p.requires_grad_(False)``."""
    match node:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
            return _is_false(value)
        case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=[value]):
            return _is_false(value)
        case _:
            return False


def _is_false(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and expr.value is False


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

"""Forwards, losses, backwards, clips and steps, each with its place in the user's code."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

from . import casting, masters
from .record import Recorder, plain
from .scaling import skipped

LOSSES = (
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy ctc_loss "
    "gaussian_nll_loss hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss "
    "multilabel_margin_loss multilabel_soft_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss "
    "triplet_margin_loss"
).split()

BCE_IN_AUTOCAST = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast "
    "(raised by apex2native verify, as autocast for CUDA raises it)"
)
_SAMPLE = 64  # weights of an optimizer that are recorded as numbers after each step


def record(torch: Any, recorder: Recorder) -> None:
    """Listen to torch."""
    _record_modules(torch, recorder)
    _record_losses(torch, recorder)
    _record_backward(torch, recorder)
    _record_clips(torch, recorder)
    _record_optimizers(torch, recorder)
    _record_saving(torch, recorder)
    _record_rank(torch, recorder)
    # A compiled function would not be listened to.
    torch.jit.script = lambda obj=None, *args, **kwargs: obj if obj is not None else (lambda function: function)
    torch.jit.script_method = lambda function, *args, **kwargs: function


def _record_modules(torch: Any, recorder: Recorder) -> None:
    here = recorder.here
    module = torch.nn.Module
    call = module.__call__

    @functools.wraps(call)
    def module_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if here.in_module or next(self.parameters(), None) is None:
            return call(self, *args, **kwargs)
        casts = casting.now(torch, recorder) or ("float16" if recorder.apex_casts(self) else "")
        recorder.tell(
            "forward",
            name=_name(self),
            training=bool(self.training),
            grad=torch.is_grad_enabled(),
            casts=casts,
            at=recorder.where(),
        )
        here.in_module = True
        try:
            result = call(self, *args, **kwargs)
        finally:
            here.in_module = False
        if not torch.is_grad_enabled():  # weights that no optimizer has, such as averages, show only here
            recorder.tell("output", value=_size(torch, result), at=recorder.where())
        return result

    half = module.half

    @functools.wraps(half)
    def halved(self: Any) -> Any:
        recorder.tell("half", name=type(self).__name__, at=recorder.where())
        return half(self)

    module.__call__, module.half = module_call, halved


def _size(torch: Any, result: Any) -> list[Any]:
    """One number for each tensor of a forward's result."""
    if isinstance(result, torch.Tensor):
        return [plain(result.detach().abs().double().sum())] if result.is_floating_point() else []
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else ()
    return [size for part in parts for size in _size(torch, part)]


def _name(module: Any) -> str:
    """The class of what is called, looked for below wrappers: a migration may wrap in another one."""
    while type(module).__name__ in ("DistributedDataParallel", "DataParallel") and hasattr(module, "module"):
        module = module.module
    return type(module).__name__


def _record_losses(torch: Any, recorder: Recorder) -> None:
    here = recorder.here
    functional = torch.nn.functional

    def recorded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def loss(*args: Any, **kwargs: Any) -> Any:
            casts = casting.now(torch, recorder)
            if name == "binary_cross_entropy" and casts and recorder.settings["device"] == "cpu":
                raise RuntimeError(BCE_IN_AUTOCAST)
            if here.in_loss or here.in_module:
                return function(*args, **kwargs)
            apex = recorder.loss_casts()
            recorder.tell(
                "loss",
                name=name,
                grad=torch.is_grad_enabled(),
                casts=None if apex is None and not casts else casts or ("float16" if apex else ""),
                at=recorder.where(),
            )
            here.in_loss = True
            try:
                return function(*args, **kwargs)
            finally:
                here.in_loss = False

        return loss

    for name in LOSSES:
        if hasattr(functional, name):
            setattr(functional, name, recorded(name, getattr(functional, name)))


def _record_backward(torch: Any, recorder: Recorder) -> None:
    here = recorder.here
    backward = torch.autograd.backward

    @functools.wraps(backward)
    def recorded(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if here.in_backward:
            return backward(tensors, *args, **kwargs)
        roots = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        scale = recorder.scale_below(roots)
        scale = masters.scale_around(recorder) if scale is None else scale
        number = recorder.backwards
        recorder.backwards += 1
        recorder.tell(
            "backward",
            n=number,
            value=[plain(root.detach().double().sum() / (scale or 1.0)) for root in roots],
            scale=scale,
            casts=casting.now(torch, recorder),
            overflow=_overflows(recorder, number, scale),
            at=recorder.where(),
        )
        if _overflows(recorder, number, scale):
            recorder.overflowed = True
            tensors = [root * float("inf") for root in roots]
        here.in_backward = True
        try:
            return backward(tensors, *args, **kwargs)
        finally:
            here.in_backward = False

    def tensor_backward(
        self: Any, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        recorded(self, gradient, retain_graph, create_graph, inputs=inputs)

    torch.autograd.backward = recorded
    torch.Tensor.backward = tensor_backward


def _overflows(recorder: Recorder, number: int, scale: Any) -> bool:
    """Whether this backward's gradients become infinite: where the first run says, or at its own choice in that one."""
    asked = recorder.settings["overflow"]
    if scale is None or asked is None:
        return False
    if recorder.settings["chooses"]:
        return bool(not recorder.overflowed and number >= asked and recorder.dynamic)
    return bool(number == asked)


def _record_clips(torch: Any, recorder: Recorder) -> None:
    utils = torch.nn.utils

    def recorded(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            params = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            grads = [param.grad for param in params if param.grad is not None]
            norm = real(params, *args, **kwargs)
            limit = args[0] if args else kwargs.get("max_norm", kwargs.get("clip_value"))
            value = norm if norm is not None else max((float(grad.abs().max()) for grad in grads), default=0.0)
            recorder.tell(
                "clip", name=name, norm=plain(value), limit=plain(limit), count=len(grads), at=recorder.where()
            )
            return norm

        return clip

    for name in ("clip_grad_norm_", "clip_grad_value_"):
        wrapped = recorded(name, getattr(utils, name))
        setattr(utils, name, wrapped)
        setattr(utils.clip_grad, name, wrapped)
    utils.clip_grad_norm = utils.clip_grad.clip_grad_norm = utils.clip_grad_norm_


def _record_optimizers(torch: Any, recorder: Recorder) -> None:
    optimizer = torch.optim.Optimizer
    make, zero = optimizer.__init__, optimizer.zero_grad

    @functools.wraps(make)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        recorder.optimizers.append(self)
        params = _params(self)
        recorder.tell(
            "optimizer",
            opt=len(recorder.optimizers) - 1,
            name=type(self).__name__,
            params=[list(param.shape) for param in params],
            at=recorder.where(),
        )
        self.register_step_pre_hook(lambda opt, *_: _before_step(torch, recorder, opt))
        self.register_step_post_hook(lambda opt, *_: _after_step(torch, recorder, opt))

    @functools.wraps(zero)
    def zeroed(self: Any, *args: Any, **kwargs: Any) -> None:
        zero(self, *args, **kwargs)
        recorder.tell("zero", opt=recorder.number(self), at=recorder.where())

    optimizer.__init__, optimizer.zero_grad = init, zeroed
    module = torch.nn.Module
    clear = module.zero_grad

    @functools.wraps(clear)
    def cleared(self: Any, *args: Any, **kwargs: Any) -> None:
        clear(self, *args, **kwargs)
        recorder.tell("zero", opt=None, at=recorder.where())

    module.zero_grad = cleared


def _params(optimizer: Any) -> list[Any]:
    return [param for group in optimizer.param_groups for param in group["params"]]


def _before_step(torch: Any, recorder: Recorder, optimizer: Any) -> None:
    total, bad = 0.0, 0
    # A fused optimizer unscales by itself, and skips inside of its kernel.
    factor = 1.0 / float(getattr(optimizer, "grad_scale", None) or 1.0)
    for param in _params(optimizer):
        if param.grad is None:
            continue
        grad = param.grad.detach()
        grad = grad.coalesce().values() if grad.is_sparse else grad
        square = float(((grad.double() * factor) ** 2).sum())
        total, bad = total + square, bad + (square != square or square == float("inf"))
    optimizer._apex2native_seen = (total**0.5, bad)


def _after_step(torch: Any, recorder: Recorder, optimizer: Any) -> None:
    norm, bad = getattr(optimizer, "_apex2native_seen", (0.0, 0))
    number = recorder.number(optimizer)
    if float(getattr(optimizer, "found_inf", None) or 0.0):
        skipped(recorder, optimizer, "scaler.step")
        return
    disturbance = recorder.settings["disturb"]
    if disturbance and number not in recorder.disturbed:
        recorder.disturbed.add(number)
        _disturb(torch, optimizer, disturbance)
    digest, sample = _weights(torch, optimizer)
    recorder.stepped(
        opt=number,
        taken=True,
        by="scaler.step" if recorder.here.in_scaler else "optimizer.step",
        norm=plain(norm),
        bad=bad,
        scale=plain(recorder.scale),
        lr=[plain(group.get("lr")) for group in optimizer.param_groups],
        weights=digest,
        sample=sample,
        at=recorder.where(),
    )


def _disturb(torch: Any, optimizer: Any, size: float) -> None:
    """Round every weight once differently: what follows is how far rounding carries."""
    with torch.no_grad():
        for param in _params(optimizer):
            if param.is_floating_point() and param.numel():
                signs = torch.arange(param.numel(), device=param.device) % 2 * 2 - 1
                param.mul_(1.0 + size * signs.reshape(param.shape).to(param.dtype))


def _weights(torch: Any, optimizer: Any) -> Any:
    """A digest of all weights, and some of them as numbers."""
    digest = hashlib.sha256()
    params = _params(optimizer)
    each = max(1, _SAMPLE // max(1, len(params)))
    sample: list[Any] = []
    with torch.no_grad():
        for param in params:
            value = param.detach().contiguous().cpu().reshape(-1)
            digest.update(value.view(torch.uint8).numpy().tobytes())
            if len(sample) < _SAMPLE and value.numel():
                stride = max(1, value.numel() // each)
                sample += [plain(one) for one in value[::stride][:each]]
    return digest.hexdigest(), sample[:_SAMPLE]


def _record_rank(torch: Any, recorder: Recorder) -> None:
    """Which of its fellows a process is: spawned ones have no variable that says it."""
    dist = torch.distributed
    if not dist.is_available():
        return
    start = dist.init_process_group

    @functools.wraps(start)
    def started(*args: Any, **kwargs: Any) -> Any:
        result = start(*args, **kwargs)
        recorder.tell("rank", rank=dist.get_rank())
        return result

    dist.init_process_group = dist.distributed_c10d.init_process_group = started


def _record_saving(torch: Any, recorder: Recorder) -> None:
    save = torch.save

    @functools.wraps(save)
    def saved(obj: Any, *args: Any, **kwargs: Any) -> Any:
        keys = [str(key) for key in obj][:50] if isinstance(obj, dict) else None
        if keys is not None and not any(isinstance(value, torch.Tensor) for value in obj.values()):
            recorder.tell("save", keys=keys, at=recorder.where())
        return save(obj, *args, **kwargs)

    torch.save = saved

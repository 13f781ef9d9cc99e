"""Lets a training script run on Apex's own Python code instead of its double. Spoils the process.

Apex's sources (``APEX_SRC``) have to be on ``sys.path``. `install` gives them the CPU (apex_shim.py), real casts,
and the module ``apex.observe`` that the double has, so that runner.py listens to both in the same way.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import apex_shim
import torch


def install() -> Any:
    """Returns the observer; its ``listener`` is called as the double's is."""
    apex_shim.install(kernels=True)
    observe: Any = types.ModuleType("apex.observe")
    observe.listener = None
    observe.cast_models = ()
    sys.modules["apex.observe"] = observe
    state = importlib.import_module("apex.amp")._amp_state
    observe.patched = lambda: hasattr(state, "handle") and bool(state.handle.is_active())
    observe.casts = lambda module: observe.patched() or _casts_models(state)
    _cast_on_the_cpu()
    _hand_on_messages(observe)
    _tell_of_scaling(observe, state)
    return observe


def _casts_models(state: Any) -> bool:
    properties = getattr(state, "opt_properties", None)
    return properties is not None and properties.enabled and properties.cast_model_type is torch.float16


def _cast_on_the_cpu() -> None:
    """Apex casts what is on a GPU: here that is everything. Its cache looks into the graphs that CUDA makes."""
    utils: Any = importlib.import_module("apex.amp.utils")
    lists: Any = importlib.import_module("apex.amp.lists")

    def caster(dtype: torch.dtype) -> Callable[..., Any]:
        def cast(x: Any, name: str = "", verbose: bool = False) -> Any:
            if utils.is_nested(x):
                return type(x)([cast(one) for one in x])
            return x if x.dtype is dtype else x.to(dtype)

        return cast

    utils.maybe_half, utils.maybe_float = caster(torch.float16), caster(torch.float32)
    utils.should_cache = lambda x: False
    for one in (lists.torch_overrides, lists.tensor_overrides):
        # Without CUDA Apex cannot tell its version, and lists these nowhere.
        one.FP16_FUNCS.extend(name for name in ("addbmm", "baddbmm", "bmm") if name not in one.FP16_FUNCS)


def _hand_on_messages(observe: Any) -> None:
    def say(message: str, rank0: bool = False) -> None:
        observe.listener("message", {"text": message})

    for name, module in list(sys.modules.items()):
        if name.startswith("apex.") and hasattr(module, "maybe_print"):
            anything: Any = module
            anything.maybe_print = say


def _tell_of_scaling(observe: Any, state: Any) -> None:
    amp: Any = importlib.import_module("apex.amp")
    real = amp.scale_loss

    @functools.wraps(real)
    @contextlib.contextmanager
    def scale_loss(loss: torch.Tensor, optimizers: Any, loss_id: int = 0, **options: Any) -> Iterator[torch.Tensor]:
        scales = [one.loss_scale() for one in getattr(state, "loss_scalers", ())]
        with real(loss, optimizers, loss_id, **options) as scaled:
            if state.opt_properties.enabled and (scales[loss_id] != 1.0 or state.loss_scalers[loss_id].dynamic):
                observe.listener("scaled", {"tensor": scaled, "scale": scales[loss_id]})
            yield scaled
        for optimizer in optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]:
            _tell_of_skip(observe, optimizer)

    amp.scale_loss = sys.modules["apex.amp.handle"].scale_loss = scale_loss  # type: ignore[attr-defined]


def _tell_of_skip(observe: Any, optimizer: Any) -> None:
    """An overflow has replaced ``optimizer.step`` by a function that skips once and puts the old one back."""
    stash = getattr(optimizer, "_amp_stash", None)
    if stash is None or not stash.already_patched or getattr(optimizer.step, "told_of", False):
        return
    skip = optimizer.step

    def told(*args: Any, **kwargs: Any) -> Any:
        observe.listener("skip", {"optimizer": optimizer})
        return skip(*args, **kwargs)

    told.told_of = True  # type: ignore[attr-defined]
    optimizer.step = told

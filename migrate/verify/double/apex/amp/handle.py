"""``scale_loss``, ``disable_casts``, and the handles of the old API.

None of the context managers here cleans up after an exception: Apex's do not either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

import torch
from apex import observe

from ._amp_state import _amp_state, maybe_print
from .opt import OptimWrapper
from .scaler import LossScaler

_OLD_API = "The old Amp API is no longer supported.  Please move to the new API."


def _is_one_optimizer(value: Any) -> bool:
    from apex.parallel.LARC import LARC

    return isinstance(value, (torch.optim.Optimizer, LARC))


@contextlib.contextmanager
def scale_loss(
    loss: torch.Tensor,
    optimizers: Any,
    loss_id: int = 0,
    model: Any = None,
    delay_unscale: bool = False,
    delay_overflow_check: bool = False,
) -> Iterator[torch.Tensor]:
    """Yield the scaled loss; on exit unscale the gradients and decide whether the next step is skipped."""
    if not hasattr(_amp_state, "opt_properties"):
        raise RuntimeError(
            "Invoked 'with amp.scale_loss`, but internal Amp state has not been initialized.  "
            "model, optimizer = amp.initialize(model, optimizer, opt_level=...) must be called first."
        )
    properties = _amp_state.opt_properties
    if not properties.enabled:
        yield loss
        return

    if _is_one_optimizer(optimizers):
        optimizers = [optimizers]
    scaler = _amp_state.loss_scalers[loss_id]
    scale = scaler.loss_scale()

    if not properties.master_weights and not scaler.dynamic and scale == 1.0:
        yield loss.float()
        return

    # Apex looks for a list here and not below: in a tuple no gradients are put aside.
    if not delay_unscale and isinstance(optimizers, list):
        for optimizer in optimizers:
            if not optimizer._amp_stash.params_have_scaled_gradients:
                optimizer._prepare_amp_backward()

    scaled = loss.float() * scale
    observe.emit("scaled", tensor=scaled, scale=scale, dynamic=scaler.dynamic)
    yield scaled

    if delay_unscale:
        for optimizer in optimizers:
            optimizer._amp_stash.params_have_scaled_gradients = True
        return

    scaler.clear_overflow_state()
    for optimizer in optimizers:
        optimizer._post_amp_backward(scaler)
        optimizer._amp_stash.params_have_scaled_gradients = False
    if delay_overflow_check:
        return
    skip = scaler.update_scale()
    observe.emit("scale", scale=scaler.loss_scale())
    if skip:
        for optimizer in optimizers:
            _skip_next_step(optimizer, scaler, loss_id)


def _skip_next_step(optimizer: Any, scaler: LossScaler, loss_id: int) -> None:
    """Replace ``optimizer.step`` by one that does nothing, once."""
    stash = optimizer._amp_stash
    if stash.already_patched:
        return
    real_step = optimizer.step

    def skip_step(closure: Any = None) -> None:
        if closure is not None:
            raise RuntimeError("Currently, Amp does not support closure use with optimizers.")
        maybe_print(
            f"Gradient overflow.  Skipping step, loss scaler {loss_id} reducing loss scale to {scaler.loss_scale()}"
        )
        observe.emit("skip", optimizer=optimizer)
        stash.drop_master_grads()
        optimizer.step = real_step
        stash.already_patched = False

    optimizer.step = skip_step
    stash.already_patched = True


@contextlib.contextmanager
def disable_casts() -> Iterator[None]:
    """No casts inside; on exit they are on, whatever they were before."""
    handle = _amp_state.handle
    handle._is_active = False
    yield
    _amp_state.handle._is_active = True


class AmpHandle:
    """What ``amp.init()`` returns."""

    def __init__(self, loss_scale: float | str = "dynamic", enable_caching: bool = True, verbose: bool = False) -> None:
        self.has_cache = enable_caching
        self.verbose = verbose
        self._is_active = True

    def is_active(self) -> bool:
        return self._is_active

    @contextlib.contextmanager
    def _disable_casts(self) -> Iterator[None]:
        self._is_active = False
        yield
        self._is_active = True

    def wrap_optimizer(self, optimizer: torch.optim.Optimizer, num_loss: int = 1) -> OptimWrapper:
        return OptimWrapper(optimizer, self, num_loss)

    def scale_loss(self, loss: torch.Tensor, optimizer: Any) -> contextlib.AbstractContextManager[NoReturn]:
        @contextlib.contextmanager
        def refuse() -> Iterator[NoReturn]:
            raise RuntimeError(_OLD_API)
            yield  # pragma: no cover

        return refuse()

    def _clear_cache(self) -> None:
        """There is no cache of casts here."""

    def _deactivate(self) -> None:
        if self in observe.handles:
            observe.handles.remove(self)


class NoOpHandle:
    """What ``amp.init(enabled=False)`` returns."""

    has_cache = False
    verbose = False
    _is_active = False

    def is_active(self) -> bool:
        return False

    @contextlib.contextmanager
    def _disable_casts(self) -> Iterator[None]:
        yield

    def wrap_optimizer(self, optimizer: torch.optim.Optimizer, num_loss: int = 1) -> OptimWrapper:
        return OptimWrapper(optimizer, self, num_loss)

    @contextlib.contextmanager
    def scale_loss(self, loss: torch.Tensor, optimizer: Any) -> Iterator[torch.Tensor]:
        yield loss

    def _clear_cache(self) -> None:
        """Nothing to clear."""

    def _deactivate(self) -> None:
        """Nothing was activated."""

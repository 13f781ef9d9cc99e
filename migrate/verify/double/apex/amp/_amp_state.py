"""The process-wide state, and what reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from apex import observe

if TYPE_CHECKING:
    from .frontend import Properties
    from .handle import AmpHandle, NoOpHandle
    from .scaler import LossScaler


class AmpState:
    """``opt_properties``, ``loss_scalers`` and ``handle`` do not exist before they are made."""

    opt_properties: Properties
    loss_scalers: list[LossScaler]
    handle: AmpHandle | NoOpHandle
    min_loss_scale: float | None
    max_loss_scale: float

    def __init__(self) -> None:
        self.hard_override = False
        self.allow_incoming_model_not_fp32 = False
        self.verbosity = 1


_amp_state = AmpState()


def warn_or_err(message: str) -> None:
    """An option Apex refuses unless ``hard_override`` is set."""
    if not _amp_state.hard_override:
        raise RuntimeError(message)
    observe.say("Warning:  " + message)


def maybe_print(message: str, rank0: bool = False) -> None:
    """Print unless ``verbosity=0``. There is only one rank here."""
    if _amp_state.verbosity > 0:
        observe.say(message)


def master_params(optimizer: Any) -> Iterator[torch.Tensor]:
    """The parameters the optimizer steps, once (a generator)."""
    for group in optimizer.param_groups:
        yield from group["params"]

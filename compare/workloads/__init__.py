"""The workloads: what is trained, equal in every arm.

A workload is a function `build(setting) -> Job`. It draws everything from the setting's seed on the CPU, so
that equal settings give equal weights and data on every device.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..errors import UserError
from .known import KNOWN

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
    from torch.optim import Optimizer


class BatchSource(Protocol):
    """Where a job's batches come from. They lie on the device when they are handed out."""

    steps_per_epoch: int
    train_samples: int
    test_samples: int
    description: str
    """One line for the record."""

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The `steps_per_epoch` training batches of epoch `number`, 1 for the first."""

    def test(self, batch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """All test samples in their order, `batch` at a time, the last time as many as are left."""

    def order_digest(self) -> str:
        """SHA-256 of all that chance decides about the first epoch's batches."""


@dataclass(frozen=True)
class Setting:
    """What a workload is built for."""

    device: torch.device
    batch: int
    """Samples of one batch in each process."""
    seed: int
    data: str
    """`synthetic`, or a folder; a workload that makes its own data does not look at it."""
    cache: Path | None = None
    """The folder of decoded images, or the file that `compare.data.prepare` returned; None for the default."""
    stem: str = "cifar"
    fused: bool = False
    """Whether the optimizer is to be fused."""
    epochs: int = 1
    epoch_steps: int | None = None
    """Steps of an epoch where it is cut short, else None."""
    rank: int = 0
    world: int = 1


@dataclass(frozen=True)
class Job:
    """What a process trains."""

    model: nn.Module
    """On the device."""
    optimizer: Optimizer
    criterion: Callable[[Tensor, Tensor], Tensor]
    """(output, target) -> scalar loss."""
    batches: BatchSource
    learning_rate: Callable[[int], float]
    """Learning rate of a step, counted from 0 over all epochs; any step may be asked for."""
    classifies: bool = True
    """Whether the output is logits, and a test accuracy means something."""
    ahead: int = 0
    """Batches that a loader makes in advance while nobody waits. Above zero batches are drawn within the timed steps,
    after so many that are not timed; at zero they are drawn before."""
    close: Callable[[], None] = lambda: None
    """Called when the task is over: ends what the workload started."""


Workload = Callable[[Setting], Job]

WORKLOADS: dict[str, str] = {name: one.target for name, one in KNOWN.items()}


def load_workload(name: str) -> Workload:
    """The workload of that name, or the function that `package.module:function` names, found from the present folder.

    Raises UserError with one sentence where there is none.
    """
    target = WORKLOADS.get(name, name)
    module, colon, function = target.partition(":")
    if not (module and colon and function):
        known = ", ".join(WORKLOADS)
        raise UserError(
            f"There is no workload {name}: choose one of {known}, or name yours as package.module:function."
        )
    if name not in WORKLOADS and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # `python -m` looks there, the console script does not
    try:
        found = getattr(importlib.import_module(module), function, None)
    except Exception as error:  # a user's module may fail in any way while it is imported
        raise UserError(f"The workload {name} cannot be imported ({type(error).__name__}: {error}).") from error
    if not callable(found):
        raise UserError(f"The workload {name} cannot be used: {module} has no function {function}.")
    workload: Workload = found
    return workload


def digest(model: nn.Module) -> str:
    """SHA-256 over the parameters and buffers of a model, in order, wherever they lie."""
    import torch

    result = hashlib.sha256()
    for tensors in (model.parameters(), model.buffers()):
        for tensor in tensors:
            result.update(f"{tensor.dtype} {tuple(tensor.shape)}\n".encode())
            result.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return result.hexdigest()


WARMUP = 0.05
"""Share of all steps in which the learning rate rises."""


def cosine(peak: float, steps: int, warmup: float = WARMUP) -> Callable[[int], float]:
    """A learning rate that rises linearly to `peak`, then falls as half a cosine to 0 at `steps` and stays there.

    It rises for a share `warmup` of all steps.
    """
    rising = max(1, round(warmup * steps))

    def rate(step: int) -> float:
        if step >= steps:
            return 0.0
        if step < rising:
            return peak * (step + 1) / rising
        passed = (step - rising) / (steps - rising)
        return peak * (1 + math.cos(math.pi * passed)) / 2

    return rate

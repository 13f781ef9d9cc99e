"""What a training needs to go on after an interruption: weights, optimizer, loss scale, and what it recorded so far.

A file a task, written whole or not at all after an epoch and removed when the task has ended. Data and their order
follow from seed and epoch alone, and need nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ..arms import Arm
from ..records import Epoch, Record, decode, encode
from .prepared import Prepared

EVERY_S = 60.0
"""Seconds of training that an interruption may cost: so seldom is one written."""
_FORMAT = 1


@dataclass
class Checkpoint:
    """The checkpoint of one training; None for `path` keeps none."""

    path: Path | None
    _written: float = field(default_factory=time.monotonic)

    def save(self, prepared: Prepared, epochs: Sequence[Epoch]) -> None:
        """Keep the state after these epochs, if it is time and a whole number of the optimizer's steps was made.

        Where several processes train one model the first one writes. A disk that is full costs the checkpoint alone.
        """
        if self.path is None or prepared.place.rank or time.monotonic() - self._written < EVERY_S:
            return
        if sum(epoch.steps for epoch in epochs) % prepared.recipe.accumulate:
            return
        state = {
            "format": _FORMAT,
            "of": _identity(prepared),
            "epochs": [encode(epoch) for epoch in epochs],
            "arm": prepared.arm.state_dict(),
            "random": torch.get_rng_state(),
        }
        put_away(state, self.path)
        self._written = time.monotonic()

    def restore(self, prepared: Prepared) -> list[Epoch]:
        """Put the state back and return the epochs that were made; none where there is no checkpoint of this
        training."""
        if self.path is None or not self.path.exists():
            return []
        try:
            state: dict[str, Any] = torch.load(self.path, map_location=prepared.device, weights_only=True)
        except Exception:
            # Cut off, or of another make: the training begins again, which costs time and nothing else.
            return []
        if state.get("format") != _FORMAT or state.get("of") != _identity(prepared):
            return []
        load(prepared.arm, state["arm"])
        torch.set_rng_state(state["random"].cpu())
        records: list[Record | None] = [decode(line) for line in state["epochs"]]
        return [record for record in records if isinstance(record, Epoch)]


def load(arm: Arm, state: dict[str, Any]) -> None:
    """Put back what `arm.state_dict()` gave. The arms themselves do not load: what they hold is what the codemod is
    shown."""
    held: Any = arm
    held.model.load_state_dict(state["model"])
    held.optimizer.load_state_dict(state["optimizer"])
    scale = state.get("amp", state.get("scaler"))
    if scale is None:
        return
    if hasattr(held, "scaler"):
        held.scaler.load_state_dict(scale)
    else:
        from apex import amp

        amp.load_state_dict(scale)


def put_away(state: dict[str, Any], path: Path) -> None:
    """Write a state whole or not at all. A disk that is full costs that file alone: nothing is raised."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(state, temporary)
        os.replace(temporary, path)
    except (OSError, RuntimeError):  # torch's writer raises RuntimeError for a full disk
        with suppress(OSError):
            temporary.unlink()


def _identity(prepared: Prepared) -> dict[str, str | int]:
    """What has to be the same for the training to be the same."""
    task, started = prepared.task, prepared.started
    return {
        "task": task.name,
        "arm": started.arm_sha256,
        "weights": started.initial_weights,
        "order": started.order,
        "epochs": prepared.spec.epochs,
        "steps": prepared.spec.epoch_steps or 0,
        "world": started.world,
        "torch": str(torch.__version__),
    }

"""Three linear layers on random data, as the PyTorch recipe on automatic mixed precision trains them.

Source: https://docs.pytorch.org/tutorials/recipes/recipes/amp_recipe.html. There is nothing to learn in it,
so it has no test samples: it is there for speed and memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice

import torch
from torch import Tensor, nn
from torch.optim import SGD

from . import Job, Setting
from .sizes import MLP_LAYERS as LAYERS
from .sizes import MLP_WIDTH as FEATURES

LEARNING_RATE = 0.001
EPOCH_STEPS = 50
"""The recipe's number of batches."""
ROWS = 2048
"""Samples that are drawn in all, at least one batch of them: the batches repeat in turn."""


class RandomBatches:
    """Normal inputs and targets, float32 batchx4096 each, drawn once and kept on the device."""

    def __init__(self, setting: Setting) -> None:
        self.steps_per_epoch = EPOCH_STEPS if setting.epoch_steps is None else setting.epoch_steps
        self.train_samples = self.steps_per_epoch * setting.batch * setting.world
        self.test_samples = 0
        distinct = max(1, ROWS // setting.batch)
        self.description = f"random numbers ({distinct} batches of {setting.batch}x{FEATURES}, in turn)"
        # Each rank has its own numbers. Drawn on the CPU, and all at once: its generator is the same everywhere.
        key = hashlib.sha256(f"{setting.seed} {setting.rank}".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(key[:4], "little"))
        drawn = torch.randn(2, distinct, setting.batch, FEATURES, generator=generator)
        self._digest = hashlib.sha256(drawn.numpy().data).hexdigest()
        self._inputs, self._targets = drawn.to(setting.device)

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The same batches in the same turn in every epoch."""
        return islice(self._in_turn(), self.steps_per_epoch)

    def test(self, batch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Nothing."""
        return iter(())

    def order_digest(self) -> str:
        """SHA-256 of the numbers themselves, those of this rank."""
        return self._digest

    def _in_turn(self) -> Iterator[tuple[Tensor, Tensor]]:
        while True:
            yield from zip(self._inputs, self._targets, strict=True)


def build(setting: Setting) -> Job:
    """The job. `setting.data` and `setting.stem` are not looked at."""
    torch.manual_seed(setting.seed)
    layers: list[nn.Module] = []
    for _ in range(LAYERS):
        layers += [nn.Linear(FEATURES, FEATURES), nn.ReLU()]
    model = nn.Sequential(*layers[:-1]).to(setting.device)
    optimizer = SGD(model.parameters(), lr=LEARNING_RATE, fused=True if setting.fused else None)
    return Job(model, optimizer, nn.MSELoss(), RandomBatches(setting), lambda step: LEARNING_RATE, classifies=False)

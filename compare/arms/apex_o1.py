"""Apex O1: legacy code on purpose, written as the repositories that still call Apex write it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from apex import amp
from torch import Tensor, nn
from torch.optim import Optimizer


class ApexO1:
    """One way of training; `compare.arms.Arm` says what the methods do."""

    def __init__(
        self,
        criterion: Callable[[Tensor, Tensor], Tensor],
        max_norm: float | None = None,
        accumulate: int = 1,
    ) -> None:
        self.criterion = criterion
        self.max_norm = max_norm
        self.accumulate = accumulate
        self.batches = 0

    def setup(self, model: nn.Module, optimizer: Optimizer) -> None:
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)

    def train_step(self, images: Tensor, labels: Tensor) -> Tensor:
        if self.batches % self.accumulate == 0:
            self.optimizer.zero_grad()
        output = self.model(images)
        loss = self.criterion(output, labels)
        with amp.scale_loss(loss / self.accumulate, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.batches += 1
        if self.batches % self.accumulate == 0:
            if self.max_norm is not None:
                nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), self.max_norm)
            self.optimizer.step()
        return loss.detach()

    def evaluate(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            logits: Tensor = self.model(images)
        return logits

    def loss_scale(self) -> float:
        scale: float = amp._amp_state.loss_scalers[0].loss_scale()
        return scale

    def state_dict(self) -> dict[str, object]:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "amp": amp.state_dict(),
        }

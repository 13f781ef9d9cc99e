"""Full precision: no casts, no loss scale. TF32 is a switch of the process, set from the arm's entry."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim import Optimizer


class Fp32:
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
        self.model, self.optimizer = model, optimizer

    def train_step(self, images: Tensor, labels: Tensor) -> Tensor:
        if self.batches % self.accumulate == 0:
            self.optimizer.zero_grad()
        loss = self.loss(images, labels)
        (loss / self.accumulate).backward()
        self.batches += 1
        if self.batches % self.accumulate == 0:
            if self.max_norm is not None:
                nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
            self.optimizer.step()
        return loss.detach()

    def loss(self, images: Tensor, labels: Tensor) -> Tensor:
        """The loss of one batch, with its graph."""
        return self.criterion(self.model(images), labels)

    def evaluate(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            logits: Tensor = self.model(images)
        return logits

    def loss_scale(self) -> float | None:
        return None

    def state_dict(self) -> dict[str, object]:
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

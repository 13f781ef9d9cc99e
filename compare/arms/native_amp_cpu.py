"""Native AMP in float16 on a CPU: what the codemod makes of `apex_o1.py` with `--device-type cpu`."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim import Optimizer


class NativeAmp:
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
        self.scaler = torch.amp.GradScaler("cpu")

    def train_step(self, images: Tensor, labels: Tensor) -> Tensor:
        if self.batches % self.accumulate == 0:
            self.optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            output = self.model(images)
            loss = self.criterion(output, labels)
        self.scaler.scale(loss / self.accumulate).backward()
        self.batches += 1
        if self.batches % self.accumulate == 0:
            if self.max_norm is not None:
                self.scaler.unscale_(self.optimizer)
                nn.utils.clip_grad_norm_((p for group in self.optimizer.param_groups for p in group["params"]), self.max_norm)
            self.scaler.step(self.optimizer)
            self.scaler.update()
        return loss.detach()

    def evaluate(self, images: Tensor) -> Tensor:
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
            logits: Tensor = self.model(images)
        return logits

    def loss_scale(self) -> float:
        scale: float = self.scaler.get_scale()
        return scale

    def state_dict(self) -> dict[str, object]:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "amp": self.scaler.state_dict(),
        }

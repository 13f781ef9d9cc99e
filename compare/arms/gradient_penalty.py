"""The gradient penalty of PyTorch's AMP examples, for the precisions that can do it (Apex cannot).

Source: pytorch.org/docs/stable/notes/amp_examples.html, "Gradient penalty". The gradients of the scaled
loss are divided by the scale before the penalty is computed, so that its size does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim import Optimizer


class Fp32:
    """One way of training; `compare.arms.Arm` says what the methods do.

    With a loss scale each step reads it from the device and so waits for it, as PyTorch's example does.
    """

    autocast: torch.dtype | None = None
    scaled = False

    def __init__(self, criterion: Callable[[Tensor, Tensor], Tensor], penalty: float = 0.1) -> None:
        self.criterion = criterion
        self.penalty = penalty

    def setup(self, model: nn.Module, optimizer: Optimizer) -> None:
        self.model, self.optimizer = model, optimizer
        device = next(model.parameters()).device.type
        self.scaler = torch.amp.GradScaler(device, enabled=self.scaled)

    def train_step(self, images: Tensor, labels: Tensor) -> Tensor:
        self.optimizer.zero_grad()
        with self._casts(images):
            loss = self.criterion(self.model(images), labels)
        weights = [weight for weight in self.model.parameters() if weight.requires_grad]
        scaled = torch.autograd.grad(self.scaler.scale(loss), weights, create_graph=True)
        scale = self.scaler.get_scale()
        with self._casts(images):
            norm = torch.stack([(gradient / scale).square().sum() for gradient in scaled]).sum().sqrt()
            penalised = loss + self.penalty * norm
        self.scaler.scale(penalised).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.detach()

    def evaluate(self, images: Tensor) -> Tensor:
        with torch.no_grad(), self._casts(images):
            logits: Tensor = self.model(images)
        return logits

    def loss_scale(self) -> float | None:
        return self.scaler.get_scale() if self.scaled else None

    def state_dict(self) -> dict[str, object]:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
        }

    def _casts(self, images: Tensor) -> torch.autocast:
        return torch.autocast(images.device.type, dtype=self.autocast, enabled=self.autocast is not None)


class NativeFp16(Fp32):
    """Autocast in float16 with a loss scale."""

    autocast = torch.float16
    scaled = True


class NativeBf16(Fp32):
    """Autocast in bfloat16."""

    autocast = torch.bfloat16

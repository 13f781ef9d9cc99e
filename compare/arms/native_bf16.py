"""Native AMP in bfloat16: autocast as in `native_amp.py`, and no loss scale, which its range does not need."""

from __future__ import annotations

import torch
from torch import Tensor

from .fp32 import Fp32


class NativeBf16(Fp32):
    """Full precision with its forward and its loss under autocast."""

    def loss(self, images: Tensor, labels: Tensor) -> Tensor:
        with torch.autocast(images.device.type, dtype=torch.bfloat16):
            return super().loss(images, labels)

    def evaluate(self, images: Tensor) -> Tensor:
        with torch.autocast(images.device.type, dtype=torch.bfloat16):
            return super().evaluate(images)

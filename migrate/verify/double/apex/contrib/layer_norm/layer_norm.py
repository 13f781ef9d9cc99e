"""Layer normalization over the last dimension."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch.nn import Parameter


class FastLayerNorm(torch.nn.Module):
    def __init__(self, hidden_size: int, eps: float = 1e-5, memory_efficient: bool = False) -> None:
        super().__init__()
        self.epsilon = eps
        self.memory_efficient = memory_efficient
        self.weight = Parameter(torch.empty(hidden_size))
        self.bias = Parameter(torch.empty(hidden_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        torch.nn.init.ones_(self.weight)
        torch.nn.init.zeros_(self.bias)

    def forward(self, x: Any) -> Any:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.epsilon)

"""Linear layers whose weights are not initialized: as with Apex, whoever makes one has to fill it."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.nn import Parameter


class FusedDense(torch.nn.Module):
    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(torch.empty(out_features, in_features))
        self.bias = Parameter(torch.empty(out_features)) if bias else None

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.linear(input, self.weight, self.bias)


class FusedDenseGeluDense(torch.nn.Module):
    """The activation between both is the approximation by tanh, as in cuBLAS."""

    def __init__(self, in_features: int, intermediate_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        assert bias, "DenseGeluDense module without bias is currently not supported"
        self.in_features, self.out_features = in_features, out_features
        self.intermediate_features = intermediate_features
        self.weight1 = Parameter(torch.empty(intermediate_features, in_features))
        self.bias1 = Parameter(torch.empty(intermediate_features))
        self.weight2 = Parameter(torch.empty(out_features, intermediate_features))
        self.bias2 = Parameter(torch.empty(out_features))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        inside = F.gelu(F.linear(input, self.weight1, self.bias1), approximate="tanh")
        return F.linear(inside, self.weight2, self.bias2)

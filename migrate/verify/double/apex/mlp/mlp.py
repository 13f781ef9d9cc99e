"""Several linear layers, each followed by the activation, the last one as well."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch.nn import Parameter

_ACTIVATIONS = ("none", "relu", "sigmoid")


class MLP(torch.nn.Module):
    """Weights ``weight_0``, ``bias_0``, …; both drawn from a normal distribution."""

    def __init__(self, mlp_sizes: Sequence[int], bias: bool = True, activation: str = "relu") -> None:
        super().__init__()
        if activation not in _ACTIVATIONS:
            raise TypeError("activation must be relu or none.")
        self.mlp_sizes = list(mlp_sizes)
        self.num_layers = len(self.mlp_sizes) - 1
        self.bias, self.activation = int(bias), _ACTIVATIONS.index(activation)
        self.weights, self.biases = [], []
        for at, (inside, outside) in enumerate(zip(self.mlp_sizes, self.mlp_sizes[1:])):
            self.weights.append(Parameter(torch.empty(outside, inside)))
            setattr(self, f"weight_{at}", self.weights[-1])
            if bias:
                self.biases.append(Parameter(torch.empty(outside)))
                setattr(self, f"bias_{at}", self.biases[-1])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for weight in self.weights:
            torch.nn.init.normal_(weight, 0.0, (2.0 / sum(weight.shape)) ** 0.5)
        for bias in self.biases:
            torch.nn.init.normal_(bias, 0.0, (1.0 / bias.shape[0]) ** 0.5)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        for at, weight in enumerate(self.weights):
            input = F.linear(input, weight, self.biases[at] if self.bias else None)
            if self.activation:
                input = torch.relu(input) if self.activation == 1 else torch.sigmoid(input)
        return input

    def extra_repr(self) -> str:
        return f"MLP sizes: {self.mlp_sizes}, Bias={self.bias}, activation={self.activation}"

"""Layers in a row. Source: apex/mlp/mlp.py and csrc/mlp_cuda.cu at tag 25.05."""

import torch


class MLP(torch.nn.Module):
    """Linear layers with an activation behind each, the last one included, as apex.mlp had them."""

    def __init__(self, mlp_sizes, bias=True, activation="relu"):
        super().__init__()
        if activation not in ("none", "relu", "sigmoid"):
            raise TypeError("activation must be none, relu or sigmoid")
        self.num_layers = len(mlp_sizes) - 1
        self.mlp_sizes, self.bias, self.activation = list(mlp_sizes), bias, activation
        for i in range(self.num_layers):
            weight = torch.empty(mlp_sizes[i + 1], mlp_sizes[i])
            setattr(self, f"weight_{i}", torch.nn.Parameter(weight))
            if bias:
                setattr(self, f"bias_{i}", torch.nn.Parameter(torch.empty(mlp_sizes[i + 1])))
        self.reset_parameters()

    @property
    def weights(self):
        return [getattr(self, f"weight_{i}") for i in range(self.num_layers)]

    @property
    def biases(self):
        return [getattr(self, f"bias_{i}") for i in range(self.num_layers)] if self.bias else []

    def reset_parameters(self):
        for weight in self.weights:
            torch.nn.init.normal_(weight, 0.0, (2.0 / sum(weight.shape)) ** 0.5)
        for bias in self.biases:
            torch.nn.init.normal_(bias, 0.0, (1.0 / bias.numel()) ** 0.5)

    def forward(self, input):
        for i, weight in enumerate(self.weights):
            input = torch.nn.functional.linear(input, weight, self.biases[i] if self.bias else None)
            if self.activation != "none":
                input = getattr(torch, self.activation)(input)
        return input

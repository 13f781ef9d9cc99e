"""Doubles of what Apex's parts compute, each from its formula: no optimizer, layer or loss of torch takes part.

A rule takes the gradients of one step and changes the weights in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import nn

from .support import Batches

Loss = Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]


class Rule:
    """What one step makes of weights and gradients; the group that a weight is in by its number."""

    def step(self, weights: Sequence[torch.Tensor], grads: Sequence[torch.Tensor | None]) -> None:
        raise NotImplementedError


@dataclass
class Adam(Rule):
    """Kingma and Ba; the decay beside the gradient (L2) or beside the step (AdamW), with or without correction."""

    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    decay: float = 0.0
    decoupled: bool = True
    corrected: bool = True
    steps: int = 0
    first: dict[int, torch.Tensor] = field(default_factory=dict)
    second: dict[int, torch.Tensor] = field(default_factory=dict)

    def step(self, weights: Sequence[torch.Tensor], grads: Sequence[torch.Tensor | None]) -> None:
        self.steps += 1
        b1, b2 = self.betas
        for n, (w, g) in enumerate(zip(weights, grads, strict=True)):
            if g is None:
                continue
            slope = g if self.decoupled else g + self.decay * w
            m = b1 * self.first.get(n, torch.zeros_like(w)) + (1 - b1) * slope
            v = b2 * self.second.get(n, torch.zeros_like(w)) + (1 - b2) * slope * slope
            self.first[n], self.second[n] = m, v
            if self.corrected:
                m, v = m / (1 - math.pow(b1, self.steps)), v / (1 - math.pow(b2, self.steps))
            change = m / (torch.sqrt(v) + self.eps)
            if self.decoupled:
                change = change + self.decay * w
            w.copy_(w - self.lr * change)


@dataclass
class SGD(Rule):
    """Momentum as velocity of gradients; the first gradient is the first velocity, undamped."""

    lr: float
    momentum: float = 0.0
    dampening: float = 0.0
    decay: float = 0.0
    nesterov: bool = False
    velocity: dict[int, torch.Tensor] = field(default_factory=dict)

    def step(self, weights: Sequence[torch.Tensor], grads: Sequence[torch.Tensor | None]) -> None:
        for n, (w, g) in enumerate(zip(weights, grads, strict=True)):
            if g is None:
                continue
            slope = g + self.decay * w
            if self.momentum:
                old = self.velocity.get(n)
                now = slope if old is None else self.momentum * old + (1 - self.dampening) * slope
                self.velocity[n] = now.clone()
                slope = slope + self.momentum * now if self.nesterov else now
            w.copy_(w - self.lr * slope)


@dataclass
class Adagrad(Rule):
    """Duchi and others: steps divided by the root of all squares so far."""

    lr: float = 1e-2
    eps: float = 1e-10
    decay: float = 0.0
    squares: dict[int, torch.Tensor] = field(default_factory=dict)

    def step(self, weights: Sequence[torch.Tensor], grads: Sequence[torch.Tensor | None]) -> None:
        for n, (w, g) in enumerate(zip(weights, grads, strict=True)):
            if g is None:
                continue
            slope = g + self.decay * w
            self.squares[n] = self.squares.get(n, torch.zeros_like(w)) + slope * slope
            w.copy_(w - self.lr * slope / (torch.sqrt(self.squares[n]) + self.eps))


@dataclass
class LARC(Rule):
    """You and others: the rate of a tensor by the norms of its weights and of its gradient, around another rule.

    ``inner`` decays nothing: the decay is part of the gradient that is measured."""

    inner: Rule
    lr: float
    trust: float = 0.02
    clip: bool = True
    eps: float = 1e-8
    decay: float = 0.0

    def step(self, weights: Sequence[torch.Tensor], grads: Sequence[torch.Tensor | None]) -> None:
        scaled: list[torch.Tensor | None] = []
        for w, g in zip(weights, grads, strict=True):
            if g is None:
                scaled.append(None)
                continue
            size, slope = float(torch.sqrt((w * w).sum())), float(torch.sqrt((g * g).sum()))
            if size == 0 or slope == 0:
                scaled.append(g)
                continue
            local = self.trust * size / (slope + self.decay * size + self.eps)
            rate = min(local / self.lr, 1.0) if self.clip else local
            scaled.append((g + self.decay * w) * rate)
        self.inner.step(weights, scaled)


def squared(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    error: torch.Tensor = model(inputs) - targets
    return (error * error).mean()


def trained(model: nn.Module, batches: Batches, rule: Rule, loss: Loss = squared) -> list[float]:
    """Train by a rule; batches whose gradients are not finite change nothing, as under a loss scale."""
    parameters = list(model.parameters())
    losses = []
    for inputs, targets in batches:
        value = loss(model, inputs, targets)
        grads = torch.autograd.grad(value, parameters, allow_unused=True)
        losses.append(value.item())
        if all(g is None or bool(torch.isfinite(g).all()) for g in grads):
            with torch.no_grad():
                rule.step(parameters, grads)
    return losses


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor, smoothing: float, padding: int) -> torch.Tensor:
    """One loss a row: the label has 1 - smoothing, all classes share the rest; none where the label is padding."""
    logged = logits - torch.log(torch.exp(logits - logits.amax(1, keepdim=True)).sum(1, keepdim=True))
    logged = logged - logits.amax(1, keepdim=True)
    known = torch.where(labels == padding, torch.zeros_like(labels), labels)
    own = logged[torch.arange(len(labels)), known]
    losses = -(1 - smoothing) * own - smoothing * logged.sum(1) / logits.shape[1]
    return torch.where(labels == padding, torch.zeros_like(losses), losses)


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float, dims: int = 1
) -> torch.Tensor:
    over = tuple(range(-dims, 0))
    centred = x - x.mean(over, keepdim=True)
    y = centred / torch.sqrt((centred * centred).mean(over, keepdim=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None, eps: float) -> torch.Tensor:
    y = x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    return y if weight is None else y * weight

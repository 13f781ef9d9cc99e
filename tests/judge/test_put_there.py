"""Gradients that no backward left: what is put into ``p.grad`` has met no loss scale."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import ModuleResult, Settings

TRAIN = """\
import torch
from torch import nn
from apex import amp


def main(net, other, batches):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    params = list(net.parameters())
    for x, y in batches:
        optimizer.zero_grad()
        AHEAD
        loss = (net(x) - y).pow(2).mean()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        BEHIND
        optimizer.step()
"""
GRADS = "grads = torch.autograd.grad(net(x).sum(), params)\n        for p, g in zip(params, grads):\n            "


def _migrated(ahead: str = "pass", behind: str = "pass") -> ModuleResult:
    return engine.migrate_module(TRAIN.replace("AHEAD", ahead).replace("BEHIND", behind), Settings())


def _grades(outcome: ModuleResult) -> list[str]:
    return [unit.applicability.value for unit in outcome.units]


@pytest.mark.parametrize(
    "put",
    [
        "p.grad = g",
        "p.grad = g.clone()",
        "p.grad.data = g",
        "p.grad = g.clone() if p.grad is None else p.grad + g",
        "p.grad += g",
        "p.grad.add_(g, alpha=0.1)",
        "p.grad.data.copy_(g)",
    ],
)
def test_a_step_would_divide_them_too(put: str) -> None:
    outcome = _migrated(ahead=GRADS + put)
    assert _grades(outcome) == ["manual"]
    assert any("no backward left" in f.message and "at line 13" in f.message for f in outcome.findings)


@pytest.mark.parametrize(
    "put",
    [
        "for p in params:\n            p.grad = torch.zeros_like(p)",
        "for p in params:\n            p.grad = None",
        "for p in params:\n            p.grad.add_(p.grad * 0)",
        "for p in params:\n            p.grad += p.data\n        optimizer.zero_grad()",
        "for p in other.parameters():\n            p.grad = torch.ones_like(p)\n        optimizer.zero_grad()",
        "grads = torch.autograd.grad(net(x).sum(), params)",
    ],
)
def test_none_of_another_size_are_there(put: str) -> None:
    assert _grades(_migrated(ahead=put)) == ["safe"]


@pytest.mark.parametrize(
    "put",
    [
        "for p in params:\n            p.grad = p.grad / p.grad.norm()",
        "flat = torch.cat([p.grad.flatten() for p in params])\n"
        "        for p in params:\n            p.grad = flat[: p.numel()].view_as(p)",
        "for p, q in zip(params, other):\n            p.grad = p.grad + q",
    ],
)
def test_behind_the_backward_they_are_unscaled_already(put: str) -> None:
    assert _grades(_migrated(behind=put)) == ["safe"]

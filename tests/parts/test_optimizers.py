"""Fused optimizers: what the migrated text trains is what their formulas give."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from migrate.model import Settings

from .formulas import SGD, Adagrad, Adam, Rule, trained
from .support import assert_same, executed, migrated, moved, regression, twins, weights

LOOP = """
for inputs, targets in batches:
    optimizer.zero_grad()
    (model(inputs) - targets).pow(2).mean().backward()
    optimizer.step()
"""
CASES: list[tuple[str, Rule]] = [
    ("FusedAdam(model.parameters(), lr=0.01)", Adam(0.01)),
    ("FusedAdam(model.parameters(), 0.01, True, (0.8, 0.99), 1e-6, True, 0.1)", Adam(0.01, (0.8, 0.99), 1e-6, 0.1)),
    ("FusedAdam(model.parameters(), lr=0.01, weight_decay=0.3)", Adam(0.01, decay=0.3)),
    ("FusedAdam(model.parameters(), 0.01, adam_w_mode=False)", Adam(0.01, decoupled=False)),
    (
        "FusedAdam(model.parameters(), lr=0.01, adam_w_mode=False, weight_decay=0.3, eps=1e-4)",
        Adam(0.01, eps=1e-4, decay=0.3, decoupled=False),
    ),
    ("FusedAdam((p for p in model.parameters()), bias_correction=True, set_grad_none=True)", Adam()),
    (
        "FusedAdam(model.parameters(), lr=0.01, bias_correction=False, weight_decay=0.3)",
        Adam(0.01, decay=0.3, corrected=False),
    ),
    (
        "FusedAdam(model.parameters(), lr=0.01, bias_correction=False, weight_decay=0.3, adam_w_mode=False)",
        Adam(0.01, decay=0.3, decoupled=False, corrected=False),
    ),
    ("FusedSGD(model.parameters(), 0.05)", SGD(0.05)),
    ("FusedSGD(model.parameters(), lr=0.05, momentum=0.9)", SGD(0.05, 0.9)),
    ("FusedSGD(model.parameters(), 0.05, 0.9, 0.3, 0.1)", SGD(0.05, 0.9, 0.3, 0.1)),
    ("FusedSGD(model.parameters(), 0.05, momentum=0.9, nesterov=True)", SGD(0.05, 0.9, nesterov=True)),
    ("FusedSGD(model.parameters(), 0.05, 0.9, 0.0, 0.1, True, False)", SGD(0.05, 0.9, 0.0, 0.1, True)),
    ("FusedSGD(model.parameters(), lr=0.05, weight_decay=0.1)", SGD(0.05, decay=0.1)),
    ("FusedAdagrad(model.parameters())", Adagrad()),
    ("FusedAdagrad(model.parameters(), 0.05, 1e-4)", Adagrad(0.05, 1e-4)),
    ("FusedAdagrad(model.parameters(), 0.05, 1e-4, 0.1)", Adagrad(0.05, 1e-4, 0.1)),
    ("FusedAdagrad(model.parameters(), lr=0.05, weight_decay=0.1)", Adagrad(0.05, decay=0.1)),
]


def _script(call: str) -> str:
    return f"import torch\nfrom apex.optimizers import {call.partition('(')[0]}\n\noptimizer = {call}\n{LOOP}"


@pytest.mark.parametrize(("call", "rule"), CASES, ids=[call for call, _ in CASES])
@pytest.mark.parametrize("target", [(2, 4), (1, 13)], ids=["fused", "plain"])
def test_training_is_the_formula(call: str, rule: Rule, target: tuple[int, int]) -> None:
    model, double = twins()
    before, batches = weights(model), regression()
    text = migrated(_script(call), Settings(target_torch=target))
    assert "fused=True" not in text or target >= (2, 4)
    executed(text, {"model": model, "batches": batches})
    trained(double, batches, copy.deepcopy(rule))
    assert moved(weights(model), before)
    assert_same(weights(model), weights(double))


@pytest.mark.parametrize("adam_w_mode", [True, False])
def test_a_mode_that_is_told_at_run_time(adam_w_mode: bool) -> None:
    model, double = twins()
    batches = regression()
    text = migrated(_script("FusedAdam(model.parameters(), lr=0.01, adam_w_mode=mode, weight_decay=0.2)"))
    executed(text, {"model": model, "batches": batches, "mode": adam_w_mode})
    trained(double, batches, Adam(0.01, decay=0.2, decoupled=adam_w_mode))
    assert_same(weights(model), weights(double))


@pytest.mark.parametrize("given", [{}, {"lr": 0.01}, {"weight_decay": 0.2, "eps": 1e-5}], ids=str)
def test_options_that_are_handed_on(given: dict[str, float]) -> None:
    """Nobody says weight_decay: then there is none, as with Apex, and not the hundredth of AdamW."""
    model, double = twins()
    batches = regression()
    text = migrated(_script("FusedAdam(model.parameters(), **options)"))
    executed(text, {"model": model, "batches": batches, "options": given})
    rule = Adam(given.get("lr", 1e-3), eps=given.get("eps", 1e-8), decay=given.get("weight_decay", 0.0))
    trained(double, batches, rule)
    assert_same(weights(model), weights(double))


@dataclass
class Groups(Rule):
    """Several rules, each for some of the weights."""

    rules: list[tuple[int, Rule]]

    def step(self, weights: Sequence[torch.Tensor], grads: Sequence[torch.Tensor | None]) -> None:
        first = 0
        for count, rule in self.rules:
            rule.step(weights[first : first + count], grads[first : first + count])
            first += count


@pytest.mark.parametrize(
    ("own", "rule"),
    [
        ("'lr': 0.05, 'weight_decay': 0.3", Adam(0.05, decay=0.3)),
        ("'betas': (0.5, 0.9), 'eps': 1e-3", Adam(0.01, (0.5, 0.9), 1e-3)),
        ("'bias_correction': False", Adam(0.01, corrected=False)),
    ],
)
def test_groups_keep_their_own_options(own: str, rule: Rule) -> None:
    model, double = twins()
    batches = regression()
    call = f"FusedAdam([{{'params': model[0].parameters(), {own}}}, {{'params': model[2].parameters()}}], lr=0.01)"
    executed(migrated(_script(call)), {"model": model, "batches": batches})
    trained(double, batches, Groups([(2, rule), (2, Adam(0.01))]))
    assert_same(weights(model), weights(double))


def test_a_scheduler_drives_the_optimizer() -> None:
    model, double = twins()
    batches = regression()
    head = "import torch\nfrom apex.optimizers import FusedSGD\n\noptimizer = FusedSGD(model.parameters(), 0.1, 0.9)\n"
    loop = LOOP.replace("    optimizer.step()\n", "    optimizer.step()\n    scheduler.step()\n")
    scheduled = "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (1 + n))\n"
    executed(migrated(head + scheduled + loop), {"model": model, "batches": batches})
    rule = SGD(0.1, 0.9)
    for number, batch in enumerate(batches):
        rule.lr = 0.1 / (1 + number)
        trained(double, [batch], rule)
    assert_same(weights(model), weights(double))


def test_what_gets_no_gradient_is_left_alone() -> None:
    """Its decay as well."""
    model, double = twins()
    begun, batches = weights(model)[2:], regression()
    loop = LOOP.replace("model(inputs)", "model[0](inputs)[:, :3]")
    head = "from apex.optimizers import FusedAdam\n\noptimizer = FusedAdam(model.parameters(), weight_decay=0.5)\n"
    executed(migrated(head + loop), {"model": model, "batches": batches})

    def loss(net: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        first = next(iter(net.children()))
        error: torch.Tensor = first(inputs)[:, :3] - targets
        return (error * error).mean()

    trained(double, batches, Adam(decay=0.5), loss)
    assert_same(weights(model), weights(double))
    assert all(torch.equal(one, other) for one, other in zip(weights(model)[2:], begun, strict=True))

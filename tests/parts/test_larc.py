"""LARC, as it is written out into the user's file, beside its formula; alone and behind a GradScaler."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

from .formulas import LARC, SGD, Adam, Rule, trained
from .support import STEPS, assert_same, executed, migrated, moved, network, regression, twins, weights

HEAD = "import torch\nfrom apex.parallel.LARC import LARC\nfrom apex.optimizers import FusedAdam, FusedSGD\n\n"
LOOP = """
for inputs, targets in batches:
    optimizer.zero_grad()
    (model(inputs) - targets).pow(2).mean().backward()
    optimizer.step()
"""
SCALED = """
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=5)
for inputs, targets in batches:
    optimizer.zero_grad()
    loss = (model(inputs) - targets).pow(2).mean()
    scaler.scale(loss).backward()
    UNSCALED
    scaler.step(optimizer)
    scaler.update()
"""
INNER: list[tuple[str, str, Rule, float, float]] = [
    ("torch", "torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=0.2)", SGD(0.1, 0.9), 0.1, 0.2),
    ("fused", "FusedSGD(model.parameters(), 0.1, momentum=0.9, weight_decay=0.2)", SGD(0.1, 0.9), 0.1, 0.2),
    ("adam", "FusedAdam(model.parameters(), lr=0.05, adam_w_mode=False)", Adam(0.05, decoupled=False), 0.05, 0.0),
]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    (", trust_coefficient=0.001, clip=False", {"trust": 0.001, "clip": False}),
    (", 0.5, True, 1e-3", {"trust": 0.5, "eps": 1e-3}),
]


def _script(inner: str, options: str, loop: str) -> str:
    return f"{HEAD}optimizer = LARC({inner}{options})\n{loop}"


def _double(rule: Rule, lr: float, decay: float, options: dict[str, Any]) -> LARC:
    return LARC(copy.deepcopy(rule), lr, decay=decay, **options)


@pytest.mark.parametrize(("words", "options"), OPTIONS, ids=["defaults", "scaling", "clipping"])
@pytest.mark.parametrize(("inner", "rule", "lr", "decay"), [one[1:] for one in INNER], ids=[one[0] for one in INNER])
def test_training_is_the_formula(
    inner: str, rule: Rule, lr: float, decay: float, words: str, options: dict[str, Any]
) -> None:
    model, double = twins()
    before, batches = weights(model), regression()
    space = executed(migrated(_script(inner, words, LOOP)), {"model": model, "batches": batches})
    trained(double, batches, _double(rule, lr, decay, options))
    assert moved(weights(model), before) or options.get("clip") is False
    assert_same(weights(model), weights(double))
    assert space["optimizer"].param_groups[0]["weight_decay"] == decay, "it is handed back"


@pytest.mark.parametrize("unscaled", ["pass", "scaler.unscale_(optimizer)"], ids=["step", "unscale_ first"])
@pytest.mark.parametrize(("inner", "rule", "lr", "decay"), [one[1:] for one in INNER], ids=[one[0] for one in INNER])
def test_behind_a_scaler_rates_are_those_of_unscaled_gradients(
    inner: str, rule: Rule, lr: float, decay: float, unscaled: str
) -> None:
    """With an overflow in between, whose step nobody takes."""
    model, double = twins()
    batches = regression()
    batches[4] = (batches[4][0], batches[4][1] * 1e308)
    text = migrated(_script(inner, ", trust_coefficient=0.01, clip=False", SCALED.replace("UNSCALED", unscaled)))
    space = executed(text, {"model": model, "batches": batches})
    trained(double, batches, _double(rule, lr, decay, {"trust": 0.01, "clip": False}))
    assert_same(weights(model), weights(double))
    assert space["scaler"].get_scale() != 2.0**16


def test_weights_of_zero_are_stepped_as_the_optimizer_would() -> None:
    model, double = twins()
    for one in (model, double):
        for parameter in one[2].parameters():
            torch.nn.init.zeros_(parameter)
    batches = regression()
    text = migrated(_script("torch.optim.SGD(model.parameters(), 0.1, weight_decay=0.2)", ", clip=False", LOOP))
    executed(text, {"model": model, "batches": batches})
    trained(double, batches, LARC(SGD(0.1), 0.1, clip=False, decay=0.2))
    assert_same(weights(model), weights(double))


def test_it_shows_the_optimizer_that_it_stands_around() -> None:
    model = network()
    text = migrated(f"{HEAD}inner = torch.optim.SGD(model.parameters(), 0.1, 0.9)\noptimizer = LARC(inner)\n")
    space = executed(text, {"model": model})
    optimizer, inner = space["optimizer"], space["inner"]
    (model(torch.ones(1, 6, dtype=torch.float64))).sum().backward()
    optimizer.step()
    assert optimizer.optim is inner and optimizer.state is inner.state
    assert optimizer.state_dict()["param_groups"] == inner.state_dict()["param_groups"]
    optimizer.load_state_dict(copy.deepcopy(inner.state_dict()))
    optimizer.zero_grad()
    assert all(p.grad is None for p in model.parameters())
    extra = torch.nn.Parameter(torch.ones(2))
    optimizer.add_param_group({"params": [extra]})
    assert inner.param_groups[-1]["params"] == [extra]
    optimizer.param_groups = inner.param_groups[:1]
    assert len(inner.param_groups) == 1


def test_the_state_of_a_run_is_taken_up_again() -> None:
    """Half of a training, saved and loaded into new objects, and the other half."""
    batches = regression()
    text = migrated(_script("torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)", "", LOOP))
    whole, first = twins()
    executed(text, {"model": whole, "batches": batches})
    half = executed(text, {"model": first, "batches": batches[: STEPS // 2]})
    second = network(seed=5)
    second.load_state_dict(first.state_dict())
    saved = pickle.loads(pickle.dumps(half["optimizer"].state_dict()))
    rest = text.replace("for inputs", "optimizer.load_state_dict(saved)\nfor inputs", 1)
    executed(rest, {"model": second, "batches": batches[STEPS // 2 :], "saved": saved})
    assert_same(weights(second), weights(whole))

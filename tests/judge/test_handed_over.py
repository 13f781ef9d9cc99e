"""A call that does not hand over a parameter which the migration put there is found, whoever else hands it over."""

from __future__ import annotations

import pytest

from migrate.model import Applicability

from .support import judged_case, script_case

TEXT = """\
import contextlib
import functools

import torch
from apex import amp


DECORATED
def step(net, opt, x):
    opt.zero_grad()
    loss = net(x).sum()
    with amp.scale_loss(loss, opt) as scaled:
        scaled.backward()
    YIELD
    opt.step()


def main(first, second):
    net = torch.nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    for a in first:
        CALL
    for b in second:
        CALL
"""
#: What is above the function, what is in it, how it is called, and how without its scaler.
CALLS = {
    "by its place": ("", "pass", "step(net, opt, x)", "step(net, opt, scaler, x)", "step(net, opt, x)"),
    "by names": (
        "",
        "pass",
        "step(net, opt=opt, x=x)",
        "step(net, opt=opt, scaler=scaler, x=x)",
        "step(net, opt=opt, x=x)",
    ),
    "a block": (
        "@contextlib.contextmanager\n",
        "yield",
        "with step(net, opt, x): print()",
        "with step(net, opt, scaler, x)",
        "with step(net, opt, x)",
    ),
    "a partial": (
        "",
        "pass",
        "functools.partial(step, net, opt)(x)",
        "functools.partial(step, net, opt, scaler=scaler)(x)",
        "functools.partial(step, net, opt)(x)",
    ),
}


@pytest.mark.parametrize(("above", "within", "call", "right", "wrong"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("which", "ab")
def test_every_call_hands_it_over(above: str, within: str, call: str, right: str, wrong: str, which: str) -> None:
    text = TEXT.replace("DECORATED\n", above).replace("YIELD", within)
    for name in "ab":
        text = text.replace("CALL", call.replace("x)", f"{name})"), 1)
    case = judged_case(text)
    assert case is not None and case.grade is Applicability.SAFE
    right, wrong = right.replace("x)", f"{which})"), wrong.replace("x)", f"{which})")
    assert case.text.count(right) == 1
    found = case.judged(case.text.replace(right, wrong))
    assert found is not None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("with optimize(optimizer, scaler)", "with optimize(optimizer)"),
        (", scaled(loss, optimizer, scaler)", ", scaled(loss, optimizer)"),
        ("with training(loss, optimizer, scaler)", "with training(loss, optimizer)"),
    ],
)
def test_every_block_hands_it_over(right: str, wrong: str) -> None:
    case = script_case("context_managers_that_train")
    assert case is not None and case.text.count(right) == 1
    found = case.judged(case.text.replace(right, wrong))
    assert found is not None and "would be called without its" in found.said

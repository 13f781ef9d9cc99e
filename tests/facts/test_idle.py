"""Methods of other files that run nothing of what they are handed: no region goes around a call of these."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Outside, Settings

SAVER = """\
import os
import torch


class Saver:
    def __init__(self, path):
        self.path = path

    def __call__(self, epoch, net, optimizer):
        state = {"net": net.state_dict(), "optimizer": optimizer.state_dict()}
        self.keep(state)
BODY

    def keep(self, state):
        torch.save(state, os.path.join(self.path, "last"))
"""
PROGRAM = """\
import torch
from apex import amp
from callbacks import Saver


def run(callbacks, *args):
    for callback in callbacks:
        callback(*args)


def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer)
    callbacks = [Saver("out")]
    for epoch in range(2):
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).mean()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
        run(callbacks, epoch, model, optimizer)
"""
RUNS = [
    "net(state)",
    "evaluate(net)",
    "self.path.check(net)",
    "one = net\n        one(state)",
    "getattr(net, 'x')(1)",
    "past = copy.deepcopy(net)\n        past(state)",
]


IDLE = ["print(net)", "net.eval()", "net.train()", "torch.cuda.empty_cache()", "self.past = copy.deepcopy(net)"]


@pytest.mark.parametrize("line", IDLE)
def test_what_runs_nothing(line: str) -> None:
    assert "Saver.__call__" in elsewhere([outline(SAVER.replace("BODY", f"        {line}"))]).idle


@pytest.mark.parametrize("line", RUNS)
def test_what_may_run_a_network(line: str) -> None:
    assert "Saver.__call__" not in elsewhere([outline(SAVER.replace("BODY", f"        {line}"))]).idle


def test_two_classes_of_one_name_are_not_told_apart() -> None:
    files = [outline(SAVER.replace("BODY", f"        {line}")) for line in ("net.eval()", "net(state)")]
    assert "Saver.__call__" not in elsewhere(files).idle


@pytest.mark.parametrize(("line", "regions"), [("net.eval()", 1), ("evaluate(net)", 2)])
def test_no_region_around_a_callback_that_saves(line: str, regions: int) -> None:
    known = elsewhere([outline(SAVER.replace("BODY", f"        {line}"))])
    result = migrate_module(PROGRAM, Settings(), Outside(elsewhere=known))
    assert result.new_text is not None
    assert result.new_text.count("with torch.autocast(") == regions

"""A scaled loss whose value is looked at: in mid-window its scale may be another one."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import ModuleResult, Settings

ACCUMULATES = """\
import torch
from torch import nn
from apex import amp


def main(net, batches, log):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for i, (x, y) in enumerate(batches):
        loss = nn.functional.mse_loss(net(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        SHOWN
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
EACH_ROUND = ACCUMULATES.replace("        if (i + 1) % 4 == 0:\n", "").replace("    " * 3 + "opt", "    " * 2 + "opt")


def _migrated(text: str, shown: str) -> ModuleResult:
    return engine.migrate_module(text.replace("SHOWN", shown), Settings())


@pytest.mark.parametrize("shown", ["log.append(scaled.item())", "print(scaled)", 'print(f"loss {scaled}")'])
def test_in_mid_window_the_scale_may_be_another(shown: str) -> None:
    outcome = _migrated(ACCUMULATES, shown)
    assert [unit.applicability.value for unit in outcome.units] == ["review"]
    assert [f.rule for f in outcome.findings if "the scaled loss is looked at" in f.message] == ["APX071"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ACCUMULATES, "log.append(loss.item())"),
        (ACCUMULATES, "del scaled"),
        (ACCUMULATES, "pass"),
        (EACH_ROUND, "log.append(scaled.item())"),
    ],
)
def test_else_nobody_sees_it(text: str, shown: str) -> None:
    assert [unit.applicability.value for unit in _migrated(text, shown).units] == ["safe"]

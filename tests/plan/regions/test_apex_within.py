"""A loss that gets a line of its own leaves behind what it is multiplied with of Apex's."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def main(net, aux, data):
    opt = torch.optim.SGD([*net.parameters(), *aux.parameters()], lr=0.1)
    [net, aux], opt = amp.initialize([net, aux], opt, opt_level="O1")
    for x in data:
        h = net(x)
        loss = h.sum()
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s:
            torch.autograd.backward([s, SECOND])
        opt.step()
"""
SCALE = "amp._amp_state.loss_scalers[0].loss_scale()"
SECONDS = [f"aux(h).sum() * {SCALE}", f"aux(h).sum() / {SCALE}"]


@pytest.mark.parametrize("second", SECONDS)
def test_the_scale_stays_where_it_is_asked(second: str) -> None:
    new = migrate_module(TEXT.replace("SECOND", second), Settings()).new_text
    assert new is not None and "output = aux(h).sum()\n" in new
    native = second.replace("aux(h).sum()", "output").replace(SCALE, "scaler.get_scale()")
    assert f"torch.autograd.backward([scaler.scale(loss), {native}])" in new


@pytest.mark.parametrize("second", [f"aux(h * {SCALE}).sum()", f"{SCALE} * aux(h).sum()"])
def test_elsewhere_it_is_said(second: str) -> None:
    result = migrate_module(TEXT.replace("SECOND", second), Settings())
    assert result.new_text is None
    assert any("Apex is asked within a loss" in finding.message for finding in result.findings)

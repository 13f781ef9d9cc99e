"""A clip of the parameters of a model that another unit trains is no reader of this unit's gradients."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def first(x, net, critic, critic_opt):
    loss = critic(net(x).detach()).mean()
    critic_opt.zero_grad()
    with amp.scale_loss(loss, critic_opt) as scaled:
        scaled.backward()
    torch.nn.utils.clip_grad_norm_(CLIPPED, 1.0)
    critic_opt.step()
    return critic_opt


def second(x, net, critic, net_opt):
    loss = net(x).pow(2).mean() + critic(net(x)).mean()
    net_opt.zero_grad()
    with amp.scale_loss(loss, net_opt) as scaled:
        scaled.backward()
    net_opt.step()
    return net_opt


def main(batches, twice):
    net, critic = torch.nn.Linear(4, 2), torch.nn.Linear(2, 1)
    net_opt = torch.optim.SGD(net.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(OWN, lr=0.1)
    net, net_opt = amp.initialize(net, net_opt, opt_level="O1")
    critic, critic_opt = amp.initialize(critic, critic_opt, opt_level="O1")
    for x in batches:
        if twice:
            critic_opt = first(x, net, critic, critic_opt)
        net_opt = second(x, net, critic, net_opt)
"""


@pytest.mark.parametrize(
    ("clipped", "own", "grades"),
    [
        ("critic.parameters()", "critic.parameters()", {"safe"}),
        ("net.parameters()", "[*critic.parameters(), *net.parameters()]", {"manual"}),
    ],
)
def test_whose_gradients_are_clipped(clipped: str, own: str, grades: set[str]) -> None:
    result = migrate_module(TEXT.replace("CLIPPED", clipped).replace("OWN", own), Settings())
    assert {unit.applicability.value for unit in result.units} == grades
    if "manual" not in grades:
        assert result.new_text is not None
        assert result.new_text.count("unscale_(") == 1

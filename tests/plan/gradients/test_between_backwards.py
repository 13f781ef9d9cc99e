"""Who looks at gradients between two backwards of one step, and losses that are made of weights alone."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

PROGRAM = """\
import torch
import torch.nn.functional as F
from apex import amp


class Penalty:
    def __init__(self, net):
        self.net = net
        self.old = {name: p.detach().clone() for name, p in net.named_parameters()}
        self.importance = {name: torch.zeros_like(p) for name, p in net.named_parameters()}

    def update(self):
        for name, p in self.net.named_parameters():
            LOOK

    def penalty(self):
        loss = 0.0
        for name, p in self.net.named_parameters():
            loss += (self.importance[name] * (p - self.old[name]) ** 2).sum()
        return loss


class Trainer:
    def __init__(self, net, args):
        self.net, self.args = net, args
        self.penalty = Penalty(net)

    def train(self, optimizer, loader):
        extra = torch.tensor(0.0)
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(self.net(x), y)
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            self.penalty.update()
            extra = EXTRA
            if extra != 0.0:
                with amp.scale_loss(extra, optimizer) as scaled:
                    scaled.backward()
            optimizer.step()


def main(args, loader):
    net = torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    Trainer(net, args).train(optimizer, loader)


main(parse(), batches)
"""
LOOK = "self.importance[name] += p.grad ** 2"
EXTRA = "self.args.weight * self.penalty.penalty()"


def test_what_is_looked_at_is_divided_and_a_penalty_of_weights_needs_no_region() -> None:
    result = migrate_module(PROGRAM.replace("LOOK", LOOK).replace("EXTRA", EXTRA), Settings())
    assert [unit.applicability.value for unit in result.units] == ["review"]
    text = result.new_text or ""
    assert "def update(self, scaler):" in text
    assert "self.importance[name] += (p.grad / scaler.get_scale()) ** 2" in text
    assert "self.penalty.update(scaler)" in text or "self.penalty.update(scaler=scaler)" in text
    assert text.count("torch.autocast(") == 1


@pytest.mark.parametrize(
    ("look", "extra"),
    [
        ("p.grad.clamp_(-1.0, 1.0)", EXTRA),  # what is changed cannot be made up for
        (LOOK, "self.args.queue.get()"),  # nobody knows what that was computed of
    ],
)
def test_what_stays(look: str, extra: str) -> None:
    result = migrate_module(PROGRAM.replace("LOOK", look).replace("EXTRA", extra), Settings())
    assert [unit.applicability.value for unit in result.units] == ["manual"]

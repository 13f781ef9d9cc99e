"""A function of another file that only asks a model for its state gets no region, however it is called."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Outside, Settings

OTHER = """\
import torch


def evaluate_eval(net, optimizer, hist, writer=None):
    score = hist.diag().sum() / hist.sum()
    writer.add_scalar("score", score)
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, "last.pth")
    return score


def evaluate(net, optimizer, hist):
    return net(hist)
"""
PROGRAM = """\
import torch
from apex import amp
from torch import nn
from misc import evaluate_eval, evaluate
from library import evaluate_model

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in data:
    loss = model(x).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
CALL
"""
CALLS = {
    "only asked": ("evaluate_eval(model, optimizer, hist)", False),
    "only asked, by name": ("evaluate_eval(optimizer=optimizer, hist=hist, net=model)", False),
    "run": ("evaluate(model, optimizer, hist)", True),
    "as what is run": ("evaluate_eval(net, optimizer, hist, model)", True),
    "of a library": ("evaluate_model(model, hist)", True),
    "by a star": ("evaluate_eval(*[model, optimizer, hist])", True),
}


@pytest.mark.parametrize("case", CALLS)
def test_case(case: str) -> None:
    call, wrapped = CALLS[case]
    text = PROGRAM.replace("CALL", call)
    result = migrate_module(text, Settings(), Outside(elsewhere=elsewhere([outline(OTHER)])))
    assert result.new_text is not None
    assert (f"):\n    {call}\n" in result.new_text) is wrapped

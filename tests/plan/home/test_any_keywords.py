"""A constructor that keeps whatever it is handed by name (``**parts``) takes the scaler by a name of its own."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class State:
    def __init__(self, **parts):
        self.__dict__.update(parts)
        self.steps = 0


def train_step(state, x):
    loss = state.model(x).sum()
    state.optimizer.zero_grad()
    with amp.scale_loss(loss, state.optimizer) as scaled:
        scaled.backward()
    state.optimizer.step()
    state.steps += 1


def main(fp16, loader):
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if fp16:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for run in range(2):
        state = State(model=net, optimizer=optimizer)
        for x in loader:
            train_step(state, x)


main(True, [torch.ones(2, 3)])
"""


def test_an_object_of_keywords() -> None:
    for text in (TEXT, TEXT.replace("if fp16:", "if True:")):
        result = migrate_module(text, Settings())
        assert [unit.applicability.value for unit in result.units] == ["safe"], [f.message for f in result.findings]
        assert "def __init__(self, scaler, **parts):" in result.new_text
        assert "State(model=net, optimizer=optimizer, scaler=scaler)" in result.new_text

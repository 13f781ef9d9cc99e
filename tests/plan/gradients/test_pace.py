"""Where it is said that the loss scale moves at another pace."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

#: The methods of a trainer; `run` is the one that is called.
CASES = {
    "in windows": (
        """\
    def run(self, data):
        self.optimizer.zero_grad()
        for i, x in enumerate(data):
            self.back(self.model(x).mean())
            if (i + 1) % 4 == 0:
                self.step()

    def back(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()

    def step(self):
        self.optimizer.step()
        self.optimizer.zero_grad()
""",
        True,
    ),
    "the parts of a batch in a loop": (
        """\
    def run(self, data):
        for batch in data:
            self.optimizer.zero_grad()
            self.back(batch)
            self.step()

    def back(self, batch):
        for x in batch:
            loss = self.model(x).mean()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()

    def step(self):
        self.optimizer.step()
""",
        True,
    ),
    "each round": (
        """\
    def run(self, data):
        for i, x in enumerate(data):
            self.back(self.model(x).mean())
            self.step()
            if (i + 1) % 4 == 0:
                print(i)

    def back(self, loss):
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()

    def step(self):
        self.optimizer.step()
""",
        False,
    ),
    "a window that clears each round": (
        """\
    def run(self, data):
        for i, x in enumerate(data):
            self.back(self.model(x).mean())
            if (i + 1) % 4 == 0:
                self.step()

    def back(self, loss):
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()

    def step(self):
        self.optimizer.step()
""",
        False,
    ),
    "a loop behind the step, whose gradients are cleared": (
        """\
    def run(self, data):
        for x in data:
            self.optimizer.zero_grad()
            self.back(self.model(x).mean())
            self.step()
            self.probe(data)

    def back(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()

    def step(self):
        self.optimizer.step()

    def probe(self, data):
        for x in data:
            loss = self.model(x).sum()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
""",
        False,
    ),
    "one call trains": (
        """\
    def run(self, data):
        for i, x in enumerate(data):
            self.back(self.model(x).mean())

    def back(self, loss):
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.step()

    def step(self):
        self.optimizer.step()
""",
        False,
    ),
}
HEAD = """\
import torch
from torch import nn
from apex import amp


class Trainer:
    def __init__(self):
        self.model = nn.Linear(3, 3).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

"""


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    methods, told = CASES[case]
    result = migrate_module(f"{HEAD}{methods}\n\nTrainer().run(batches)\n", Settings())
    assert result.new_text is not None
    assert any("another pace" in one.message for one in result.findings) is told


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        ("128.0", False),
        ('"dynamic"', True),
        ('"dynamic" if args.scale == 0 else args.scale', True),
        ("args.scale", True),
    ],
)
def test_a_scale_that_may_move(scale: str, told: bool) -> None:
    head = "from options import args\n" + HEAD.replace('"O1"', f'"O1", loss_scale={scale}')
    result = migrate_module(f"{head}{CASES['in windows'][0]}\n\nTrainer().run(batches)\n", Settings())
    assert result.new_text is not None
    assert any("another pace" in one.message for one in result.findings) is told

"""An object of a class that only a configuration names, and which has the network, is named where it may run it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import importlib
import torch
from apex import amp
from hydra.utils import instantiate
from pydoc import locate
from ema import Average


class Task:
    def __init__(self):
        self.net = torch.nn.Linear(4, 4)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.net, self.optimizer = amp.initialize(self.net, self.optimizer, opt_level="O1")

    def step(self, x):
        loss = self.net(x).pow(2).mean()
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        self.optimizer.step()


class Check:
    def __init__(self, width):
        self.width = width

    def measure(self, x):
        return x.mean()


def main(cfg, batches):
    task = Task()
    check = MAKE
    for x in batches:
        task.step(x)
        USE
"""


@pytest.mark.parametrize(
    ("make", "use", "said"),
    [
        ("instantiate(cfg.check, task)", "print(check.measure(x))", True),
        ("instantiate(cfg.check, task=task)", "check(x)", False),  # as a network is: it gets a region
        ("instantiate(cfg.check, net=task.net)", "check.measure(x)", True),
        ("getattr(importlib.import_module(cfg.module), cfg.name)(task)", "check.measure(x)", True),
        ("locate(cfg.name)(task)", "check.measure(x)", True),
        ("instantiate(cfg.check, task.net)", "check.update(task.net)", False),  # runs nothing, by its name
        ("instantiate(cfg.check, 4)", "check.measure(x)", False),
        ("instantiate(cfg.scheduler, task.optimizer)", "check.measure(x)", False),
        ("Average(4)\n    check.net = task.net\n    check = instantiate(cfg.check, check)", "check.measure(x)", True),
        ("Check(4)", "check.measure(x)", False),
        ("Average(task)", "check.state(x)", False),  # its text would tell
    ],
)
def test_what_runs_by_a_name_of_the_configuration(make: str, use: str, said: bool) -> None:
    result = migrate_module(TEXT.replace("MAKE", make).replace("USE", use), Settings())
    assert any("is named at run time alone" in f.message for f in result.findings) is said
    assert {unit.applicability.value for unit in result.units} == ({"review"} if said else {"safe"})


def test_what_ran_ahead_of_initialize_is_not_named() -> None:
    text = TEXT.replace("MAKE", "instantiate(cfg.check, 4)").replace("USE", "pass")
    text = text.replace("        self.net, self.optimizer = amp", "        instantiate(cfg.seen, self.net).measure(4)\n"
                        "        self.net, self.optimizer = amp")
    assert not any("at run time alone" in f.message for f in migrate_module(text, Settings()).findings)

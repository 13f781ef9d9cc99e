"""Who lists the attributes of an object with a scaler in a file without amp: the scaler is among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell.test_components import _results

MAIN = """\
import torch
from apex import amp
from base import Base


class Trainer(Base):
    def __init__(self, model):
        self.model, self.optimizer = model, torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def step(self, x):
        loss = self.model(x).sum()
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()


trainer = Trainer(torch.nn.Linear(2, 2))
for x in data:
    trainer.step(x)
print(trainer.state())
"""
LISTING = """\
class Base:
    def state(self):
        return LISTED
"""
HELPER = """\
class Base:
    def state(self):
        return listed(self)


def listed(thing):
    return LISTED
"""


def _told(tmp_path: Path, files: dict[str, str]) -> list[str]:
    results = _results(tmp_path, {"main.py": MAIN, **files})
    return [f.message for one in results.values() for f in one.findings if f.rule == "APX020" and "lists" in f.message]


OWN = ["dict(self.__dict__)", "sorted(vars(self))", "len(dir(self))", "inspect.getmembers(self)", "getmembers(self, f)"]


@pytest.mark.parametrize("listed", OWN)
def test_a_base_of_another_file(tmp_path: Path, listed: str) -> None:
    assert _told(tmp_path, {"base.py": LISTING.replace("LISTED", listed)}) == [
        "this lists self.scaler, too, from now on"
    ]


@pytest.mark.parametrize("listed", OWN)
def test_a_base_of_a_base(tmp_path: Path, listed: str) -> None:
    deep = LISTING.replace("LISTED", listed).replace("Base", "Deep")
    middle = "from deep import Deep\n\n\nclass Base(Deep):\n    pass\n"
    assert len(_told(tmp_path, {"base.py": middle, "deep.py": deep})) == 1


@pytest.mark.parametrize("listed", ["dict(thing.__dict__)", "getmembers(thing)", "[k for k in thing.__dict__]"])
def test_a_function(tmp_path: Path, listed: str) -> None:
    assert len(_told(tmp_path, {"base.py": HELPER.replace("LISTED", listed)})) == 1


@pytest.mark.parametrize("listed", ["self.__dict__.update(kept)", "self.__dict__['model']", "vars(other_module)"])
def test_what_lists_nothing_of_it(tmp_path: Path, listed: str) -> None:
    assert _told(tmp_path, {"base.py": LISTING.replace("LISTED", listed)}) == []

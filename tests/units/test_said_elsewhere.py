"""A condition is said in another file by names that are bound there whenever it runs."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_program
from migrate.model import FileText, Settings

PRECISION = """\
from enum import Enum

from apex import amp


class Mode(Enum):
    FULL = "full"
    HALF = "half"


class Precision:
    def __init__(self, mode):
        self.mode = mode

    def setup(self, model, optimizer):
        if self.mode is Mode.HALF:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        return model, optimizer

    def backward(self, loss, optimizer):
        if self.mode is Mode.HALF:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
"""
ENGINE = """\
import torch
HEAD
from precision import Precision


def run(mode, loader):
    model = torch.nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    precision = Precision(mode)
    model, optimizer = precision.setup(model, optimizer)
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).sum()
        precision.backward(loss, optimizer)
        optimizer.step()


if __name__ == "__main__":
    BLOCK
    run(Mode.HALF, read())
"""


OTHER = """\
import engine
from precision import Mode


def main(loader):
    engine.run(Mode.HALF, loader)
"""


@pytest.mark.parametrize("imported_by_another", [False, True])
@pytest.mark.parametrize("in_block", [True, False])
def test_a_name_that_only_the_main_block_imports_says_nothing_in_a_function(
    in_block: bool, imported_by_another: bool
) -> None:
    """Whoever imports that file finds no such name, whatever else imports it."""
    taken = "from precision import Mode"
    engine = ENGINE.replace("HEAD", "" if in_block else taken).replace("BLOCK", taken if in_block else "pass")
    files = [FileText(PRECISION, name="precision.py"), FileText(engine, name="engine.py", links={"precision": 0})]
    if imported_by_another:
        files.append(FileText(OTHER, name="other.py", links={"precision": 0, "engine": 1}))
    precision, trains, *_ = migrate_program(files, Settings())
    assert precision.new_text is not None or in_block
    assert ("Mode.HALF" in (trains.new_text or "").partition("__main__")[0]) is not in_block

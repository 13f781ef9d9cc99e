"""A file that asks whether a model is wrapped, beside one that goes on wrapping in Apex's class."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.model import Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool

CHECKPOINT = """\
import torch
from apex.parallel import DistributedDataParallel as DDP


def save(model, path):
    if isinstance(model, (DDP, torch.nn.DataParallel)):
        model = model.module
    torch.save(model.state_dict(), path)
"""
TRAIN = """\
import torch
from apex import amp
from apex.parallel import DistributedDataParallel
from checkpoint import save


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer)
    model = DistributedDataParallel(model)
    for x in loader:
        optimizer.zero_grad()
        with amp.scale_loss(model(x), optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    save(model, "last.pt")
"""


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize(("step", "lines"), [("step()", []), ("step(lambda: 1)", [6])])
def test_a_question_that_is_answered_otherwise_is_told(tmp_path: Path, step: str, lines: list[int]) -> None:
    (tmp_path / "checkpoint.py").write_text(CHECKPOINT)
    (tmp_path / "train.py").write_text(TRAIN.replace("step()", step))
    with Spool() as spool:
        outcome = analyse(collect([str(tmp_path)], ()), Settings(), spool, jobs=1)
    (asks,) = [one.result for one in outcome.files if one.result.path.endswith("checkpoint.py")]
    assert asks.status == "changed"
    assert [f.line for f in asks.findings if "still wraps in Apex's" in f.message] == lines

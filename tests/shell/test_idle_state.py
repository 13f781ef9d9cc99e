"""Files that save and load amp's state, where nobody may have initialized Apex."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.model import Settings, Severity
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

SAVES = """\
import torch

try:
    import apex
except ImportError:
    print("apex is not installed")


def save(model, optimizer, path):
    checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    checkpoint["amp"] = apex.amp.state_dict()
    torch.save(checkpoint, path)


def load(model, optimizer, logger, path):
    checkpoint = torch.load(path)
    model.load_state_dict(checkpoint["model"])
    if "amp" in checkpoint:
        apex.amp.load_state_dict(checkpoint["amp"])
        logger.info("load amp state dict")
    optimizer.load_state_dict(checkpoint["optimizer"])
"""
SAVES_NOTHING = """\
import torch


def save(model, optimizer, path):
    checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(checkpoint, path)


def load(model, optimizer, logger, path):
    checkpoint = torch.load(path)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
"""
TRAINS = """\
import torch
from apex import amp

model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    optimizer.zero_grad()
    loss = model(x).sum()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""


def _saving(folder: Path, text: str = SAVES, **others: str) -> tuple[str, set[Severity]]:
    """What becomes of the file that saves, and what is said of it."""
    files = {
        "segment/runner/__init__.py": "",
        "segment/runner/checkpoint.py": text,
        "segment/train.py": "import torch\n",
    }
    root = tree(folder, files | {f"{name.replace('_', '/')}.py": other for name, other in others.items()})
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        (found,) = (one for one in outcome.files if one.result.path == "segment/runner/checkpoint.py")
        new = text if found.texts is None else spool.get(found.texts.new).decode()
    return new, {finding.severity for finding in found.result.findings}


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"detect_train": TRAINS},
        {"segment_tools": TRAINS},  # migrated: a second run found nobody who initializes, and let the state go then
    ],
)
def test_nobody_initializes(tmp_path: Path, others: dict[str, str]) -> None:
    assert _saving(tmp_path, **others) == (SAVES_NOTHING, {Severity.REVIEW})


@pytest.mark.parametrize(
    "others",
    [
        # below the folder from which its imports begin: a runner may join them
        {"segment_tools": TRAINS.replace("optimizer.step()", "optimizer.step(closure)")},
        {"detect_train": f"import segment.runner.checkpoint\n{TRAINS}".replace("scale_loss", "unknown")},
        {
            "segment_train": "import begin\n\nbegin.start(model)\n",
            "begin": "from apex import amp\n\nstart = amp.initialize\n",
        },
    ],
)
def test_somebody_may_initialize(tmp_path: Path, others: dict[str, str]) -> None:
    text, said = _saving(tmp_path, **others)
    assert (text, Severity.MANUAL in said) == (SAVES, True)


def test_a_state_that_is_handed_on_stays(tmp_path: Path) -> None:
    """Whoever gets it may ask for what is in it."""
    handed = SAVES.replace('checkpoint["amp"] = apex.amp.state_dict()', "keep(apex.amp.state_dict())")
    text, said = _saving(tmp_path, handed)
    assert (text, Severity.MANUAL in said) == (handed, True)

"""Files that only tell others whether Apex's amp is there, when nothing needs it any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.model import Settings, Severity
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import ASKS, tree

ANSWERS = "_has_apex = True\n\n\ndef is_apex_available():\n    return _has_apex\n"
TELLS = "from .utils import is_apex_available\n\nTOLD = is_apex_available()\n"
BARE = "    from apex.contrib.sparsity import ASP\n\n    ASP.prune()\n"
CAUGHT = """\
    try:
        from apex.contrib.sparsity import ASP
    except ImportError:
        ASP = None
    print(ASP)
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
SCALES = """\
from apex import amp


def step(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
"""


def _asked(folder: Path, trains: str = TRAINS, **files: str) -> tuple[str, list[Severity]]:
    """What becomes of the file that asks, and what is said of it."""
    named = {f"lib/{name}.py": text for name, text in files.items()}
    root = tree(folder, {"lib/__init__.py": "", "lib/utils.py": ASKS, "train.py": trains, **named})
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        (found,) = (one for one in outcome.files if one.result.path == "lib/utils.py")
        text = ASKS if found.texts is None else spool.get(found.texts.new).decode()
    return text, [finding.severity for finding in found.result.findings]


def test_it_says_yes_to_who_needs_no_apex(tmp_path: Path) -> None:
    assert _asked(tmp_path, told=TELLS) == (ANSWERS, [Severity.REVIEW])


@pytest.mark.parametrize(("imported", "asks"), [(BARE, True), (CAUGHT, False)])
def test_it_asks_on_where_the_answer_leads_to_apex(tmp_path: Path, imported: str, asks: bool) -> None:
    text, said = _asked(tmp_path, told=TELLS, prune=f"from .told import TOLD\n\nif TOLD:\n{imported}")
    assert (text == ASKS, said) == ((True, [Severity.INFO]) if asks else (False, [Severity.REVIEW]))


def test_it_asks_on_where_amp_is_needed(tmp_path: Path) -> None:
    assert _asked(tmp_path, told=TELLS, step=SCALES) == (ASKS, [Severity.INFO])


def test_it_asks_on_where_the_tree_never_used_apex(tmp_path: Path) -> None:
    assert _asked(tmp_path, trains="import torch\n", told=TELLS) == (ASKS, [Severity.INFO])

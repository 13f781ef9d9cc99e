"""What a package hands on to whoever has it: its names stay, and its functions can be called as before."""

from __future__ import annotations

from pathlib import Path

from migrate.model import Applicability, Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

SETUP = 'from setuptools import setup, find_packages\nsetup(name="fastlib", packages=find_packages())\n'
PRECISION = """\
try:
    from apex import amp
    has_apex = True
except ImportError:
    amp = None
    has_apex = False
"""
LOOP = """\
import torch
import torch.nn.functional as F

from .precision import amp, has_apex


def train_step(model, batch, optimizer, fp16=False, max_norm=None):
    x, y = batch
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()


def fit(model, loader, fp16=False):
    if fp16 and not has_apex:
        raise ImportError("fit(fp16=True) needs apex")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for batch in loader:
        train_step(model, batch, optimizer, fp16, 1.0)
"""
BARE = "from .loop import fit, train_step\nfrom .precision import has_apex\n"
LISTED = BARE + '\n__all__ = ["fit", "train_step", "has_apex"]\n'


def _migrated(folder: Path, files: dict[str, str]) -> tuple[dict[str, str], list[Applicability], list[str]]:
    """The texts of the files, the grades of all units, and what is said."""
    root = tree(folder, files)
    texts = dict(files)
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        for file in outcome.files:
            if file.texts is not None:
                texts[file.result.path] = spool.get(file.texts.new).decode()
    grades = {unit.number: unit.applicability for file in outcome.files for unit in file.result.units}
    said = [finding.message for file in outcome.files for finding in file.result.findings]
    return texts, list(grades.values()), said


def test_a_name_that_all_lists_stays(tmp_path: Path) -> None:
    files = {"fastlib/__init__.py": LISTED, "fastlib/precision.py": PRECISION, "fastlib/loop.py": LOOP}
    for name, more in (("bare", {}), ("installed", {"setup.py": SETUP}), ("run", {"train.py": "import fastlib\n"})):
        texts, grades, _ = _migrated(tmp_path / name, {**files, **more})
        assert grades == [Applicability.SAFE]
        assert texts["fastlib/__init__.py"] == LISTED
        assert texts["fastlib/precision.py"] == "has_apex = True\n"
        assert "has_apex" not in texts["fastlib/loop.py"]  # whose only reader is gone


def test_what_an_init_takes_stays_in_a_package_that_others_have(tmp_path: Path) -> None:
    files = {"fastlib/__init__.py": BARE, "fastlib/precision.py": PRECISION, "fastlib/loop.py": LOOP}
    texts, _, _ = _migrated(tmp_path / "bare", files)
    assert texts["fastlib/__init__.py"] == BARE
    assert texts["fastlib/precision.py"] == "has_apex = True\n"
    run = {"train.py": "from fastlib import fit\n\nfit(None, [], fp16=True)\n"}
    texts, _, _ = _migrated(tmp_path / "run", {**files, **run})
    assert texts["fastlib/__init__.py"] == "from .loop import fit, train_step\n"  # a script's own, all of which is here

"""A unit stays where another file of the tree, connected with it, still needs amp."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.model import Applicability, FileResult, Settings, Severity
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import ASKS, tree

TRAIN = """\
import torch
from apex import amp
{imports}

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
SAVES = """\
import hooks
from apex import amp


def save(model):
    return {"model": model, "amp": amp.state_dict()}


hooks.register(save)  # handed to somebody who calls it with nothing more than the model
"""


def _results(root: Path) -> dict[str, FileResult]:
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        return {result.path: result for result in outcome.results}


def test_a_state_saved_elsewhere_holds_the_unit(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN.format(imports="from helpers import save"), "helpers.py": SAVES})
    found = _results(root)["train.py"]
    assert found.status == "unchanged"
    assert [unit.applicability for unit in found.units] == [Applicability.MANUAL]
    assert any("helpers.py, line 6" in finding.message for finding in found.findings)


def test_through_a_file_without_apex(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "train.py": TRAIN.format(imports="import middle"),
            "middle.py": "from helpers import save\n",
            "helpers.py": SAVES,
        },
    )
    assert _results(root)["train.py"].status == "unchanged"


def test_what_is_not_connected_holds_nothing(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {"one/train.py": TRAIN.format(imports="from torch.utils import helpers"), "two/helpers.py": SAVES},
    )
    found = _results(root)
    assert found["one/train.py"].status == "changed"
    assert found["two/helpers.py"].status == "unchanged"


def test_what_is_held_holds_others(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "main.py": TRAIN.format(imports="import train"),
            "train.py": TRAIN.format(imports="from helpers import save"),
            "helpers.py": SAVES,
        },
    )
    found = _results(root)
    assert {path: result.status for path, result in found.items()} == dict.fromkeys(found, "unchanged")


CASTS = """\
import torch
from apex import amp
from extension import _C

nms = amp.float_function(_C.nms)


class Pool(torch.nn.Module):
    @amp.float_function
    def forward(self, x, rois):
        return _C.pool(x, rois)
"""


def test_casts_follow_the_units_that_use_them(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN.format(imports="import layers"), "layers.py": CASTS})
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        texts = {one.result.path: spool.get(one.texts.new).decode() for one in outcome.files if one.texts is not None}
    assert "apex" not in texts["train.py"] + texts["layers.py"]
    assert 'nms = torch.amp.custom_fwd(_C.nms, device_type="cuda", cast_inputs=torch.float32)' in texts["layers.py"]
    assert '    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)\n' in texts["layers.py"]


def test_casts_that_a_held_unit_uses_stay_and_hold_others(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "held.py": TRAIN.format(imports="import layers\nfrom helpers import save"),
            "free.py": TRAIN.format(imports="import layers"),
            "layers.py": CASTS,
            "helpers.py": SAVES,
        },
    )
    found = _results(root)
    assert {path: result.status for path, result in found.items()} == dict.fromkeys(found, "unchanged")


def test_casts_that_nobody_is_known_to_use_go_where_nothing_needs_amp(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN.format(imports=""), "layers.py": CASTS})
    found = _results(root)
    assert found["train.py"].status == found["layers.py"].status == "changed"
    said = [one for one in found["layers.py"].findings if one.severity is Severity.REVIEW]
    assert [one.rule for one in said] == ["APX080"]
    assert "no training code that is read here leads to this" in said[0].message


def test_casts_of_a_tree_without_training_go(tmp_path: Path) -> None:
    main = "from apex.parallel import DistributedDataParallel\nimport layers\nmodel = DistributedDataParallel(net)\n"
    found = _results(tree(tmp_path, {"main.py": main, "layers.py": CASTS}))
    assert found["main.py"].status == found["layers.py"].status == "changed"


@pytest.mark.parametrize("other", [SAVES, "import layers\n" + SAVES, "from apex import amp\nprint 'Python 2'\n"])
def test_casts_stay_where_something_may_need_amp(other: str, tmp_path: Path) -> None:
    found = _results(tree(tmp_path, {"helpers.py": other, "layers.py": CASTS}))
    assert found["layers.py"].status == "unchanged"


def test_casts_of_one_file_stay(tmp_path: Path) -> None:
    assert _results(tree(tmp_path, {"layers.py": CASTS}))["layers.py"].status == "unchanged"


SCALER = """\
from apex import amp


class ApexScaler:
    def __call__(self, loss, optimizer, parameters=None):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()

    def state_dict(self):
        return amp.state_dict()
"""


def _text(root: Path, name: str) -> str:
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        return next(spool.get(x.texts.new).decode() for x in outcome.files if x.texts and x.result.path == name)


def test_a_class_that_scales_by_itself_is_native_inside(tmp_path: Path) -> None:
    root = tree(tmp_path, {"cuda.py": SCALER, "__init__.py": "from .cuda import ApexScaler\n", "net.py": "x = 1\n"})
    text = _text(root, "cuda.py")
    assert "apex" not in text and "def __call__(self, loss, optimizer, parameters=None):" in text
    assert '    def __init__(self):\n        self.scaler = torch.amp.GradScaler("cuda")\n\n' in text
    assert "        self.scaler.step(optimizer)\n        self.scaler.update()\n" in text
    assert "return self.scaler.state_dict()" in text


def test_its_own_constructor_makes_the_scaler(tmp_path: Path) -> None:
    made = SCALER.replace("    def __call__", "    def __init__(self):\n        self.count = 0\n\n    def __call__")
    root = tree(tmp_path, {"cuda.py": made, "net.py": "x = 1\n"})
    assert '        self.count = 0\n        self.scaler = torch.amp.GradScaler("cuda")\n' in _text(root, "cuda.py")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class ApexScaler:", "class ApexScaler(Base):"),
        ("        optimizer.step()\n", ""),
        ("(self, loss, optimizer, parameters=None)", "(self, loss, parameters=None)"),
        ("return amp.state_dict()", "return amp._amp_state.loss_scalers"),
        ("    def state_dict(self):", "def saved():\n    if True:"),
        ("from apex", "class Own(ApexScaler):\n    def __init__(self):\n        pass\n\n\nfrom apex"),
        ("from apex", "import helpers\nfrom apex"),
    ],
)
def test_one_that_does_more_stays(old: str, new: str, tmp_path: Path) -> None:
    text = SCALER.replace(old, new)
    files = {"cuda.py": text, "net.py": "x = 1\n"} | ({"helpers.py": SAVES} if "helpers" in new else {})
    assert _results(tree(tmp_path, files))["cuda.py"].status == "unchanged"


def test_a_class_that_scales_stays_where_another_file_trains_with_amp(tmp_path: Path) -> None:
    root = tree(tmp_path, {"cuda.py": SCALER, "helpers.py": SAVES})
    assert _results(root)["cuda.py"].status == "unchanged"




@pytest.mark.parametrize("other", [{"run.py": "from file_utils import other\n"}, {"helpers.py": SAVES}, {}])
def test_a_question_that_nobody_here_asks_stays(other: dict[str, str], tmp_path: Path) -> None:
    """Who calls the function that gives the answer back is not known, so it goes on saying what is installed."""
    found = _results(tree(tmp_path, {"file_utils.py": ASKS, **other}))["file_utils.py"]
    assert found.status == "unchanged"
    assert [one.severity.value for one in found.findings] == ["info"]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("", "from file_utils import is_apex_available\nprint(is_apex_available())\n"),
        ("", "from file_utils import *\nif is_apex_available():\n    import fast\n"),
        ("", "from file_utils import _has_apex as has\nprint(has)\n"),
        ("", "import file_utils\nprint(file_utils._has_apex)\n"),
        ("print(is_apex_available())\n", ""),
        ("if _has_apex:\n    import fast\n", ""),
        ("__all__ = ['is_apex_available']\n", ""),
    ],
)
def test_one_whose_answer_somebody_may_read_stays(here: str, there: str, tmp_path: Path) -> None:
    root = tree(tmp_path, {"file_utils.py": ASKS + here, "run.py": there or "x = 1\n"})
    assert "file_utils.py" in (found := _results(root)) and found["file_utils.py"].status == "unchanged"

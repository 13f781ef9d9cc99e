"""Local response normalization gets float32, as under O1, or is named where it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from migrate.model import Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

pytestmark = pytest.mark.usefixtures("many_files")

TRAIN = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
from tail import Plain, Tail, make


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = MADE

    def forward(self, x):
        x = self.conv(x)
        x = RUN
        return x


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
for x in batches:
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
TAIL = """\
import torch.nn as nn


class Tail(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LocalResponseNorm(3)

    def forward(self, x):
        return self.norm(x)


def make():
    return nn.Sequential(nn.ReLU(), nn.LocalResponseNorm(3))
"""
PLAIN = "import torch.nn as nn\n\n\nclass Plain(nn.Module):\n    def forward(self, x):\n        return x\n"
_Type = Literal["float16", "bfloat16"]
LAYER = "nn.LocalResponseNorm(3)"


def _outcome(tmp_path: Path, made: str, run: str, tail: str, dtype: _Type = "float16") -> tuple[str, list[str]]:
    files = {"train.py": TRAIN.replace("MADE", made).replace("RUN", run), "tail.py": tail}
    with Spool() as spool:
        outcome = analyse(collect([str(tree(tmp_path, files))]), Settings(dtype=dtype), spool, jobs=1)
        (new,) = [spool.get(one.texts.new).decode() for one in outcome.changed if one.texts]
    return new, [f.message for file in outcome.results for f in file.findings if "squares what" in f.message]


@pytest.mark.parametrize(
    ("made", "run", "written"),
    [
        (LAYER, "self.norm(x)", "self.norm(x.float())"),
        (LAYER, "self.norm(x * 2)", "self.norm((x * 2).float())"),
        ("None", "F.local_response_norm(x, 3)", "F.local_response_norm(x.float(), 3)"),
        (LAYER, "self.norm(x.float())", "self.norm(x.float())"),
        ("nn.BatchNorm2d(8)", "self.norm(x)", "self.norm(x)"),
    ],
)
def test_what_a_network_calls_is_handed_float32(tmp_path: Path, made: str, run: str, written: str) -> None:
    new, said = _outcome(tmp_path, made, run, PLAIN)
    assert f"x = {written}\n" in new and not said


@pytest.mark.parametrize(
    ("made", "tail", "named"),
    [
        (f"nn.Sequential({LAYER}, nn.ReLU())", PLAIN, "this layer"),
        ("Tail()", TAIL, "`LocalResponseNorm` of another file"),
        ("make()", TAIL, "`LocalResponseNorm` of another file"),
        ("Plain()", PLAIN, ""),
    ],
)
def test_others_are_named(tmp_path: Path, made: str, tail: str, named: str) -> None:
    _, said = _outcome(tmp_path, made, "self.norm(x)", tail)
    assert [one.startswith(named) for one in said] == [True] * bool(named)


def test_bfloat16_holds_such_squares(tmp_path: Path) -> None:
    new, said = _outcome(tmp_path, LAYER, "self.norm(x)", PLAIN, "bfloat16")
    assert "self.norm(x)\n" in new and not said

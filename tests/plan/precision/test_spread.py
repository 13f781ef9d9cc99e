"""Variances under autocast get float32, as O1 computed them in."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

PROGRAM = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 8), nn.Linear(8, 3)
        self.scale = nn.Parameter(torch.ones(8, 8))

    def forward(self, x):
        h = self.a(x)
BODY
        return self.b(h)


def penalty(z):
    return TERM


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    z = model(x)
    loss = F.cross_entropy(z, y) + penalty(z)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
FLOAT32 = ("w = self.scale\nh = h * w.std(0)", "h = h * self.a.weight.var()", "h = h.float() * h.float().var()")
WRITTEN = [
    ("h = h / h.std(-1, keepdim=True)", "h.float().std(-1, keepdim=True)"),
    ("h = (h - h.mean(0)) / (h - x[:, :1]).var(0).sqrt()", "(h - x[:, :1]).float().var(0)"),
    ("h = h / torch.var(h, dim=0)", "torch.var(h.float(), dim=0)"),
    ("h = h / torch.std(input=h, dim=0)", None),  # only told
    *((line, None) for line in FLOAT32),
    ("h = h * np.asarray(x).var()", None),
    ("v, m = torch.var_mean(h, 0)\nh = h - m", None),  # the same under both
]


def _text(body: str, term: str, level: str = "O1") -> str:
    text = PROGRAM.replace("BODY", textwrap.indent(body, " " * 8)).replace("TERM", term)
    return text.replace('"O1"', f'"{level}"')


@pytest.mark.parametrize(("body", "after"), WRITTEN)
def test_in_networks(body: str, after: str | None) -> None:
    result = migrate_module(_text(body, "z.mean()"), Settings())
    assert result.new_text is not None
    assert (after or body.splitlines()[-1]) in result.new_text
    assert result.new_text.count(".float()") == body.count(".float()") + (after is not None)
    assert [one.applicability for one in result.units] == [Applicability.SAFE]


@pytest.mark.parametrize(
    ("term", "after"),
    [
        ("z.var()", "z.float().var()"),
        ("torch.std(z)", "torch.std(z.float())"),
        ("z.softmax(-1).var()", "z.softmax(-1).var()"),  # float32
        ("z.mean()", "z.mean()"),
    ],
)
def test_in_losses(term: str, after: str) -> None:
    result = migrate_module(_text("pass", term), Settings())
    assert result.new_text is not None
    assert f"return {after}\n" in result.new_text


def test_o2_computed_them_in_half() -> None:
    result = migrate_module(_text("h = h / h.std(-1, keepdim=True)", "z.var()", "O2"), Settings())
    assert result.new_text is not None
    assert ".float()." not in result.new_text


@pytest.mark.parametrize("method", ["std", "mean"])
def test_networks_of_other_files_belong_to_the_program(tmp_path: Path, method: str) -> None:
    net = f"import torch.nn as nn\nclass Norm(nn.Module):\n  def forward(self, x):\n    return x / x.{method}(0)\n"
    main = "from norm import Norm\n" + _text("h = self.n(h)", "z.mean()").replace("self.scale =", "self.n = Norm() #")
    with Spool() as spool:
        found = analyse(collect([str(tree(tmp_path, {"main.py": main, "norm.py": net}))]), Settings(), spool, jobs=1)
    assert ("norm.py" in [one.path for one in found.results]) is (method == "std")
    assert [unit.applicability for one in found.results for unit in one.units] == [Applicability.SAFE]
    assert not [finding for one in found.results for finding in one.findings]


@pytest.mark.parametrize("line", FLOAT32)
def test_of_what_is_float32_as_it_is_nothing_is_told(line: str) -> None:
    def told(body: str) -> list[str]:
        findings = migrate_module(_text(body, "z.mean()"), Settings()).findings
        return [one.message for one in findings if "in float16 under autocast" in one.message]

    assert not told(line)
    assert "`std` (line " in told("h = h / torch.std(input=h, dim=0)")[0]

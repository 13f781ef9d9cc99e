"""Masks that are added in place to half scores, with numbers that float16 has not."""

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


def additive(mask):
    return (1 - mask) * FAR


def gentle(mask):
    return (1 - mask) * NEAR


FAR = -1e9
NEAR = -1e4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.d = nn.Linear(5, 8), nn.Linear(5, 8), 8
        self.register_buffer("causal", torch.full((9, 9), -1e9).triu(1))
        self.table = nn.Parameter(torch.zeros(9, 9))

    def forward(self, x, mask, bias):
        q, k = self.q(x), self.k(x)
BODY
        return scores.softmax(-1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x, mask):
        bias = torch.zeros_like(mask).masked_fill(mask == 0, NUMBER)
        return self.attention(x, mask, bias[:, None])


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, mask, y in loader:
    loss = F.cross_entropy(model(x, mask), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
PRODUCT = "scores = torch.matmul(q, k.transpose(-1, -2)) / 8 ** 0.5\n"
NAMED = [
    PRODUCT + "scores += bias",
    PRODUCT + "scores += bias.to(x.device)",
    PRODUCT + "scores -= (1 - mask) * 1e9",
    PRODUCT + "scores += torch.where(mask, 0.0, -1e9)",
    PRODUCT + "scores += additive(mask)[:, None]",
    PRODUCT + "scores += (1 - mask) * torch.finfo(torch.float32).min",
    PRODUCT + "scores += self.causal[:4, :4]",
    "scores = q @ k.transpose(-1, -2)\nscores *= 0.3\nscores += bias",
    "scores = torch.einsum('bid,bjd->bij', q, k)\nscores += bias",
]
SILENT = [
    PRODUCT + "scores = scores + bias",  # float32 both times
    PRODUCT + "scores += (1 - mask) * -10000.0",  # float16 has it
    PRODUCT + "scores += bias.to(scores.dtype)",  # half both times
    PRODUCT + "scores.add_(bias)",
    PRODUCT + "scores += gentle(mask)[:, None]",
    PRODUCT + "scores += self.table[:4, :4]",
    PRODUCT + "scores += (1 - mask) * torch.finfo(scores.dtype).min",
    PRODUCT + "scores = scores.float()\nscores += bias",
    "scores = F.cosine_similarity(q, k)\nscores += bias",
]


def said(body: str, number: str = "-1e9") -> list[str]:
    text = PROGRAM.replace("BODY\n", textwrap.indent(body, " " * 8) + "\n").replace("NUMBER", number)
    result = migrate_module(text, Settings())
    assert result.new_text is not None
    found = [f.message for f in result.findings if f.rule == "APX037" and f.severity.value == "review"]
    assert {unit.applicability for unit in result.units} == {Applicability.REVIEW if found else Applicability.SAFE}
    return found


@pytest.mark.parametrize("body", NAMED)
def test_such_a_sum_is_named(body: str) -> None:
    assert len(said(body)) == 1


@pytest.mark.parametrize("body", SILENT)
def test_other_sums_are_not(body: str) -> None:
    assert said(body) == []


@pytest.mark.parametrize("number", ["-1e4", "0.0", "float('-inf')"])
def test_nor_numbers_that_float16_has(number: str) -> None:
    assert said(PRODUCT + "scores += bias", number) == []


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("FAR = -1e9\n\n\ndef additive(mask):\n    return (1 - mask) * FAR\n", True),
        ("def additive(mask):\n    return mask.masked_fill(mask == 0, -1e9)\n", True),
        ("def additive(mask):\n    return (1 - mask) * -1e4\n", False),
        ("FAR = -1e9\n\n\ndef additive(mask):\n    return 1 - mask\n", False),
        ("def additive(m):\n    x, y = pair(m)\n    return y\n\n\ndef pair(m):\n    return m, m * -1e9\n", True),
        ("def additive(m):\n    x, y = pair(m)\n    return x\n\n\ndef pair(m):\n    return m, m * -1e9\n", False),
        ("import torch\n\n\ndef additive(m):\n    return m * torch.finfo(torch.float32).min\n", True),
    ],
)
def test_masks_of_other_files(tmp_path: Path, made: str, named: bool, inside: bool) -> None:
    """Beside the network, or handed to it by the file that trains."""
    body = "scores += additive(mask)[:, None]" if inside else "scores += bias"
    text = PROGRAM.replace("BODY\n", textwrap.indent(PRODUCT + body, " " * 8) + "\n")
    text = text.replace("torch.zeros_like(mask).masked_fill(mask == 0, NUMBER)", "additive(mask)")
    text, main = text.split("model = Net()")
    head, net = text.split("class Attention(")
    imports = head.split("from apex")[0]
    files = {
        "masks.py": made,
        "net.py": f"{imports}from masks import additive\n\n\nclass Attention({net}",
        "main.py": f"{imports}from apex import amp\nfrom net import Net\n\n\nmodel = Net(){main}",
    }
    with Spool() as spool:
        found = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1)
    said = [f for one in found.results for f in one.findings if f.rule == "APX037" and f.severity.value == "review"]
    assert [one.path for one in found.results if one.status == "changed"] == ["main.py"]
    assert bool(said) is named

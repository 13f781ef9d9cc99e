"""Products beside the model are named, and operations of networks that have another type now."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Applicability, Finding, Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

pytestmark = pytest.mark.usefixtures("many_files")

TEXT = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
import helpers
from helpers import gram, Blur, Watch, host


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.scale = nn.Linear(4, 2), nn.Parameter(torch.tensor(8.0))

    def forward(self, x):
        NET
        return self.layer(x)


def attend(q, k):
    return torch.matmul(q, k)


def main(loader, kernel):
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    EARLY
    model, optimizer = amp.initialize(model, optimizer, opt_level="LEVEL")
    for x, y in loader:
        BEFORE
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        BEHIND
        optimizer.step()


main([], None)
"""
HELPERS = """\
import numpy as np
import torch
import torch.nn.functional as F

def gram(y):
    return y.t().mm(y)

def style(y):
    return gram(y) / 2

def host(y):
    return np.matmul(y, y)

class Blur:
    def __call__(self, x):
        return F.conv2d(x, self.kernel)

class Watch:
    def __init__(self, model):
        model.register_forward_hook(self.hook)
    def hook(self, module, inputs, output):
        self.seen = torch.mm(output, output.t())
"""
BESIDE = [
    "w = torch.mm(kernel, x)",
    "x = F.conv2d(x, kernel)",
    "x = x.matmul(kernel)",
    "x = kernel.t() @ x",
    "g = gram(x)",
    "g = helpers.style(x)",
    "x = Blur()(x)",
    "seen = Watch(model)",
    "x = attend(x, kernel)",
]
NOT_BESIDE = ["x = np.matmul(x, kernel)", "x = kernel @ x", "x = host(x)", "x = x + kernel"]


def _findings(tmp_path: Path, level: str = "O1", **lines: str) -> tuple[list[Finding], set[Applicability]]:
    text = TEXT.replace("LEVEL", level)
    for name in ("NET", "EARLY", "BEFORE", "BEHIND"):
        text = text.replace(name, lines.get(name, "pass"))
    root = tree(tmp_path, {"train.py": text, "helpers.py": HELPERS})
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
    (result,) = (one for one in outcome.results if one.path == "train.py")
    return list(result.findings), {unit.applicability for unit in result.units}


@pytest.mark.parametrize("place", ["BEFORE", "BEHIND"])
@pytest.mark.parametrize("line", BESIDE)
def test_products_beside_the_model_are_named(tmp_path: Path, line: str, place: str) -> None:
    findings, verdicts = _findings(tmp_path, **{place: line})
    assert [one.rule for one in findings].count("APX036") == 1 and verdicts == {Applicability.REVIEW}


@pytest.mark.parametrize("line", NOT_BESIDE)
def test_what_is_no_product_of_torch(tmp_path: Path, line: str) -> None:
    findings, _ = _findings(tmp_path, BEHIND=line)
    assert "APX036" not in [one.rule for one in findings]


@pytest.mark.parametrize(
    "lines", [{"EARLY": BESIDE[0]}, {"NET": "x = attend(x, x)"}, {"level": "O2", "BEHIND": BESIDE[0]}]
)
def test_products_that_are_where_they_were(tmp_path: Path, lines: dict[str, str]) -> None:
    findings, _ = _findings(tmp_path, **lines)
    assert "APX036" not in [one.rule for one in findings]


OFF = "with amp.disable_casts(): "


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (OFF + BESIDE[0], False),
        (OFF + BESIDE[-1], False),
        (f"{OFF}pass\n        {BESIDE[0]}", True),
        (f"{OFF}{BESIDE[-1]}\n        {BESIDE[-1]}", True),  # from there and from elsewhere
        (f"with torch.autocast('cuda', enabled=False): {BESIDE[0]}", True),  # does not switch Apex's casts off
    ],
)
def test_products_where_the_author_switched_casts_off(tmp_path: Path, line: str, named: bool) -> None:
    findings, _ = _findings(tmp_path, BEHIND=line)
    assert ("APX036" in [one.rule for one in findings]) is named


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x = F.gelu(x)", "`gelu` (line 16)"),
        ("x = (x - x.mean()) / x.std()", ""),  # becomes `x.float().std()`
        ("x = (x - x.mean()) / torch.std(input=x)", "`std` (line 16)"),
        ("x = torch.einsum('bi,ij->bj', x, self.w)", "`einsum` (line 16)"),
        ("x += self.bias", "`+=` (line 16)"),
        ("x = x.masked_fill(x > 1, -1e9)", "`masked_fill` (line 16)"),
        ("x.fill_diagonal_(-10000000)", "`masked_fill` (line 16)"),
        ("x = x.masked_fill(x > 1, -1e4)", ""),
        ("x = x / np.std(x)", ""),
        ("x += self.layer(x)", ""),
        ("self.shift = 1 / 2; x += self.shift", ""),
        ("self.shift = torch.ones(2); x += self.shift", "`+=` (line 16)"),
        ("x = x * self.scale.exp()", "`*` (line 16)"),
        ("x = F.softplus(self.scale) / x", "`*` (line 16)"),
        ("t = torch.tensor(8.0).cuda(); x = x / t", "`*` (line 16)"),
        ("t = nn.Parameter(torch.ones([]) * np.log(1 / 0.07)); x = x - t", "`*` (line 16)"),
        ("t = torch.ones(2); x = x - t", ""),
        ("t = torch.tensor(8); x = x - t", ""),
        ("t = torch.tensor([8.0]); x = x - t", ""),
        ("t = torch.tensor(8.0, dtype=torch.float16); x = x - t", ""),
        ("x = x / 8.0", ""),
        ("x = x.exp(); y = x.log(); x = y * x", ""),
    ],
)
def test_operations_of_another_type_are_told(tmp_path: Path, line: str, said: str) -> None:
    findings, verdicts = _findings(tmp_path, NET=line)
    told = [one.message for one in findings if one.rule == "APX037"]
    assert [said in one for one in told] == ([True] if said else []) and verdicts == {Applicability.SAFE}


def test_operations_of_networks_elsewhere() -> None:
    body = "        x += self.bias\n        x.masked_fill_(x == 0, -1e10)\n        return F.gelu(x / np.std(x))\n"
    text = f"class Net(nn.Module):\n    def forward(self, x):\n{body}"
    assert {"gelu", "+=", "masked_fill"} <= elsewhere([outline(text)]).operations
    assert "std" not in elsewhere([outline(text)]).operations

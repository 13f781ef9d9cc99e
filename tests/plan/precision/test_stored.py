"""What is put into a tensor by an index has to be of its type, and some operations have another under autocast."""

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


def attend(scores):
    weights = torch.softmax(scores, -1)
    return weights, scores


def shared(scores):
    return attend(scores)[0]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 8), nn.Linear(8, 3)

        self.act, self.norm, self.w = nn.GELU(), nn.LayerNorm(8), nn.Parameter(torch.randn(5, 8))
        self.mix = nn.Sequential(nn.Linear(5, 8), nn.GELU())
        self.register_buffer("bank", torch.zeros(9, 8))

    def gates(self, h):
        return h.softmax(-1)

    def forward(self, x):
        h = self.a(x)
BODY
        return self.b(out)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
NAMED = [
    "out = self.find(x)\nout[scale, at] = h.softmax(-1)",
    "out = torch.zeros_like(h)\nout[mask] = h[mask].softmax(-1)",
    "gate = h[:, :2].softmax(-1)\nw, e = gate.max(1)\nout = torch.zeros_like(h)\nout[e == 1] = w[:, None] * h",
    "out = torch.zeros_like(h).scatter(-1, at, torch.softmax(h, -1))",
    "out = h.new_zeros(8)\nout.index_add_(0, at, torch.logsumexp(h, 1))",
    "out = x.new_zeros(4, 8)\nout[at] = F.gelu(h)",
    "out = torch.zeros_like(h)\nout[mask] = self.gates(h)[mask]",
    "out = torch.zeros_like(h)\nweights, h = attend(h)\nout[mask] = weights[mask]",
    "out = torch.zeros_like(h)\nout[mask] = shared(h)[mask]",
    "out = torch.zeros(4, 8).index_add_(0, at, self.act(h))",
    "out = torch.zeros(4, 8).index_add_(0, at, self.mix(x))",
    "out = torch.einsum('bi,ij->bj', x, self.w)\nself.bank.index_copy_(0, at, out.detach())",
    "out = h\nself.bank[at] = torch.einsum('bi,ij->bj', x, self.w[:, :8])",
    "out = torch.zeros(4, 8)\nout[at] = torch.einsum('bi,bi->bi', h.float(), h.float())",
    "out = torch.zeros(4, 8, dtype=h.dtype)\nout[at] = h.log1p()",
    "out = torch.zeros_like(h)\nfor i, rows in enumerate(groups):\n    out[rows, i] = h.softmax(-1)[rows, i]",
    "out = h\nself.mean.lerp_(F.gelu(h).mean(0).detach(), 0.1)",
]
SILENT = [
    "out, found = h, {}\nfound['gate', scale] = h.softmax(-1)",  # no tensor has such an index
    "out, found = h, self.find(x)\nfound[('gate', scale)] = h.softmax(-1)",
    "out, found = h, self.find(x)\nfound['gate_' + scale] = h.softmax(-1)",
    "out, found = h, self.find(x)\nfound['gate_{}'.format(scale), at] = h.softmax(-1)",
    "out, found = h, self.find(x)\nfound[f'gate_{scale}', at] = h.softmax(-1)",
    "out, found = h, self.find(x)\nfound['gate_%s' % scale] = h.softmax(-1)",
    "out = h\nself.mean.lerp_(h.std(0).detach(), 0.1)",  # becomes `h.float().std(0)`
    "out = torch.zeros_like(h)\nout[mask] = F.softmax(h[mask], -1)",  # float32 both times
    "out = torch.zeros_like(h)\nout[mask] = nn.functional.softmax(h[mask], -1)",
    "out = torch.zeros_like(h)\nout[mask] = h[mask].softmax(-1).to(out.dtype)",
    "out = h.softmax(-1)",
    "out = torch.zeros_like(h)\nout[h.softmax(-1) > 0.5] = 1.0",
    "out = torch.zeros_like(h)\nout[mask] = self.b(h.softmax(-1))",
    "kept = {}\nkept['gate'] = h.softmax(-1)\nout = h",
    "kept = {}\nkept[name] = h.softmax(-1)\nout = h",
    "kept = [None] * 3\nkept[at] = h.softmax(-1)\nout = h",
    "gate = h.softmax(-1)\nout = torch.zeros_like(gate)\nout[mask] = gate[mask]",  # it follows
    "gate = h.softmax(-1)\nout = h.new_zeros(gate.shape, dtype=gate.dtype)\nout[mask] = gate[mask]",
    "gate = h.softmax(-1)\ngate = gate.to(h.dtype)\nout = torch.zeros_like(h)\nout[mask] = gate[mask]",
    "out = torch.zeros(4, 8)\nout[mask] = h.softmax(-1)",  # O1 would have raised for half ones
    "out = torch.zeros_like(h)\nout[mask] = h.float().softmax(-1)",  # as it was given, which is float32
    "out = torch.zeros_like(h)\nout[mask] = attend(h.float())[0]",
    "out = torch.zeros(8)\nout[at] = h.float().std(0)",
    "out = torch.zeros_like(h)\nout[:, 0] = h.softmax(-1)[:, 0]",  # copied
    "out = torch.zeros_like(h)\nfor i in range(len(h)):\n    out[i, 1 - i] = h[i].softmax(-1)[0]",
    "out = torch.zeros_like(h)\nout[mask] += h.softmax(-1)",  # copied as well
    "out = torch.zeros_like(h).scatter_add(-1, at, torch.softmax(h, -1))",  # promoted
    "out = torch.zeros_like(h).scatter_(-1, h.softmax(-1).topk(2)[1], h)",
    "out = torch.zeros_like(h)\nout[mask] = torch.einsum('bi,bj->bj', h, h)",  # half both times
    "out = torch.zeros_like(h)\nout[mask] = h.softmax(-1) @ h",
    "out = torch.zeros_like(h)\nout[mask] = self.norm(self.act(h))",
]


def _reviews(body: str) -> list[str]:
    result = migrate_module(PROGRAM.replace("BODY\n", textwrap.indent(body, " " * 8) + "\n"), Settings())
    assert result.new_text is not None
    graded = {unit.applicability for unit in result.units}
    found = [f.message for f in result.findings if f.rule == "APX037" and f.severity.value == "review"]
    assert graded == {Applicability.REVIEW if found else Applicability.SAFE}
    return found


@pytest.mark.parametrize("body", NAMED)
def test_a_type_that_differs_is_named_where_it_is_put(body: str) -> None:
    assert len([said for said in _reviews(body) if "is put into a tensor" in said]) == 1


@pytest.mark.parametrize("body", SILENT)
def test_nothing_is_said_where_the_type_is_the_same_or_does_not_matter(body: str) -> None:
    assert _reviews(body) == []


OUTSIDE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Bank:
    def __init__(self, size):
        self.rows = torch.zeros(size, 8)

    def push(self, at, rows):
        REWRITTEN
        self.rows[at] = rows


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 8)

    def forward(self, x):
        return F.gelu(self.a(x))


def hand(bank, at, rows):
    bank.push(at, rows)


model, bank = Net(), Bank(9)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for at, x, y in loader:
    z = model(x)
    loss = F.cross_entropy(z, y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
    BODY
"""
LATER = {
    "bank.push(at, z.detach())": 1,
    "hand(bank, at, z.detach())": 1,
    "bank.rows[at] = z.detach()": 1,
    "bank.rows.index_copy_(0, at, z.detach())": 1,
    "bank.push(at, z.detach().float())": 0,
    "bank.push(at, loss.detach())": 0,
    "bank.rows[:4] = z.detach()": 0,
    "print(z)": 0,
}


def _said(text: str) -> list[str]:
    found = migrate_module(text, Settings()).findings
    return [f.message for f in found if f.rule == "APX037" and f.severity.value == "review"]


@pytest.mark.parametrize("body", LATER)
def test_what_a_network_gave_is_named_where_it_is_put_later(body: str) -> None:
    text = OUTSIDE.replace("        REWRITTEN\n", "").replace("BODY", body)
    assert len(_said(text)) == LATER[body]


@pytest.mark.parametrize(("line", "times"), [("rows = rows.to(self.rows)", 0), ("rows = rows.clone()", 1)])
def test_what_a_function_is_handed_may_be_made_another_type_there(line: str, times: int) -> None:
    assert len(_said(OUTSIDE.replace("REWRITTEN", line).replace("BODY", "bank.push(at, z.detach())"))) == times


BANK = """\
import torch


class Bank:
    def __init__(self):
        self.feats = torch.zeros(9, 8).cuda()

    def push(self, f, at):
        self.feats[at] = f


def enqueue(queue, keys, at):
    queue.index_copy_(0, at, keys)
"""
NET = """\
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 8), LAST)

    def forward(self, x):
        return self.body(x)
"""


@pytest.mark.parametrize(
    ("line", "last", "named"),
    [
        ("bank.push(z.detach(), at)", "nn.GELU()", True),
        ("enqueue(bank.feats, z, at)", "nn.GELU()", True),
        ("bank.push(z.float(), at)", "nn.GELU()", False),
        ("bank.push(z.detach(), at)", "nn.ReLU()", False),  # half under both
        ("bank.push(x, at)", "nn.GELU()", False),
    ],
)
def test_a_bank_of_another_file(tmp_path: Path, line: str, last: str, named: bool) -> None:
    main = PROGRAM.replace("BODY", "        out = h\n")
    main = main.replace("model = Net()", "encoder, bank = Encoder().cuda(), Bank()\nmodel = Net()")
    main = main.replace("model(x), y)", "model(x), y) + z.mean()").replace("    loss", "    z = encoder(x)\n    loss")
    main = main.replace("    optimizer.step()", f"    optimizer.step()\n    {line}")
    files = {"main.py": f"from bank import Bank, enqueue\nfrom net import Encoder\n{main}", "bank.py": BANK}
    with Spool() as spool:
        root = tree(tmp_path, {**files, "net.py": NET.replace("LAST", last)})
        found = analyse(collect([str(root)]), Settings(), spool, jobs=1)
    said = [one for file in found.results if file.path == "bank.py" for one in file.findings if one.rule == "APX037"]
    assert bool(said) is named

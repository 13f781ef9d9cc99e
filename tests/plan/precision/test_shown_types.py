"""A type that a function of another file shows, of what a network gave, may be another one than under O1."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.facts.shown_types import types_shown
from migrate.model import Outside, Settings

TEXT = """\
import torch
from apex import amp
from show import show, Shown


def main(batches):
    net = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    shown = Shown()
    for x in batches:
        out = net(x)
        loss = out.pow(2).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
        USE
"""
OTHER = """\
def show(out, x=None):
    LINE
    return out


class Shown:
    def tell(self, out):
        LINE
"""
PRINTS = 'print("type", out.dtype)'


@pytest.mark.parametrize(
    ("line", "use", "said"),
    [
        (PRINTS, "show(out.softmax(-1))", True),
        (PRINTS, "show(out=net(x))", True),
        (PRINTS, "shown.tell(out)", True),
        ('logger.info(f"{out.dtype}")', "soft = out.softmax(-1)\n        show(soft)", True),
        ("kind = out.type()\n    print(kind)", "show(out)", True),
        (PRINTS, "show(x)", False),
        (PRINTS, "show(1, out)", False),  # of another parameter
        ("print(out.shape)", "show(out)", False),
        ("mask = torch.ones(4, dtype=out.dtype)", "show(out)", False),
        ("kind = out.dtype\n    print(1)", "show(out)", False),
    ],
)
def test_a_type_that_is_shown(line: str, use: str, said: bool) -> None:
    others = Outside(elsewhere=elsewhere([outline(OTHER.replace("LINE", line))]))
    result = migrate_module(TEXT.replace("USE", use), Settings(), others)
    assert any("shows the type" in f.message for f in result.findings) is said
    if said:
        assert {unit.applicability.value for unit in result.units} == {"review"}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("    print(x.detach().dtype, y[0].dtype)\n", {"x", "y"}),
        ("    text = str(x.dtype) + x.shape\n", {"x"}),
        ("    log.write(repr(x.type()))\n", {"x"}),
        ("    t = x.dtype\n    print('at', t)\n", {"x"}),
        ("    y = y.to(x.dtype)\n    print(y.sum())\n", set()),
        ("    print(x)\n", set()),
    ],
)
def test_what_a_text_shows(body: str, names: set[str]) -> None:
    assert types_shown(body) == names


OWN = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        return BACK

    def probabilities(self, x):
        return self.fc(x).softmax(-1)


def main(batches, log):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x in batches:
        out = net(x)
        p = out.softmax(-1)
        loss = (p * out).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
        USE
"""


@pytest.mark.parametrize(
    ("back", "use", "said"),
    [
        ("h", "print(p.dtype)", True),
        ("h", "assert p.dtype == torch.float16", True),
        ("h", "log.write(f'{p.dtype}')", True),
        ("h", "kind = p.detach().type()\n        print(kind)", True),
        ("h", "log.kind = p.dtype", True),
        ("h", "total = torch.zeros(4, dtype=p.dtype)\n        log.put(total)", False),
        ("h", "if p.type() == 'torch.cuda.HalfTensor':\n            log.put(1)", True),
        ("h", "q = 1 - p\n        print(q.dtype)", True),
        ("h.softmax(-1)", "print(out.dtype)", True),
        ("torch.log1p(h.abs())", "print(out.dtype)", True),
        ("F.gelu(h)", "print(out.dtype)", True),
        ("h", "print(out.dtype)", False),
        ("h", "print(loss.dtype)", False),
        ("h", "print(x.dtype)", False),
        ("F.softmax(h, -1)", "print(out.dtype)", False),
        ("h", "mask = x.to(p.dtype)\n        log.put(mask)", False),
        ("h", "kind = p.dtype\n        log.put(x.to(dtype=kind))", False),
        ("h", "print(p.float().dtype)", False),
        ("h", "print(p.argmax(-1).dtype)", False),
        ("self.fc(h.softmax(-1) @ x)", "print(out.dtype)", False),
        ("self.fc(h.softmax(-1))", "print(out.dtype)", False),
        ("h", "print(p.shape)", False),
    ],
)
def test_a_type_that_is_asked_for_in_the_same_file(back: str, use: str, said: bool) -> None:
    result = migrate_module(OWN.replace("BACK", back).replace("USE", use), Settings())
    assert any("the type of what" in f.message for f in result.findings) is said
    assert {unit.applicability.value for unit in result.units} == {"review" if said else "safe"}


LIBRARY = """\
import torch
import torchvision
import transformers
from torchvision.models import segmentation
from apex import amp


def main(batches):
    net = MADE
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x in batches:
        out = net(x)
        loss = out.pow(2).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
        USE
"""
SEGMENTATION, BERT = "segmentation.lraspp(num_classes=3)", "transformers.AutoModel.from_pretrained('bert')"
RESNET = "torchvision.models.resnet18(num_classes=3)"


@pytest.mark.parametrize(
    ("made", "use", "said"),
    [
        (SEGMENTATION, "print(out.dtype)", True),
        (SEGMENTATION, "print(net(x)['out'].type())", True),
        (SEGMENTATION, "print(net.backbone(x).dtype)", True),
        (SEGMENTATION, "if out.dtype == torch.float32:\n            print('wide')", True),
        (BERT, "print(net(x).last_hidden_state.dtype)", True),
        (BERT, "print(net(x).loss.dtype)", False),
        (SEGMENTATION, "print(out.float().dtype)", False),
        (SEGMENTATION, "print(x.dtype)", False),
        (SEGMENTATION, "y = torch.zeros(3, dtype=out.dtype)", False),
        (SEGMENTATION, "print(next(net.parameters()).dtype)", False),
        (RESNET, "print(out.dtype)", False),
        ("torch.nn.Linear(4, 4)", "print(out.dtype)", False),
    ],
)
def test_of_a_librarys_network(made: str, use: str, said: bool) -> None:
    result = migrate_module(LIBRARY.replace("MADE", made).replace("USE", use), Settings())
    assert bool([f for f in result.findings if "what it computes last" in f.message]) == said

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

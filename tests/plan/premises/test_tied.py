"""A weight that two optimizers have which one ``scale_loss`` is handed is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.model import Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

pytestmark = pytest.mark.usefixtures("many_files")

TRAIN = """\
import torch
from apex import amp
from nets import Encoder, Decoder, tie, init

enc, dec = Encoder(), Decoder()
LINE
a, b = torch.optim.SGD(enc.parameters(), lr=0.1), torch.optim.SGD(dec.parameters(), lr=0.1)
[enc, dec], [a, b] = amp.initialize([enc, dec], [a, b], opt_level="O1")
for x in batches:
    loss = dec(enc(x)).sum()
    a.zero_grad()
    b.zero_grad()
    with amp.scale_loss(loss, [a, b]) as scaled:
        scaled.backward()
    a.step()
    b.step()
"""
NETS = """\
import torch.nn as nn


class Encoder(nn.Module):
    def forward(self, x):
        return self.embed(x)


class Decoder(nn.Module):
    def use(self, other):
        self.out.weight = other.embed.weight

    def forward(self, x):
        return self.out(x)


def tie(enc, dec):
    dec.out.weight = enc.embed.weight


def init(enc, dec):
    dec.out.weight.data.copy_(enc.embed.weight.data)
"""


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("tie(enc, dec)", True),
        ("dec.use(enc)", True),
        ("dec.out.weight = enc.embed.weight", True),
        ("setattr(dec.out, 'weight', enc.embed.weight)", True),
        ("dec.tie_weights()", True),
        ("init(enc, dec)", False),
        ("dec.out.weight.data = enc.embed.weight.data", False),
    ],
)
def test_what_may_tie_them_is_named(tmp_path: Path, line: str, named: bool) -> None:
    files = {"train.py": TRAIN.replace("LINE", line), "nets.py": NETS}
    with Spool() as spool:
        outcome = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1)
    (said,) = [f.message for file in outcome.results for f in file.findings if f.rule == "APX041"]
    assert ("is unscaled twice" in said) == named and (f"`{line}`" in said) == named

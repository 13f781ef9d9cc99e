"""A loss of earlier results that is computed ahead of the first network of a block runs under the same region."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from torch import nn
from apex import amp

net, judge = nn.Linear(3, 3), nn.Linear(3, 1)
cri_pix = nn.L1Loss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
[net, judge], optimizer = amp.initialize([net, judge], optimizer, opt_level="O1")


def train(batches):
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        fake = net(x)
        if i % 2 == 0:
            AHEAD
            pred = judge(fake)
            total = pix + nn.functional.softplus(-pred).mean()
            with amp.scale_loss(total, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
"""


@pytest.mark.parametrize("ahead", ["pix = 0.5 * cri_pix(fake, y)", "pix = nn.functional.mse_loss(fake, y)"])
def test_the_region_begins_with_it(ahead: str) -> None:
    result = migrate_module(TEXT.replace("AHEAD", ahead), Settings())
    (unit,) = result.units
    assert unit.applicability is Applicability.SAFE
    lines = [line.strip() for line in (result.new_text or "").splitlines()]
    assert lines[lines.index(ahead) - 1].startswith("with torch.autocast(")

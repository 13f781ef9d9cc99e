"""Products that O1 left in float32, filled with a number that float16 has not: torch raises, so they are named."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.scale = dim**-0.5
        self.gain = nn.Parameter(torch.ones(1))

    def forward(self, x, mask):
        q, k = F.normalize(self.q(x), dim=-1), F.normalize(self.k(x), dim=-1)
        BODY
        return torch.einsum("bij,bjd->bid", sim.softmax(-1), x)


model = Attention(8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, mask in loader:
    loss = F.mse_loss(model(x, mask), x)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
SIM = 'sim = torch.einsum("bid,bjd->bij", q, k)'
BODIES = {
    f"{SIM}.masked_fill(mask, -1e9)": True,
    f"{SIM} * self.scale; sim = sim.masked_fill(mask, -1e9)": True,
    f"{SIM}; sim /= math.sqrt(8); sim.masked_fill_(mask, value=-1e9)": True,
    f"{SIM}; sim = 10 * sim.transpose(1, 2); sim = torch.masked_fill(sim, mask, -1e10)": True,
    f"{SIM} * (self.scale / 2); sim = sim.masked_fill(mask, -1e9)": True,
    f"{SIM} * (self.gain / 2); sim = sim.masked_fill(mask, -1e9)": False,
    f"{SIM}.float().masked_fill(mask, -1e9)": False,
    f"{SIM} * self.gain; sim = sim.masked_fill(mask, -1e9)": False,  # float32 in both
    f"{SIM}.masked_fill(mask, -1e4)": False,
    "sim = (q @ k.transpose(1, 2)).masked_fill(mask, -1e9)": False,  # half in both: the old one raised
    f"{SIM}; sim = sim.softmax(-1); sim = sim.masked_fill(mask, -1e9)": False,
}


@pytest.mark.parametrize("body", BODIES)
def test_is_named(body: str) -> None:
    result = migrate_module(TEXT.replace("BODY", body), Settings())
    assert result.new_text is not None
    reviews = [one.message for one in result.findings if one.rule == "APX037" and one.severity.value == "review"]
    assert any("`einsum` gives float16 under autocast" in said for said in reviews) is BODIES[body]


@pytest.mark.parametrize("given", ["self.scale = args.scale", "self.scale = args.base; self.base = args.scale"])
def test_an_attribute_that_is_taken_over_under_its_own_name(given: str) -> None:
    """Whether it is a number was asked without an end: `self.temperature = params.temperature` in distillations."""
    body = f"{SIM} * self.scale; sim = sim.masked_fill(mask, -1e9)"
    result = migrate_module(TEXT.replace("self.scale = dim**-0.5", given).replace("BODY", body), Settings())
    assert result.new_text is not None

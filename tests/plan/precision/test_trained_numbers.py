"""What is multiplied with a trained number in a network gets float32, as O1 made of it."""

from __future__ import annotations

import textwrap

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Match(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.temp = nn.Parameter(torch.ones([]) * 0.07)
        self.logit_scale = nn.Parameter(torch.tensor(2.6))
        self.gamma = nn.Parameter(torch.zeros(dim))
        self.alphas = nn.Parameter(torch.zeros(2))
        self.rows = nn.Parameter(1e-3 * torch.randn(2, dim))
        self.gains = nn.ParameterList([nn.Parameter(torch.tensor(1.0)) for _ in range(2)])
        self.named = nn.ParameterDict({"q": nn.Parameter(torch.tensor(1.0))})
        self.register_buffer("mean", torch.tensor(0.5))
        self.register_buffer("steps", torch.tensor([0.5, 2.0]))
        self.fixed = torch.tensor(2.6)
        self.depth = 0.5

    def forward(self, x):
        q, k = self.q(x), self.k(x)
BODY
        return sim


model = Match(8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    loss = model(x).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
BODIES = {
    "sim = q @ k.t() / self.temp": "sim = (q @ k.t()).float() / self.temp",
    "sim = self.logit_scale.exp() * torch.relu(q)": "sim = self.logit_scale.exp() * torch.relu(q).float()",
    "scale = self.logit_scale.exp()\nsim = q @ k.t()\nsim = scale * sim": "sim = scale * sim.float()",
    "h = F.gelu(q).view(-1, 8)\nsim = h * self.temp": "sim = h.float() * self.temp",
    "sim = F.softmax(self.alphas, dim=-1)[0] * torch.relu(q)": "[0] * torch.relu(q).float()",
    "sim = sum(w * torch.relu(q) for w in F.softmax(self.alphas, -1))": "sum(w * torch.relu(q).float() for w",
    "w = self.alphas.softmax(0)\none, other = w\nsim = torch.relu(q) * other": "torch.relu(q).float() * other",
    "sim = self.gains[0] * torch.relu(q)": "sim = self.gains[0] * torch.relu(q).float()",
    "for s in self.gains:\n    sim = s * torch.relu(q)": "sim = s * torch.relu(q).float()",
    'sim = torch.relu(q) * self.named["q"]': 'sim = torch.relu(q).float() * self.named["q"]',
    "w = self.alphas.softmax(0).unbind()\nsim = torch.relu(q) * w[1]": "torch.relu(q).float() * w[1]",
    "sim = torch.relu(q) * self.alphas.mean().sigmoid()": "sim = torch.relu(q).float() * self.alphas",
    "sim = torch.relu(q) / q.norm()": "sim = torch.relu(q).float() / q.norm()",
    "h = torch.relu(q)\nsim = (h - k) / (h.std() + 1e-5)": "sim = (h - k).float() / (",
    "h = torch.relu(q)\nsim = h * torch.rsqrt(h.pow(2).mean() + 1e-6)": "sim = h.float() * torch.rsqrt(",
    "h = torch.relu(q)\nsim = h / torch.norm(h)": "sim = h.float() / torch.norm(h)",
    "sim = torch.relu(q) * self.q.weight.norm()": None,  # told: of a layer's weight
    "sim = torch.relu(q) * torch.relu(q).mean()": None,  # half under both
    "sim = F.gumbel_softmax(self.alphas, hard=True)[1] * torch.relu(q)": "hard=True)[1] * torch.relu(q).float()",
    "sim = torch.relu(q) * self.rows[0]": None,  # a row has a dimension
    "sim = torch.relu(q) / self.rows.norm(dim=1)": None,
    "sim = torch.relu(q) / x.mean()": None,
    "sim = (q @ k.t()).float() / self.temp": None,  # float32 as it is
    "sim = self.depth * self.temp": None,  # no tensor
    "sim = torch.distributed.get_world_size() * self.temp": None,  # nor is this
    "sim = q @ k.t() * self.fixed": None,  # told: it has no gradient
    "sim = torch.relu(q) * self.gamma": None,  # it has dimensions: float32 under both
    "sim = q @ k.t() + self.temp": None,  # told: its gradient is a sum as well, of what comes back
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("level", ["O1", "O2"])
def test_in_networks(body: str, level: str) -> None:
    text = TEXT.replace("BODY", textwrap.indent(body, " " * 8)).replace('"O1"', f'"{level}"')
    result = migrate_module(text, Settings())
    assert result.new_text is not None
    after = BODIES[body]
    if level == "O1" and after is not None:
        assert after in result.new_text
        assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
        assert not [one.message for one in result.findings if "without dimensions" in one.message]
    else:
        assert result.new_text.count(".float()") == body.count(".float()")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sim = torch.relu(q) - self.mean", True),
        ("sim = torch.relu(q) * self.steps[0]", True),
        ("sim = torch.relu(q).mul(self.temp)", True),
        ("sim = torch.mul(self.temp, q)", True),
        ("sim = torch.relu(q) * self.steps", False),
        ("sim = 0 * self.alphas[0]", False),
        ("sim = -1.0 * self.q.weight.sum()", False),
        ("sim = q.pow(2).mean() + self.q.weight.sum()", False),
        ("sim = torch.relu(q).mul(self.gamma)", False),
        ("sim = torch.relu(q).float() * self.steps[0]", False),
    ],
)
def test_what_is_told(body: str, told: bool) -> None:
    result = migrate_module(TEXT.replace("BODY", textwrap.indent(body, " " * 8)), Settings())
    assert any("without dimensions: in float16" in one.message for one in result.findings) is told

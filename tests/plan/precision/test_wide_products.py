"""Products of what is float32 for sure, which O1 left so and autocast runs in float16, are named."""

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
        self.w = nn.Parameter(torch.randn(dim, dim))
        self.register_buffer("edges", torch.ones(dim, dim))

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
SIM = 'sim = torch.einsum("bid,bjd->bij", q, k)'
BODIES = {
    'sim = torch.einsum("bid,bjd->bij", q.float(), k.float())': True,
    f"q, k = q.float(), k.float()\n{SIM}": True,
    f"q = F.softplus(q) * 30\nk = k.exp().transpose(0, 1)\n{SIM}": True,
    f"q = q - q.sum(-1, keepdim=True)\nk = k.double()\n{SIM}": True,
    "sim = torch.chain_matmul(q.float(), k.float())": True,
    "sim = torch.cov(q.float().t() * 300)": True,
    "sim = torch.linalg.matrix_power(q.float(), 3)": True,
    "sim = torch.linalg.matrix_power(self.w, 3) @ k": True,
    "edges = self.edges + self.edges.t()\nsim = torch.matrix_power(edges, hops) @ k": True,
    "sim = torch.linalg.pinv(self.edges) @ k": True,
    "sim = torch.linalg.matmul(q.float(), k.float().transpose(1, 2))": True,
    "sim = torch.matmul(q.float(), k.float().transpose(1, 2))": False,  # half under both
    "sim = torch.linalg.matmul(q, k.transpose(1, 2))": False,
    "sim = np.cov(q.float().t())": False,
    "sim = torch.corrcoef(q.float())": False,
    SIM: False,  # half under both
    f"q = q.float()\n{SIM}": False,  # of the other nothing is known
    f"q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)\n{SIM}": False,  # no sum of these is large
    'sim = torch.einsum("bid,de->bie", x, self.w)': False,  # told
    "sim = q.float() @ k.float().transpose(1, 2)": False,  # half under both, whatever it is handed
    "sim = F.scaled_dot_product_attention(q.float(), k.float(), k.float())": False,  # no larger than k
    "sim = np.einsum('i,j', q.sum(), k.sum())": False,
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("level", ["O1", "O2"])
def test_is_named(body: str, level: str) -> None:
    text = TEXT.replace("BODY", textwrap.indent(body, " " * 8)).replace('"O1"', f'"{level}"')
    result = migrate_module(text, Settings())
    assert result.new_text is not None
    said = [one for one in result.findings if one.rule == "APX037" and "ran in float32 under O1" in one.message]
    assert bool(said) is (BODIES[body] and level == "O1")
    if level == "O1":
        grade = Applicability.REVIEW if said else Applicability.SAFE
        assert [unit.applicability for unit in result.units] == [grade]


def test_what_is_named_is_told_once() -> None:
    """The other advice, `.float()`, would change nothing."""
    body = 'sim = torch.einsum("bid,bjd->bij", q.float(), k.float())'
    findings = migrate_module(TEXT.replace("BODY", f"        {body}"), Settings()).findings
    assert [one.severity.value for one in findings if "einsum" in one.message] == ["review"]
    findings = migrate_module(TEXT.replace("BODY", f"        {SIM}"), Settings()).findings
    assert [one.severity.value for one in findings if "einsum" in one.message] == ["info"]

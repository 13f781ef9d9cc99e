"""A result that may be half, or something else, gets ``.float()`` where its name says that it is a floating one."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

PROGRAM = """\
import torch
import torch.nn as nn
from apex import amp


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(5, 3)

    def forward(self, x, far):
        out = self.one(x)
        if far:
            out = unknown(out)
        return out


model = Twin()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer)
for x in loader:
    optimizer.zero_grad()
    loss = model(x, far).mean()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
kept = []
for x in loader:
    NAME = model(x, far)
    kept.append(TAKEN.cpu())
"""


def _kept(name: str, taken: str = "NAME") -> tuple[str, Applicability, list[str]]:
    result = migrate_module(PROGRAM.replace("TAKEN", taken).replace("NAME", name), Settings())
    assert result.new_text is not None
    (line,) = (line for line in result.new_text.splitlines() if "kept.append" in line)
    (unit,) = result.units
    return line.strip(), unit.applicability, [one.severity.value for one in result.findings if one.rule == "APX032"]


@pytest.mark.parametrize("name", ["q_dense", "image_features", "logits", "local_ctx_vectors"])
def test_a_name_of_a_floating_result(name: str) -> None:
    assert _kept(name) == (f"kept.append({name}.float().cpu())", Applicability.REVIEW, ["review"])


@pytest.mark.parametrize("name", ["out", "token_ids", "rep_ids", "pred_scores"])
def test_a_name_that_says_nothing_or_otherwise(name: str) -> None:
    assert _kept(name) == (f"kept.append({name}.cpu())", Applicability.REVIEW, ["review"])


def test_what_is_made_like_one() -> None:
    line, _, _ = _kept("q_vector", "torch.empty_like(NAME)")
    assert line == "kept.append(torch.empty_like(q_vector).float().cpu())"

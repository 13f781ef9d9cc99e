"""``x += y`` of a half and a float32 tensor stays half natively: O1 made a new float32 one, which is named."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
import torch.nn.functional as F
from apex import amp

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    out = model(x)
    PLACE
    loss = F.cross_entropy(out, y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    seen.append(out.detach().cpu().numpy())
"""


@pytest.mark.parametrize(
    ("place", "named", "float_"),
    [
        ("out += torch.zeros(2)", True, True),
        ("out += torch.full((2,), -1.5)", True, True),
        ("out += torch.full((2,), 3)", False, True),
        ("out *= F.softmax(out, 1)", True, True),
        ("out /= 2.0", False, True),
        ("out = out + torch.zeros(2)", False, False),
    ],
)
def test_what_is_added_in_place(place: str, named: bool, float_: bool) -> None:
    result = migrate_module(TEXT.replace("PLACE", place), Settings())
    assert result.new_text is not None
    assert any("stays half, as it is in place" in f.message for f in result.findings) is named
    assert ("out.detach().float().cpu()" in result.new_text) is float_

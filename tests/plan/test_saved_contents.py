"""What looks into amp's saved state is named; what only asks whether there is one is not."""

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
    loss = F.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
torch.save(KEPT, "last.pt")


def tell(held):
    return len(held)


def keep(held):
    return held


def look(state):
    ASKED
"""
KEPT = ('{"amp": amp.state_dict(), "epoch": 1}', "dict(amp=amp.state_dict())", "state.update(amp=amp.state_dict())")
LOOKS = [
    'return len(state["amp"])',
    'return [s["loss_scale"] for s in state["amp"].values()]',
    'for name in state["amp"]:\n        print(name)',
    'held = state["amp"]\n    return set(held)',
    'return state.get("amp") == {}',
    'return tell(state["amp"])',
    'return tell(held=state["amp"])',
]
OTHERS = [
    'return "amp" in state',
    'return state["amp"] is None',
    'return len(state["epoch"])',
    'return keep(state["amp"])',
]


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("asked", [*LOOKS, *OTHERS])
def test_what_looks_into_the_state(kept: str, asked: str) -> None:
    result = migrate_module(TEXT.replace("KEPT", kept).replace("ASKED", asked), Settings())
    assert result.new_text is not None
    assert any("looks at what lies in amp's state" in f.message for f in result.findings) is (asked in LOOKS)

"""What looks into amp's saved state is named; what only asks whether there is one is not."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Outside, Settings

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
    'return state["amp"]["opt_level"]',  # a section of settings
]


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("asked", [*LOOKS, *OTHERS])
def test_what_looks_into_the_state(kept: str, asked: str) -> None:
    result = migrate_module(TEXT.replace("KEPT", kept).replace("ASKED", asked), Settings())
    assert result.new_text is not None
    assert any("looks at what lies in amp's state" in f.message for f in result.findings) is (asked in LOOKS)


OTHER = """\
class Keep:
    def note(self, state):
        self.state = state

    def save(self, state):
        self.saved = state

    def describe(self):
        return sorted(self.state)


def tell(state):
    return ", ".join(f"{key}: {len(part)}" for key, part in state.items())


def hand_on(state):
    return tell(state)


def count(state):
    return len(state["steps"])


def write(state, path):
    torch.save(state, path)


def is_there(state):
    return state is not None and state != None
"""
FAR = {
    "far.tell(amp.state_dict())": True,
    "far.hand_on(state=amp.state_dict())": True,
    'package = {"amp": amp.state_dict()}\nfar.tell(package["amp"])': True,
    "held = amp.state_dict()\nfar.count(held)": True,
    "kept = far.Keep()\nkept.note(amp.state_dict())": True,
    "kept = far.Keep()\nkept.save(amp.state_dict())": False,
    'far.write(amp.state_dict(), "amp.pt")': False,
    "far.is_there(amp.state_dict())": False,
    "far.tell(model.state_dict())": False,
}


@pytest.mark.parametrize("asked", FAR)
def test_what_another_file_looks_into(asked: str) -> None:
    training = TEXT.partition("torch.save")[0]
    beside = Outside(elsewhere=elsewhere([outline(OTHER)]))
    result = migrate_module(f"import far\n{training}{asked}\n", Settings(), beside)
    assert result.new_text is not None
    assert any("of another file looks at" in f.message for f in result.findings) is FAR[asked]


@pytest.mark.parametrize(
    ("put", "named"),
    [
        ("held = []\nheld.append(amp.state_dict())", True),
        ("held = [amp.state_dict()]", True),
        ("held = []\nheld.append((1, amp.state_dict()))", True),
        ("held = {}\nheld[epoch()] = amp.state_dict()", True),
        ('held = {"amp": amp.state_dict()}', False),  # a checkpoint, of which more is asked than amp's state
        ("held = [model.state_dict()]", False),
    ],
)
def test_rows_of_states_that_another_file_looks_into(put: str, named: bool) -> None:
    text = (
        TEXT.partition("torch.save")[0]
        + f"from utils import show\n{put}\nshow(held)\ntorch.save(amp.state_dict(), 'a')\n"
    )
    others = Outside(elsewhere=elsewhere([outline("def show(rows):\n    for row in rows:\n        print(row)\n")]))
    found = migrate_module(text, Settings(), others).findings
    assert any("looks at what lies" in one.message for one in found) is named

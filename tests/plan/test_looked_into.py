"""What the program asks of a state that amp saved is named, or the unit stays; who only hands it on, or asks whether it
is there, does as before."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="LEVEL")
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
state = {"model": model.state_dict(), "amp": amp.state_dict()}
torch.save(state, "last.pt")
loaded = torch.load("last.pt")
"""
SAYS = {
    'print(len(state["amp"]))': "review",
    'print(sorted(loaded["amp"].keys()))': "review",
    'for name in loaded["amp"]:\n    print(name)': "review",
    'saved = loaded.get("amp", {})\nprint(f"{saved}")': "review",
    'print("state %s" % state["amp"])': "review",
    'package = {}\npackage.update(amp=amp.state_dict(), epoch=1)\nprint(sorted(package["amp"]))': "review",
    'package = {}\npackage.update({"amp": amp.state_dict()})\nprint(len(package["amp"]))': "review",
    'package = dict(amp=amp.state_dict())\nprint(len(package["amp"]))': "review",
    'package = {}\npackage.setdefault("amp", amp.state_dict())\nprint(len(package["amp"]))': "review",
    "held = copy.deepcopy(amp.state_dict())\nprint(len(held))": "review",
    "held = copy.deepcopy(model.state_dict())\nprint(len(held), len(amp.state_dict()) > 0)": "safe",
    "for key, part in state.items():\n    print(key, len(part))": "review",
    'for key, value in state["amp"].items():\n    print(key, value)': "manual",
    'first = loaded["amp"]["loss_scaler0"]': "manual",
    'print(json.loads(json.dumps(amp.state_dict()))["loss_scaler0"]["unskipped"])': "manual",
    'text = json.dumps(amp.state_dict())\nprint(json.loads(text)["loss_scaler0"])': "manual",
    'text = json.dumps(amp.state_dict())\nopen("amp.json", "w").write(text)': "review",
    'print(loaded.get("amp")["loss_scaler0"]["loss_scale"])': "manual",
    'name = "loss_scaler0"\nprint(loaded["amp"][name])': "manual",
    'print("amp" in state, len(state), state["amp"] is None)': "safe",
    'if state["amp"]:\n    torch.save(state["amp"], "amp.pt")': "safe",
    'print(len(state["amp"]) > 0, bool(state["amp"]))': "safe",
    'config = {"amp": {"opt_level": "O1"}}\nprint(len(config["amp"]), config["amp"]["opt_level"])': "safe",
    'again = dict(loaded)\nagain.pop("amp", None)': "safe",
}


@pytest.mark.parametrize("said", SAYS)
def test_a_state_is_looked_into(said: str) -> None:
    result = migrate_module(TEXT.replace("LEVEL", "O1") + said + "\n", Settings())
    (unit,) = result.units
    assert unit.applicability.value == SAYS[said]
    if SAYS[said] == "review":
        assert any("a state that amp saved" in one.message for one in result.findings)


def test_a_scaler_that_is_off_saves_nothing() -> None:
    text = TEXT.replace('"LEVEL"', "args.opt_level") + 'if state["amp"]:\n    print("resumable")\n'
    assert any("(O0) is empty" in one.message for one in migrate_module(text, Settings()).findings)

"""amp among the things whose states are saved by one loop: the GradScaler stands there, and the loop stays."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

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
PUT
ASKED
"""
LIST = 'parts = {"model": model, "optimizer": optimizer, "amp": amp}'
NAMED = "parts = dict(model=model, optimizer=optimizer, amp=amp)"
MUNCH = NAMED.replace("dict(", "Munch(")
ITEM = 'parts = {"model": model}\nparts["amp"] = amp'


@pytest.mark.parametrize("put", [LIST, NAMED, MUNCH, ITEM])
@pytest.mark.parametrize(
    "asked",
    [
        "torch.save({k: v.state_dict() for k, v in parts.items()}, path)",
        "for name, part in parts.items():\n    part.load_state_dict(saved[name])",
    ],
)
def test_the_scaler_stands_among_them(put: str, asked: str) -> None:
    result = migrate_module(TEXT.replace("PUT", put).replace("ASKED", asked), Settings())
    assert result.new_text is not None
    assert put.replace(": amp", ": scaler").replace("= amp", "= scaler").replace("=amp", "=scaler") in result.new_text
    assert asked in result.new_text
    loads = "load_state_dict" in asked
    assert [u.applicability for u in result.units] == [Applicability.REVIEW if loads else Applicability.SAFE]


RESTORE = """
def restore(path, **parts):
    saved = torch.load(path)
    for name, part in parts.items():
        if name in saved and part is not None:
            part.load_state_dict(saved[name])


restore("last.pth", model=model, optimizer=optimizer, amp=amp)
"""


def test_a_function_takes_it_among_others_by_name() -> None:
    result = migrate_module(TEXT.replace("PUT", RESTORE).replace("ASKED", ""), Settings())
    assert 'restore("last.pth", model=model, optimizer=optimizer, amp=scaler)' in (result.new_text or "")
    assert [u.applicability for u in result.units] == [Applicability.REVIEW]
    assert not any("flag" in f.message for f in result.findings)


def test_who_puts_amp_among_them_is_not_known() -> None:
    asked = "for part in [model] + kept(amp):\n    part.load_state_dict(saved)"
    result = migrate_module(TEXT.replace("PUT", "").replace("ASKED", asked), Settings())
    assert result.new_text is None

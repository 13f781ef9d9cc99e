"""An overflow that is seen by two loss scales is named; update() comes before a saved state is loaded."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
import torch.nn.functional as F
from apex import amp
from apex.amp import _amp_state

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    old = _amp_state.loss_scalers[0].loss_scale()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    BEHIND
    optimizer.step()
    AFTER
"""
TESTS = {
    "two names": ("new = _amp_state.loss_scalers[0].loss_scale()\n    print(new < old)", "pass", True),
    "a read": ("if _amp_state.loss_scalers[0].loss_scale() < old:\n        scheduler.skip()", "pass", True),
    "behind the step": ("pass", "if _amp_state.loss_scalers[0].loss_scale() < old:\n        scheduler.skip()", False),
    "a number": ("print(old < 128)", "pass", False),
}


@pytest.mark.parametrize("name", TESTS)
def test_a_comparison_of_scales(name: str) -> None:
    behind, after, named = TESTS[name]
    result = migrate_module(TEXT.replace("BEHIND", behind).replace("AFTER", after), Settings())
    assert result.new_text is not None
    assert any("no longer sees an overflow" in f.message for f in result.findings) is named


def test_the_scale_moves_before_a_saved_one_is_loaded() -> None:
    exit_ = (
        "norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    if not torch.isfinite(norm):\n"
        "        print('back')\n        restore(saved)\n        bad += 1\n        continue"
    )
    text = TEXT.replace("BEHIND", exit_).replace("AFTER", "pass")
    text = text.replace("\nmodel =", "\n\ndef restore(saved):\n    amp.load_state_dict(saved)\n\n\nmodel =", 1)
    new = migrate_module(text, Settings()).new_text
    assert new is not None
    assert "print('back')\n        scaler.update()\n        restore(saved" in new

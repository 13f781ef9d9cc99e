"""Where one scaler serves optimizers that share a loss and do not step alike."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from apex import amp


def main(net, data, warm):
    body = torch.optim.SGD(net[0].parameters(), lr=0.1)
    head = torch.optim.SGD(net[1].parameters(), lr=0.1)
    net, [body, head] = amp.initialize(net, [body, head], opt_level="O1")
    for i, x in enumerate(data):
        loss = net(x).pow(2).mean()
        CLEAR
        with amp.scale_loss(loss, [body, head]) as scaled:
            scaled.backward()
        STEPS
"""
CLEAR = "body.zero_grad()\n        head.zero_grad()"
TOGETHER = {
    "the second later": "head.step()\n        if i >= warm:\n            body.step()",
    "the first now and then": "if i % warm == 0:\n            body.step()\n        head.step()",
}
APART = {
    "not cleared in each round": (
        "head.zero_grad()",
        "head.step()\n        if i >= warm:\n            body.step()\n            body.zero_grad()",
    ),
    "neither always": (CLEAR, "if i >= warm:\n            body.step()\n        else:\n            head.step()"),
}


def migrated(clear: str, steps: str) -> tuple[list[Applicability], str | None]:
    result = migrate_module(TEXT.replace("CLEAR", clear).replace("STEPS", steps), Settings())
    return [unit.applicability for unit in result.units], result.new_text


@pytest.mark.parametrize("steps", TOGETHER.values(), ids=TOGETHER)
def test_one_update_behind_all_steps_of_a_round(steps: str) -> None:
    grades, text = migrated(CLEAR, steps)
    assert grades == [Applicability.REVIEW]
    assert text is not None and text.endswith("        scaler.update()\n") and text.count("update()") == 1


@pytest.mark.parametrize(("clear", "steps"), APART.values(), ids=APART)
def test_gradients_that_wait_longer_than_the_scale_lasts(clear: str, steps: str) -> None:
    assert migrated(clear, steps) == ([Applicability.MANUAL], None)

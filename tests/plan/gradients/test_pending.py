"""A flag says whether a backward that is left out at times left gradients to unscale: of its own optimizer alone."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from apex import amp

one, other = torch.nn.Linear(4, 2).cuda(), torch.nn.Linear(4, 2).cuda()
first = torch.optim.Adam(one.parameters(), lr=0.1)
second = torch.optim.Adam(other.parameters(), lr=0.1)
[one, other], [first, second] = amp.initialize([one, other], [first, second], opt_level="O1")
for x in range(8):
    loss = one(x).sum()
    if torch.isfinite(loss):
        with amp.scale_loss(loss, first) as scaled:
            scaled.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(first), 1.0)
    first.step()
    first.zero_grad(set_to_none=False)
    loss = other(x).sum()
    with amp.scale_loss(loss, second) as scaled:
        scaled.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(second), 1.0)
    second.step()
    second.zero_grad(set_to_none=False)
"""


def test_another_optimizer_has_no_flag() -> None:
    new = migrate_module(TEXT, Settings()).new_text
    assert new is not None
    lines = new.splitlines()
    assert lines[lines.index("        scaler.unscale_(first)") - 1].startswith("    if ")
    assert "    scaler.unscale_(second)" in lines


HEAD = """\
import torch
from apex import amp
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i, (x, y) in enumerate(loader):
"""
LOSS, STEP, ZERO = "loss = model(x)\n", "optimizer.step()\n", "optimizer.zero_grad()\n"
BACK = "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\n"
IF_GOOD = f"if good(loss):\n{indent(BACK, '    ')}"

#: What stands in the loop, what behind it, and how many of its steps ask the flag.
STEPS = {
    "a round begins with it": (f"if i % 2 == 0:\n    {STEP}    {ZERO}{LOSS}{BACK}", STEP, 2),
    "what is left": (f"{LOSS}{BACK}if i % 2:\n    {STEP}    {ZERO}", STEP + ZERO, 1),
    "several in a loop": (f"{ZERO}{LOSS}{BACK}for _ in range(3):\n    {STEP}", "", 1),
    "in both arms": (f"{ZERO}{LOSS}{IF_GOOD}if i % 2:\n    {STEP}else:\n    {STEP}", "", 2),
    "two backwards under conditions": (f"{ZERO}{LOSS}{IF_GOOD}{IF_GOOD.replace('good', 'fine')}{STEP}", "", 1),
}


@pytest.mark.parametrize("case", STEPS)
def test_steps_that_may_come_with_nothing_new(case: str) -> None:
    body, behind, asking = STEPS[case]
    result = migrate_module(HEAD + indent(body, "    ") + behind, Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    text = result.new_text or ""
    assert text.count("if pending:\n") == asking and text.count("    pending = True\n") == body.count("scaled.backward")
    assert "grad_pending" not in text


def test_a_step_in_another_function_asks_no_flag() -> None:
    text = HEAD.replace("for i", f"def take():\n    {STEP}for i")
    text += indent(LOSS + BACK + "take()\ntake()\n" + ZERO, "    ")
    assert migrate_module(text, Settings()).new_text is None


HELPER = """\
import torch
from apex import amp


def train(model, loader, tasks):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def backward_loss(loss, total):
        BODY
        return total + loss.item()

    total = 0.0
    for x in loader:
        optimizer.zero_grad()
        if "sum" in tasks:
            loss = model(x).sum()
            CALL
        if "norm" in tasks:
            loss = model(x).pow(2).sum()
            CALL
        optimizer.step()
    return total


train(torch.nn.Linear(2, 2).cuda(), loader, options)
"""
SCALED = "with amp.scale_loss(loss, optimizer) as scaled_loss:\n            scaled_loss.backward()"


@pytest.mark.parametrize(
    ("body", "call", "flagged"),
    [
        (SCALED, "total = backward_loss(loss, total)", True),
        (SCALED, "total += backward_loss(loss, 0.0)", True),
        (SCALED, "return backward_loss(loss, total)", False),  # nothing behind it is reached
        (SCALED, "total = sum([backward_loss(one, total) for one in parts(loss)])", False),  # there may be none
        ("if loss > 0:\n            " + SCALED.replace("\n", "\n    "), "total = backward_loss(loss, total)", False),
        ("if loss > 9:\n            return total\n        " + SCALED, "total = backward_loss(loss, total)", False),
    ],
)
def test_a_helper_that_runs_the_backward(body: str, call: str, flagged: bool) -> None:
    result = migrate_module(HELPER.replace("BODY", body).replace("CALL", call), Settings())
    assert ((result.new_text or "").count("pending = True") == 2) is flagged
    assert flagged or result.new_text is None

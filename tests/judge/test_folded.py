"""Where one arm serves both, what either asks is one question; where the arms read otherwise, it is two."""

from __future__ import annotations

import pytest

from migrate.model import Applicability

from .support import judged_case

TEXT = """\
import math
import torch
import torch.nn as nn
from apex import amp


def train(model, loader, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for idx, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x), y)
        BEFORE
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            norm = nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            if bad(norm):
                optimizer.zero_grad()
                continue
        else:
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if bad(norm):
                optimizer.zero_grad()
                continue
        STEP
"""
EACH = ("BEFORE", "optimizer.zero_grad()"), ("STEP", "optimizer.step()")
WINDOW = (
    ("BEFORE", "loss = loss / 4"),
    ("STEP", "if (idx + 1) % 4 == 0:\n            optimizer.step()\n            optimizer.zero_grad()"),
)
ASKS = ["not math.isfinite(norm)", "math.isinf(norm) or norm != norm", "norm > args.most"]


def filled(*places: tuple[str, str]) -> str:
    text = TEXT
    for name, said in places:
        text = text.replace(name, said)
    return text


@pytest.mark.parametrize("asks", ASKS)
@pytest.mark.parametrize("loop", [EACH, WINDOW], ids=["each", "window"])
def test_what_both_arms_ask_is_one_question(loop: tuple[tuple[str, str], ...], asks: str) -> None:
    case = judged_case(filled(*loop, ("bad(norm)", asks)))
    assert case is not None and case.grade is Applicability.REVIEW and not case.verdict.differences
    assert case.text.count(f"if {asks}:") == 1
    update = "scaler.update()\n"
    left = next(line for line in case.text.splitlines(True) if line.endswith(update))
    found = case.judged(case.text.replace(left, left.replace(update, "pass\n"), 1))  # that of the way out
    assert found is not None
    found = case.judged(case.text.replace(f"if {asks}:", "if False:"))
    assert found is not None and "instead" in found.said


@pytest.mark.parametrize("asks", ASKS)
def test_an_arm_that_asks_otherwise_is_no_like(asks: str) -> None:
    """The text in which the first arm serves both is not the program any more."""
    same = judged_case(filled(*EACH, ("bad(norm)", asks)))
    text = filled(*EACH, ("bad(norm)", asks))
    at = text.rindex(f"if {asks}:")
    other = text[:at] + text[at:].replace(f"if {asks}:", "if norm > 1:")
    case = judged_case(other)
    assert same is not None and case is not None and case.grade is Applicability.REVIEW
    assert "if norm > 1:" in case.text
    found = case.judged(same.text)
    assert found is not None and "instead" in found.said


def test_an_arm_in_another_order_is_no_like() -> None:
    """It asks twice; what it asks first is not what the other one asks first."""
    twice = "norm = first(norm)\nif bad(norm):\n    break\nnorm = second(norm)\nif bad(norm):"
    text = filled(*EACH).replace("if bad(norm):", twice.replace("\n", "\n" + 12 * " "))
    same = judged_case(text)
    at = text.rindex("norm = first(norm)")
    other = text[:at] + text[at:].replace("first", "third").replace("second", "first").replace("third", "second")
    case = judged_case(other)
    assert same is not None and case is not None
    found = case.judged(same.text)
    assert found is not None and "instead" in found.said


def test_one_place_asks_again_in_the_next_round() -> None:
    """An option that one condition asks, round by round, is what it was."""
    text = TEXT[: TEXT.index("        BEFORE")] + """\
        if args.steps > 1:
            loss = loss / 4
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            norm = nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            if (idx + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
        else:
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            norm = nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            optimizer.step()
"""
    text = text.replace("    if args.fp16:\n        model", "    model").replace("    if args", "    if args")
    case = judged_case(text)
    assert case is not None and case.grade is Applicability.REVIEW and not case.verdict.differences
    changing = text.replace("        if args.steps > 1:", "        args = draw()\n        if args.steps > 1:")
    case = judged_case(changing)
    assert case is not None and case.verdict.differences

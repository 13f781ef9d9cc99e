"""What a reader is told: the path through the old program, what differs, and where."""

from __future__ import annotations

import ast
from unittest import mock

import pytest

from migrate.judge.compare.pair import Differs, Pair
from migrate.judge.compare.telling import Teller
from migrate.judge.state import Crash
from migrate.validate import NO_CHECKS, _announces

from .support import Case, judged_case

OLD = """\
import torch
from apex import amp

def main(args, loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if (step + 1) % args.accumulate == 0:
            if args.clip:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.clip)
            optimizer.step()
            optimizer.zero_grad()
"""

NEW = """\
import torch

def main(args, loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    for step, (x, y) in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        if (step + 1) % args.accumulate == 0:
            if args.clip:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
"""
FP16, FULL = "line 7 `args.fp16` holds", "line 7 `args.fp16` does not hold"
DUE, EARLY = (f"line 16 `(step + 1) % args.accumulate == 0` {word}" for word in ("holds", "does not hold"))
CLIP, OPEN = "line 17 `args.clip` holds", "line 17 `args.clip` does not hold"

#: What is done to the new text (a line of it becomes others), and what is said.
SAID = [
    (
        "                scaler.unscale_(optimizer)\n", "                scaler.unscale_(optimizer)\n" * 2,
        f"{FP16}, {DUE}, {CLIP}: unscale_() is called twice before update() at line 17",
    ),
    (
        "                scaler.unscale_(optimizer)\n", "",
        f"{FP16}, {DUE}, {CLIP}: gradients are read or changed here while they are still scaled at line 18",
    ),
    (
        "            scaler.update()\n", "",
        # of two rounds, the second one's
        f"{FP16}, {DUE}, {CLIP}: unscale_() is called after the step, before update() at line 17",
    ),
    (
        "            optimizer.zero_grad()\n", "            optimizer.zero_grad()\n        scaler.update()\n",
        f"{FP16}, {EARLY}: update() is called with nothing recorded since the last one at line 20",
    ),
    (
        "            scaler.step(optimizer)\n", "            optimizer.step()\n",
        f"{FP16}, {DUE}, {OPEN}: this step would use gradients that are not unscaled rightly "
        "at line 19",
    ),
    (
        "        scaler.scale(loss).backward()\n", "        loss.backward()\n",
        f"{FP16}: this loss was scaled and is not any more at line 13",
    ),
    (
        "enabled=scaler.is_enabled()", "enabled=True",
        f"{FULL}: the model is called without casts, now under autocast at line 10",
    ),
    (
        "enabled=scaler.is_enabled()", "enabled=False",
        f"{FP16}: the model is called under Apex's casts, now without autocast at line 10",
    ),
    (
        "    for step,", "    scaler = None\n    for step,",
        f"{FP16}: `scaler` is None here at line 9",
    ),
    (
        "            optimizer.zero_grad()\n", "",
        f"{FP16}, {DUE}, {CLIP}: the old program clears gradients here, the new one goes round a loop instead "
        "at line 20",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def case() -> Case:
    found = judged_case(OLD)
    assert found is not None and found.text == NEW
    return found


@pytest.mark.parametrize(("there", "instead", "said"), SAID)
def test_what_a_reader_is_told(case: Case, there: str, instead: str, said: str) -> None:
    assert NEW.count(there) == 1
    found = case.judged(NEW.replace(there, instead))
    assert found is not None and found.said == said


def test_the_right_text_says_nothing(case: Case) -> None:
    assert case.judged(NEW) is None and not case.verdict.differences


def test_one_of_several_scaled_losses() -> None:
    one = judged_case(OLD.replace("loss.backward()", "loss[0].backward()"))
    assert one is not None and "scaler.scale(loss)[0].backward()" in one.text and not one.verdict.differences
    found = one.judged(one.text.replace("scaler.scale(loss)[0]", "loss[0]"))
    assert found is not None and found.said.endswith("this loss was scaled and is not any more at line 13")


def test_only_a_review_that_says_so_announces_what_raises_without_gradients() -> None:
    left_out = _announces("APX060", "where this step is left out after an overflow, Apex left the next one out as well")
    assert left_out == {"skip", "scale-time"}
    assert _announces("APX060", f"scaler.step() raises ({NO_CHECKS})") == left_out | {"no-gradients"}
    assert not _announces("APX050", NO_CHECKS)


def test_every_part_of_what_a_rule_wrote_has_a_line_of_the_old_text(case: Case) -> None:
    """An item of a `with` has none of its own: the file was left alone with an internal error."""
    lines: list[int] = []

    def spied(self: Teller, pair: Pair, differs: Crash | Differs) -> None:
        m = self.both.new.program.m
        with mock.patch.object(self.both.new.program.naming, "line", lambda node: 9 * isinstance(node, ast.For)):
            lines.extend(self.line(node) for node in m.nodes if isinstance(node, (ast.withitem, ast.With)))

    with mock.patch.object(Teller, "found", spied):
        case.judged(NEW.replace("enabled=scaler.is_enabled()", "enabled=True"))
    assert lines and set(lines) == {9}

"""A class that scales what it is called with keeps its interface and makes the scaler, where the program initializes:
mixed precision is on where such an object is there. Methods of one name that train plainly stay as they are."""

from __future__ import annotations

from typing import Any

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from migrate.plan import enabled
from migrate.plan.home.there import object_there

TEXT = """\
import torch
import torch.nn.functional as F
from apex import amp


class Scaler:
    state_dict_key = "amp"

    def __call__(self, loss, optimizer, clip_grad=None):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if clip_grad is not None:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip_grad)
        optimizer.step()

    def state_dict(self):
        return amp.state_dict()

    def load_state_dict(self, state):
        amp.load_state_dict(state)


def epoch(model, data, optimizer, loss_scaler=None):
    for x, y in data:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, clip_grad=1.0)
        else:
            loss.backward()
            optimizer.step()


def main(model, data, use_amp, other):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_scaler = None
    BEGIN
    epoch(model, data, optimizer, loss_scaler)


main(torch.nn.Linear(4, 2), [], True, False)
"""
INITIALIZE = 'model, optimizer = amp.initialize(model, optimizer, opt_level="O1")'
ONE_ARM = f"if use_amp:\n        {INITIALIZE}\n        loss_scaler = Scaler()"
TWO_ARMS = f"if use_amp:\n        {INITIALIZE}\n    if use_amp:\n        loss_scaler = Scaler()"


def _migrated(begin: str) -> tuple[Applicability, str, list[str]]:
    result = migrate_module(TEXT.replace("BEGIN", begin), Settings())
    (unit,) = result.units
    return unit.applicability, result.new_text or "", [one.message for one in result.findings]


@pytest.mark.parametrize("begin", [ONE_ARM, TWO_ARMS])
def test_the_class_makes_its_scaler(begin: str) -> None:
    applicability, text, messages = _migrated(begin)
    assert applicability is Applicability.REVIEW  # an old state does not load
    assert 'self.scaler = torch.amp.GradScaler("cuda")' in text
    assert 'with torch.autocast("cuda", dtype=torch.float16, enabled=loss_scaler is not None):' in text
    assert "def __call__(self, loss, optimizer, clip_grad=None):" in text
    assert "return self.scaler.state_dict()" in text
    assert "apex" not in text
    assert not any("of its own now" in one for one in messages)


def test_objects_in_a_loop_begin_anew() -> None:
    begin = f"if use_amp:\n        {INITIALIZE}\n        for _ in data:\n            loss_scaler = Scaler()"
    _, text, messages = _migrated(begin)
    assert not text or any("each object of Scaler has a GradScaler of its own now" in one for one in messages)


@pytest.mark.parametrize(
    "begin",
    [
        f"if use_amp:\n        {INITIALIZE}\n    if other:\n        loss_scaler = Scaler()",
        f"if use_amp:\n        {INITIALIZE}\n    loss_scaler = Scaler()",
        f"if use_amp:\n        {INITIALIZE}\n    else:\n        loss_scaler = Scaler()",
    ],
)
def test_an_object_that_says_nothing_about_amp_is_not_asked(begin: str) -> None:
    _, text, _ = _migrated(begin)
    assert "enabled=loss_scaler" not in text and "self.scaler" not in text


BEGUN = """\
def begun(model, optimizer, level):
    STARTS
    return model, optimizer


def main("""
CALL = "if use_amp:\n        model, optimizer = begun(model, optimizer, other)\n    "
HELPED = {
    "where it is called": (INITIALIZE, CALL + "    loss_scaler = Scaler()", True),
    "where it is not called": (INITIALIZE, CALL + "else:\n        loss_scaler = Scaler()", False),
    "where it may do nothing": (f"if level:\n        {INITIALIZE}", CALL + "    loss_scaler = Scaler()", False),
    "where nobody knows what it does": (
        f"if read(level):\n        {INITIALIZE}",
        CALL + "    loss_scaler = Scaler()",
        False,
    ),
}


@pytest.mark.parametrize("case", HELPED)
def test_another_function_initializes(case: str) -> None:
    starts, begin, asked = HELPED[case]
    text = TEXT.replace("def main(", BEGUN.replace("STARTS", starts)).replace("BEGIN", begin)
    new = migrate_module(text, Settings()).new_text or ""
    assert ("enabled=loss_scaler is not None" in new, "self.scaler" in new) == (asked, asked)


UNSAID = "with open(level) as file:\n        on = file.read()\n    if on:\n        " + INITIALIZE
ANSWERS = {
    "where it is called": (INITIALIZE, CALL + "    loss_scaler = Scaler()", "loss_scaler is not None"),
    "where it is not called": (INITIALIZE, CALL + "else:\n        loss_scaler = Scaler()", None),
    "under what cannot be said": (UNSAID, CALL + "    loss_scaler = Scaler()", None),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_what_is_asked_of_the_object(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else keeps a program by hand."""
    starts, begin, answer = ANSWERS[case]
    said: list[str | None] = []

    def heard(*given: Any) -> str | None:
        said.append(object_there(*given))
        return said[-1]

    monkeypatch.setattr(enabled, "object_there", heard)
    migrate_module(TEXT.replace("def main(", BEGUN.replace("STARTS", starts)).replace("BEGIN", begin), Settings())
    assert said and set(said) == {answer}


CLASSES = """\
import torch
import torch.nn.functional as F
from apex import amp


class Plain:
    def step(self, loss, optimizer):
        FIRST
        torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
        optimizer.step()


class Scaled:
    def step(self, loss, optimizer):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        optimizer.step()


def main(model, data, use_amp):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    taker = Plain()
    if use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        taker = Scaled()
    for x, y in data[:1]:
        optimizer.zero_grad()
        taker.step(F.cross_entropy(model(x), y), optimizer)
    for x, y in data:
        optimizer.zero_grad()
        taker.step(F.cross_entropy(model(x), y), optimizer)


main(torch.nn.Linear(4, 2), [], True)
"""
PLAIN = """\
        loss.backward()
        torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
        optimizer.step()
"""


def test_a_method_that_trains_plainly_stays() -> None:
    result = migrate_module(CLASSES.replace("FIRST", "loss.backward()"), Settings())
    assert result.units[0].applicability is not Applicability.MANUAL
    assert result.new_text is not None and PLAIN in result.new_text
    assert result.new_text.count("scaler.step(optimizer)") == 1


def test_a_method_that_steps_without_a_backward_stays_plain_beside_a_class_with_its_own_scaler() -> None:
    result = migrate_module(CLASSES.replace("FIRST", "pass"), Settings())
    assert result.new_text is not None and PLAIN.replace("loss.backward()", "pass") in result.new_text
    assert 'self.scaler = torch.amp.GradScaler("cuda")' in result.new_text
    assert "self.scaler.step(optimizer)" in result.new_text

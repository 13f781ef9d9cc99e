"""A class whose objects take no attribute but their own cannot keep the scaler: the loop stays, and says why."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
import torch.nn.functional as F
from apex import amp
ABOVE


DECORATED
class Run(BASE):
    model: object
    optimizer: object
    REFUSES

    def prepare(self):
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        self.optimizer.step()


model = build()
run = Run(model, torch.optim.SGD(model.parameters(), lr=0.1))
run.prepare()
for x, y in data:
    run.step(x, y)
"""
STRICT = (
    "class Strict:\n    def __setattr__(self, name, value):\n        if name not in NAMES:\n"
    "            raise AttributeError(name)\n        super().__setattr__(name, value)"
)
LOGGED = STRICT.replace("raise AttributeError(name)", "print(name)")
CASES = {
    "@dataclass(slots=True)": True,
    "@dataclasses.dataclass(slots=SLOTS)": True,
    "@dataclass(frozen=True)": True,
    "@attr.s(slots=True, auto_attribs=True)": True,
    "@attrs.define": True,
    "@attrs.frozen": True,
    "@attrs.define(slots=False)": False,
    "@attrs.frozen(slots=False)": True,
    "@dataclass(slots=False)": False,
    "@dataclass": False,
    "@attr.s(auto_attribs=True)": False,
}


def _text(above: str = "", decorated: str = "", base: str = "", refuses: str = "") -> str:
    text = TEXT.replace("ABOVE", above).replace("DECORATED\n", decorated + "\n").replace("(BASE)", base)
    return text.replace("    REFUSES\n", refuses)


def _migrated(above: str = "", decorated: str = "", base: str = "", refuses: str = "") -> tuple[str | None, str]:
    result = migrate_module(_text(above, decorated, base, refuses), Settings())
    return result.new_text, " ".join(found.message for found in result.findings)


@pytest.mark.parametrize("decorator", CASES)
def test_records(decorator: str) -> None:
    above = "from dataclasses import dataclass\nimport attr, attrs, dataclasses"
    text, said = _migrated(above, decorator)
    assert (text is None) is CASES[decorator]
    assert ("an object of Run cannot keep a GradScaler: @" in said) is CASES[decorator]


@pytest.mark.parametrize(("strict", "closed"), [(STRICT, True), (LOGGED, False)])
def test_own_setattr(strict: str, closed: bool) -> None:
    above = f"from dataclasses import dataclass\n\n\n{strict}"
    text, said = _migrated(above, "@dataclass", "(Strict)")
    assert (text is None) is closed and ("Strict.__setattr__ may refuse it" in said) is closed


@pytest.mark.parametrize(("strict", "closed"), [(STRICT, True), (LOGGED, False)])
def test_a_class_that_derives_may_refuse_it(strict: str, closed: bool) -> None:
    derived = strict.replace("class Strict", "\n\nclass Strict(Run)")
    result = migrate_module(_text() + derived + "\n", Settings())
    said = " ".join(found.message for found in result.findings)
    assert (result.new_text is None) is closed and ("Strict.__setattr__ may refuse it" in said) is closed
    assert ("this runs for `scaler`, too" in said) is not closed


def test_named_tuple() -> None:
    text, said = _migrated("from typing import NamedTuple", base="(NamedTuple)")
    assert text is None and "a NamedTuple has no other attributes" in said


@pytest.mark.parametrize(
    ("state", "named"),
    [('{"model": self.model, "optimizer": self.optimizer}', True), ("self.__dict__.copy()", False)],
)
def test_a_state_that_is_written_out_has_no_scaler(state: str, named: bool) -> None:
    gives = f"def __getstate__(self):\n        return {state}"
    text = TEXT.replace("ABOVE\n", "").replace("DECORATED\n", "").replace("(BASE)", "").replace("REFUSES", gives)
    found = migrate_module(text, Settings()).findings
    assert any("made of this state has no `scaler`" in one.message for one in found) is named

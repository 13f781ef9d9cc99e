"""Callbacks of other files that are handed a model read gradients, unless they are called as what leaves them alone."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from tests.rules.cases import HERE

TEXT = (HERE / "apx050" / "callbacks_that_keep.in.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("made", "applicability"),
    [
        ('[Checkpoint("x"), Speedometer(4)]', Applicability.SAFE),
        ('[Checkpoint("x"), Debugger()]', Applicability.MANUAL),
        ("Debugger()", Applicability.MANUAL),
        ("make()", Applicability.MANUAL),
    ],
)
def test_what_callbacks_are_called(made: str, applicability: Applicability) -> None:
    text = TEXT.replace('[Checkpoint("x"), Speedometer(4), Debugger()]', made)
    assert [unit.applicability for unit in migrate_module(text, Settings()).units] == [applicability]

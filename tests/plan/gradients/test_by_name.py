"""Optimizers that are kept by name, and a helper that is handed the name."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from tests.equivalence.harness import SCRIPTS, read_script

TEXT = read_script(SCRIPTS / "optimizers_zipped_with_names.py")
PUT_BACK = "self.optimizer = dict(zip(names, opts))"
GOES = {
    "as it is": {},
    "comprehended": {PUT_BACK: "self.optimizer = {n: o for n, o in zip(names, opts)}"},
    "by the keys of the dictionary": {PUT_BACK: "self.optimizer = dict(zip(self.optimizer.keys(), opts))"},
}
STAYS = {
    "gradients that are not cleared": {'            self.optimizer["D"].zero_grad()\n': ""},
    "another name": {'self.backward(d_loss, "D")': 'self.backward(d_loss, "G")'},
    "a name that is computed": {'self.backward(d_loss, "D")': "self.backward(d_loss, name)"},
}


def migrated(changes: dict[str, str]) -> list[Applicability]:
    text = TEXT
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return [unit.applicability for unit in migrate_module(text, Settings()).units]


@pytest.mark.parametrize("changes", GOES.values(), ids=GOES)
def test_each_steps_with_its_own(changes: dict[str, str]) -> None:
    assert migrated(changes) == [Applicability.SAFE]


@pytest.mark.parametrize("changes", STAYS.values(), ids=STAYS)
def test_which_one_steps_is_not_known(changes: dict[str, str]) -> None:
    assert migrated(changes) == [Applicability.MANUAL]

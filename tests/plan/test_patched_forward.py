"""What Apex's own forward of a model did besides: copies of it ran the original, and at O0 float64 was cast."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import copy

import numpy as np
import torch
from apex import amp


def main(model, loader, level):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    AHEAD
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    BEHIND
    for x in loader:
        optimizer.zero_grad()
        with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(torch.nn.Linear(2, 2), torch.randn(3, 2), get_level())
"""
COPIES, CASTS = "a copy that is made behind initialize", "at O0 Apex cast what the model is handed"


def _told(level: str, ahead: str = "pass", behind: str = "pass") -> list[str]:
    text = TEXT.replace("AHEAD", ahead).replace("BEHIND", behind).replace('"O1"', level)
    result = migrate_module(text, Settings())
    (unit,) = result.units
    assert unit.applicability is not Applicability.MANUAL
    return [one.message for one in result.findings if one.rule == "APX021"]


@pytest.mark.parametrize(
    ("level", "told"),
    [('"O1"', False), ('"O0"', True), ('"O2"', True), ('"O3"', True), ("level", True)],
)
def test_a_copy_behind_initialize(level: str, told: bool) -> None:
    assert any(COPIES in said for said in _told(level, behind="average = copy.deepcopy(model)")) is told


@pytest.mark.parametrize("copied", ["copy.deepcopy(model.state_dict())", "copy.deepcopy(optimizer)"])
def test_no_model_is_copied(copied: str) -> None:
    assert not any(COPIES in said for said in _told('"O0"', behind=f"kept = {copied}"))


def test_a_copy_ahead_of_initialize_has_its_own() -> None:
    assert not any(COPIES in said for said in _told('"O0"', ahead="average = copy.deepcopy(model)"))


@pytest.mark.parametrize(
    ("made", "level", "told"),
    [
        ("loader = [torch.from_numpy(loader)]", '"O0"', True),
        ("loader = [torch.tensor(np.ones(2))]", '"O0"', True),
        ("loader = [loader.double()]", '"O0"', True),
        ("loader = [torch.ones(2)]", '"O0"', False),
        ("loader = [loader.double()]", '"O1"', False),
    ],
)
def test_float64_at_o0(made: str, level: str, told: bool) -> None:
    assert any(CASTS in said for said in _told(level, ahead=made)) is told

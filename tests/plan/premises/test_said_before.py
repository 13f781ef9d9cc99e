"""A parameter by which a caller says that it initialized amp itself: the function's own scaler would be off then."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def fit(model, optimizer, loader, fp16=True, apexed=False):
    if fp16 and not apexed:
        SET
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        if ASKED:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
"""
CALLED = """

def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fit(model, optimizer, loaderHANDED)
"""


def _of(text: str) -> tuple[bool, str]:
    result = migrate_module(text, Settings())
    return result.new_text is not None, " ".join(f.message for f in result.findings)


ASKED = [("apexed = True", "apexed"), ("pass", "fp16"), ("pass", "fp16 or apexed")]


@pytest.mark.parametrize(("stated", "asked"), ASKED)
def test_who_calls_it_is_not_known(stated: str, asked: str) -> None:
    changed, said = _of(TEXT.replace("SET", stated).replace("ASKED", asked))
    assert not changed and "who calls fit() initialized amp itself" in said


@pytest.mark.parametrize(("handed", "migrated"), [("", True), (", apexed=False", True), (", apexed=True", False)])
def test_by_what_its_callers_hand_it(handed: str, migrated: bool) -> None:
    text = TEXT.replace("SET", "apexed = True").replace("ASKED", "apexed") + CALLED.replace("HANDED", handed)
    assert _of(text)[0] is migrated
    assert not _of(text.replace("apexed=False):", "apexed=True):"))[0] or handed == ", apexed=False"


def test_a_parameter_without_which_nothing_is_scaled_is_another_thing() -> None:
    text = TEXT.replace("SET", "pass").replace("ASKED", "fp16 and not apexed")
    assert _of(text)[0] and _of(text.replace("apexed", "on_cpu"))[0]
    assert _of(TEXT.replace("SET", "pass").replace("ASKED", "fp16").replace("apexed", "on_cpu"))[0]

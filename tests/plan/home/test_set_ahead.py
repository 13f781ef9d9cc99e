"""The loss scale that is set by hand ahead of training is told to the GradScaler; set while training, it stays."""

from __future__ import annotations

import pytest
import torch

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
import apex.amp._amp_state
from apex import amp


class Begin:
    def __init__(self, model, scale=1024, window=100):
        self.model = model
        FIRST

    def again(self, scale):
        LATER


def main(model, data, init):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    begin = Begin(model)
    MAIN
    for x in data:
        loss = model(x).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        LOOP


main(torch.nn.Linear(4, 2), [], None)
"""
SCALER = "apex.amp._amp_state.loss_scalers[0]"


def _migrated(first: str = "pass", later: str = "pass", main: str = "pass", loop: str = "pass") -> tuple[str, str]:
    text = TEXT.replace("FIRST", first).replace("LATER", later).replace("MAIN", main).replace("LOOP", loop)
    result = migrate_module(text, Settings())
    (unit,) = result.units
    return unit.applicability.value, result.new_text or ""


def test_a_constructor_tells_the_scaler() -> None:
    said, text = _migrated(f"s = {SCALER}; s._loss_scale = scale; s._scale_seq_len = window")
    assert said == Applicability.SAFE.value
    assert 's = scaler; s.load_state_dict({**s.state_dict(), "scale": scale}); s.set_growth_interval(window)' in text
    assert "begin = Begin(model, scaler=scaler)" in text
    assert "apex" not in text


@pytest.mark.parametrize(
    "main",
    [
        f"if init: {SCALER}._loss_scale = float(init)",
        f"if init:\n        {SCALER}._loss_scale = float(init)",
    ],
)
def test_a_condition_around_it_stays(main: str) -> None:
    said, text = _migrated(main=main)
    assert said == Applicability.SAFE.value
    assert 'scaler.load_state_dict({**scaler.state_dict(), "scale": float(init)})' in text


@pytest.mark.parametrize(
    "sites",
    [
        {"loop": f"{SCALER}._loss_scale = 128"},
        {"later": f"{SCALER}._loss_scale = scale", "loop": "begin.again(128)"},
        {"later": f"{SCALER}._loss_scale = scale"},
        {"main": f"{SCALER}._loss_scale *= 2"},
        {"main": f"{SCALER}._loss_scale = {SCALER}._loss_scale / 2"},
        {"main": f"{SCALER}._max_loss_scale = 128"},
    ],
)
def test_anything_else_stays(sites: dict[str, str]) -> None:
    assert _migrated(**sites)[0] == Applicability.MANUAL.value


@pytest.mark.parametrize("enabled", [True, False])
def test_what_is_written_sets_the_scale_at_once(enabled: bool) -> None:
    scaler = torch.amp.GradScaler("cpu", enabled=enabled)
    scaler.load_state_dict({**scaler.state_dict(), "scale": 1024})
    scaler.set_growth_interval(3)
    assert scaler.get_scale() == (1024 if enabled else 1.0)
    scaled = scaler.scale(torch.ones(1))
    assert scaled.item() == (1024 if enabled else 1.0)
    assert not enabled or scaler.state_dict()["growth_interval"] == 3

"""Half results that go to code of other files: a region around it, or float32 for it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Outside, Settings

OTHER = """\
import torch


def total(p):
    return (p * 1000).sum().item()


def top(p):
    return p.argmax(1)


def to_numpy(p):
    return p.detach().cpu().numpy()


def all_to_numpy(held):
    return [one.cpu().numpy() for one in held]


class Meter:
    def __init__(self):
        self.kept = []

    def update(self, p):
        self.kept.append(p)

    def compute(self):
        return torch.cat(self.kept).sum()


class Taken:
    def __init__(self):
        self.kept, self.sizes = [], []

    def add(self, rows, n):
        self.sizes.append(n)
        for row in rows:
            self.kept.append(row)

    def mean(self):
        return torch.stack(self.kept).cpu().numpy().mean() / len(self.sizes)


ROWS = []


def note(p):
    ROWS.append(p)


def summary():
    return torch.cat(ROWS).cpu().numpy()


METERS = {"total": total}


def shifted(p, by):
    p += by
    return p


def doubled(p):
    p *= 2.0
    return p


class Later(Meter):
    pass
"""
PROGRAM = """\
import torch
from apex import amp
from torch import nn
import work
from work import Later, Meter, Taken, top, total, METERS

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
meter, taken, later = Meter(), Taken(), Later()
for x in data:
    out = model(x)
    loss = out.mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
    BEHIND


@torch.no_grad()
def test(x):
    out = model(x)
    WITH
    return found
"""
REGION = 'with torch.autocast("cuda", dtype=torch.float16):'


def _migrated(behind: str, evaluated: str) -> tuple[str, list[str]]:
    text = PROGRAM.replace("BEHIND", behind).replace("WITH", evaluated)
    result = migrate_module(text, Settings(), Outside(elsewhere=elsewhere([outline(OTHER)])))
    assert result.new_text is not None
    return result.new_text, [f"{one.rule} {one.severity.name}" for one in result.findings]


@pytest.mark.parametrize("call", ["work.total(out)", "[work.total(out), 1]", "METERS['total'](out)", "[total(out)]"])
def test_what_widens_is_in_the_region(call: str) -> None:
    text, said = _migrated("pass", f"found = {call}")
    assert f"        out = model(x)\n        found = {call}\n    return found" in text
    assert said == []


def test_what_an_object_widens_later_has_a_region() -> None:
    text, said = _migrated("pass", "meter.update(out)\n    log(1)\n    log(2)\n    found = meter.compute()")
    assert f"    {REGION}\n        out = model(x)\n        meter.update(out)\n" in text
    assert "        found = meter.compute()\n    return found" in text
    assert said == []


def test_what_does_not_stays_outside() -> None:
    text, said = _migrated("pass", "log(1)\n    found = work.top(out)")
    assert "\n    found = work.top(out)" in text
    assert said == []


@pytest.mark.parametrize(
    ("call", "new"),
    [
        ("work.total(out)", "work.total(out.float())"),
        ("work.to_numpy(out)", "work.to_numpy(out.float())"),
        ("top(out)", "top(out)"),
        ("work.total(loss)", "work.total(loss)"),
        ("meter.update(out)", "meter.update(out.float())"),
        ("work.note(out)", "work.note(out.float())"),
        ("taken.add(out * 2, 4)", "taken.add((out * 2).float(), 4)"),
        ("work.shifted(out, bias)", "work.shifted(out.float(), bias)"),
        ("work.doubled(out)", "work.doubled(out)"),
        ("later.update(out)", "later.update(out.float())"),
    ],
)
def test_behind_the_step_it_is_handed_float32(call: str, new: str) -> None:
    text, said = _migrated(f"log({call})", "found = out")
    assert f"    log({new})" in text
    assert said == (["APX032 REVIEW"] if call != new else [])


def test_what_lies_in_a_list_is_named() -> None:
    text, said = _migrated("log(work.all_to_numpy([out]))", "found = out")
    assert "log(work.all_to_numpy([out]))" in text
    assert said == ["APX032 REVIEW"]

"""The judge's own look at half types: a value that is half reaches, outside of a region, what Apex cast.

What it has to say stands here in small programs, what it may not say beside it; what `plant_halves.py` plants into the
scripts of the suite it finds, and of the scripts as they were migrated it says nothing.
"""

from __future__ import annotations

import functools

import pytest

from migrate.model import Applicability
from tests.effort import some
from tests.equivalence.plant import Planted, lot
from tests.equivalence.plant_halves import plain, planted_halves

from .support import SCRIPTS, Case, script_case, verdict_of

OLD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        self.features = torch.relu(self.body(x))
        return self.head(self.features)


def energy(y):
    return y.pow(2).mean()


def main(data, rows):
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    kept, found = [], {}
    for x, y in data:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        WORK


main([], [])
"""
NEW = (
    OLD.replace("from apex import amp\n", "")
    .replace(
        '    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")\n',
        '    scaler = torch.amp.GradScaler("cuda")\n',
    )
    .replace(
        "        out = model(x)\n        loss = F.cross_entropy(out, y)\n",
        '        with torch.autocast("cuda", dtype=torch.float16):\n'
        "            out = model(x)\n            loss = F.cross_entropy(out, y)\n",
    )
    .replace(
        "        with amp.scale_loss(loss, optimizer) as scaled_loss:\n            scaled_loss.backward()\n"
        "        optimizer.step()\n",
        "        scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        scaler.update()\n",
    )
)

SAID = (
    "print(out.sum().item())",
    "print((out.detach() ** 2).mean().item())",
    "print(torch.exp(out).mean().item())",
    "print(F.softmax(out, dim=1)[0, 0].item())",
    "print(energy(out).item())",
    "print(sum(map(energy, [out])).item())",
    "kept.append(out.detach()); print(torch.cat(kept).norm().item())",
    "found['out'] = out.detach(); print(found['out'].norm().item())",
    "kept.append(out.detach().cpu()); print(torch.cat(kept).numpy())",
    "print(out.detach().cpu().numpy())",
    "np.save('out.npy', out.detach().cpu())",
    "torch.save(out.detach().cpu(), 'out.pt')",
    "print(out.detach() @ torch.randn(3, 2).cuda())",
    "print(torch.dot(out[0], torch.randn(3).cuda()))",
    "print(model.features.pow(2).mean().item())",
    "out += torch.randn(4, 3).cuda()",
    "print(out.chunk(2, dim=1)[0].sum().item())",
)
QUIET = (
    "print(out.float().sum().item())",
    "print(out.mean().item(), out.argmax(1), out.max().item())",
    "print(loss.sum().item(), (loss ** 2).item())",
    "print((out - torch.randn(4, 3).cuda()).pow(2).sum().item())",
    "print(rows.sum().item())",
    "print(out.detach().cpu().tolist(), out.detach().float().cpu().numpy())",
    "out = out.float() if rows else out; print(out.sum().item())",
    "print(out.argmax(1).cpu().numpy())",
    "print(out.detach().cpu().numpy().astype(np.float32), int(out.detach().cpu().numpy()[0, 0]))",
    "print(F.softmax(out.float(), dim=1).sum().item())",
)


@pytest.mark.parametrize("work", SAID)
def test_half_that_apex_cast_is_said(work: str) -> None:
    verdict = verdict_of(OLD.replace("WORK", work), NEW.replace("WORK", work))
    assert [one.kind for one in verdict.differences] == ["half"], verdict


@pytest.mark.parametrize("work", QUIET)
def test_what_is_the_same_is_not(work: str) -> None:
    assert not verdict_of(OLD.replace("WORK", work), NEW.replace("WORK", work)).differences


def test_float_that_only_the_new_text_has_keeps_it() -> None:
    new = NEW.replace("WORK", "print(out.float().pow(2).sum().item())")
    assert not verdict_of(OLD.replace("WORK", "print(out.pow(2).sum().item())"), new).differences


def test_apex_that_cast_models_alone() -> None:
    """Under O2 what a model gave was float32 as it left it, and nothing was cast behind that."""
    work = "print(out.pow(2).sum().item())"
    old, new = (one.replace("WORK", work) for one in (OLD.replace('"O1"', '"O2"'), NEW))
    assert {one.kind for one in verdict_of(old, new, patched=False).differences} == {"half"}
    assert not verdict_of(old, new.replace("out.pow", "out.float().pow"), patched=False).differences


# ---------------------------------------------------------------- what is planted

#: `kept[-1]` by an own `__getitem__`, an own `__iter__`, and a list of which other items are numbers
PASSES = {"half_handed_around": 2, "constructor_returns_early": 1}
NAMES = sorted(
    one.stem
    for one in SCRIPTS.glob("*.py")
    if not one.stem.startswith("manual_")
    and (one.stem.startswith("half_") or one.stem in PASSES or lot(one.stem) % some(1, 4) == 0)
)


def faults_of(case: Case) -> list[Planted]:
    hazards = [plan.hazards for plan in case.plans]
    widened = {plain(one.operand) for found in hazards for one in found.operands if one.like is None}
    widened |= {plain(one.call.func.value) for found in hazards for one in found.outputs}  # type: ignore[attr-defined]
    return planted_halves(case.text, widened)


@functools.cache
def cases() -> dict[str, Case]:
    found = {name: script_case(name) for name in NAMES}
    return {
        name: case for name, case in found.items() if case is not None and case.grade is not Applicability.MANUAL
    }


def test_what_is_planted_is_found() -> None:
    """Nothing announces it: the findings that name half values are taken away with it."""
    passed, tried = dict[str, int](), 0
    for name, case in cases().items():
        units = [plan.unit for plan in case.plans]
        kept = [list(unit.reviews) for unit in units]
        try:
            for unit in units:
                unit.reviews[:] = [one for one in unit.reviews if one[1] != "APX032"]
            for fault in faults_of(case):
                tried += 1
                if case.judged(fault.text) is None:
                    passed[name] = passed.get(name, 0) + 1
        finally:
            for unit, reviews in zip(units, kept, strict=True):
                unit.reviews[:] = reviews
    assert tried > 15
    assert passed == PASSES


def test_nothing_is_said_of_what_is_right() -> None:
    said = [
        (name, finding)
        for name, case in cases().items()
        for plan in case.plans
        for finding in plan.unit.reviews
        if "half precision" in finding[2] or "Apex cast both" in finding[2]
    ]
    assert not said

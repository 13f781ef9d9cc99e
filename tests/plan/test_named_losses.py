"""Losses that are kept under a name, hooks, and conditions that are read from one of several classes."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, ModuleResult, Settings

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

BEFORE

model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level=LEVEL)
for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""


def migrated(before: str, level: str = "'O1'") -> ModuleResult:
    return migrate_module(TEXT.replace("BEFORE", before).replace("LEVEL", level), Settings())


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("LOSSES = {'bce': nn.BCELoss, 'ce': nn.CrossEntropyLoss}\ncriterion = LOSSES[name]()", True),
        ("criterion = F.binary_cross_entropy", True),
        ("criterion = getattr(nn, 'BCELoss')()", True),
        ("NAME = 'BCELoss'\ncriterion = getattr(nn, NAME)()", True),
        ("criterion = nn.CrossEntropyLoss()", False),
        ("from torch.nn.functional import binary_cross_entropy as bce\ncriterion = bce", True),
        ("from torch.nn import BCELoss as Entropy\ncriterion = {'bce': Entropy}[name]()", True),
        ("from torch.nn.functional import cross_entropy as bce\ncriterion = bce", False),
        ("print('BCELoss')\ncriterion = nn.CrossEntropyLoss()", False),
        ("criterion = F.cross_entropy\nassert not isinstance(criterion, nn.BCELoss)", False),
    ],
)
def test_binary_cross_entropy_that_is_kept_under_a_name(before: str, told: bool) -> None:
    assert any("who calls this one is not seen" in f.message for f in migrated(before).findings) is told


@pytest.mark.parametrize(
    "before",
    [
        "from torch.nn.functional import binary_cross_entropy as bce\n\n\ndef criterion(p, y):\n    return bce(p, y)",
        "from torch.nn import BCELoss as Entropy\ncriterion = Entropy()",
    ],
)
def test_binary_cross_entropy_that_an_import_renames(before: str) -> None:
    changed = migrated(before)
    assert changed.new_text is not None and "enabled=False" in changed.new_text
    assert [unit.applicability for unit in changed.units] == [Applicability.SAFE]


def test_a_hook_behind_the_accumulation_of_a_gradient() -> None:
    hook = "criterion = F.cross_entropy\nfor p in net.parameters():\n    p.register_post_accumulate_grad_hook(log)"
    assert [f.rule for f in migrated(hook).findings if "hook" in f.message] == ["APX056"]


@pytest.mark.parametrize(
    ("body", "told"), [("print(net.weight.grad.norm())", True), ("print(output.shape)", False), ("peek(module)", False)]
)
def test_a_forward_hook_that_looks_at_gradients(body: str, told: bool) -> None:
    shows = f"def show(module, inputs, output):\n    {body}\n"
    hook = f"{shows}net.register_forward_hook(show)\ncriterion = F.cross_entropy"
    assert [f.rule for f in migrated(hook).findings if "this hook looks" in f.message] == ["APX056"] * told


BACKENDS = """\
import contextlib
import torch
import torch.nn.functional as F
from apex import amp


class Plain:
    NAMED

    def prepare(self, model, optimizer):
        return model, optimizer

    def scale(self, loss, optimizer):
        return contextlib.nullcontext(loss)


class Mixed(Plain):
    def __init__(self, level):
        self.level = level

    def prepare(self, model, optimizer):
        return amp.initialize(model, optimizer, opt_level=self.level)

    def scale(self, loss, optimizer):
        return amp.scale_loss(loss, optimizer)


def backend_for(fp16):
    return Mixed(options.level) if fp16 else Plain()


def run(fp16):
    backend, model = backend_for(fp16), build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = backend.prepare(model, optimizer)
    for x, y in loader:
        optimizer.zero_grad()
        with backend.scale(F.cross_entropy(model(x), y), optimizer) as loss:
            loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("named", "stays"), [("name = 'fp32'", True), ("level = 'O0'", False)])
def test_a_condition_that_is_read_from_one_of_two_classes(named: str, stays: bool) -> None:
    result = migrate_module(BACKENDS.replace("NAMED", named), Settings())
    assert any('the condition `self.level != "O0"` cannot be said' in f.message for f in result.findings) is stays

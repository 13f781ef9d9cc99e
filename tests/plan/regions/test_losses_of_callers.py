"""Evaluation whose model runs in one function and whose loss, a module of its own, is computed by the caller."""

from __future__ import annotations

import ast

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from migrate.plan.regions.planner import Planner

from ...judge.support import judged_case

TEXT = """\
import torch
import torch.nn as nn
from apex import amp


class PairLoss(nn.Module):
    def forward(self, a, b):
        return WORK


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)


def predict(model, loader):
    found = []
    with torch.no_grad():
        for x, _ in loader:
            found.append(model(x.cuda()))
    return torch.cat(found)


def evaluate(model, loader, criterion):
    out = predict(model, loader)
    y = torch.cat([y for _, y in loader])
    GIVES


def main(loader):
    model = Net().cuda()
    model = amp.initialize(model, opt_level="O1")
    return evaluate(model, loader, PairLoss().cuda())
"""


@pytest.mark.parametrize("gives", ["return criterion(out, y).item()", "loss = criterion(out, y)\n    return loss"])
@pytest.mark.parametrize("work", ["(a @ b.t()).mean()", "nn.functional.linear(a, b).mean()"])
def test_the_callers_loss_is_under_autocast(gives: str, work: str) -> None:
    case = judged_case(TEXT.replace("GIVES", gives).replace("WORK", work))
    assert case is not None and case.grade is Applicability.SAFE and case.text.count("torch.autocast(") == 2
    region = case.text.rindex("with torch.autocast(")
    line = case.text[region:].partition("\n")[0]
    found = case.judged(case.text[:region] + case.text[region:].replace(line, "if True:", 1))
    assert found is not None and "the loss is computed under Apex's casts" in found.said


@pytest.mark.parametrize("gives", ["return out", "return (out.argmax(1) == y).sum().item()", "print(len(out))"])
def test_where_a_caller_computes_no_loss_it_has_no_region(gives: str) -> None:
    case = judged_case(TEXT.replace("GIVES", gives).replace("WORK", "(a @ b.t()).mean()"))
    assert case is not None and case.grade is Applicability.SAFE and case.text.count("torch.autocast(") == 1


def test_callers_that_call_each_other_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    call, count, asked = "    out = {}(model, loader)\n", 6, 0
    others = "".join(call.format(f"f{at}") for at in range(count))
    functions = [f"def f{at}(model, loader):\n{call.format('predict')}{others}    return out\n" for at in range(count)]
    text = TEXT.replace("WORK", "(a @ b.t()).mean()").replace("GIVES", "return criterion(out, y).item()")
    text = text.replace("out = predict(model, loader)\n    y", "out = f0(model, loader)\n    y")
    text = text.replace("def evaluate", "\n\n".join([*functions, "def evaluate"]))
    behind = Planner._losses_behind

    def counted(self: Planner, stmt: ast.stmt, tainted: set[str]) -> None:
        nonlocal asked
        asked += 1
        behind(self, stmt, tainted)

    monkeypatch.setattr(Planner, "_losses_behind", counted)
    found = migrate_module(text, Settings()).new_text
    assert found is not None and found.count("torch.autocast(") == 2
    assert asked < 200  # by each way: 1,599

"""Evaluation whose model runs in one function and whose loss, a module of its own, is computed by the caller."""

from __future__ import annotations

import pytest

from migrate.model import Applicability

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

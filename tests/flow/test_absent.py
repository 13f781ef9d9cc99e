"""An arm that is reached where something is None hands on None."""

from __future__ import annotations

import ast

import pytest

from migrate.engine import migrate_module
from migrate.flow.absent import arms
from migrate.model import Applicability, Settings

SAVES = """\
import torch


def train(args, model, data):
    if args.fp16:
        from apex import amp
    else:
        amp = None
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16 and amp is not None:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in data:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
    torch.save({"model": model.state_dict(), "amp": amp.state_dict() if amp is not None else amp}, "last.pt")
"""


@pytest.mark.parametrize(
    ("choice", "kept"),
    [
        ("a.b() if a is not None else a", ["a.b()"]),
        ("o.a if o.a is None else 1", ["1"]),
        ("a.b() if a is not None else c", ["a.b()", "c"]),
        ("a if a is not None else c", ["a", "c"]),
        ("a.b() if a else a", ["a.b()", "a"]),  # an empty list is one all the same
        ("f() if f() is not None else f()", ["f()", "f()"]),
    ],
)
def test_the_arms_that_may_hold_something(choice: str, kept: list[str]) -> None:
    expr = ast.parse(choice, mode="eval").body
    assert isinstance(expr, ast.IfExp)
    assert [ast.unparse(arm) for arm in arms(expr)] == kept


def test_a_state_that_is_saved_where_amp_is_there() -> None:
    result = migrate_module(SAVES, Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert '"amp": scaler.state_dict() if amp is not None else amp}' in (result.new_text or "")

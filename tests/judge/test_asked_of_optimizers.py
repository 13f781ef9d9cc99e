"""``opt.optimizer if hasattr(opt, "optimizer") else opt``: torch's own optimizers wrap none, others may."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from apex import amp

MORE

class Updater:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def update(self, x):
        loss = self.model(x).pow(2).mean()
        opt = self.optimizer.optimizer if hasattr(self.optimizer, "optimizer") else self.optimizer
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()


def main(batches):
    model = torch.nn.Linear(4, 3).cuda()
    optimizer = MADE
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    GIVEN
    updater = Updater(model, optimizer)
    for x in batches:
        updater.update(x)


main(data)
"""
MADE = "torch.optim.Adam(model.parameters())"


def _grade(more: str = "", made: str = MADE, given: str = "pass") -> Applicability:
    text = TEXT.replace("MORE", more).replace("MADE", made).replace("GIVEN", given)
    return migrate_module(text, Settings()).units[0].applicability


SGD = "torch.optim.SGD(model.parameters(), lr=0.1)"


def test_of_torch() -> None:
    assert _grade() is Applicability.SAFE
    assert _grade(made=f"{MADE} if args.adam else {SGD}") is Applicability.SAFE


@pytest.mark.parametrize(
    ("more", "made", "given"),
    [
        ("from lookahead import Lookahead\n", f"{MADE} if args.adam else Lookahead({SGD})", "pass"),
        ("", MADE, f"optimizer.optimizer = {SGD}"),
        ("", f"{MADE} if args.adam else build(model)", "pass"),
    ],
    ids=["a wrapper of another file", "given one", "made by unknown code"],
)
def test_what_may_have_one(more: str, made: str, given: str) -> None:
    assert _grade(more, made, given) is Applicability.MANUAL

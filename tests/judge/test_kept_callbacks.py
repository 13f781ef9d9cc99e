"""A callback that somebody keeps where nobody sees what (a ``defaultdict``, what a library made) runs where it is
called, and what it computes ran under Apex's casts."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from collections import defaultdict
from apex import amp


class Engine:
    def __init__(self, process):
        self.process = process
        self.handlers = KEPT

    def on(self, f):
        self.handlers["end"].append(f)

    def run(self, data):
        for batch in data:
            self.output = self.process(self, batch)
            for f in self.handlers["end"]:
                f(self)


def main(loader, val):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = torch.nn.CrossEntropyLoss()
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()

    def infer(engine, batch):
        x, y = batch
        with torch.no_grad():
            return model(x), y

    totals = []
    evaluator = Engine(infer)
    evaluator.on(lambda e: totals.append(criterion(*e.output).item()))
    evaluator.run(val)
    return totals
"""


@pytest.mark.parametrize("kept", ["defaultdict(list)", '{"end": []}', "make()"])
def test_what_it_computes_is_told_or_under_autocast(kept: str) -> None:
    result = migrate_module(TEXT.replace("KEPT", kept), Settings())
    (unit,) = result.units
    region = 'with torch.autocast("cuda", dtype=torch.float16):\n                    f(self)'
    assert unit.applicability is Applicability.REVIEW or region in (result.new_text or "")

"""An evaluation whose author switched casts off gets no region."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def evaluate(model, loader):
    with torch.no_grad():
        for x, y in loader:
            print(model(x).argmax(1))


model = torch.nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""


REPORT = "def report(model, loader):\n    evaluate(model, loader)\n\n\n"


@pytest.mark.parametrize(
    ("calls", "regions", "grade"),
    [
        ("with amp.disable_casts():\n    evaluate(model, loader)\n", 1, "safe"),
        (REPORT + "with amp.disable_casts():\n    report(model, loader)\n", 1, "safe"),
        ("with amp.disable_casts():\n    print(model(x))\n", 1, "safe"),
        (REPORT + "with amp.disable_casts():\n    evaluate(model, loader)\nreport(model, loader)\n", 1, "review"),
        ('with torch.autocast("cuda", enabled=False):\n    evaluate(model, loader)\n', 2, "safe"),  # Apex's were on
        ("with torch.no_grad():\n    evaluate(model, loader)\n", 2, "safe"),
        ("with amp.disable_casts():\n    prepare()\nevaluate(model, loader)\n", 2, "safe"),
    ],
)
def test_regions_of_an_evaluation(calls: str, regions: int, grade: str) -> None:
    result = migrate_module(TEXT + calls, Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]
    assert (result.new_text or "").count('with torch.autocast("cuda", dtype=torch.float16)') == regions

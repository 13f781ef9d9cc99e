"""Apex's other parts in a script beside one that keeps its amp: what both may have in a process stays."""

from __future__ import annotations

import pytest

from migrate.linked import migrate_linked
from migrate.model import FileText, Settings
from migrate.parts.second import second

TRAIN = """\
import torch
from apex import amp
from apex.parallel import DistributedDataParallel as DDP
from lib import loss_of


def main(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    model = DDP(model)
    for x in batches:
        optimizer.zero_grad()
        with amp.scale_loss(loss_of(model, x), optimizer) as scaled:
            scaled.backward()
        optimizer.step(CLOSURE)
"""
PLAIN = "def loss_of(model, x):\n    return model(x).sum()\n"
ASKS = "from apex.parallel import DistributedDataParallel\n\n\n" + PLAIN.replace(
    "return", "assert isinstance(model, DistributedDataParallel)\n    return"
)


@pytest.mark.parametrize(("lib", "goes"), [(PLAIN, True), (ASKS, False)])
def test_a_script_beside_one_that_stays(lib: str, goes: bool) -> None:
    scripts = {"first.py": TRAIN.replace("CLOSURE", "lambda: 0.0"), "second.py": TRAIN.replace("CLOSURE", "")}
    files = [FileText(text, name, links={"lib": 2}) for name, text in scripts.items()] + [FileText(lib, "lib.py")]
    first, other, _ = second(files, migrate_linked(files, Settings()), Settings())
    assert first.new_text is None
    assert other.new_text is not None and "amp.initialize" not in other.new_text
    assert ("apex" not in other.new_text) is goes

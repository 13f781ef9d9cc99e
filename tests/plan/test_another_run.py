"""Of two functions that initialize, and of which a process runs one, each says its own condition."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def train(model, loader, fp16):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()


def sample(model, loader, half):
    if half:
        model, _ = amp.initialize(model, [], opt_level="O3")
    with torch.no_grad():
        for x, _ in loader:
            print(model(x))


model = torch.nn.Linear(4, 3).cuda()
"""


@pytest.mark.parametrize(
    ("run", "migrated"),
    [
        ("if args.sample:\n    sample(model, loader, **options)\nelse:\n    train(model, loader, **options)\n", True),
        ("sample(model, loader, **options)\ntrain(model, loader, **options)\n", False),
        ("if args.sample:\n    sample(model, loader, **options)\ntrain(model, loader, **options)\n", False),
        (
            "for one in args.tasks:\n    if one == 'sample':\n        sample(model, loader, **options)\n"
            "    else:\n        train(model, loader, **options)\n",
            False,
        ),
        (
            "def run(kind):\n    if kind:\n        sample(model, loader, **options)\n    else:\n"
            "        train(model, loader, **options)\n\n\nrun(True)\nrun(False)\n",
            False,
        ),
    ],
)
def test_each_says_its_own_condition(run: str, migrated: bool) -> None:
    text = migrate_module(TEXT + run, Settings()).new_text or ""
    assert ("enabled=bool(fp16)" in text and "enabled=bool(half)" in text) is migrated

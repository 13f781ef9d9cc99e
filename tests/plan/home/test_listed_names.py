"""Who lists the names of a function that scales: the scaler is among them, the scaled loss not any more."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
import torch.nn.functional as F
from apex import amp

model = torch.nn.Linear(4, 3)


def train(data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    net, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in data:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        log(LISTED)


train(data)
"""
BOTH = [
    "this lists `scaled_loss` no more: natively no name holds the scaled loss",
    "this lists `scaler`, too, from now on",
]


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("locals()", BOTH),
        ("{k: v for k, v in locals().items() if k.endswith('_loss')}", BOTH),
        ("dir()", BOTH),
        ("locals()['loss']", []),
        ("'loss' in vars()", []),
        ("'{loss} {x}'.format(**locals())", []),
        ("'%(loss)s' % locals()", []),
        ("'{scaled_loss}'.format(**locals())", BOTH[:1]),
    ],
)
def test_what_lists_names(listed: str, said: list[str]) -> None:
    result = migrate_module(TEXT.replace("LISTED", listed), Settings())
    assert sorted(f.message for f in result.findings if "this lists" in f.message) == said

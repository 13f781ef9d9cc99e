"""``f = amp.float_function(g)``: where ``custom_fwd``, which marks the first argument, can stand for it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp
from extension import _C


def boxes(a, b):
    return torch.max(a[:, :2], b[:, :2])


def levels(xs, scale):
    return torch.cat([x * scale for x in xs])


class Pooler(torch.nn.Module):
    pass


pooler = Pooler()
LINE
"""


@pytest.mark.parametrize(
    ("line", "migrated"),
    [
        ("f = amp.float_function(_C.nms)", True),
        ("f = amp.float_function(boxes)\nf(p, q)", True),
        ("f = amp.float_function(boxes)\nf(a=p, b=q)", False),
        ("f = amp.float_function(levels)\nf([p, q], 2)", False),
        ("pooler.pool = amp.float_function(pooler.pool)", False),
        ("pooler.pool = amp.float_function(boxes)", False),
        ("f = amp.float_function(pooler.pool)", False),
    ],
)
def test_functions_that_are_wrapped(line: str, migrated: bool) -> None:
    training = (
        "model = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        'model, optimizer = amp.initialize(model, optimizer, opt_level="O1")\n'
        "for x in loader:\n    with amp.scale_loss(model(x).sum(), optimizer) as s:\n        s.backward()\n"
        "    optimizer.step()\n    optimizer.zero_grad()\n"
    )
    text = migrate_module(TEXT.replace("LINE", line) + training, Settings()).new_text or ""
    assert ("custom_fwd(" in text) is migrated

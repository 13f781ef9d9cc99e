"""A condition that changes between two calls of ``initialize`` is named: Apex's casts stayed on."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def run(args, use_amp=True):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in args.data:
        loss = model(x).sum()
        if use_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main(args):
    CALLS


main(parse())
"""


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("run(args, args.fp16)", False),
        ("for fold in range(5):\n        run(args, args.fp16)", False),
        ("run(args)", False),
        ("for mode in ('fp32', 'amp'):\n        run(args, mode == 'amp')", True),
        ("for mode in ('fp32', 'amp'):\n        fp16 = mode == 'amp'\n        run(args, use_amp=fp16)", True),
        ("run(args)\n    run(args, False)", True),
        ("run(args, False)\n    run(args)", False),
        ("run(args, True)\n    run(args)", False),
        ("return [run(args, use) for use in args.modes]", True),
        ("return {use: run(args, use_amp=use) for use in (False, True)}", False),
        ("return [run(args, args.fp16) for _ in range(3)]", False),
    ],
)
def test_what_changes_from_call_to_call(calls: str, named: bool) -> None:
    findings = migrate_module(TEXT.replace("CALLS", calls), Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named

"""A function that initializes under one of several conditions, each with a loss scale of its own, and hands the
optimizer back to who trains."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def prepare(args):
    model = torch.nn.Linear(3, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        if args.loss_scale == 0:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic")
        else:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=SCALE)
    return model, optimizer


def main(ARGS, data):
    model, optimizer = prepare(ARGS)
    for x, y in data:
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        if ARGS.fp16:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize("name", ["args", "flags"])
def test_it_is_said_where_the_optimizer_lives(name: str) -> None:
    result = migrate_module(TEXT.replace("ARGS", name).replace("SCALE", "128.0"), Settings())
    assert result.new_text is not None and f"init_scale=128.0 if {name}.loss_scale != 0 else 2.0**16" in result.new_text
    assert f"    if {name}.loss_scale != 0:\n        scaler.set_growth_factor(1.0)" in result.new_text
    assert f"enabled=bool({name}.fp16)" in result.new_text


def test_one_that_nobody_can_say_there() -> None:
    text = TEXT.replace("ARGS", "args").replace("SCALE", "float(scale)")
    text = text.replace("    if args.fp16:", "    scale = read()\n    if args.fp16:", 1)
    result = migrate_module(text, Settings())
    assert result.new_text is None or "scale = read()" not in result.new_text.split("def main")[1]
    assert any("cannot be said where the optimizer lives" in finding.message for finding in result.findings)

"""The generator that `master_params` becomes takes no name that stands beside it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp

model = build().cuda()
optimizer = build_optimizer(model)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), BOUND)
    optimizer.step()
"""


@pytest.mark.parametrize(("bound", "name"), [('p["clip"]', "param"), ("args.clip", "p")])
def test_name_of_a_parameter(bound: str, name: str) -> None:
    text = migrate_module(TEXT.replace("BOUND", bound), Settings()).new_text or ""
    assert f'({name} for group in optimizer.param_groups for {name} in group["params"])' in text

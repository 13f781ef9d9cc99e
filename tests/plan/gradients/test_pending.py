"""A flag says whether a backward that is left out at times left gradients to unscale: of its own optimizer alone."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp

one, other = torch.nn.Linear(4, 2).cuda(), torch.nn.Linear(4, 2).cuda()
first = torch.optim.Adam(one.parameters(), lr=0.1)
second = torch.optim.Adam(other.parameters(), lr=0.1)
[one, other], [first, second] = amp.initialize([one, other], [first, second], opt_level="O1")
for x in range(8):
    loss = one(x).sum()
    if torch.isfinite(loss):
        with amp.scale_loss(loss, first) as scaled:
            scaled.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(first), 1.0)
    first.step()
    first.zero_grad(set_to_none=False)
    loss = other(x).sum()
    with amp.scale_loss(loss, second) as scaled:
        scaled.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(second), 1.0)
    second.step()
    second.zero_grad(set_to_none=False)
"""


def test_another_optimizer_has_no_flag() -> None:
    new = migrate_module(TEXT, Settings()).new_text
    assert new is not None
    lines = new.splitlines()
    assert lines[lines.index("        scaler.unscale_(first)") - 1].startswith("    if ")
    assert "    scaler.unscale_(second)" in lines

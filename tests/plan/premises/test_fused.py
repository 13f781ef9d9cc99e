"""What runs in the step of a fused optimizer is named: it runs on an overflow as well, and before the gradients are
unscaled."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
from apex import amp
from apex.optimizers import FusedAdam


class Counting(torch.optim.AdamW):
    taken = 0

    def step(self, closure=None):
        self.taken += 1
        return super().step(closure)


class Quiet(torch.optim.AdamW):
    pass


class Own(torch.optim.Optimizer):
    def step(self, closure=None):
        pass


model = torch.nn.Linear(4, 2)
optimizer = MADE
HOOKED
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in batches:
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
FUSED, PLAIN = "(model.parameters(), lr=0.1, fused=True)", "(model.parameters(), lr=0.1)"
HOOK = "optimizer.register_step_post_hook(count)"


@pytest.mark.parametrize(
    ("made", "hooked", "named"),
    [
        (f"torch.optim.SGD{FUSED}", HOOK, True),
        (f"torch.optim.SGD{FUSED}", "optimizer.register_step_pre_hook(look)", True),
        (f"torch.optim.SGD{FUSED}", "register_optimizer_step_post_hook(count)", True),
        ("torch.optim.SGD(model.parameters(), **{'lr': 0.1, 'fused': quick})", HOOK, True),
        (f"torch.optim.SGD{FUSED.replace('True', 'False')}", HOOK, False),
        (f"torch.optim.SGD{PLAIN}", HOOK, False),
        (f"torch.optim.SGD{FUSED}", "", False),
        (f"FusedAdam{PLAIN}", HOOK, True),
        (f"FusedAdam{PLAIN}", "", False),
        (f"Counting{FUSED}", "", True),
        (f"Counting{PLAIN}", "", False),
        (f"Quiet{FUSED}", "", False),
        (f"Own{FUSED}", "", False),
    ],
)
def test_what_a_fused_step_runs(made: str, hooked: str, named: bool) -> None:
    text = TEXT.replace("MADE", made).replace("HOOKED", hooked)
    result = migrate_module(text, Settings())
    assert any("may be fused" in one.message for one in result.findings) is named
    assert {unit.applicability.value for unit in result.units} == {"review" if named else "safe"}


def test_apexs_own_kernels_that_stay_are_not_fused() -> None:
    text = TEXT.replace("MADE", f"FusedAdam{PLAIN}").replace("HOOKED", HOOK)
    result = migrate_module(text, Settings(keep_fused=True))
    assert not any("may be fused" in one.message for one in result.findings)

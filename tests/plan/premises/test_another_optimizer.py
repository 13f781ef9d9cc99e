"""A backward without a scale that trains something else, in the function that scales its own losses."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """\
import torch
from torch import nn
from apex import amp


class Agent:
    def __init__(self):
        self.actor = nn.Linear(3, 2)
        self.opt = torch.optim.SGD(self.actor.parameters(), lr=0.1)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_opt = torch.optim.SGD([self.log_alpha], lr=0.1)
        self.actor, self.opt = amp.initialize(self.actor, self.opt, opt_level="O1")

    def update(self, s):
        logp = self.actor(s)
        loss = logp.pow(2).mean()
        self.opt.zero_grad()
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        self.opt.step()
        self.alpha_opt.zero_grad()
        alpha_loss = (self.log_alpha.exp() * logp.detach()).mean()
        alpha_loss.backward()
        self.alpha_opt.step()
"""
STEP = "        self.opt.step()\n"
OWN = "        self.alpha_opt.step()\n"
CLEARED = "        self.opt.zero_grad()\n"
AT_ONCE = TEXT.replace(STEP, "")
FOUND = {
    "behind the step": (TEXT, "safe"),
    "into weights that are cleared before the next": (TEXT.replace("logp.detach()", "logp"), "safe"),
    "into weights that are cleared too early": (
        TEXT.replace("logp.detach()", "logp").replace(CLEARED, "").replace(STEP, STEP + CLEARED),
        "manual",
    ),
    "before the step": (AT_ONCE + STEP, "manual"),
    "for the same optimizer": (TEXT.replace(OWN, STEP), "manual"),
    # What nobody else steps is the optimizer's own, and scaled (APX042).
    "for nobody": (TEXT.replace(OWN, ""), "review"),
    "for a scheduler": (TEXT.replace(OWN, "        self.lr_scheduler.step()\n"), "review"),
}


@pytest.mark.parametrize("case", FOUND)
def test_grade(case: str) -> None:
    text, grade = FOUND[case]
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]
    if grade == "safe":
        assert "        alpha_loss.backward()\n" in (result.new_text or "")

"""A function that only says whether Apex is there says yes, to the judge as to the planner."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
try:
    from apex import amp
    _has_apex = True
except ImportError:
    _has_apex = False


def is_apex_available(SELF):
    "Whether Apex is there."
    BODY


class Trainer:
    def __init__(self, model, args, loader):
        self.model, self.args, self.loader = model, args, loader

    def train(self):
        model = self.model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if self.args.fp16:
            if not is_apex_available():
                raise ImportError("Please install apex to use fp16 training.")
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        model.zero_grad()
        for x in self.loader:
            loss = model(x)[0]
            if self.args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
            model.zero_grad()
"""


@pytest.mark.parametrize(
    ("given", "body", "kept", "grade"),
    [
        ("", "return _has_apex", False, Applicability.SAFE),
        ("", "print('asked'); return _has_apex", True, Applicability.SAFE),
        ("flag=False", "return flag", True, Applicability.REVIEW),  # amp is never on, so no scaled loss was compared
    ],
)
def test_what_says_that_apex_is_there(given: str, body: str, kept: bool, grade: Applicability) -> None:
    result = migrate_module(TEXT.replace("SELF", given).replace("BODY", body), Settings())
    assert [one.applicability for one in result.units] == [grade]
    assert ("raise ImportError" in (result.new_text or "")) is kept

"""Whether there is a GPU has one answer in a process, wherever it is asked."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def train(model, loader, optimizer, is_amp):
    for x in loader:
        if ASKED:
            x = x.cuda()
        loss = model(x).mean()
        if is_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main(model, loader, opt):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if ASKED:
        model.cuda()
        if opt.amp:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        model = torch.nn.DataParallel(model)
    for epoch in range(3):
        train(model, loader, optimizer, opt.amp)
"""


@pytest.mark.parametrize("asked", ["torch.cuda.is_available()", "torch.cuda.device_count() > 0", "ready()"])
def test_it_is_asked_in_two_functions(asked: str) -> None:
    result = migrate_module(TEXT.replace("ASKED", asked), Settings())
    assert (result.new_text is not None) is asked.startswith("torch.cuda")


def test_the_opposite_is_another_answer() -> None:
    text = TEXT.replace("ASKED", "torch.cuda.is_available()", 1).replace("ASKED", "not torch.cuda.is_available()")
    new = migrate_module(text, Settings()).new_text
    assert new is None or "enabled=bool(not torch.cuda.is_available() and opt.amp)" in new

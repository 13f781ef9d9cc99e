"""Models that another thread runs."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import functools, threading
import torch
from apex import amp


def score(model, batch):
    return model(batch)


model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
CALLS = {
    "pool.submit(score, model, x)": True,
    "list(pool.map(functools.partial(score, model), batches))": True,
    "threading.Thread(target=score, args=(model, x), daemon=True).start()": True,
    "pool.submit(save, path)": False,
    "list(map(len, batches))": False,
    "score(model, x)": False,
}


@pytest.mark.parametrize("call", CALLS)
def test_is_named(call: str) -> None:
    result = migrate_module(TEXT + call + "\n", Settings())
    assert result.new_text is not None
    assert any("runs in another thread" in found.message for found in result.findings) is CALLS[call]
    assert f"\n{call}\n" in result.new_text or not CALLS[call]

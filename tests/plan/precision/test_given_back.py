"""Half results that a function gives back to a package that calls it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

PROGRAM = """\
import torch
from apex import amp
from ignite.engine import Engine


def main(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def update(engine, batch):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        return loss

    def inference(engine, batch):
        x, y = batch
        with torch.no_grad():
            logits = model(x)
        return RETURNED

    Engine(update).run(batches)
    HANDED
"""
GIVEN = {
    ("logits, y", "Engine(inference)"): "logits.float(), y",
    ("(logits[:, :9], y), x", "Engine(inference)"): "(logits[:, :9].float(), y), x",
    ("logits.argmax(1), y", "Engine(inference)"): None,
    ("logits, y", "return [inference(None, batch) for batch in batches]"): None,
    ("logits, y", "return list(map(inference, [None] * len(batches), batches))"): None,
}


@pytest.mark.parametrize(("returned", "handed"), GIVEN)
def test_what_is_half_is_float32_where_a_package_is_given_it(returned: str, handed: str) -> None:
    result = migrate_module(PROGRAM.replace("RETURNED", returned).replace("HANDED", handed), Settings())
    given = GIVEN[returned, handed]
    assert result.new_text is not None and f"return {given or returned}\n" in result.new_text
    assert result.units[0].applicability is (Applicability.SAFE if given is None else Applicability.REVIEW)

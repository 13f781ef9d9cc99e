"""The end of a block that looks at gradients (``__exit__``): unscaled last in it, where its backward is."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Watch:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        LOOKS


model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
watch = Watch()
for i, x in enumerate(loader):
    optimizer.zero_grad()
"""
LOSS = "loss = model(x).mean()\n"
BACK = "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\n"
STEP = "optimizer.step()\n"


def block(*parts: str) -> str:
    return "with watch:\n" + "".join(f"    {line}\n" for line in "".join(parts).splitlines())


BODIES = {
    "the backward in it": (block(LOSS, BACK) + STEP, ["    scaler.unscale_(optimizer)", "scaler.step(optimizer)"]),
    "more behind it": (block(LOSS, BACK, "print(x)\n") + STEP, ["    print(x)", "    scaler.unscale_(optimizer)"]),
    "behind the backward": (LOSS + BACK + block("print(x)\n") + STEP, ["scaler.unscale_(optimizer)", "with watch:"]),
    "the step in it": (block(LOSS, BACK, STEP), ["    scaler.step(optimizer)", "    scaler.update()"]),
}


@pytest.mark.parametrize("case", BODIES)
def test_the_end_of_a_block_looks_at_gradients(case: str) -> None:
    body, lines = BODIES[case]
    text = TEXT.replace("LOOKS", "print(sum(p.grad.norm() for p in model.parameters()))")
    result = migrate_module(text + "".join(f"    {line}\n" for line in body.splitlines()), Settings())
    assert result.units[0].applicability.value == "safe" and result.new_text is not None
    assert "\n".join(f"    {line}" for line in lines) in result.new_text
    assert result.new_text.count("unscale_") == (case != "the step in it")


def test_a_step_at_times_stays_and_an_end_that_looks_at_nothing_is_no_reader() -> None:
    behind = f"if i % 2:\n    {STEP}"
    for looks, count in (("print(model.weight.grad)", None), ("print(model.weight)", 0)):
        body = block(LOSS, BACK) + behind
        result = migrate_module(
            TEXT.replace("LOOKS", looks) + "".join(f"    {line}\n" for line in body.splitlines()), Settings()
        )
        assert (result.new_text is None) if count is None else result.new_text and "unscale_" not in result.new_text

"""A loss of what an object was told of the model's results."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Policy:
    def begin(self, count):
        self.states = [{} for _ in range(count)]

    def tell(self, chosen, prob):
        for i, one in enumerate(chosen):
            self.states[i][one] = prob[i][one]

    def reward(self, states):
        return [sum(state.values()) for state in states]


model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
policy = Policy()
for images in loader:
    policy.begin(len(images))
    for x in images:
        prob = model(x).log_softmax(1)
        UPDATE
    loss = sum(policy.reward(policy.states))
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("update", "goes"),
    [
        ("policy.tell(prob.argmax(1).tolist(), prob)", True),
        ("other.tell(prob)", False),  # nothing tells it
        ("done = policy.tell(prob.argmax(1).tolist(), prob)", False),  # not called for its effect alone
    ],
)
def test_what_a_method_is_told(update: str, goes: bool) -> None:
    result = migrate_module(TEXT.replace("UPDATE", update), Settings())
    if not goes:
        assert result.new_text is None
        return
    assert result.new_text is not None
    region, _, behind = result.new_text.partition("with torch.autocast(")[2].partition("scaler.scale(loss).backward()")
    assert "prob = model(x)" in region and "loss = sum(" in region and "autocast" not in behind

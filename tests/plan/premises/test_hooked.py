"""Hooks of the backward pass that multiply are named; those that only scale or look are not."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
import torch.nn as nn
from apex import amp


class Keep:
    def __init__(self, layer, P):
        self.P = P
        layer.register_full_backward_hook(self.project)

    def project(self, module, grad_input, grad_output):
        return (torch.matmul(grad_input[0], self.P),)

    def clear(self, module, grad_input, grad_output):
        return (grad_input[0] * 0.5,)


def turned(grad, P):
    return grad @ P


def main(loader, P):
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="LEVEL")
    for x, y in loader:
        hidden = model[0](x)
        HOOK
        loss = nn.functional.cross_entropy(model[2](hidden), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


main([], None)
"""


@pytest.mark.parametrize(
    ("hook", "named"),
    [
        ("hidden.register_hook(lambda g: g.mm(P))", True),
        ("hidden.register_hook(lambda g: turned(g, P))", True),
        ("keep = Keep(model[0], P)", True),
        ("hidden.register_hook(lambda g: g * 0.1)", False),
        ("hidden.register_hook(print)", False),
        ("pass", True),  # Keep's constructor registers one, whoever makes it
    ],
)
def test_a_hook_that_multiplies_is_named(hook: str, named: bool) -> None:
    text = TEXT.replace("HOOK", hook).replace("LEVEL", "O1")
    if not named:
        text = text.replace("self.project)", "self.clear)")
    result = migrate_module(text, Settings())
    assert any(one.rule == "APX082" for one in result.findings) is named
    assert [one.applicability for one in result.units] == [Applicability.REVIEW if named else Applicability.SAFE]


def test_o2_cast_no_hook() -> None:
    text = TEXT.replace("HOOK", "hidden.register_hook(lambda g: g.mm(P))").replace("LEVEL", "O2")
    assert not [one for one in migrate_module(text, Settings()).findings if one.rule == "APX082"]

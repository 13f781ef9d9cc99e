"""Optimizers of parameters that are picked one by one: by their names, from a network's children, through lists. A loss
that reaches the parameters of another one leaves scaled gradients there."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8))
        self.head = nn.Linear(8, 3)
        MORE

    def forward(self, x):
        return self.head(self.body(x))


def grow(items, one):
    items.append(one)


def main(batches, big=False):
    model = NET
    MADE
    model, [opt_b, opt_h] = amp.initialize(model, [opt_b, opt_h], opt_level="O1")
    for x, y in batches:
        opt_b.zero_grad()
        opt_h.zero_grad()
        loss_h = F.cross_entropy(HEAD(BODY(x)CUT), y)
        with amp.scale_loss(loss_h, opt_h) as scaled:
            scaled.backward()
        opt_h.step()
        loss = BODY(x).pow(2).mean()
        with amp.scale_loss(loss, opt_b) as scaled:
            scaled.backward()
        opt_b.step()
"""
PICK = "[p for n, p in model.named_parameters() if %s]"
TWO = "opt_b = torch.optim.SGD({}, lr=0.01)\n    opt_h = torch.optim.SGD({}, lr=0.1)"
BEGINS, OTHERS = PICK % 'n.startswith("body")', PICK % 'not n.startswith("body")'
SEQUENCE = "nn.Sequential(nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 3))"
LISTS = """body, head = [], []
    for n, p in model.named_parameters():
        if n.startswith("body"):
            body.append(p)
        else:
            head.append(p)
    """ + TWO.format("body", "head")
TABLE = """groups = {"b": [], "h": []}
    for n, p in model.named_parameters():
        groups["b" if n.startswith("body") else "h"].append(p)
    """ + TWO.format('groups["b"]', 'groups["h"]')
BIASES, WEIGHTS = (PICK % f'n.startswith("body") and "bias" {asked} n' for asked in ("in", "not in"))
GROUPS = f'[{{"params": {BIASES}}}, {{"params": {WEIGHTS}, "lr": 0.2}}]'
CHILDREN = "b, h = model.children()\n    " + TWO.format("b.parameters()", "h.parameters()")


@pytest.mark.parametrize(
    "made",
    [
        TWO.format(BEGINS, OTHERS),
        TWO.format(BEGINS, PICK % '"head" in n'),
        TWO.format(PICK % '"head" not in n', PICK % 'n.startswith(("head.", "tail."))'),
        TWO.format(PICK % 'n.startswith("body") and p.requires_grad', OTHERS),
        TWO.format(GROUPS, "model.head.parameters()"),
        "picked = " + BEGINS + "\n    " + TWO.format("picked", OTHERS),
        "picked = " + BEGINS + "\n    print(len(picked))\n    " + TWO.format("picked", OTHERS),
    ],
)
def test_parameters_that_are_picked_by_name_are_those_of_a_part(made: str) -> None:
    assert _grade(made) == "safe"
    assert _grade(made, cut="") == "manual"


@pytest.mark.parametrize("children", ["model.children()", "list(model.children())"])
def test_children_of_a_sequence_are_told_apart(children: str) -> None:
    made = CHILDREN.replace("model.children()", children)
    assert _grade(made, net=SEQUENCE, body="b", head="h") == "safe"
    assert _grade(made, net=SEQUENCE, body="b", head="h", cut="") == "manual"


@pytest.mark.parametrize("made", [LISTS, TABLE])
def test_what_is_put_into_lists_is_owned(made: str) -> None:
    assert _grade(made, cut="") == "manual"


def test_what_is_chosen_within_a_list_chooses_no_optimizer() -> None:
    """Of optimizers in one block the later one takes the place of the first where one of two is made, not here."""
    assert _grade(TWO.format(BEGINS, OTHERS.replace("[p for", "[p if big else p for")), cut="") == "manual"


@pytest.mark.parametrize(
    ("made", "more", "reached"),
    [
        (TWO.format(OTHERS, BEGINS), "self.body2 = nn.Linear(4, 8)", "model.body2"),
        ("model.extra = nn.Linear(4, 8)\n    " + TWO.format(OTHERS, BEGINS), "pass", "model.extra"),
        (TWO.format(BEGINS, OTHERS), "self.body2 = nn.Parameter(torch.ones(8))", "model.body2 * model.body"),
        (TWO.format("model.body.parameters()", OTHERS), "self.head.weight = self.body[2].weight", "model.body"),
        (TWO.format(BEGINS, PICK % "n[0] == 'h'"), "pass", "model.body"),
    ],
)
def test_of_anything_else_a_loss_may_reach_all(made: str, more: str, reached: str) -> None:
    assert _grade(made, more, body=reached, cut="") == "manual"


@pytest.mark.parametrize(
    "made",
    [
        "kept = " + BEGINS + "\n    kept.append(model.head.bias)\n    " + TWO.format("kept", "[model.head.weight]"),
        "kept = " + BEGINS + "\n    kept += [model.head.bias]\n    " + TWO.format("kept", "[model.head.weight]"),
        "kept = " + BEGINS + "\n    grow(kept, model.head.bias)\n    " + TWO.format("kept", "[model.head.weight]"),
        "kept = " + BEGINS + "\n    elsewhere.grow(kept)\n    " + TWO.format("kept", "[model.head.weight]"),
        TWO.format(BEGINS, OTHERS) + "\n    opt_b.add_param_group({'params': model.head.parameters()})",
    ],
)
def test_parameters_that_are_picked_may_not_be_all(made: str) -> None:
    assert _grade(made) == "manual"


def _grade(
    made: str,
    more: str = "pass",
    net: str = "Net()",
    body: str = "model.body",
    head: str = "model.head",
    cut: str = ".detach()",
) -> str:
    text = TEXT.replace("MADE", made).replace("MORE", more).replace("NET", net).replace("CUT", cut)
    text = text.replace("BODY", body).replace("HEAD", head)
    (grade,) = {unit.applicability.value for unit in engine.migrate_module(text, Settings()).units}
    return grade

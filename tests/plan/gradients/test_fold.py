"""Which guards have arms that are one."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.plan.blocks import common, exclusive
from migrate.plan.gradients.fold import folds
from migrate.plan.schedule import Schedule
from tests.asking import context, marked, unit

CLIP = "clip_grad_norm_"
TOP = """\
from apex import amp
from torch.nn.utils import clip_grad_norm_
model = Model()
optimizer = SGD(model.parameters())
model, optimizer = amp.initialize(model, optimizer)
"""
BACK = "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\n"
MASTERS = "clip(amp.master_params(optimizer), 1.0)\n"
PARAMETERS = "clip(model.parameters(), 1.0)\n"

#: The two arms of a guard, and which of them stands for both.
ARMS = {
    "the plain backward": (BACK, "loss.backward()\n", "body"),
    "the other way round": ("loss.backward()\n", BACK, "orelse"),
    "another loss": (BACK, "other.backward()\n", None),
    "with arguments": (BACK, "loss.backward(retain_graph=True)\n", None),
    "with the same": (
        BACK.replace("()\n", "(retain_graph=True)\n"),
        "loss.backward(retain_graph=True)\n",
        "body",
    ),
    "more than a backward": (BACK + "    log()\n", "loss.backward()\n", None),
    "a function's": (BACK, "backward(loss)\n", None),
    "kept": (BACK, "x = loss.backward()\n", None),
    "the same beside it": (BACK + "log(1)\n", "loss.backward()\nlog(1)\n", "body"),
    "another beside it": (BACK + "log(1)\n", "loss.backward()\nlog(2)\n", None),
    "more beside it": (BACK + "log(1)\n", "loss.backward()\n", None),
    "an import beside it": ("from apex import amp\n" + BACK, "loss.backward()\n", "body"),
    "clips": (BACK + MASTERS, "loss.backward()\n" + PARAMETERS, "body"),
    "clips alone": (MASTERS, PARAMETERS, "body"),
    "of another size": (MASTERS, PARAMETERS.replace("1.0", "2.0"), None),
    "of another model": (MASTERS, "clip(other.parameters(), 1.0)\n", None),
    "of another kind": (MASTERS, "clip(model.named_parameters(), 1.0)\n", None),
    "of both": (MASTERS.replace("1.0", "max(amp.master_params(optimizer))"), PARAMETERS, None),
    "by another name of torch's": (
        "torch.nn.utils." + CLIP + "(amp.master_params(optimizer), 1.0)\n",
        CLIP + "(model.parameters(), 1.0)\n",
        "body",
    ),
    "no amp at all": ("log(1)\n", "log(1)\n", None),
}


@pytest.mark.parametrize("case", ARMS)
def test_folds(case: str) -> None:
    one, other, arm = ARMS[case]
    ctx = context(TOP + f"if fp16:\n{indent(one, '    ')}else:\n{indent(other, '    ')}")
    assert [fold.arm for fold in folds(ctx, unit(ctx), Schedule())] == ([] if arm is None else [arm])


def test_a_chain_of_conditions_stays() -> None:
    ctx = context(TOP + f"if a:\n{indent(BACK, '    ')}elif b:\n    loss.backward()\nelse:\n    loss.backward()\n")
    assert folds(ctx, unit(ctx), Schedule()) == []


def test_what_master_params_becomes() -> None:
    ctx = context(TOP + f"if fp16:\n    {MASTERS}else:\n    {PARAMETERS}")
    (fold,) = folds(ctx, unit(ctx), Schedule())
    assert list(fold.parameters.values()) == ["model.parameters()"] and not fold.loose


#: Two marked lines: whether only one of them runs, and in which lines the block of both holds them.
PLACES = {
    "if a:\n    x()  # ?\nelse:\n    y()  # ?": (True, (1, 1)),
    "if a:\n    x()  # ?\n    y()  # ?": (False, (2, 3)),
    "if a:\n    x()  # ?\ny()  # ?": (False, (1, 3)),
    "if a:\n    x()  # ?\nelif b:\n    y()  # ?": (True, (1, 1)),
    "if a:\n    pass\nelse:\n    x()  # ?\n    if b:\n        y()  # ?": (False, (4, 5)),
    "if a:\n    for i in j:\n        x()  # ?\nelse:\n    if b:\n        y()  # ?": (True, (1, 1)),
    "if a:\n    x()  # ?\nif a:\n    pass\nelse:\n    y()  # ?": (False, (1, 3)),
    "def f():\n    x()  # ?\ny()  # ?": (False, None),
    "try:\n    x()  # ?\nexcept E:\n    y()  # ?": (False, (1, 1)),
}


@pytest.mark.parametrize("text", PLACES)
def test_places(text: str) -> None:
    ctx = context(text)
    one, other = marked(ctx.m)
    apart, together = PLACES[text]
    assert exclusive(ctx, one, other) == exclusive(ctx, other, one) == apart
    pair = common(ctx, one, other)
    assert (None if pair is None else (pair[0].lineno, pair[1].lineno)) == together

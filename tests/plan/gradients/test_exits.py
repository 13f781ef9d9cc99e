"""Ways out between ``unscale_`` and ``update`` get an ``update`` of their own."""

from __future__ import annotations

import ast

import pytest

from .test_unscaling import decided, loop, shown

SKIPS = "if bad(loss):\n    continue\n"
STEP = "optimizer.step()\n"


def left(body: str) -> list[str]:
    return [row for row in shown(loop(body)) if row.startswith("update before")]


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("BACK\nclip_grad_(params, 1)\n" + SKIPS + STEP, 1),
        ("BACK\nclip_grad_(params, 1)\n" + SKIPS + SKIPS + STEP, 2),
        # what is read in an arm is unscaled ahead of it where the step is not in one
        ("BACK\nif i > 9:\n    clip_grad_(params, 1)\n" + SKIPS + STEP, 1),
        # where nothing was unscaled on the way, `update` would be an error
        ("BACK\n" + SKIPS + "clip_grad_(params, 1)\n" + STEP, 0),
        ("BACK\nif i % 4 == 0:\n    clip_grad_(params, 1)\n" + SKIPS + "if i % 4 == 0:\n    optimizer.step()\n", 0),
        # the arm that scales, beside one that does not: on the other way there is nothing to update
        ("if h:\n    BACK\n    clip_grad_(params, 1)\nelse:\n    loss.backward()\n" + SKIPS + STEP, 1),
        ("if h:\n    BACK\n    clip_grad_(params, 1)\nelse:\n    loss = 0\n" + SKIPS + STEP, 0),
        # a loop between them that is left goes on to the step
        ("BACK\nclip_grad_(params, 1)\nfor p in params:\n    if p.ndim < 2:\n        continue\n    log(p)\n" + STEP, 0),
        ("BACK\nfor p in params:\n    if p.grad is None:\n        continue\n    p.grad.mul_(2)\n" + STEP, 0),
        # `update` stands behind the step
        ("BACK\nclip_grad_(params, 1)\n" + STEP + SKIPS, 0),
    ],
)
def test_a_way_out_behind_unscale(body: str, number: int) -> None:
    assert left(body) == ["update before continue"] * number


def test_where_only_rounds_with_a_step_unscale_only_these_update() -> None:
    body = "BACK\nnorm = clip_grad_(params, 1)\nif bad(norm):\n    continue\nif i % 4 == 0:\n    optimizer.step()\n"
    body = body.replace("clip_grad_(", "torch.nn.utils.clip_grad_norm_(")
    found = decided(loop(body + "    optimizer.zero_grad()\n")).early_exits
    assert [(ast.unparse(leaves), ast.unparse(early.test)) for leaves, early in found] == [("continue", "i % 4 == 0")]


OWN = """\
class Bad(RuntimeError): ...
def check(params):
    if torch.nn.utils.clip_grad_norm_(params, 1) > 9:
        raise Bad
"""
TRIED = """\
try:
    BACK
    check(params)
except CAUGHT:
    print(x)
    ENDS
optimizer.step()
"""


@pytest.mark.parametrize(
    ("caught", "ends", "top", "number"),
    [
        ("Bad", "continue", OWN, 1),
        ("Bad as bad", "continue", OWN, 1),
        ("RuntimeError", "continue", OWN, 0),  # the backward may raise one
        ("(Bad, RuntimeError)", "continue", OWN, 0),
        ("Bad", "pass", OWN, 0),  # the step follows
        ("Bad", "continue", OWN + "def other(): raise Bad()\n", 0),
        ("Bad", "continue", OWN + "class Worse(Bad): ...\n", 0),
    ],
)
def test_what_a_helper_raises_behind_unscale(caught: str, ends: str, top: str, number: int) -> None:
    body = loop(TRIED.replace("CAUGHT", caught).replace("ENDS", ends))
    found = decided(body.replace("from apex import amp\n", f"from apex import amp\n{top}", 1)).exits
    assert [ast.unparse(place) for place, _ in found] == ["print(x)"] * number


def test_an_exception_is_a_way_out_where_it_is_caught() -> None:
    raised = "BACK\nclip_grad_(params, 1)\nif bad(loss):\n    raise E\n" + STEP
    assert left(raised) == []
    tried = "try:\n" + "".join(f"    {line}\n" for line in raised.splitlines()) + "except E:\n    pass\n"
    assert left(tried) == ["update before raise E"]

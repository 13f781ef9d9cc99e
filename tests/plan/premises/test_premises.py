"""What has to hold before a unit is decided, and what is named where it half holds."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from migrate.plan.decide import decide
from migrate.units.unit import Manual, Unit
from tests.asking import context, unit

TOP = """\
import torch
from apex import amp
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""
BACK = "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\n"


def decided(text: str) -> Unit:
    ctx = context(text)
    one = unit(ctx)
    decide(ctx, one, [])
    return one


def loop(body: str, above: str = "") -> str:
    """A loop that makes a loss, then ``body``, in which BACK stands for the scaled backward."""
    rows = ["loss = model(x)", "optimizer.zero_grad()"]
    for row in dedent(body).strip().splitlines():
        space = row[: len(row) - len(row.lstrip())]
        rows += [space + line for line in BACK.splitlines()] if row.strip() == "BACK" else [row]
    return TOP + dedent(above) + "for x, y in loader:\n" + indent("\n".join(rows), "    ") + "\n"


MANUAL = {
    "a backward under a condition, a step in a loop of its own": (
        loop("if good(loss):\n    BACK\nfor one in [optimizer]:\n    one.step()"),
        "the backward is left out where `good(loss)` does not hold, while the step",
    ),
    "a backward under a condition, what steps gives something back": (
        loop("if good(loss):\n    BACK\nseen = optimizer.step()"),
        "the backward is left out where `good(loss)` does not hold, while the step",
    ),
    "a backward under a condition, no loop": (
        f"{TOP}loss = model(x)\nif good(loss):\n{indent(BACK, '    ')}optimizer.step()\n",
        "the backward is left out where `good(loss)` does not hold, while the step",
    ),
    "a backward in the other arm": (
        f"{TOP}loss = model(x)\nif skip(loss):\n    pass\nelse:\n{indent(BACK, '    ')}optimizer.step()\n",
        "the backward is left out where `skip(loss)` holds, while the step",
    ),
    "gradients that the other arm sets": (
        loop("if good(loss):\n    BACK\nelse:\n    model.weight.grad = g\nseen = optimizer.step()"),
        "sets gradients by hand where this backward is left out, and the step",
    ),
    "entered by hand": (
        loop("s = amp.scale_loss(loss, optimizer)\ns.__enter__()\noptimizer.step()"),
        "is not entered by a with statement",
    ),
    "entered under two names": (
        loop(
            "c = amp.scale_loss(loss, optimizer) if fp16 else nullcontext(loss)\nwith c as s:\n    s.backward()\n"
            "with c as t:\n    t.backward()\noptimizer.step()"
        ),
        "is not entered by a with statement",
    ),
    "kept somewhere": (
        loop(
            "c = amp.scale_loss(loss, optimizer) if fp16 else nullcontext(loss)\nkeep(c)\n"
            "with c as s:\n    s.backward()\noptimizer.step()"
        ),
        "is not entered by a with statement",
    ),
    "a stack that is handed on": (
        loop(
            "with ExitStack() as stack:\n    s = stack.enter_context(amp.scale_loss(loss, optimizer))\n"
            "    s.backward()\n    keep(stack)\noptimizer.step()"
        ),
        "is handed on",
    ),
    "a step before the stack is left": (
        loop(
            "with ExitStack() as stack:\n    s = stack.enter_context(amp.scale_loss(loss, optimizer))\n"
            "    s.backward()\n    optimizer.step()"
        ),
        "ran on gradients that were still scaled",
    ),
    "no plain name": (
        loop("with amp.scale_loss(loss, optimizer) as self.s:\n    self.s.backward()\noptimizer.step()"),
        "not bound to a plain name",
    ),
    "nothing uses the scaled loss": (
        loop("with amp.scale_loss(loss, optimizer) as s:\n    log(1)\noptimizer.step()"),
        "nothing in the scale_loss block uses the scaled loss",
    ),
    "another loss in the block": (
        loop("with amp.scale_loss(loss, optimizer) as s:\n    s.backward()\n    loss.backward()\noptimizer.step()"),
        "runs on a loss that is not scaled",
    ),
    "a step in the block": (
        loop("with amp.scale_loss(loss, optimizer) as s:\n    s.backward()\n    optimizer.step()"),
        "ran on gradients that were still scaled",
    ),
    "zero_grad in the block": (
        loop("with amp.scale_loss(loss, optimizer) as s:\n    optimizer.zero_grad()\n    s.backward()"),
        "ran on gradients that were still scaled",
    ),
    "no step": (loop("BACK"), "no step() of this optimizer was found"),
    "no loss": (TOP + "for x in y:\n    train(model, optimizer, x)\n", "is not scaled in this file"),
    "a backward of another optimizer beside it": (
        loop("other(x).backward()\nBACK\noptimizer.step()\nsecond.step()"),
        "runs beside a scaled backward of the same step",
    ),
    "a native scaler beside it": (
        loop("if native:\n    scaler.scale(loss).backward()\nBACK\noptimizer.step()"),
        "Apex stand side by side",
    ),
    "a method that is replaced on its object": (
        TOP
        + "class Trainer:\n    def update(self, x):\n        loss = model(x)\n        optimizer.zero_grad()\n"
        + indent(BACK, "        ")
        + "        optimizer.step()\n"
        + "trainer = Trainer()\nsetattr(trainer, 'update', types.MethodType(plain, trainer))\n"
        + "for x in loader:\n    trainer.update(x)\n",
        "update(), which has a part in training, is replaced here",
    ),
    "another module of that name": (
        loop("BACK\noptimizer.step()").replace(
            "from apex import amp\n", "try:\n    from apex import amp\nexcept E:\n    from torch.cuda import amp\n"
        ),
        "may be Apex or another module here",
    ),
}


@pytest.mark.parametrize("case", MANUAL)
def test_by_hand(case: str) -> None:
    text, why = MANUAL[case]
    with pytest.raises(Manual) as missing:
        decided(text)
    assert why in missing.value.message


#: A module and what is named, a part of each.
NAMED = {
    "nothing": (loop("BACK\noptimizer.step()"), []),
    "several optimizers share a loss": (
        loop("with amp.scale_loss(loss, [optimizer, second]) as s:\n    s.backward()\noptimizer.step()\nsecond.step()")
        .replace("\nmodel, optimizer = amp.initialize(model, optimizer", "\nsecond = SGD(2)\n"
                 "model, (optimizer, second) = amp.initialize(model, [optimizer, second]"),
        ["several optimizers share this loss"],
    ),
    "a list of one": (loop("with amp.scale_loss(loss, [optimizer]) as s:\n    s.backward()\noptimizer.step()"), []),
    "a plain backward of the same optimizer": (
        loop("BACK\nmodel(y).backward()\noptimizer.step()"),
        ["was not scaled and now is"],
    ),
    "the other arm of the guard": (
        loop("if fp16:\n    BACK\nelse:\n    loss.backward()\noptimizer.step()").replace(
            "\nmodel, optimizer = amp", "\nif fp16:\n    model, optimizer = amp"
        ),
        [],
    ),
    "behind a guard that leaves": (
        loop("if not fp16:\n    loss.backward()\n    optimizer.step()\n    continue\nBACK\noptimizer.step()").replace(
            "\nmodel, optimizer = amp", "\nif fp16:\n    model, optimizer = amp"
        ),
        [],
    ),
    "a step under the condition of the backward, too": (
        loop("if good(loss):\n    BACK\nlog(loss)\nif good(loss) and i % 2:\n    optimizer.step()"),
        [],
    ),
    "in both arms": (
        loop("if good(loss):\n    BACK\nelse:\n    BACK\noptimizer.step()"),
        [],
    ),
    "with one before": (
        loop("BACK\nif good(loss):\n    BACK\noptimizer.step()"),
        [],
    ),
    "trained elsewhere without amp": (
        loop("BACK\noptimizer.step()", "def pretrain(net, o):\n    net(x).backward()\n    o.step()\n"),
        ["pretrain() trains without amp"],
    ),
    "before amp": (
        loop("BACK\noptimizer.step()").replace(
            "model = build()", "def pretrain(net):\n    net(x).backward()\npretrain(other)\nmodel = build()"
        ),
        [],
    ),
}


@pytest.mark.parametrize("case", NAMED)
def test_named(case: str) -> None:
    text, answer = NAMED[case]
    reviews = [difference for _, _, difference in decided(text).reviews]
    assert len(reviews) == len(answer), reviews
    assert all(part in said for part, said in zip(answer, reviews, strict=True)), reviews


def test_what_only_evaluates_needs_no_loss() -> None:
    one = decided(TOP + "model.load_state_dict(s)\noptimizer.load_state_dict(t)\nfor x in y:\n    print(model(x))\n")
    assert not one.reviews and not one.steps


def test_what_trains_without_a_scale_needs_none() -> None:
    one = decided(TOP + "for x in y:\n    loss = model(x)\n    loss.backward()\n    optimizer.step()\n")
    assert not one.steps


def test_a_backward_of_its_own_stands_ahead_of_a_step() -> None:
    inner = ["loss = model(x)", "optimizer.zero_grad()", *BACK.splitlines(), "optimizer.step()"]
    first = ["if short:", "    for x in y:", *(f"        {row}" for row in inner), "    raise SystemExit"]
    second = ["for x in y:", *(f"    {row}" for row in inner)]
    one = decided(TOP + "\n".join([*first, *second]) + "\n")
    assert not one.reviews and len(one.steps) == 2


@pytest.mark.parametrize("under", ["good(loss)", "i % 2 == 0", "good(loss) or last"])
def test_a_step_without_a_backward_waits_for_one(under: str) -> None:
    text = loop(f"if good(loss):\n    BACK\nif {under}:\n    optimizer.step()")
    ctx = context(text)
    plan = decide(ctx, unit(ctx), [])
    if under == "good(loss)":
        assert not plan.schedule.pending  # the step is left out with it
        return
    (flag,) = plan.schedule.pending
    assert flag.name == "pending" and ctx.m.src(flag.begin).startswith("for x, y in loader")
    assert [ctx.m.src(one) for one in flag.cleared] == ["optimizer.zero_grad()"]
    assert any("else the optimizer does, as under Apex" in said for _, _, said in plan.unit.infos)


@pytest.mark.parametrize(
    ("clears", "flagged"),
    [
        ("model.zero_grad()", True),
        ("model.body.zero_grad()", False),
        ("teacher.zero_grad()", False),
        ("done = model.zero_grad()", False),
    ],
)
def test_what_clears_ahead_of_a_step_without_a_backward(clears: str, flagged: bool) -> None:
    """Only what clears all that the optimizer steps, for sure, says that none waits."""
    text = loop(f"if good(loss):\n    BACK\nif i % 2:\n    {clears}\noptimizer.step()")
    ctx = context(text)
    if not flagged:
        with pytest.raises(Manual, match="the backward is left out"):
            decide(ctx, unit(ctx), [])
        return
    (flag,) = decide(ctx, unit(ctx), []).schedule.pending
    assert [ctx.m.src(one) for one in flag.cleared] == ["optimizer.zero_grad()", clears]


RUNNER = """\
from apex import amp
from mmcv.runner import NAMES


class DistOptimizerHook(Base):
    def after_train_iter(self, runner):
        with amp.scale_loss(runner.outputs["loss"], runner.optimizer) as scaled_loss:
            scaled_loss.backward()
        runner.optimizer.step()
"""


@pytest.mark.parametrize(("names", "named"), [("HOOKS, OptimizerHook", True), ("load_checkpoint", False)])
def test_a_model_that_mmcv_runs_is_named(names: str, named: bool) -> None:
    with pytest.raises(Manual) as found:
        decided(RUNNER.replace("NAMES", names))
    assert ("mmcv's runner" in found.value.message) is named


def test_a_clip_of_the_arm_that_goes_is_not_said_to_stay() -> None:
    """Both arms clip what amp lists, under the step's condition from now on: one clip moves, the other goes."""
    clip = "    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)\n"
    arms = f"if fp16:\n{indent(BACK, '    ')}{clip}else:\n    loss.backward()\n{clip}"
    body = f"loss = model(x).mean()\n{arms}if i % 4 == 3:\n    optimizer.step()\n    optimizer.zero_grad()\n"
    top = TOP.replace("model, optimizer = amp", "if fp16:\n    model, optimizer = amp")
    one = decided(f"{top}for i, x in enumerate(data):\n{indent(body, '    ')}")
    assert [rule for _, rule, _ in one.reviews] == ["APX052", "APX052"]


def test_more_calls_of_initialize_than_are_followed() -> None:
    *top, call = TOP.splitlines(keepends=True)
    arms = "".join(f"{'elif' if i else 'if'} args.kind == {i}:\n    {call}" for i in range(101))
    with pytest.raises(Manual, match="more than 100 calls"):
        decided("".join(top) + arms + loop("BACK\noptimizer.step()").removeprefix(TOP))

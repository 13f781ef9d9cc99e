"""Where gradients are unscaled, and where update() goes."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from migrate.plan.gradients import unscaling as gradients
from migrate.plan.gradients import updates
from migrate.plan.schedule import Schedule
from migrate.units import steps
from migrate.units.unit import Manual
from tests.asking import context, unit

TOP = """\
import torch
from torch.nn.utils import clip_grad_norm_
from apex import amp
model, optimizer = amp.initialize(build(), torch.optim.SGD(params, lr=0.1))
"""
TWO = """\
import torch
from apex import amp
(G, D), (opt_G, opt_D) = amp.initialize([net(1), net(2)], [SGD(1), SGD(2)])
"""
BACK = "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\n"


def decided(text: str) -> Schedule:
    ctx = context(text)
    one = unit(ctx)
    one.steps = steps.find_steps(ctx, one)
    return gradients.decide(ctx, one)


def loop(body: str) -> str:
    """A module with a loop of ``body``, in which BACK stands for the scaled backward; gradients are cleared at the
    end of each round if nothing in it does."""
    if "zero_grad" not in body and ".grad = None" not in body:
        body += "\noptimizer.zero_grad()"
    inner = "".join(
        line.replace("BACK", "") + "\n" if "BACK" not in line else indent(BACK, line[: line.index("BACK")])
        for line in dedent(body).strip().splitlines()
    )
    return TOP + "for i, (x, y) in enumerate(loader):\n" + indent(inner, "    ")


def shown(text: str) -> list[str]:
    """What is decided, in the order of the lines."""
    one = decided(text)
    rows = text.splitlines()

    def at(stmt: object) -> str:
        return rows[stmt.lineno - 1].strip()  # type: ignore[attr-defined]

    found = [(u.before.lineno, f"unscale before {at(u.before)}") for u in one.unscales]
    for step in one.updates:
        behind = one.updated_behind(step)
        found.append((behind.lineno, f"update behind {at(behind)}"))
    found += [(leaves.lineno, f"update before {at(leaves)}") for leaves, _ in one.exits]
    found += [(clip.lineno, f"{at(clip)} moves before {at(step)}") for clip, step in one.moved.items()]
    found += [(clip.lineno, f"{at(clip)} keeps its threshold") for clip in one.scaled_clips]
    found += [(call.lineno, f"{at(call)} counts in the scale") for call in one.rescaled_clips]
    return [row for _, row in sorted(found)]


PLAIN = {
    "no reader": ("BACK\noptimizer.step()", ["update behind optimizer.step()"]),
    "a clip": (
        "BACK\nclip_grad_(params, 1)\noptimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "two readers": (
        "BACK\nclip_grad_(params, 1)\nclip_grad_(params, 2)\noptimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "a reader of a loop": (
        "BACK\nfor p in params:\n    p.grad.mul_(2)\noptimizer.step()",
        ["unscale before for p in params:", "update behind optimizer.step()"],
    ),
    "a reader under a condition": (
        "BACK\nif bound:\n    clip_grad_(params, bound)\noptimizer.step()",
        ["unscale before clip_grad_(params, bound)", "update behind optimizer.step()"],
    ),
    "readers in both arms": (
        "BACK\nif bound:\n    clip_grad_(params, bound)\nelse:\n    print(p.grad)\noptimizer.step()",
        ["unscale before if bound:", "update behind optimizer.step()"],
    ),
    "readers in both arms of one arm": (
        "BACK\nif bound:\n    if half:\n        clip_grad_(params, bound)\n    else:\n        print(p.grad)\n"
        "optimizer.step()",
        ["unscale before if half:", "update behind optimizer.step()"],
    ),
    "a reader under a condition and one behind it": (
        "BACK\nif bound:\n    clip_grad_(params, bound)\nprint(p.grad)\noptimizer.step()",
        ["unscale before if bound:", "update behind optimizer.step()"],
    ),
    "a reader under a condition and code that may read": (
        "BACK\nif bound:\n    clip_grad_(params, bound)\nlook(model)\noptimizer.step()",
        ["unscale before if bound:", "update behind optimizer.step()"],
    ),
    "a reader under a condition and a step under another": (
        "BACK\nif bound:\n    clip_grad_(params, bound)\nif good:\n    optimizer.step()\noptimizer.zero_grad()",
        ["unscale before if bound:", "update behind if good:"],
    ),
    "a reader under a condition and a way out": (
        "BACK\nif bound:\n    clip_grad_(params, bound)\nif bad:\n    continue\noptimizer.step()",
        ["unscale before if bound:", "update before continue", "update behind optimizer.step()"],
    ),
    "a reader before the backward of the same round": (
        "print(p.grad)\nBACK\noptimizer.step()\noptimizer.zero_grad()",
        ["update behind optimizer.step()"],
    ),
    "a reader behind the step": (
        "BACK\noptimizer.step()\nprint(p.grad)",
        ["update behind optimizer.step()"],
    ),
    "a reader that only clears": (
        "BACK\noptimizer.step()\nfor p in q:\n    p.grad = None",
        ["update behind optimizer.step()"],
    ),
    "the step under a condition": (
        "BACK\nif i % 2:\n    optimizer.step()\n    optimizer.zero_grad()",
        ["update behind optimizer.step()"],
    ),
    "a clip beside it": (
        "BACK\nif i % 2:\n    clip_grad_(params, 1)\n    optimizer.step()\n    optimizer.zero_grad()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "a clip above the condition moves": (
        "BACK\nclip_grad_(params, 1)\nif i % 2:\n    optimizer.step()\n    optimizer.zero_grad()",
        [
            "clip_grad_(params, 1) moves before optimizer.step()",
            "unscale before optimizer.step()",
            "update behind optimizer.step()",
        ],
    ),
    "a norm above the condition": (
        "BACK\nnorm = clip_grad_norm_(params, 1)\nif i % 2:\n    optimizer.step()\n    optimizer.zero_grad()",
        ["norm = clip_grad_norm_(params, 1) counts in the scale", "update behind optimizer.step()"],
    ),
    "cleared in each round": (
        "optimizer.zero_grad()\nBACK\nnorm = clip_grad_norm_(params, 1)\nif norm < 9:\n    optimizer.step()",
        ["unscale before norm = clip_grad_norm_(params, 1)", "update behind if norm < 9:"],
    ),
    "cleared behind the condition": (
        "BACK\nnorm = clip_grad_norm_(params, 1)\nif norm < 9:\n    optimizer.step()\noptimizer.zero_grad()",
        ["unscale before norm = clip_grad_norm_(params, 1)", "update behind if norm < 9:"],
    ),
    "a norm in the condition of the step": (
        "BACK\nif clip_grad_norm_(params, 1) < 9:\n    optimizer.step()\noptimizer.zero_grad()",
        ["unscale before if clip_grad_norm_(params, 1) < 9:", "update behind if clip_grad_norm_(params, 1) < 9:"],
    ),
    "a norm in an elif": (
        "optimizer.zero_grad()\nBACK\nif i < 3:\n    log(i)\n"
        "elif clip_grad_norm_(params, 1) < 9:\n    optimizer.step()",
        ["unscale before if i < 3:", "update behind if i < 3:"],
    ),
    "a norm above steps in some of the arms": (
        "BACK\nnorm = clip_grad_norm_(params, 1)\nif i < 3:\n    optimizer.step()\n"
        "elif norm < 9:\n    optimizer.step()\noptimizer.zero_grad()",
        ["unscale before norm = clip_grad_norm_(params, 1)"] * 2 + ["update behind if i < 3:"],
    ),
    "a norm above a step in each arm": (
        "BACK\nif clip_grad_norm_(params, 1) < 9:\n    optimizer.step()\nelse:\n    halve()\n    optimizer.step()",
        ["unscale before if clip_grad_norm_(params, 1) < 9:"] * 2 + ["update behind optimizer.step()"] * 2,
    ),
    "a step behind and": (
        "optimizer.zero_grad()\nBACK\nnorm = clip_grad_norm_(params, 1)\nnorm < 9 and optimizer.step()",
        ["unscale before norm = clip_grad_norm_(params, 1)", "update behind norm < 9 and optimizer.step()"],
    ),
    "a step in a comprehension": (
        "BACK\nclip_grad_(params, 1)\n[o.step() for o in [optimizer]]",
        ["unscale before clip_grad_(params, 1)", "update behind [o.step() for o in [optimizer]]"],
    ),
    "the same condition twice": (
        "BACK\nif i % 2:\n    clip_grad_(params, 1)\nif i % 2:\n    optimizer.step()\n    optimizer.zero_grad()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "a clip inside the block": (
        "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\n    clip_grad_(params, 1)\n"
        "optimizer.step()",
        ["clip_grad_(params, 1) keeps its threshold", "update behind optimizer.step()"],
    ),
    "a step in each arm": (
        "BACK\nif i % 2:\n    clip_grad_(params, 1)\n    optimizer.step()\nelse:\n    optimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()", "update behind optimizer.step()"],
    ),
    "a reader above a step in each arm": (
        "BACK\nclip_grad_(params, 1)\nif i % 2:\n    optimizer.step()\nelse:\n    f()\n    optimizer.step()",
        ["unscale before clip_grad_(params, 1)"] * 2 + ["update behind optimizer.step()"] * 2,
    ),
    "the arm without amp": (
        "if fp16:\n    BACK\n    clip_grad_(params, 1)\nelse:\n    loss.backward()\n    clip_grad_(params, 1)\n"
        "optimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "a loop over optimizers": (
        "BACK\nfor o in [optimizer]:\n    o.step()",
        ["update behind for o in [optimizer]:"],
    ),
    # ways out
    "continue": (
        "BACK\nclip_grad_(params, 1)\nif bad(loss):\n    optimizer.zero_grad()\n    continue\noptimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update before continue", "update behind optimizer.step()"],
    ),
    "continue above": (
        "BACK\nif bad(loss):\n    optimizer.zero_grad()\n    continue\nclip_grad_(params, 1)\noptimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "break": (
        "BACK\nclip_grad_(params, 1)\nif bad(loss):\n    break\noptimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update before break", "update behind optimizer.step()"],
    ),
    "of an inner loop": (
        "BACK\nclip_grad_(params, 1)\nfor z in x:\n    continue\noptimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "raise": (
        "BACK\nclip_grad_(params, 1)\nif bad(loss):\n    raise E\noptimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "raise that is caught": (
        "try:\n    BACK\n    clip_grad_(params, 1)\n    if bad(loss):\n        raise E\n    optimizer.step()\n"
        "except E:\n    pass",
        ["unscale before clip_grad_(params, 1)", "update before raise E", "update behind optimizer.step()"],
    ),
    # code that is not here
    "an unknown reader": (
        "BACK\ninspect(model)\noptimizer.step()",
        ["unscale before inspect(model)", "update behind optimizer.step()"],
    ),
    "an unknown reader in a loop": (
        "BACK\nfor hook in hooks:\n    hook(model)\noptimizer.step()",
        ["unscale before for hook in hooks:", "update behind optimizer.step()"],
    ),
    "an unknown reader in a round of backwards": (
        "for z in x:\n    BACK\n    inspect(model)\noptimizer.step()",
        ["update behind optimizer.step()"],
    ),
    "behind a reader": (
        "BACK\nclip_grad_(params, 1)\ninspect(model)\noptimizer.step()",
        ["unscale before clip_grad_(params, 1)", "update behind optimizer.step()"],
    ),
    "above a condition": (
        "BACK\ninspect(model)\nif i % 2:\n    optimizer.step()\n    optimizer.zero_grad()",
        ["update behind optimizer.step()"],
    ),
}


@pytest.mark.parametrize("case", PLAIN)
def test_one_optimizer(case: str) -> None:
    body, answer = PLAIN[case]
    assert shown(loop(body)) == answer


TWICE = {
    "each behind its own backward": (
        """
        with amp.scale_loss(a, opt_D) as s:
            s.backward()
        opt_D.step()
        with amp.scale_loss(b, opt_G) as s:
            s.backward()
        opt_G.step()
        """,
        ["update behind opt_D.step()", "update behind opt_G.step()"],
    ),
    "both behind both": (
        """
        with amp.scale_loss(a, opt_D) as s:
            s.backward()
        with amp.scale_loss(b, opt_G) as s:
            s.backward()
        opt_D.step()
        opt_G.step()
        """,
        ["update behind opt_G.step()"],
    ),
    "one waits": (
        """
        with amp.scale_loss(a, opt_D) as s:
            s.backward()
        with amp.scale_loss(b, opt_G) as s:
            s.backward()
        opt_D.step()
        opt_D.zero_grad()
        with amp.scale_loss(c, opt_D) as s:
            s.backward()
        opt_D.step()
        opt_G.step()
        """,
        ["update behind opt_D.step()", "update behind opt_D.step()", "update behind opt_G.step()"],
    ),
    "one loss": (
        """
        with amp.scale_loss(a, [opt_D, opt_G]) as s:
            s.backward()
        opt_D.step()
        opt_G.step()
        """,
        ["update behind opt_G.step()"],
    ),
    "one more rarely": (
        """
        with amp.scale_loss(a, opt_D) as s:
            s.backward()
        opt_D.step()
        opt_D.zero_grad()
        with amp.scale_loss(b, opt_G) as s:
            s.backward()
        if i % 4 == 0:
            opt_G.step()
            opt_G.zero_grad()
        """,
        ["update behind opt_D.step()", "update behind opt_G.step()"],
    ),
}


def two(body: str) -> str:
    body = dedent(body)
    cleared = "" if "zero_grad" in body else "opt_D.zero_grad()\nopt_G.zero_grad()\n"
    return TWO + "for i, x in enumerate(y):\n" + indent(body + cleared, "    ")


@pytest.mark.parametrize("case", TWICE)
def test_two_optimizers(case: str) -> None:
    body, answer = TWICE[case]
    assert shown(two(body)) == answer


def test_optimizers_that_step_apart_have_scalers_of_their_own() -> None:
    body, _ = TWICE["one more rarely"]
    one = decided(two(body))
    assert [scaler.name for scaler in one.scalers] == ["scaler_D", "scaler_G"]
    body, _ = TWICE["both behind both"]
    one = decided(two(body))
    assert [scaler.name for scaler in one.scalers] == ["scaler"]


MANUAL = {
    "gradients changed after every backward": (
        loop("BACK\nfor p in q:\n    p.grad.mul_(2)\nif i % 2:\n    optimizer.step()\n    optimizer.zero_grad()"),
        "gradients are read after every backward",
    ),
    "a norm in the condition of the step, which gradients outlive": (
        loop("BACK\nif clip_grad_norm_(params, 1) > 9:\n    optimizer.step()\n    optimizer.zero_grad()"),
        "gradients are read after every backward",
    ),
    "two that share their parameters": (
        "from apex import amp\nm = Net()\na, b = SGD(m.parameters()), SGD(m.parameters())\n"
        "m, (a, b) = amp.initialize(m, [a, b])\nfor x in y:\n"
        "    with amp.scale_loss(loss, [a, b]) as s:\n        s.backward()\n    a.step()\n    b.step()\n"
        "    m.zero_grad()\n",
        "belongs to two optimizers",
    ),
    "a shared loss and steps apart": (
        TWO + "for i, x in enumerate(y):\n    with amp.scale_loss(a, [opt_D, opt_G]) as s:\n        s.backward()\n"
        "    opt_D.step()\n    opt_D.zero_grad()\n    if i % 2:\n        opt_G.step()\n        opt_G.zero_grad()\n",
        "optimizers that share a loss step under different conditions",
    ),
}


@pytest.mark.parametrize("case", MANUAL)
def test_by_hand(case: str) -> None:
    text, why = MANUAL[case]
    with pytest.raises(Manual) as missing:
        decided(text)
    assert why in missing.value.message


@pytest.mark.parametrize(
    ("optimizer", "name"),
    [
        ("optimizer", "scaler"),
        ("optimizer_G", "scaler_G"),
        ("self.optD", "scaler_D"),
        ("g_optim", "scaler_g"),
        ("self.adam", "scaler_adam"),
        ("optimizers[0]", "scaler_s[0]"),
        ("a[0]", "scaler"),
    ],
)
def test_names(optimizer: str, name: str) -> None:
    assert updates.scaler_name(optimizer) == name


SAM = """\
import torch
from apex import amp
class SAM(torch.optim.Optimizer):
    def first_step(self):
        for p in self.params:
            p.add_(p.grad)
    def second_step(self):
        self.base.step()
    def last_step(self):
        LAST
    def step(self): ...
optimizer = SAM(params)
model, optimizer = amp.initialize(build(), optimizer)
for x in loader:
    optimizer.zero_grad()
    with amp.scale_loss(model(x), optimizer) as scaled:
        scaled.backward()
    optimizer.first_step()
"""


def test_a_step_of_the_optimizers_own_gets_its_gradients_unscaled() -> None:
    text = SAM.replace("LAST", "pass")
    assert shown(text) == ["unscale before optimizer.first_step()", "update behind optimizer.first_step()"]
    clipped = "torch.nn.utils.clip_grad_norm_(params, 1)\n    optimizer.second"
    assert shown(text.replace("optimizer.first", clipped)) == [
        "unscale before torch.nn.utils.clip_grad_norm_(params, 1)",
        "update behind optimizer.second_step()",
    ]


@pytest.mark.parametrize("call", ["optimizer.last_step()", "print(optimizer.first_step())"])
def test_one_that_takes_the_ordinary_step_or_gives_something(call: str) -> None:
    with pytest.raises(Manual) as missing:
        decided(SAM.replace("optimizer.first_step()", call).replace("LAST", "self.step()"))
    assert "would see gradients that are still scaled" in missing.value.message


def test_a_part_of_the_ordinary_step() -> None:
    """Apex left the whole of ``step`` out, and a scaler does: what it calls of the same object is no step beside it."""
    text = SAM.replace("LAST", "pass").replace("def step(self): ...", "def step(self):\n        self.second_step()")
    text = text.replace("optimizer.first_step()", "optimizer.step()")
    assert shown(text) == ["update behind optimizer.step()"]


AWP = """\
import torch
from apex import amp
model, optimizer = amp.initialize(build(), torch.optim.SGD(params, lr=0.1))
def move():
    for p in model.parameters():
        p.data.add_(p.grad / SIZE)
def again(loss):
    move()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
for x in loader:
    optimizer.zero_grad()
    with amp.scale_loss(model(x), optimizer) as scaled:
        scaled.backward()
    if x > 1:
        again(model(x))
    optimizer.step()
"""


@pytest.mark.parametrize(("size", "free"), [("p.grad.norm()", True), ("2.0", False)])
def test_what_reads_ahead_of_a_second_backward_in_the_function_that_runs_it(size: str, free: bool) -> None:
    ctx = context(AWP.replace("SIZE", size))
    one = unit(ctx)
    one.steps = steps.find_steps(ctx, one)
    assert bool(gradients.decide(ctx, one).scale_free) is free
    assert any(rule == "APX055" for _, rule, _ in one.reviews) is free


HELPER = """\
from apex import amp
opts = {"g": SGD(1), "d": SGD(2)}
(G, D), (opts["g"], opts["d"]) = amp.initialize([net(1), net(2)], [opts["g"], opts["d"]])
def backward(loss, name):
    CHANGED
    with amp.scale_loss(loss, opts[name]) as scaled:
        scaled.backward()
for i, x in enumerate(loader):
    opts["d"].zero_grad()
    backward(D(x), "d")
    opts["d"].step()
    if i % 2:
        opts["g"].zero_grad()
        backward(D(G(x)), GIVEN)
        opts["g"].step()
"""


def test_a_helper_takes_the_optimizer_from_a_table_by_a_name() -> None:
    text = HELPER.replace("GIVEN", '"g"').replace("    CHANGED\n", "")
    assert shown(text) == ['update behind opts["d"].step()', 'update behind opts["g"].step()']
    assert len(decided(text).scalers) == 1


@pytest.mark.parametrize(
    ("given", "changed"), [("name", ""), ('"g"', "    name = name.lower()\n"), ('f"{x}"', ""), ("*('g',)", "")]
)
def test_a_name_that_is_not_known_may_mean_either(given: str, changed: str) -> None:
    with pytest.raises(Manual) as missing:
        decided(HELPER.replace("GIVEN", given).replace("    CHANGED\n", changed))
    assert "optimizers that share a loss step under different conditions" in missing.value.message


# ---------------------------------------------------------------- behind a call that may step

MAY_STEP = TOP + """\
def run(loss, optimizer, update):
    CHANGED
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    if update:
        optimizer.step()


for i, (x, y) in enumerate(loader):
    now = i % 2 == 0
    run(model(x), optimizer, now)
    BETWEEN
    if ASKED:
        print(p.grad.norm())
        optimizer.zero_grad()
"""


def may_step(asked: str, between: str = "pass", changed: str = "pass") -> str:
    return MAY_STEP.replace("ASKED", asked).replace("BETWEEN", between).replace("CHANGED", changed)


def test_a_reader_that_asks_what_was_passed_for_the_condition_of_the_step() -> None:
    assert not decided(may_step("now")).unscales


@pytest.mark.parametrize(
    "text",
    [
        may_step("i"),
        may_step("not now"),
        may_step("now", between="now = True"),
        may_step("now", changed="update = False"),
        may_step("now").replace("if update:\n        optimizer.step()", "if update:\n        pass\n    else:\n"
                                "        optimizer.step()"),
        may_step("now").replace("        print", "        pass\n    else:\n        print"),
    ],
)  # fmt: skip
def test_a_reader_that_asks_something_else(text: str) -> None:
    with pytest.raises(Manual, match="another function"):
        decided(text)


def test_gradients_deleted_are_not_read() -> None:
    text = loop("BACK\nif (i + 1) % 4 == 0:\n    optimizer.step()\nelse:\n    del p.grad")
    assert not decided(text).unscales


INSIDE = """\
def train_step(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
        clip_grad_norm_(amp.master_params(optimizer), 1.0)


for x in batches:
    optimizer.zero_grad()
    train_step(model(x).sum(), optimizer)
    STEP
"""


def test_a_clip_in_the_block_and_the_step_in_the_caller() -> None:
    assert len(decided(TOP + INSIDE.replace("STEP", "optimizer.step()")).scaled_clips) == 1
    with pytest.raises(Manual, match="not taken every time"):
        decided(TOP + INSIDE.replace("STEP", "if x.last:\n        optimizer.step()"))

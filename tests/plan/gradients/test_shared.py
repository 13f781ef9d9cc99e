"""Steps behind one backward of optimizers that share parameters: found as if each pair of them had been looked at."""

from __future__ import annotations

import random
from collections.abc import Iterator
from textwrap import dedent

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from migrate.plan.blocks import common, exclusive
from migrate.plan.gradients.exits import clears
from migrate.plan.gradients.shared import Taken
from migrate.units import events, steps
from migrate.units.ownership import share_parameters
from migrate.units.unit import Context, Manual
from tests.asking import context, unit

MODULES = ("m", "m.body", "m.body.last", "m.head", "n")
NAMES = "abcdefg"


def program(body: str, made: dict[str, str]) -> str:
    """One backward for all optimizers, and a body behind it."""
    lines = "".join(f"{name} = SGD({module}.parameters())\n" for name, module in made.items())
    every = ", ".join(made)
    head = f"from apex import amp\nm, n = Net(), Net()\n{lines}(m, n), ({every}) = amp.initialize([m, n], [{every}])\n"
    block = f"    with amp.scale_loss(loss, [{every}]) as s:\n        s.backward()\n"
    return f"{head}for x in y:\n{block}{body}    m.zero_grad()\n    n.zero_grad()\n"


def found(text: str) -> str | None:
    """The line that says no."""
    ctx, taken = context(text), None
    try:
        for event in run(ctx):
            if event.what == "backward":
                taken = Taken(ctx)
            elif taken is not None:
                taken.check(event)
                taken.add(event)
    except Manual as said:
        return f"{said.node.lineno}: {said.message}"  # type: ignore[attr-defined]
    return None


def pair_by_pair(text: str) -> str | None:
    """The same, slowly."""
    ctx = context(text)
    taken: list[events.Event] = []
    for event in run(ctx):
        if event.what == "backward":
            taken = []
            continue
        for earlier in taken:
            pair = share_parameters(ctx, earlier.objects, event.objects)
            if earlier.objects & event.objects or pair is None or exclusive(ctx, earlier.node, event.node):
                continue
            assert earlier.step is not None and event.step is not None
            tops = common(ctx, earlier.step.stmt, event.step.stmt)
            assert tops is not None
            block, at = ctx.m.place[tops[0]]
            if not any(map(clears, block.body[at : ctx.m.index(tops[1])])):
                return f"{event.node.lineno}: `{ctx.m.src(pair)}`"  # type: ignore[attr-defined]
        taken.append(event)
    return None


def run(ctx: Context) -> Iterator[events.Event]:
    one = unit(ctx)
    one.steps = steps.find_steps(ctx, one)
    return events.events(ctx, one, ctx.m.files[0].scope)


def body(draw: random.Random, names: list[str], depth: int = 1) -> str:
    """Statements that step some optimizers, each once, and perhaps clear."""
    margin, lines = "    " * depth, ""
    while names:
        choice = draw.random()
        if choice < 0.3 and depth < 4:
            some = [names.pop() for _ in range(draw.randint(1, len(names)))]
            lines += f"{margin}if x.q{depth}:\n{body(draw, some, depth + 1)}"
            if draw.random() < 0.5:
                rest = [names.pop() for _ in range(draw.randint(0, len(names)))]
                lines += f"{margin}else:\n{body(draw, rest, depth + 1)}{margin}    pass\n"
        else:
            lines += f"{margin}{names.pop()}.step()\n"
        if draw.random() < 0.4:
            lines += f"{margin}m.zero_grad()\n"
    return lines


@pytest.mark.parametrize("seed", range(12))
def test_as_if_each_pair_was_looked_at(seed: int) -> None:
    draw = random.Random(seed)
    told: set[bool] = set()
    for _ in range(25):
        made = {name: draw.choice(MODULES) for name in NAMES[: draw.randint(2, 7)]}
        text = program(body(draw, [*made]), made)
        slowly, at_once = pair_by_pair(text), found(text)
        assert (at_once or "").startswith(slowly or "\n") if slowly else at_once is None, text
        told.add(slowly is None)
    assert told == {True, False}


def test_what_is_cleared_in_an_inner_block_is_cleared_for_those_in_it_alone() -> None:
    made = {"a": "m.body", "b": "m.head", "c": "m"}
    inner = "    if x:\n        b.step()\n        m.zero_grad()\n        c.step()\n"
    said = found(program(f"    a.step()\n{inner}", made))
    assert said is not None and "`m.body`" in said
    assert found(program(inner, {"b": "m.head", "c": "m"})) is None
    assert found(program(f"    a.step()\n    m.zero_grad()\n{inner}", made)) is None


def test_another_backward_gives_other_gradients() -> None:
    made = {"a": "m", "b": "m"}
    ctx = context(program("    a.step()\n    m.zero_grad()\n    b.step()\n", made))
    steps = [event for event in run(ctx) if event.what == "step"]
    taken = Taken(ctx)
    taken.add(steps[0])
    assert taken.of(steps[0].objects) == [steps[0]]
    taken.forget(steps[0].objects)
    assert not taken.of(steps[0].objects)
    taken.check(steps[1])


TWICE = """\
import torch
from apex import amp

def fit(model, optimizer, batches):
    for x in batches:
        loss = model(x).pow(2).mean()
BODY

def main(batches):
    model = torch.nn.Linear(3, 4)
    one = torch.optim.SGD(model.parameters(), lr=0.1)
    model, one = amp.initialize(model, one)
    fit(model, one, batches)
    two = torch.optim.SGD(model.parameters(), lr=0.01)
    model, two = amp.initialize(model, two)
    fit(model, two, batches)
"""
BACKWARD = "        with amp.scale_loss(loss, optimizer) as scaled:\n            scaled.backward()\n"


@pytest.mark.parametrize(
    "body",
    [
        f"        optimizer.zero_grad()\n{BACKWARD}        optimizer.step()\n",
        f"{BACKWARD}        optimizer.step()\n        optimizer.zero_grad()\n",
    ],
)
def test_a_function_that_trains_with_one_and_then_with_the_other(body: str) -> None:
    result = migrate_module(TWICE.replace("BODY", body), Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]


@pytest.mark.parametrize("second", ["two", "one"])
def test_gradients_that_the_other_would_take_over(second: str) -> None:
    body = f"{BACKWARD}        if x.last:\n            optimizer.step()\n            optimizer.zero_grad()\n"
    text = TWICE.replace("BODY", body).replace("two", second)
    result = migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == ["manual"]


def test_a_function_that_steps_one_and_then_the_other() -> None:
    text = """
        import torch
        from apex import amp
        model = torch.nn.Linear(3, 4)
        one, two = torch.optim.SGD(model.parameters(), lr=0.1), torch.optim.Adam(model.parameters(), lr=0.1)
        model, (one, two) = amp.initialize(model, [one, two])
        def step(optimizer):
            optimizer.step()
        for x in batches:
            model.zero_grad()
            with amp.scale_loss(model(x).mean(), [one, two]) as scaled:
                scaled.backward()
            step(one)
            step(two)
    """
    result = migrate_module(dedent(text), Settings())
    assert result.new_text is None
    assert any("belongs to two optimizers" in one.message for one in result.findings)

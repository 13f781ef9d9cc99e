"""States that nothing tells apart are one: the judge comes to an end where many things happen one behind the other."""

from __future__ import annotations

import textwrap

import pytest

from migrate.judge.compare.pair import Pair
from migrate.judge.compare.past import Past
from migrate.judge.state import Gradients, State
from migrate.model import Applicability
from tests.bench.shapes import one_optimizer
from tests.judge.support import judged_case

OPTIMIZER = ("call", 1)
HEAD = """\
import torch
from apex import amp
from tools import data, log


def main(args):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for epoch in range(3):
"""
ROUND = """\
        for x, y in data(epoch):
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
"""


def forgotten(before: Gradients, after: Gradients, aside: Gradients | None = None) -> tuple[Gradients, Gradients]:
    """What the gradients of both programs are called behind it."""
    pair = Pair(State([], grads=before, stash=aside or Gradients()), State([], grads=after), {})
    Past().forget(pair)
    return pair.old.grads, pair.new.grads


def of(*backwards: tuple[int, str, bool]) -> Gradients:
    return Gradients({OPTIMIZER: frozenset(backwards)})


def test_backwards_that_are_over_in_both_programs_go_by_one_name() -> None:
    ours, theirs = forgotten(of((7, "1", False), (9, "1", True)), of((7, "1", False), (9, "1", True)))
    assert ours == theirs == of((-1, "1", True)), "what overflowed hides the rest, as where one backward ran twice"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (of((7, "1", False)), of((9, "1", False)), "another backward"),
        (of((7, "1", False)), of((7, "1/S", False)), "another factor"),
        (of((7, "S", False)), of((7, "S", False)), "a scaler may still unscale them"),
        (of((7, "1", False)), of((7, "1", True)), "only one has overflowed"),
        (of((7, "1", False), (-1, "1", False)), of((7, "1", False)), "one has something of that name already"),
    ],
)
def test_what_the_programs_do_not_share_keeps_its_name(before: Gradients, after: Gradients, why: str) -> None:
    assert forgotten(before, after) == (before, after), why


def test_what_a_block_has_put_aside_keeps_its_name() -> None:
    assert forgotten(of((7, "1", False)), of((7, "1", False)), of((7, "1", False)))[0] == of((7, "1", False))


def test_which_scaler_scaled_a_loss_is_known_as_long_as_its_gradients_are_scaled() -> None:
    state = State([], grads=of((7, "S", False), (9, "1", False)), scaled_by={7: ("call", 2), 9: ("call", 2)})
    Past().forget(Pair(State([]), state, {}))
    assert state.scaled_by == {7: ("call", 2)}


def test_functions_one_behind_the_other_are_not_met_with_what_each_of_the_earlier_ones_left() -> None:
    """Which of them ran, and by which scaler its loss was scaled, made 2 ** n states of them."""
    few, many = (judged_case(one_optimizer(n)["x.py"]) for n in (10, 20))
    assert few is not None and many is not None
    assert many.verdict.unknown is None and many.grade is Applicability.SAFE
    assert many.verdict.pairs < 2.2 * few.verdict.pairs


def pairs(text: str) -> int:
    case = judged_case(text)
    assert case is not None and case.verdict.unknown is None
    return case.verdict.pairs


def test_results_that_were_used_make_no_further_states() -> None:
    """Behind a statement it makes no difference which way led there, whether or not another call follows."""
    head, main = HEAD.split("\n\ndef main")
    helper = "\n\ndef helper(model, epoch):\n    return model(epoch) if epoch else epoch\n\n\n"
    asked = head + helper + "def main" + main + "        if args.log:\n            log(helper(model, epoch))\n"
    assert pairs(asked + ROUND) == pairs(asked + "            helper(model, 1)\n" + ROUND)


def test_a_loop_that_was_left_makes_no_further_states() -> None:
    loop = "        for x in data():\n            if log(model(x)):\n                {}\n"
    assert pairs(HEAD + loop.format("break") + ROUND) <= pairs(HEAD + loop.format("continue") + ROUND)


def test_which_of_two_values_is_meant_is_no_question_where_neither_matters() -> None:
    """`None if args.plain else …` among what a model is handed, as scripts write it."""
    given = "        batch = {{'x': data(epoch), 'mask': {}}}\n"
    chosen = given.format("None if args.plain else data(epoch)")
    later = "        if args.plain:\n            model(epoch)\n"
    assert pairs(HEAD + chosen + ROUND + later) == pairs(HEAD + given.format("data(epoch)") + ROUND + later)


def test_which_of_two_models_is_meant_stays_a_question() -> None:
    """One of them is called under casts on both sides, or neither is: it is asked once, for both programs."""
    chosen = "        run = model if args.plain else log\n"
    assert pairs(HEAD + chosen + ROUND) > pairs(HEAD + "        run = log\n" + ROUND)


def test_behind_a_loop_that_was_left_at_once_only_what_is_new_is_followed() -> None:
    """Less is a difference there: what was followed without such a loop need not be followed once more."""
    head = HEAD.replace("    for epoch in range(3):\n", "")
    loop = textwrap.indent(textwrap.dedent(ROUND), "    ").replace("epoch", "")
    once, twice = (pairs(head + loop * n) for n in (1, 2))
    assert twice - once < once

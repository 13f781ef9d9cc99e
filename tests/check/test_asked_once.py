"""Conditions that are written a second time answer the same."""

import pytest

from migrate.check.asked_once import asked_otherwise
from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from tests.judge.support import judged_case

SCRIPT = """\
import time

import torch
from apex import amp

ROUNDS = 0


def plain(cfg):
    return cfg.fp16


def counts(cfg):
    cfg.asked += 1
    return cfg.asked > 1


def counts_all():
    global ROUNDS
    ROUNDS += 1
    return ROUNDS > 1


def turns(cfg):
    cfg.on = not cfg.on
    return cfg.on


def looks_once(cfg):
    if cfg.there is None:
        cfg.there = torch.cuda.is_available()
    return cfg.there


def shows(cfg):
    print("asked")
    return cfg.fp16


def draws(cfg, rng):
    return plain(cfg) and rng.random() > 0.5


def main(cfg, flags, queue, rng, batches):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    if {test}:
        {said}
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
ANSWERS_ANEW = [
    'cfg.pop("fp16", False)', "next(flags)", "queue.get()", 'input("fp16? ") == "y"', "time.time() > 5",
    "torch.rand(1).item() > 0.5", "rng.random() > 0.5", "counts(cfg)", "counts_all()", "turns(cfg)", "shows(cfg)",
    "draws(cfg, rng)",
]  # fmt: skip
ANSWERS_ALIKE = [
    "cfg.fp16", 'cfg.get("fp16")', "plain(cfg)", "looks_once(cfg)", 'open("fp16").read() == "1"',
    'getattr(cfg, "fp16", False)', "cfg.mixed()",
]  # fmt: skip


@pytest.mark.parametrize("test", ANSWERS_ANEW)
def test_what_may_answer_otherwise_is_not_asked_twice(test: str) -> None:
    result = migrate_module(SCRIPT.format(test=test, said='print("mixed precision")'), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.MANUAL]
    assert any("would be asked once more" in one.message for one in result.findings)


@pytest.mark.parametrize("test", ANSWERS_ALIKE)
def test_what_answers_the_same_is(test: str) -> None:
    case = judged_case(SCRIPT.format(test=test, said='print("mixed precision")'))
    assert case is not None and case.grade == "safe"


@pytest.mark.parametrize("test", ANSWERS_ANEW)
def test_what_is_asked_once_as_before_may_answer_as_it_likes(test: str) -> None:
    case = judged_case(SCRIPT.format(test=test, said="pass").replace("        pass\n", ""))
    assert case is not None and case.grade == "safe"
    assert case.text.partition("def main")[2].count(test) == 1


def test_the_file_and_line_are_told() -> None:
    found = asked_otherwise(["x = 1\n", "a = f.pop()\n"], ["x = 1\n", "a = 1\nb = f.pop() + f.pop()\n"])
    assert found is not None and found[0] == 1 and found[1].line == 2
    assert asked_otherwise(["a = f.pop() + f.pop()\n"], ["b = f.pop()\n"]) is None


@pytest.mark.parametrize("lost", ['verbosity=flags.pop("verbosity")', "num_losses=next(flags)"])
def test_what_takes_something_out_goes_on_doing_so(lost: str) -> None:
    text = SCRIPT.format(test="True", said="pass").replace('opt_level="O1")', f'opt_level="O1", {lost})')
    result = migrate_module(text, Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.MANUAL]
    assert any("would not be called any more" in one.message for one in result.findings)


def test_what_is_kept_elsewhere_is_still_asked() -> None:
    assert asked_otherwise(["f(q.pop())\ng(q.pop())\n"], ["f(q.pop())\n"]) is None
    assert asked_otherwise(["f(q.pop())\n"], ["f()\n"]) is not None


def test_a_call_that_is_handed_more_is_the_same_call() -> None:
    old = "def epoch(model):\n    print(model)\n\nepoch(net)\n"
    assert asked_otherwise([old], [old.replace("epoch(net)", "epoch(net, scaler)")]) is None
    assert asked_otherwise([old], [old + "epoch(net, scaler)\n"]) is not None

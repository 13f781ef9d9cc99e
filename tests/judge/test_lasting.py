"""What only names of functions hold is gone behind them: functions that nothing calls are followed one by one then, and
not in each order."""

from __future__ import annotations

import pytest

from migrate.facts.module import Module
from migrate.facts.sites import collect
from migrate.flow.values import Values
from migrate.judge.program.program import Program
from migrate.model import Applicability
from tests.judge.support import judged_case

HEAD = """\
import torch
import torch.nn.functional as F
from apex import amp
from functools import lru_cache


"""
TRAIN = """\
def train_NUMBER(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        if args.accum > 1:
            loss = loss / args.accum
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if (step + 1) % args.accum == 0:
            if args.clip:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.clip)
            optimizer.step()
            optimizer.zero_grad()


"""
MADE = """\
def train(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
KEPT
    for x, y in loader:
        with amp.scale_loss(F.cross_entropy(model(x), y), optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


"""
KEPT = {
    "names alone": ("", "    print(optimizer)", True),
    "a list of the function": ("", "    both = [model, optimizer]; print(both[1])", True),
    "an object of the function": ("class Held:\n    pass\n\n\n", "    held = Held(); held.it = optimizer", True),
    "a helper": ("def note(it):\n    inner = {'it': it}\n    return inner\n\n\n", "    note(optimizer)", True),
    "a name of the file": ("", "    global LAST; LAST = optimizer", False),
    "a list of the file": ("ALL = []\n\n\n", "    ALL.append(optimizer)", False),
    "what it was handed": ("", "    args.optimizer = optimizer", False),
    "a class": ("class Held:\n    pass\n\n\n", "    Held.it = optimizer", False),
    "itself": ("", "    train.it = optimizer", False),
    "a default": ("def note(it, all=[]):\n    all.append(it)\n\n\n", "    note(optimizer)", False),
    "a function inside": ("", "    def inner():\n        optimizer.step()\n    args.hooks.append(inner)", False),
    "a wrapper in a list of the file": ("ALL = []\n\n\n", "    ALL.append(args.Wrapper(optimizer))", False),
    "what is remembered": ("@lru_cache\ndef same(it):\n    return it\n\n\n", "    same(optimizer)", False),
}


@pytest.mark.parametrize("where", KEPT)
def test_an_object_is_gone_where_only_names_of_functions_hold_it(where: str) -> None:
    ahead, kept, gone = KEPT[where]
    m = Module(HEAD + ahead + MADE.replace("KEPT", kept))
    v = Values(m)
    facts = collect(m, v)
    program = Program.legacy(m, v, facts)
    (optimizer,) = program.objects.optimizers
    assert program.lasting.gone(optimizer) is gone


def test_the_objects_of_a_method_that_nothing_calls_last() -> None:
    body = "class Trainer:\n" + "".join(f"    {line}\n" for line in MADE.splitlines())
    body = body.replace("def train(args", "def train(self").replace("    KEPT", "        self.optimizer = optimizer")
    m = Module(HEAD + body)
    v = Values(m)
    program = Program.legacy(m, v, collect(m, v))
    assert not any(map(program.lasting.gone, program.objects.optimizers))


@pytest.mark.parametrize("many", [1, 6])
def test_functions_that_nothing_calls_are_followed_one_by_one(many: int) -> None:
    text = HEAD + "".join(TRAIN.replace("NUMBER", str(number)) for number in range(many))
    case = judged_case(text)
    assert case is not None and case.verdict.unknown is None and case.grade is Applicability.SAFE
    assert case.verdict.pairs < 250 * many
    whole = case.text.rpartition("scaler.update()")
    found = case.judged(f"{whole[0]}pass{whole[2]}")  # the last one does not update
    assert found is not None and found.line > len(text.splitlines()) - len(TRAIN.splitlines())

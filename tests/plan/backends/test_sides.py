"""Two backends side by side behind one switch."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.engine import migrate_module
from migrate.model import Importable, Outside, Settings
from migrate.plan.backends.sides import Answer, is_dead, sides
from tests.asking import context

RULES = Path(__file__).parents[2] / "rules" / "cases"

TASK = """
import torch
from apex import amp

class Task:
    def begin(self, args):
        {first}
        if args.native:
            {native}
        if args.apex:
            {apex}
        {more}

    def run(self, model, optimizer, images):
        with torch.autocast("cuda", enabled={on}):
            loss = model(images).mean()
        if {on}:
            self.scaler.scale(loss).backward()
        elif {with_apex}:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        if {on}:
            self.scaler.step(optimizer)
            self.scaler.update()
        else:
            optimizer.step()
"""
FLAGS = {
    "first": "self.a = self.n = False",
    "native": "self.n = True; self.scaler = torch.amp.GradScaler('cuda')",
    "apex": "self.a = True",
    "more": "pass",
    "on": "self.n",
    "with_apex": "self.a",
}
NAMES = {
    **FLAGS,
    "first": "self.kind = None",
    "native": "self.kind = 'native'; self.scaler = torch.amp.GradScaler('cuda')",
    "apex": "self.kind = 'apex'",
    "on": "self.kind == 'native'",
    "with_apex": "self.kind == 'apex'",
}

CASES = {
    "two flags": (FLAGS, {}, True),
    "two values": (NAMES, {}, True),
    "under one more condition": (FLAGS, {"on": "self.fp16 and self.n", "with_apex": "self.fp16 and self.a"}, True),
    "either asks for more": (FLAGS, {"with_apex": "self.a and self.more"}, False),
    "a complaint beside the switch": (FLAGS, {"apex": "self.a = True; print('Apex')"}, True),
    "more than the switch is set": (FLAGS, {"apex": "self.a = True; self.lr = 2"}, False),
    "set to what is not known": (FLAGS, {"more": "self.a = look(args)"}, False),
    "a value that is not known": (NAMES, {"more": "self.kind = args.kind"}, False),
    "handed on": (FLAGS, {"more": "tell(self.a)"}, False),
    "a value that is only told": (NAMES, {"more": "print(self.kind)"}, True),
    "set by its name": (FLAGS, {"more": "setattr(self, 'a', True)"}, False),
    "no scaler beside": (FLAGS, {"native": "self.n = True"}, False),
    "clips what is scaled": (FLAGS, {"more": "clip_grad_norm_(self.parameters(), 1)"}, False),
}


@pytest.mark.parametrize("name", CASES)
def test_a_switch_of_two_sides(name: str) -> None:
    base, said, wanted = CASES[name]
    assert (sides(context(TASK.format(**{**base, **said}))) is not None) is wanted


def test_a_loss_that_no_argument_names() -> None:
    text = TASK.format(**FLAGS).replace("scale_loss(loss, optimizer)", "scale_loss(**given)")
    assert sides(context(text)) is None


def test_a_value_that_is_made_of_a_text_is_turned() -> None:
    """Behind the statement that sets it, where what it decides comes below."""
    text = """
class Task:
    def begin(self, args):
        self.kind = Kind[args.kind]
        if self.kind == Kind.APEX:
            pass
        elif self.kind == Kind.NATIVE:
            self.scaler = torch.amp.GradScaler("cuda")

    def run(self, model, optimizer, images):
        with torch.autocast("cuda", enabled=self.kind == Kind.NATIVE):
            loss = model(images).mean()
        if self.kind == Kind.NATIVE:
            self.scaler.scale(loss).backward()
        elif self.kind == Kind.APEX:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        if self.kind == Kind.NATIVE:
            self.scaler.step(optimizer)
            self.scaler.update()
"""
    found = sides(context("import torch\nfrom apex import amp\n" + text))
    assert found is not None
    assert [target for _, target in found.checked] == ["self.kind"]
    early = text.replace('        self.kind = Kind[args.kind]\n', "").replace(
        "    def run", "        self.kind = Kind[args.kind]\n\n    def run"
    )
    assert sides(context("import torch\nfrom apex import amp\n" + early)) is None


@pytest.mark.parametrize(("answer", "dead"), [(True, ["B()"]), (False, ["A()"]), ("args.more", [])])
@pytest.mark.parametrize("text", ["if x:\n    A()\nelse:\n    B()\n", "A() if x else B()\n"])
def test_the_arm_that_is_never_taken(text: str, answer: Answer, dead: list[str]) -> None:
    ctx = context(text)
    asks: list[ast.If | ast.IfExp] = [*ctx.m.all(ast.If), *ctx.m.all(ast.IfExp)]
    known = dict.fromkeys(asks, answer)
    assert [ctx.m.src(call) for call in ctx.m.all(ast.Call) if is_dead(ctx, known, call)] == dead


def test_who_imports_a_package_finds_the_flag_that_says_no() -> None:
    """A class that is derived elsewhere asks ``self.use_apex``."""
    text = (RULES / "apx048" / "flags_of_a_trainer.in.py").read_text(encoding="utf-8")
    alone = migrate_module(text, Settings()).new_text
    imported = migrate_module(text, Settings(), Outside(importable=Importable.ALL)).new_text
    assert alone is not None and "use_apex" not in alone
    assert imported is not None and imported.count("self.use_apex") == imported.count("self.use_apex = False") == 1

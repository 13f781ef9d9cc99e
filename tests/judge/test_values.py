"""What a dictionary, list or namespace holds is believed only where nothing may have changed it."""

from __future__ import annotations

import textwrap

import pytest

from migrate.facts.module import Module
from migrate.facts.sites import collect
from migrate.flow.values import Values
from migrate.judge.judge import judge
from tests.judge.support import aligned, judged_case

HEAD = """\
import torch
import torch.nn as nn
from types import SimpleNamespace
from apex import amp
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
OLD = """\
if {on}:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in data:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    if {on}:
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
    else:
        loss.backward()
    optimizer.step()
"""
NEVER = """\
for x, y in data:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def never_is_the_same(before: str, on: str, around: str = "", behind: str = "") -> bool:
    """Whether the judge takes mixed precision to be off, whatever happens."""
    texts = [
        HEAD + before + around + (textwrap.indent(text, "    ") if around else text) + behind
        for text in (OLD.format(on=on), NEVER)
    ]
    m = Module(texts[0])
    v = Values(m)
    verdict = judge(m, v, collect(m, v), texts[1:], aligned(*texts), maybe_o0=lambda call: False)
    return not verdict.differences and verdict.unknown is None


OFF = {
    "a dictionary": ("t = {'amp': False}\n", "t['amp']"),
    "a namespace": ("t = SimpleNamespace(amp=False)\n", "t.amp"),
    "a list": ("t = [False]\n", "t[0]"),
    "one beside it": ("t = {'amp': False}\nother = {'amp': False}\nother['amp'] = True\n", "t['amp']"),
    "a word that is asked": ("t = 'O0'\n", "t.upper().endswith('1')"),
    "a word that is asked twice": (
        "t = read()\nfirst = t.startswith('x')\nsecond = t.startswith('x')\n",
        "first and not second",
    ),
    "only asked": ("t = {'amp': False}\nprint(t.get('amp'), sorted(t.items()))\n", "t['amp']"),
}


@pytest.mark.parametrize("case", OFF)
def test_what_stays_is_believed(case: str) -> None:
    assert never_is_the_same(*OFF[case])


CHANGED = {
    "set": ("t = {'amp': False}\nt['amp'] = True\n", "t['amp']"),
    "set under another name": ("t = {'amp': False}\nother = t\nother['amp'] = True\n", "t['amp']"),
    "set in a function": ("t = {'amp': False}\ndef on(d):\n    d['amp'] = True\non(t)\n", "t['amp']"),
    "set in a loop": ("t = {'amp': False}\nfor one in [t, {}]:\n    one['amp'] = True\n", "t['amp']"),
    "set in one that is held": (
        "t = {'a': {'amp': False}}\nfor one in t.values():\n    one['amp'] = True\n",
        "t['a']['amp']",
    ),
    "updated": ("t = {'amp': False}\nt.update(read())\n", "t['amp']"),
    "joined": ("t = {'amp': False}\nother = t\nother |= read()\n", "t['amp']"),
    "joined in an object": ("class C: pass\nc = C()\nc.t = t = {'amp': False}\nc.t |= read()\n", "t['amp']"),
    "handed on": ("t = {'amp': False}\nread(t)\n", "t['amp']"),
    "handed on in a list": ("t = {'amp': False}\nread([t])\n", "t['amp']"),
    "handed on in an object": ("class C: pass\nc = C()\nc.t = t = {'amp': False}\nread(c)\n", "t['amp']"),
    "its twin is set": ("t = {'amp': True}\nother = {'amp': True}\nother['amp'] = False\n", "t['amp']"),
    "a namespace": ("t = SimpleNamespace(amp=False)\ndef on(d):\n    d.amp = True\non(t)\n", "t.amp"),
    "a namespace's twin": (
        "t = SimpleNamespace(amp=True)\nother = SimpleNamespace(amp=True)\nother.amp = False\n",
        "t.amp",
    ),
    "a list": ("t = [False]\ndef on(d):\n    d[0] = True\non(t)\n", "t[0]"),
    "a word that is read anew": (
        "t = read()\nfirst = t.startswith('x')\nt = read()\nsecond = t.startswith('x')\n",
        "first and not second",
    ),
    "an object that answers as it likes": (
        "class Word:\n    said = False\n    def startswith(self, text):\n        self.said = not self.said\n"
        "        return self.said\nt = Word()\n",
        "t.startswith('x') and not t.startswith('x')",
    ),
    "a list that grows": ("t = [False]\nt.insert(0, True)\n", "t[0]"),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_is_changed_is_not_believed(case: str) -> None:
    assert not never_is_the_same(*CHANGED[case])


def test_keywords() -> None:
    around, behind = "def train(**given):\n", "train(on=False)\n"
    assert never_is_the_same("", "given['on']", around, behind)
    assert not never_is_the_same("", "given['on']", around + "    given.update(read())\n", behind)
    assert not never_is_the_same("", "given['on']", around + "    other = given\n    other.update(read())\n", behind)


def test_a_dictionary_that_becomes_keywords() -> None:
    around, behind = "def train(on):\n", "train(**t)\n"
    assert never_is_the_same("t = {'on': False}\n", "on", around, behind)
    assert never_is_the_same("t = dict(on=False)\n", "on", around, behind)
    assert not never_is_the_same("t = dict(read(), on=False)\nt.update(read())\n", "on", around, behind)
    assert not never_is_the_same("t = dict(on=False, **read())\n", "on", around, behind)
    assert not never_is_the_same("t = dict(on=False)\nt['on'] = True\n", "on", around, behind)
    assert not never_is_the_same("t = {'on': False}\nt['on'] = True\n", "on", around, behind)


HELD = """\
import argparse
import torch
from torch import nn
from apex import amp


class Net(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.fc = nn.Linear(args.width, 1)

    def forward(self, x):
        return self.fc(x) / self.args.width


def train(args, data):
    net = Net(args)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if args.fp16:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    HANDED
    for x, y in data:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()


def main(data):
    train(argparse.Namespace(width=3, fp16=True), data)
"""


@pytest.mark.parametrize("handed", ["pass", "net = wrapped(net)"])
def test_what_a_model_keeps_is_the_same_in_both_programs(handed: str) -> None:
    """`amp.initialize` is handed the model, which only one of them does; it sets nothing that a model keeps."""
    case = judged_case(HELD.replace("HANDED", handed))
    assert case is not None and not case.verdict.differences

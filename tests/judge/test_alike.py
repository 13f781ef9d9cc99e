"""Optimizers of which a run makes one or the other are one to the judge; others are told apart."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.flow.values import Values
from migrate.judge.program.alike import made_alike

ARMS = """
if args.optim == "adam":
    opt = Adam(net.parameters(), lr=args.lr)
elif args.optim == "sgd":
    opt = SGD(net.parameters(), lr=args.lr, momentum=0.9)
else:
    raise ValueError(args.optim)
"""
OTHERS = {
    "of other parameters": ARMS.replace("SGD(net", "SGD(other"),
    "by another name": ARMS.replace("opt = SGD", "opt2 = SGD"),
    "one behind the other": ARMS.replace("elif", "if"),
    "more parameters in an arm": ARMS.replace("net.parameters()", "params").replace(
        "    opt = SGD", "    params.append(bias)\n    opt = SGD"
    ),
    "another network in an arm": ARMS.replace("    opt = SGD", "    net = other\n    opt = SGD"),
    "in a loop": "for net in nets:\n" + "".join(f"    {line}\n" for line in ARMS.splitlines()),
    "a function of two": "def make(net, args):\n"
    + "".join(f"    {line}\n" for line in ARMS.splitlines())
    + "    return opt\none = make(a, args)\ntwo = make(b, args)\n",
    "a function in a loop": "def make(net, args):\n"
    + "".join(f"    {line}\n" for line in ARMS.splitlines())
    + "    return opt\nfor net, args in several:\n    opts.append(make(net, args))\n",
    "a function in a list": "def make(net, args):\n"
    + "".join(f"    {line}\n" for line in ARMS.splitlines())
    + "    return opt\nopts = [make(net, args) for net, args in several]\n",
}


def _made(text: str) -> dict[str, str]:
    m = Module(text)
    v = Values(m)
    calls = [n for n in m.all(ast.Call) if m.src(n.func) in ("Adam", "SGD")]
    found = made_alike(m, v, [obj for call in calls for obj in v.of(call)], set())
    return {m.src(one.func): m.src(first.func) for one, first in found.items()}  # type: ignore[attr-defined]


def test_one_or_the_other() -> None:
    assert _made(ARMS) == {"SGD": "Adam"}


@pytest.mark.parametrize("kind", OTHERS)
def test_told_apart(kind: str) -> None:
    assert _made(OTHERS[kind]) == {}

"""Which values an option can have, where all that gives them stands in the program."""

from __future__ import annotations

import pytest

from migrate.units.in_sight import in_sight
from tests.asking import asked, context

RECORD = "@dataclass\nclass C:\n    level: str = 'O1'\n"
TRAINER = (
    "class T:\n    def __init__(self, level='O1'):\n        self.level = level\n"
    "    def f(self):\n        ask(self.level)\n"
)
KEEPS = "class T:\n    def __init__(self, d):\n        self.d = d\n    def f(self):\n        ask(self.d['a'])\n"
KNOWN = {
    "a name": ("x = 'O1'\nask(x)", {"O1"}),
    "either of two": ("x = 'O1'\nif y:\n    x = 'O0'\nask(x)", {"O0", "O1"}),
    "an entry": ("d = {'a': 'O1'}\nask(d['a'])", {"O1"}),
    "an entry by a word": ("d = dict(a='O1')\nask(d.get('a'))", {"O1"}),
    "an entry that is not there": ("d = {'b': 1}\nask(d.get('a', 'O1'))", {"O1"}),
    "an entry that is set later": ("d = {'a': 'O1'}\nd['a'] = 'O2'\nask(d['a'])", {"O1", "O2"}),
    "by another name": ("d = {'a': 'O1'}\ne = d\ne['a'] = 'O2'\nask(d['a'])", {"O1", "O2"}),
    "a default": ("def f(x, level='O1'):\n    ask(level)\nf(1)", {"O1"}),
    "what a call hands over": ("def f(x, level='O1'):\n    ask(level)\nf(1)\nf(1, level='O0')", {"O0", "O1"}),
    "a table that is handed over": ("def f(d):\n    ask(d['a'])\nf({'a': 'O1'})", {"O1"}),
    "a table that is kept": (KEEPS + "T({'a': 'O1'}).f()", {"O1"}),
    "a field": (RECORD + "c = C()\nask(c.level)", {"O1"}),
    "a field that is filled": (RECORD + "c = C('O0')\nask(c.level)", {"O0"}),
    "a namespace": ("c = Namespace(level='O1')\nask(c.level)", {"O1"}),
    "what a constructor keeps": (TRAINER + "T().f()", {"O1"}),
}
UNKNOWN = {
    "an option of a parser": "args = parser.parse_args()\nask(args.level)",
    "a loop": "for x in ('O1', 'O2'):\n    ask(x)",
    "an entry under any key": "d = {'a': 'O1'}\nd[k] = v\nask(d['a'])",
    "an update": "d = {'a': 'O1'}\nd.update(more)\nask(d['a'])",
    "a table that others are handed": "d = {'a': 'O1'}\noverride(d)\nask(d['a'])",
    "a table in a list": "d = {'a': 'O1'}\nfor e in [d]:\n    e['a'] = v\nask(d['a'])",
    "a table that grows": "d = {'a': 'O1'}\nd |= more\nask(d['a'])",
    "a table made of another": "d = {**more, 'a': 'O1'}\nask(d['a'])",
    "a field that is set": RECORD + "c = C()\nc.level = sys.argv[1]\nask(c.level)",
    "fields by computed names": RECORD + "c = C()\nsetattr(c, k, v)\nask(c.level)",
    "a record by a parser": RECORD + "c = HfArgumentParser(C).parse()\nask(c.level)",
    "a record of stars": RECORD + "c = C(**more)\nask(c.level)",
    "arguments with a star": "def f(x, level='O1'):\n    ask(level)\nf(*xs)",
    "a function that is handed on": "def f(level='O1'):\n    ask(level)\nf()\nfire.Fire(f)",
    "a command": "@click.option('--level', default='O2')\ndef f(level='O1'):\n    ask(level)\nf()",
    "nobody calls it": "def f(level='O1'):\n    ask(level)",
    "a base that is not here": TRAINER.replace("class T:", "class T(Base):") + "T().f()",
}


@pytest.mark.parametrize("text", KNOWN)
def test_known(text: str) -> None:
    code, values = KNOWN[text]
    assert answer(code) == values


@pytest.mark.parametrize("text", UNKNOWN)
def test_not_known(text: str) -> None:
    assert answer(UNKNOWN[text]) is None


def test_names_that_other_files_take() -> None:
    assert answer("LEVEL = 'O1'\nask(LEVEL)", "LEVEL") is None


def answer(code: str, exported: str = "") -> object:
    ctx = context(code, exported)
    (question,) = asked(ctx.m)
    return in_sight(ctx, question)

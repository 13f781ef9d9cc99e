"""How one function says a condition of another."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from migrate.units.translate import passed, receiver, translate
from tests.asking import asked, context

#: `ask(condition)` in one place, `here` in the function that has to say it.
SAID = {
    "the same name": ("fp16 = f()\nask(fp16)\ndef g():\n    here", "fp16"),
    "a builtin": ("ask(len)\ndef g():\n    here", "len"),
    "a local": ("def f(x):\n    fp16 = x\n    ask(fp16)\ndef g():\n    here", None),
    "a parameter": ("def f(fp16):\n    g(fp16)\n    ask(fp16)\ndef g(on):\n    here", "on"),
    "of every call": ("def f(fp16):\n    g(fp16)\n    ask(fp16)\ndef g(on):\n    here\ng(True)", None),
    "by name": ("def f(fp16):\n    g(on=fp16)\n    ask(fp16)\ndef g(on):\n    here", "on"),
    "that is assigned anew": ("def f(fp16):\n    g(fp16)\n    ask(fp16)\ndef g(on):\n    on = 1\n    here", None),
    "that changes there": ("def f(x):\n    a = x\n    a = 2\n    g(a)\n    ask(a)\ndef g(on):\n    here", None),
    "through two functions": (
        "def f(fp16):\n    g(fp16)\n    ask(fp16)\ndef g(x):\n    h(x)\ndef h(y):\n    here",
        "y",
    ),
    "an attribute": ("def f(args):\n    g(args)\n    ask(args.fp16)\ndef g(a):\n    here", "a.fp16"),
    "handed on alone": ("def f(args):\n    g(args.fp16)\n    ask(args.fp16)\ndef g(on):\n    here", "on"),
    "an item handed on": ("def f(c):\n    g(c['amp'])\n    ask(c['amp'])\ndef g(on):\n    here", "on"),
    "a copy": ("def f(args):\n    g(args)\n    ask(args.a)\ndef g(x):\n    x = copy(x)\n    here", "x.a"),
    "an instance's own, in a method that is called": (
        "class C:\n    def f(self):\n        ask(self.args.a)\n    def g(self):\n        here\n"
        "    def h(self):\n        self.g()\nc = C()\nc.g()",
        "self.args.a",
    ),
    "a comparison": ("def f(level):\n    g(level)\n    ask(level != 'O0')\ndef g(x):\n    here", 'x != "O0"'),
    "the caller's argument": ("def f(on):\n    ask(on)\ndef g(args):\n    f(args.fp16)\n    here", "args.fp16"),
    "the caller's constant": ("def f(on):\n    ask(on)\ndef g():\n    f(True)\n    here", "True"),
    "part of it": ("def f(on, a):\n    ask(on and a.x)\ndef g(a):\n    f(False, a)\n    here", "False and a.x"),
    "two constants": ("def f(on):\n    ask(on)\ndef g():\n    f(True)\n    f(False)\n    here", None),
    "a number": ("def f(on):\n    ask(on)\ndef g():\n    f(1)\n    here", None),
    "of two callers": ("def f(on):\n    ask(on)\ndef g(x):\n    f(x)\n    f(1)\n    here", None),
    "kept by a constructor": (
        "class C:\n    def __init__(self, on):\n        self.amp = on\n    def g(self):\n        here\n"
        "def f(fp16):\n    C(fp16)\n    ask(fp16)",
        "self.amp",
    ),
    "kept with others": (
        "class C:\n    def __init__(self, x, on):\n        self.x, self.amp = x, on\n    def g(self):\n        here\n"
        "def f(fp16):\n    C(1, fp16)\n    ask(fp16)",
        "self.amp",
    ),
    "kept and changed": (
        "class C:\n    def __init__(self, on):\n        self.amp = on\n    def g(self):\n        self.amp = 1\n"
        "        here\ndef f(fp16):\n    C(fp16)\n    ask(fp16)",
        None,
    ),
    "what another's constructor keeps": (
        "class C:\n    def __init__(self, a):\n        self.args = a\n    def f(self):\n        ask(self.args.amp)\n"
        "def g(o):\n    here\nargs = parse()\nC(args)\ng(args)",
        "o.amp",
    ),
    "and gives another value": (
        "class C:\n    def __init__(self, a):\n        self.args = a\n    def f(self):\n        self.args = h()\n"
        "        ask(self.args.amp)\ndef g(o):\n    here\nargs = parse()\nC(args)\ng(args)",
        None,
    ),
    "and takes another": (
        "class C:\n    def __init__(self, a):\n        self.args = a\n    def f(self):\n        ask(self.args.amp)\n"
        "def g(o):\n    here\nC(parse())\ng(other())",
        None,
    ),
    "an instance's own": (
        "class C:\n    def f(self):\n        ask(self.amp)\n    def g(self):\n        here\n",
        "self.amp",
    ),
    "of an object that may be of a class without it": (
        "class A:\n    pass\nclass B:\n    def __init__(self):\n        self.amp = h()\n    def f(self):\n"
        "        ask(self.amp)\ndef g(o):\n    here\ng(A() if x else B())",
        None,
    ),
    "of an object whose classes all have it": (
        "class A:\n    amp = False\nclass B:\n    def __init__(self):\n        self.amp = h()\n    def f(self):\n"
        "        ask(self.amp)\ndef g(o):\n    here\ng(A() if x else B())",
        "o.amp",
    ),
    "of an object that is given it by its name": (
        "class A:\n    def __init__(self):\n        setattr(self, 'amp', h())\nclass B:\n    def __init__(self):\n"
        "        self.amp = h()\n    def f(self):\n        ask(self.amp)\ndef g(o):\n    here\ng(A() if x else B())",
        "o.amp",
    ),
    "of an object of which a class may inherit it": (
        "class A(Base):\n    pass\nclass B:\n    def __init__(self):\n        self.amp = h()\n    def f(self):\n"
        "        ask(self.amp)\ndef g(o):\n    here\ng(A() if x else B())",
        "o.amp",
    ),
    "only of the main block": ("def g():\n    here\nif __name__ == '__main__':\n    a = f()\n    ask(a)", None),
    "of the main block, read there already": (
        "def g():\n    here\n    print(a)\nif __name__ == '__main__':\n    a = f()\n    ask(a)",
        "a",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_translate(case: str) -> None:
    text, answer = SAID[case]
    ctx = context(text)
    (question,) = asked(ctx.m)
    here = next(n for n in ctx.m.nodes if isinstance(n, ast.Name) and n.id == "here")
    assert translate(ctx, question, ctx.m.src(question), ctx.m.function(here)) == answer


#: A call of `f`, and what it hands to the parameter `x`.
PASSED = {
    "def f(x): pass\nask(f(a))": "a",
    "def f(y, x): pass\nask(f(a, b))": "b",
    "def f(y, x): pass\nask(f(a))": None,
    "def f(x): pass\nask(f(x=a))": "a",
    "def f(*, x): pass\nask(f(x=a))": "a",
    "def f(x, /): pass\nask(f(a))": "a",
    "def f(y, x): pass\nask(f(*a))": None,
    "def f(x, y): pass\nask(f(a, *b))": "a",
    "f = lambda y, x: 1\nask(f(a, b))": "b",
    "class C:\n    def f(self, x): pass\nask(C().f(a))": "a",
    "class C:\n    def f(self, x): pass\nask(C.f(c, a))": "a",
    "class C:\n    @staticmethod\n    def f(x): pass\nask(C.f(a))": "a",
    "class C:\n    @classmethod\n    def f(cls, x): pass\nask(C.f(a))": "a",
    "class C:\n    def __init__(self, x): pass\nask(C(a))": "a",
    "class C:\n    def forward(self, x): pass\nc = C()\nask(c(a))": "a",
    "def f(y, x): pass\ng = partial(f, a)\nask(g(b))": "b",
    "def f(x, y): pass\ng = partial(f, a)\nask(g(b))": "a",
    "def f(y, x): pass\ng = partial(f, x=a)\nask(g(b))": "a",
}


@pytest.mark.parametrize("text", PASSED)
def test_passed(text: str) -> None:
    ctx = context(dedent(text))
    (call,) = asked(ctx.m)
    assert isinstance(call, ast.Call)
    (callee,) = ctx.v.callees(call)
    found = passed(ctx, call, ctx.m.scope_of[callee], "x")
    assert (None if found is None else ast.unparse(found)) == PASSED[text]
    assert receiver(ctx, call, ctx.m.scope_of[callee]) in (0, 1)

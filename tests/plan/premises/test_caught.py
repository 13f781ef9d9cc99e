"""Exceptions that are swallowed while a scaler waits: what is named, and what stays by hand."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Outside, Settings, Severity

TOP = """\
import contextlib
import torch
from apex import amp


class Guard:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return kind is OverflowError


class Timer:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.spent = now()


@contextlib.contextmanager
def tolerant():
    try:
        yield
    except ValueError as e:
        print(e)


@contextlib.contextmanager
def told():
    try:
        yield
    except ValueError as e:
        print(e)
        raise


def skipping(f):
    def inner(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except KeyError:
            return None
    return inner


def skips(*kinds):
    def around(f):
        def inner(*args, **kwargs):
            try:
                return f(*args, **kwargs)
            except kinds:
                return None
        return inner
    return around


def timed(f):
    def inner(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        finally:
            print(now())
    return inner


class Keeper:
    @staticmethod
    def skipping(f):
        def inner(*args, **kwargs):
            try:
                return f(*args, **kwargs)
            except KeyError:
                return None
        return inner


class Safely:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        try:
            return self.f(*args)
        except ValueError:
            return None


model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""
FORWARD = "loss = criterion(model(x), y)\noptimizer.zero_grad()\n"
BACK = "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\n"
CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
STEP = "optimizer.step()\n"
WAITS, RAISES, LEFT_OUT = "waiting for update()", "this backward raises", "leaves the backward out"
OOM = 'except RuntimeError as e:\n    if "out of memory" not in str(e):\n        raise\n    print("skipped")\n'


def loop(body: str) -> str:
    return TOP + "for x, y in loader:\n" + indent(body, "    ")


def tried(body: str, handler: str) -> str:
    return "try:\n" + indent(body, "    ") + handler


def inside(header: str, body: str) -> str:
    return f"with {header}:\n" + indent(body, "    ")


ALL = FORWARD + BACK + CLIP + STEP


def decorated(decorator: str) -> str:
    return TOP + f"{decorator}\ndef once(x, y):\n" + indent(ALL, "    ") + "for x, y in loader:\n    once(x, y)\n"


POOLED = "for x, y in loader:\n    one = pool.submit(once, x, y)\n"
GATHERED = "async def rounds():\n    for x, y in loader:\n        await asyncio.gather(once(x, y), wait()MORE)\n"
#: A program, and what is said of its exceptions.
CASES = {
    "none is caught": (loop(ALL), None),
    "a handler that ends all": (loop(tried(ALL, "except RuntimeError:\n    save()\n    raise\n")), None),
    "an interrupt": (loop(tried(ALL, "except KeyboardInterrupt:\n    print('stopped')\n")), None),
    "around the whole loop": (
        TOP + tried("for x, y in loader:\n" + indent(ALL, "    "), "except RuntimeError:\n    save()\n"),
        None,
    ),
    "around the forward": (loop(tried(FORWARD, "except ValueError:\n    continue\n") + BACK + CLIP + STEP), None),
    "out of memory": (loop(tried(ALL, OOM)), WAITS),
    "no reader": (loop(tried(FORWARD + BACK + STEP, OOM)), WAITS),
    "an iterator that ends": (loop(tried(ALL, "except StopIteration:\n    it = iter(other)\n")), WAITS),
    "a return in finally": (
        TOP + "def once(x, y):\n" + indent(tried(ALL, "finally:\n    return x\n"), "    ")
        + "for x, y in loader:\n    once(x, y)\n",
        WAITS,
    ),
    "called in a comprehension": (
        TOP + "def once(x, y):\n" + indent(tried(ALL, OOM), "    ") + "print([once(x, y) for x, y in loader])\n",
        WAITS,
    ),
    "handed to map": (
        TOP + "def once(x, y):\n" + indent(tried(ALL, OOM), "    ") + "list(map(once, xs, ys))\n",
        WAITS,
    ),
    "called twice": (
        TOP + "def once(x, y):\n" + indent(tried(ALL, OOM), "    ") + "once(x, y)\nonce(x, y)\n",
        WAITS,
    ),
    "called by itself": (
        TOP + "def once(x, y):\n" + indent(tried(ALL, OOM), "    ") + "    return once(x, y)\nonce(x, y)\n",
        WAITS,
    ),
    "called in a lambda": (
        TOP + "def once(x, y):\n" + indent(tried(ALL, OOM), "    ") + "engine.run(lambda x, y: once(x, y))\n",
        WAITS,
    ),
    "called by nobody": (TOP + "def once(x, y):\n" + indent(tried(ALL, OOM), "    "), WAITS),
    "called once": (TOP + "def once(x, y):\n" + indent(tried(ALL, OOM), "    ") + "once(x, y)\n", None),
    "a main that others call": (TOP + "def main():\n" + indent(tried(ALL, OOM), "    "), None),
    "caught by a caller": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ") + "for x, y in loader:\n"
        + indent(tried("once(x, y)\n", "except ValueError:\n    bad = True\n"), "    "),
        WAITS,
    ),
    "a context manager that swallows": (loop(inside("Guard()", ALL)), WAITS),
    "a context manager that does not": (loop(inside("Timer()", ALL)), None),
    "an assertion of a test, outside of any loop": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ") + inside("raises(ValueError)", "once(x, y)\n") + "once(x, y)\n",
        WAITS,
    ),
    "a block that is left once": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ") + inside("contextlib.suppress(ValueError)", "once(x, y)\n"),
        None,
    ),
    "a block around the whole loop": (
        TOP + inside("contextlib.suppress(ValueError)", "for x, y in loader:\n" + indent(ALL, "    ")),
        None,
    ),
    "tried once and again": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ") + tried("once(x, y)\n", OOM) + "once(x, y)\n",
        WAITS,
    ),
    "tried behind another one": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ") + "once(x, y)\n" + tried("once(x, y)\n", OOM),
        None,
    ),
    "tried in either arm": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ") + "if x:\n" + indent(tried("once(x, y)\n", OOM), "    ")
        + "else:\n    once(x, y)\n",
        None,
    ),
    "a generator that swallows": (loop(inside("tolerant()", ALL)), WAITS),
    "a generator that raises again": (loop(inside("told()", ALL)), None),
    "a decorator that swallows": (decorated("@skipping"), WAITS),
    "a decorator that is told what to swallow": (decorated("@skips(KeyError, ValueError)"), WAITS),
    "a class as decorator": (decorated("@Safely"), WAITS),
    "a context manager as decorator": (decorated("@tolerant()"), WAITS),
    "a guard as decorator": (decorated("@Guard()"), WAITS),
    "a method as decorator": (decorated("@Keeper.skipping"), WAITS),
    "a decorator that lets all through": (decorated("@timed"), None),
    "a decorator of a caller": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ")
        + "@skipping\ndef step(x, y):\n    once(x, y)\nfor x, y in loader:\n    step(x, y)\n",
        WAITS,
    ),
    "a pool that is asked for what was raised": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ") + POOLED + "    print(one.exception())\n",
        WAITS,
    ),
    "a pool whose results raise": (
        TOP + "def once(x, y):\n" + indent(ALL, "    ") + POOLED + "    print(one.result())\n",
        None,
    ),
    "tasks that are gathered with what they raise": (
        TOP + "async def once(x, y):\n" + indent(ALL, "    ") + GATHERED.replace("MORE", ", return_exceptions=True"),
        WAITS,
    ),
    "tasks that are gathered": (
        TOP + "async def once(x, y):\n" + indent(ALL, "    ") + GATHERED.replace("MORE", ""),
        None,
    ),
    "suppress around all": (loop(inside("contextlib.suppress(ValueError)", ALL)), WAITS),
    "suppress around the backward": (
        loop("optimizer.zero_grad()\n" + inside("contextlib.suppress(ValueError)", FORWARD + BACK) + STEP),
        LEFT_OUT,
    ),
    "the backward alone": (
        loop(FORWARD + tried(BACK, "except RuntimeError:\n    continue\n") + STEP),
        RAISES,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_said(case: str) -> None:
    text, wanted = CASES[case]
    found = migrate_module(text, Settings()).findings
    texts = (WAITS, RAISES, LEFT_OUT)
    said = [(t, one.severity) for one in found for t in texts if t in one.message]
    severity = Severity.MANUAL if wanted == LEFT_OUT else Severity.REVIEW
    assert said == ([] if wanted is None else [(wanted, severity)]), [one.message for one in found]


UTILS = """\
def tolerant(fn):
    def inner(*args):
        try:
            return fn(*args)
        except ValueError:
            return None
    return inner


def attempt(fn, *args):
    try:
        return fn(*args)
    except ValueError:
        return None


def run(fn, *args):
    return fn(*args)


class Forgiving:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return kind is ValueError
"""
ONCE = "def once(x, y):\n" + indent(ALL, "    ")
LOOP = "for x, y in loader:\n    "
ELSEWHERE = {
    "@utils.tolerant\n" + ONCE + LOOP + "once(x, y)\n": WAITS,
    ONCE + LOOP + "utils.attempt(once, x, y)\n": WAITS,
    ONCE + "print([utils.attempt(once, x, y) for x, y in loader])\n": WAITS,
    LOOP + inside("utils.Forgiving()", indent(ALL, "    ")): WAITS,
    ONCE + LOOP + "utils.run(once, x, y)\n": None,
    "def main():\n" + indent(loop(ALL).removeprefix(TOP), "    ") + "utils.attempt(main)\n": None,
}


@pytest.mark.parametrize("body", ELSEWHERE)
def test_what_another_file_keeps(body: str) -> None:
    others = Outside(elsewhere=elsewhere([outline(UTILS)]))
    found = migrate_module(TOP + "import utils\n" + body, Settings(), others).findings
    wanted = ELSEWHERE[body]
    assert [t for one in found for t in (WAITS, RAISES) if t in one.message] == ([] if wanted is None else [wanted])

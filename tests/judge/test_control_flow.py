"""The judge goes through a function as Python does: made-up functions are run by both, with the same answers.

A function is made of calls of ``mark`` (what the judge looks for), conditions (``ask``, which answers by a given row
of bits), loops, exceptions, blocks, helpers and generators. What is compared is the row of marks, each with whether
autocast is on there, and whether an exception leaves at the end.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import indent
from typing import Any

import pytest

from migrate.facts.module import Module
from migrate.facts.sites import collect
from migrate.flow.values import Values
from migrate.judge.program.program import Program
from migrate.judge.run.event import Event
from migrate.judge.run.runner import Runner
from migrate.judge.state import Frame, State
from migrate.judge.terms import Ask, Facts, forget, leaves
from tests.effort import some

Trace = list[tuple[int, bool] | str]


# ---------------------------------------------------------------- made-up functions


class Maker:
    """One module: ``f``, a helper and a generator. Every ``mark`` and ``ask`` has a number of its own."""

    def __init__(self, seed: int, loose: bool = False) -> None:
        self.rng = random.Random(seed)
        self.count = 0
        self.within = 0  # loops around that run the generator
        self.final = 0  # blocks around that are a `finally`: nothing jumps out of those
        self.loose = loose  # names that carry answers from one place to another, and exceptions raised anew

    def module(self) -> str:
        # what nobody marks is followed by nobody: every function has a mark
        helper = f"{self.mark()}\n{self.block(1, loop=False, calls=False)}"
        generator = f"{self.mark()}\n{self.block(1, loop=False, calls=False, yields=True)}yield\n"
        body = f"{self.mark()}\n{self.block(2 if self.loose else 3, loop=False)}"
        bodies = {"helper": helper, "generate": generator, "f": body}
        bodies = {name: f"train()\n{text}" for name, text in bodies.items()}
        if self.loose:
            bodies = {name: f"x = True\n{text}" for name, text in bodies.items()}
        return "\n".join(f"def {name}():\n{indent(text, '    ')}" for name, text in bodies.items())

    def number(self) -> int:
        self.count += 1
        return self.count

    def mark(self) -> str:
        return f"mark({self.number()})"

    def test(self, depth: int = 1) -> str:
        kind = self.rng.random()
        if depth and kind < 0.3:
            word = self.rng.choice((" and ", " or "))
            return "(" + word.join(self.test(depth - 1) for _ in range(self.rng.choice((2, 2, 3)))) + ")"
        if depth and kind < 0.45:
            return f"not {self.test(depth - 1)}"
        if kind < 0.55:
            return self.mark()
        if self.loose and kind < 0.75:
            return "x"
        return f"ask({self.number()})"

    def block(self, depth: int, loop: bool, calls: bool = True, yields: bool = False) -> str:
        count = self.rng.choice((1, 2, 2, 3))
        return "".join(self.statement(depth, loop, calls, yields) for _ in range(count))

    def statement(self, depth: int, loop: bool, calls: bool, yields: bool) -> str:
        rng = self.rng
        simple = ["mark", "mark", "mark", "choice", "short", "exit"]
        simple += ["helper"] * calls + ["yield", "yield"] * yields + ["name", "name"] * self.loose
        nested = ["if", "if", "if", "for", "while", "try", "try", "with", "match"]
        nested += ["each"] * (calls and not self.within)  # two runs of one generator at a time would share answers
        kind = rng.choice(simple + nested) if depth else rng.choice(simple)
        yields = yields and kind not in ("try", "with")  # Python closes a generator that is left: the judge does not

        def inner(loop: bool = loop) -> str:
            return indent(self.block(depth - 1, loop, calls, yields), "    ")

        match kind:
            case "mark":
                return f"{self.mark()}\n"
            case "helper":
                return rng.choice(("helper()\n", f"mark({self.number()}, helper())\n"))
            case "name":
                new = rng.choice(("True", "False", "None", "not x"))
                test, mark = f"ask({self.number()})", self.mark()
                return rng.choice((f"x = {new}\n", f"if {test}:\n    x = {new}\n", f"x = {mark}\n"))
            case "yield":
                return "yield\n"
            case "choice":
                return f"{self.mark()} if {self.test()} else {self.mark()}\n"
            case "short":
                return f"{self.test()} and {self.mark()}\n"
            case "exit":
                leave = [f"raise {rng.choice(('One', 'Two'))}", f"assert {self.mark()}"] + ["raise"] * self.loose
                if not self.final:
                    leave += ["return"] if yields else ["return", f"return {self.mark()}"]
                leave += ["break", "continue"] * 2 * loop
                chosen = rng.choice(leave)
                return f"{chosen}\n" if chosen[0] == "a" else f"if {self.test()}:\n    {chosen}\n"
            case "if":
                other = rng.choice(("", f"else:\n{inner()}", f"elif {self.test()}:\n{inner()}"))
                return f"if {self.test()}:\n{inner()}{other}"
            case "for":
                other = rng.choice(("", "", f"else:\n{inner()}"))
                return f"for _ in rounds({self.number()}):\n{inner(True)}{other}"
            case "each":
                self.within += 1
                found = f"for _ in generate():\n{inner(True)}{rng.choice(('', f'else:{chr(10)}{inner()}'))}"
                self.within -= 1
                return found
            case "while":
                if rng.random() < 0.3:
                    return f"while True:\n    if not ask({self.number()}): break\n{inner(True)}"
                return f"while ask({self.number()}):\n{inner(True)}{rng.choice(('', f'else:{chr(10)}{inner()}'))}"
            case "try":
                found = f"try:\n{inner()}"
                handlers = rng.choice(([], ["One"], ["One", "Two"], ["Exception"], ["(One, Two)"], [""]))
                for name in handlers:
                    found += f"except {name}:\n{inner()}".replace("except :", "except:")
                if handlers and rng.random() < 0.3:
                    found += f"else:\n{inner()}"
                if not handlers or rng.random() < 0.4:
                    self.final += 1
                    found += f"finally:\n{inner(False)}"
                    self.final -= 1
                return found
            case "match":
                cases = "".join(f"    case Case.c{self.number()}:\n{indent(inner(), '    ')}" for _ in range(2))
                rest = rng.choice(("", f"    case _:\n{indent(inner(), '    ')}"))
                return f"match subject():\n{cases}{rest}"
            case _:
                context = rng.choice(("autocast()", "autocast(enabled=False)", "other()", "other(), autocast()"))
                return f"with {context}:\n{inner()}"


# ---------------------------------------------------------------- run by Python


class One(Exception):
    pass


class Two(Exception):
    pass


class Bits:
    """Answers in the order in which they are asked for; all are no in the end."""

    def __init__(self, bits: list[bool]) -> None:
        self.left = list(reversed(bits))

    def next(self) -> bool:
        return self.left.pop() if self.left else False


class Answer:
    """What a mark returns: asked for its truth the first time it matters."""

    def __init__(self, bits: Bits) -> None:
        self.bits = bits
        self.known: bool | None = None

    def __bool__(self) -> bool:
        if self.known is None:
            self.known = self.bits.next()
        return self.known


def by_python(text: str, bits: list[bool]) -> Trace:
    trace: Trace = []
    row = Bits(bits)
    casts = [False]

    def mark(number: int, *_: object) -> Answer:
        trace.append((number, casts[-1]))
        return Answer(row)

    def rounds(_: int) -> Iterator[None]:
        while row.next():
            yield

    @contextmanager
    def autocast(enabled: bool = True) -> Iterator[None]:
        casts.append(enabled)
        try:
            yield
        finally:
            casts.pop()

    @contextmanager
    def other() -> Iterator[None]:
        yield

    class Subject:
        def __eq__(self, _: object) -> bool:
            return row.next()

    class Anything(type):
        def __getattr__(cls, name: str) -> str:
            return name

    class Case(metaclass=Anything):
        pass

    names: dict[str, Any] = {
        "mark": mark, "ask": lambda _: row.next(), "rounds": rounds, "autocast": autocast, "other": other,
        "train": lambda: None, "subject": Subject, "Case": Case, "One": One, "Two": Two,
    }  # fmt: skip
    exec(compile(text, "<made up>", "exec"), names)
    try:
        names["f"]()
    except (One, Two, AssertionError, RuntimeError):
        trace.append("raises")
    return trace


# ---------------------------------------------------------------- run by the judge


class Marked(Program):
    """A program in which nothing has a part in training but the calls of ``mark``, and those of ``train`` that say
    that a function has one: elsewhere the judge does not look at what is raised."""

    def kind_of(self, call: ast.Call) -> str:
        return {"mark": "forward", "train": "amp"}.get(getattr(call.func, "id", ""), "")


class Judge:
    def __init__(self, text: str) -> None:
        self.m = Module(text)
        v = Values(self.m)
        self.program = Marked.legacy(self.m, v, collect(self.m, v))
        self.runner = Runner(self.program, True, lambda call: True)
        self.f = next(n for n in self.m.nodes if isinstance(n, ast.FunctionDef) and n.name == "f")

    def trace(self, bits: list[bool]) -> Trace:
        return self.follow(Bits(bits).next)

    def follow(self, answer: Callable[[], bool]) -> Trace:
        trace: Trace = []
        state, facts = State([Frame(self.program.code(self.f))]), Facts()
        while True:
            try:
                event = self.runner.run(state, facts)
            except Ask as question:
                facts = {**facts, question.term: answer()}
                continue
            if event.kind == "end":
                return [*trace, "raises"] if state.raising is not None else trace
            if event.kind == "forward":
                assert isinstance(event.node, ast.Call) and isinstance(event.node.args[0], ast.Constant)
                trace.append((int(str(event.node.args[0].value)), state.casts))
                facts = self.without(facts, event.node)
            else:
                facts = self.joint(event, state, facts, answer)

    def joint(self, event: Event, state: State, facts: Facts, answer: Callable[[], bool]) -> Facts:
        """What compare/ does with an event that is no mark."""
        if event.kind == "enter":
            callee, frame = event.about
            assert isinstance(event.node, ast.Call)
            self.runner.calls.enter(state, event.node, callee, frame)
            return self.without(facts, callee)
        facts = self.without(facts, event.node)
        if event.kind == "round":
            if answer():
                self.runner.loops.begin_round(state, event.node, facts)
            else:
                state.frames[-1].pc = event.about
        else:
            assert event.kind == "head"
        return facts

    def without(self, facts: Facts, node: ast.AST) -> Facts:
        low, high = self.m.start(node), self.m.end(node)
        return forget(facts, lambda term: any(low <= leaf[1] <= high for leaf in leaves(term)))


# ---------------------------------------------------------------- both


def answers(rng: random.Random) -> list[bool]:
    return [rng.random() < 0.6 for _ in range(rng.randrange(16))]


@pytest.mark.parametrize("part", range(some(4, 1)))
def test_the_same_marks_with_the_same_answers(part: int) -> None:
    for seed in range(part * 100, (part + 1) * 100):
        text = Maker(seed).module()
        judge = Judge(text)
        rng = random.Random(seed)
        for bits in (answers(rng) for _ in range(8)):
            assert judge.trace(bits) == by_python(text, bits), f"seed {seed}, answers {bits}:\n{text}"


# ---------------------------------------------------------------- where answers are carried by names


class TooMany(Exception):
    pass


def every_trace(judge: Judge, limit: int) -> set[str]:
    """Of all answers with no more than a few that are yes."""
    found: set[str] = set()
    todo: list[list[bool]] = [[]]
    while todo:
        bits = todo.pop()
        given: list[bool] = []

        def answer(bits: list[bool] = bits, given: list[bool] = given) -> bool:
            given.append(bits[len(given)] if len(given) < len(bits) else False)
            return given[-1]

        found.add(str(judge.follow(answer)))
        if sum(bits) < 6:
            todo += [[*given[:at], True] for at in range(len(bits), len(given))]
        if len(todo) > limit:
            raise TooMany
    return found


def test_no_way_is_missed_where_names_carry_answers() -> None:
    """There the judge may ask again what is known: it goes more ways than there are, but all that there are."""
    tried = 0
    for seed in range(some(60, 20)):
        text = Maker(seed, loose=True).module()
        if text.count("\n") > 45:
            continue
        try:
            ways = every_trace(Judge(text), limit=40)
        except TooMany:
            continue
        tried += 1
        for number in range(16):
            bits = [bool(number >> at & 1) for at in range(4)]
            assert str(by_python(text, bits)) in ways, f"seed {seed}, answers {bits}:\n{text}"
    assert tried > 5, tried

"""What a migration may have changed is remembered from the start: else both programs would get one answer for it."""

from __future__ import annotations

import textwrap

import pytest

from migrate.facts.module import Module
from migrate.facts.sites import collect
from migrate.flow.values import Values
from migrate.judge.origin import Origin
from migrate.judge.program.program import Program
from migrate.judge.program.unlike import Comparison, unlike
from tests.judge.support import aligned, verdict_of
from tests.judge.test_refining import END, HEAD, NEW, OLD

CLEARS = "\nif {}:\n    optimizer.zero_grad()\n"


def texts(old: str, new: str, asked: str, more: str = "") -> tuple[str, str]:
    """Two programs with something else behind their training, which a condition asks."""
    behind = (textwrap.indent(textwrap.dedent(one) + CLEARS.format(asked), "    ") for one in (old, new))
    before, after = (HEAD + body + text + more + END for body, text in zip((OLD, NEW), behind, strict=True))
    return before, after


def names(old: str, new: str, asked: str, more: str = "") -> frozenset[str]:
    return between(*texts(old, new, asked, more))


def between(before: str, after: str) -> frozenset[str]:
    m = Module(before)
    v = Values(m)
    program = Program.legacy(m, v, collect(m, v), frozenset(), frozenset())
    other = m.rewritten([after])
    migrated = Program.migrated(other, program, Origin(m, other, aligned(before, after)))
    return unlike(Comparison(program.mattering, migrated.mattering))


CHANGED = {
    "another value": ("flag = False", "flag = True", "flag"),
    "under no condition": ("if args.fp16:\n    flag = True", "flag = True", "flag"),
    "in another arm": ("if args.fp16:\n    pass\nelse:\n    flag = True", "if args.fp16:\n    flag = True", "flag"),
    "under another condition": ("if args.fp16:\n    flag = True", "if args.half:\n    flag = True", "flag"),
    "in one alone": ("flag = a()\nflag = False", "flag = a()", "flag"),
    "made of it": ("n = 1\nflag = n > 3", "n = 5\nflag = n > 3", "flag"),
    "where it is so": ("n = 1\nif n > 3:\n    flag = True", "n = 5\nif n > 3:\n    flag = True", "flag"),
    "an attribute": ("args.flag = False", "args.flag = True", "args.flag"),
    "an item": ("args['flag'] = False", "args['flag'] = True", "args['flag']"),
    "in a dictionary": ("run = {'flag': False, 'n': 1}", "run = {'flag': True, 'n': 1}", "run['flag']"),
    "in a dictionary that is made": ("run = dict(flag=False)", "run = dict(flag=True)", "run['flag']"),
    "by its name": ("args.flag = False", "args.flag = True", "getattr(args, 'flag')"),
    "by its key": ("run['flag'] = False", "run['flag'] = True", "run.get('flag')"),
    "one of several": ("n, flag = 1, False", "n, flag = 1, True", "flag"),
    "a walrus": ("print(flag := False)", "print(flag := True)", "flag"),
    "a loop": ("for flag in batches:\n    break", "for flag in data:\n    break", "flag"),
    "a block": ("with a() as flag:\n    pass", "with b() as flag:\n    pass", "flag"),
    "with another operator": ("n = 1\nn += 2\nflag = n", "n = 1\nn -= 2\nflag = n", "flag"),
    "added to it": ("n = 1\nflag = 0\nflag += n", "n = 2\nflag = 0\nflag += n", "flag"),
    "put into it": ("n, flag = 1, []\nflag.append(n)", "n, flag = 2, []\nflag.append(n)", "flag"),
    "held by a block": ("n = 1\nwith a() + n as flag:\n    pass", "n = 2\nwith a() + n as flag:\n    pass", "flag"),
    "augmented": ("n = 1\nn += 1\nflag = n", "n = 1\nn += 2\nflag = n", "flag"),
}


@pytest.mark.parametrize(("old", "new", "asked"), CHANGED.values(), ids=CHANGED)
def test_what_is_changed_is_remembered(old: str, new: str, asked: str) -> None:
    assert "flag" in names(old, new, asked)


ALIKE = {
    "the same": ("flag = a()", "flag = a()", "flag"),
    "another one": ("n = 1\nflag = a()", "n = 2\nflag = a()", "flag"),
    "another item": ("run = {'flag': False, 'n': 1}", "run = {'flag': False, 'n': 2}", "run['flag']"),
    "in a block": ("flag = a()", "with torch.autocast('cuda'):\n    flag = a()", "flag"),
    "in float32": ("flag = a().cpu().max()", "flag = a().float().cpu().max()", "flag"),
    "of a call": ("flag = check(args, 1)", "flag = check(args)", "flag"),
}


@pytest.mark.parametrize(("old", "new", "asked"), ALIKE.values(), ids=ALIKE)
def test_what_is_alike_is_not(old: str, new: str, asked: str) -> None:
    assert not names(old, new, asked)


def test_what_a_function_hands_back_and_is_handed() -> None:
    more = "\n\ndef chosen(which, optimizer):\n    optimizer.zero_grad()\n    return {}\n"
    calls = ("flag = chosen(0, optimizer)", "flag = chosen(1, optimizer)")
    assert "flag" in names(*calls, "flag", more.format("which"))
    own = ("flag = chosen(flag, optimizer)", "flag = chosen(not flag, optimizer)")
    assert "flag" in names(*own, "flag", more.format("flag").replace("which", "flag"))
    assert "flag" not in names(*calls, "flag", more.format("a()"))


def test_what_a_generator_yields() -> None:
    more = "\n\ndef each(optimizer):\n    optimizer.zero_grad()\n    n = {}\n    yield n\n"
    before, after = texts("for flag in each(optimizer):\n    pass", "for flag in each(optimizer):\n    pass", "flag")
    assert "flag" in between(before + more.format(1), after + more.format(2))
    assert "flag" not in between(before + more.format(1), after + more.format(1))
    direct = more.replace("yield n", "yield {}").replace("n = {}", "pass")
    assert "flag" in between(before + direct.format(1), after + direct.format(2))


def test_a_variable_of_another_function_is_another_one() -> None:
    other = "\n\ndef other(optimizer):\n    flag = {}\n    if flag:\n        optimizer.zero_grad()\n"
    before, after = texts("other(optimizer)\nflag = a()", "other(optimizer)\nflag = a()", "flag")
    for kept, function in ((True, other), (False, other.replace("if flag", "if a()"))):
        found = between(before + function.format(1), after + function.format(2))
        assert ("flag" in found) is kept


def test_one_answer_for_what_differs_would_hide_a_difference() -> None:
    for old, new, asked in (
        ("flag = False", "flag = True", "flag"),
        ("flag = args.a", "flag = args.b", "flag"),
        ("args.flag = False", "args.flag = True", "getattr(args, 'flag')"),
        ("run = {}\nrun['flag'] = False", "run = {}\nrun['flag'] = True", "run.get('flag')"),
    ):
        assert [one.kind for one in verdict_of(*texts(old, new, asked)).differences] == ["order"], old

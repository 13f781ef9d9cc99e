"""What a rough search forgets hides nothing, and it is not lost in what has no part in mixed precision."""

from __future__ import annotations

import ast
import gc
import textwrap
import weakref

import pytest

from migrate.judge.compare import search
from migrate.judge.compare.forgetting import Kept
from migrate.judge.compare.search import Search
from migrate.judge.program.syntax import names_in, stored_names
from migrate.judge.verdict import Verdict
from tests.judge.support import judged_case, verdict_of

HEAD = """\
import torch
import torch.nn as nn
from types import SimpleNamespace
from apex import amp
from tools import a, b, batches, data


def main(ok, args):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
OLD = """\
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in data:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
NEW = """\
    scaler = torch.amp.GradScaler("cuda")
    for x, y in data:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
"""
END = """\


main(a(), b())
"""


def compared(behind: str, more: str = "") -> Verdict:
    """The judge on a program with some code behind its training, that is the same in both texts."""
    text = textwrap.indent(textwrap.dedent(behind), "    ")
    return verdict_of(*(HEAD + body + text + more + END for body in (OLD, NEW)))


# Two questions by one name: what it holds changes between them. Only where the first is answered yes and the second no
# the model runs, with Apex's casts and now without.
CHANGES = {
    "a name": ("ok = a()", "ok = b()", "ok"),
    "a parameter": ("pass", "ok = b()", "ok"),
    "a parameter that is None": ("pass", "ok = None", "ok"),
    "an attribute": ("args.ok = a()", "args.ok = b()", "args.ok"),
    "an attribute of another": ("args.run.ok = a()", "args.run.ok = b()", "args.run.ok"),
    "an attribute by another name": ("one = args.run\none.ok = a()", "two = args.run\ntwo.ok = b()", "args.run.ok"),
    "an item": ("args['ok'] = a()", "args['ok'] = b()", "args['ok']"),
    "an item by a name": ("k = 'ok'\nargs[k] = a()", "args[k] = b()", "args[k]"),
    "several": ("ok, other = a(), 1", "ok, other = b(), 2", "ok"),
    "starred": ("ok, *other = a()", "ok, *other = b()", "ok"),
    "a walrus": ("pass", "print(ok := b())", "ok"),
    "a block": ("pass", "with b() as ok:\n    pass", "ok"),
    "made of itself": ("pass", "ok = ok - b()", "ok"),
    "augmented": ("pass", "ok -= b()", "ok"),
    "a loop": ("pass", "for ok in batches:\n    break", "ok"),
    "annotated": ("n = a()\nok: bool = n", "n = b()\nok: bool = n", "ok"),
    "a walrus of another": ("n = a()\nprint(ok := n)", "n = b()\nprint(ok := n)", "ok"),
    "made of another": ("n = a()\nok = n", "n = b()\nok = n", "ok"),
    "asked for another": ("n = a()\nok = n > 1", "n = b()\nok = n > 1", "ok"),
    "a number that was none": ("ok = None if a() else 0", "ok = 1 + b()", "ok is None"),
}


@pytest.mark.parametrize(("first", "second", "asked"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("leaves", ["return", "raise SystemExit"])
def test_what_changes_between_two_questions(first: str, second: str, asked: str, leaves: str) -> None:
    behind = f"{first}\nif not ({asked}):\n    {leaves}\n{second}\nif not ({asked}):\n    print(model(x))\n"
    verdict = compared(behind)
    assert [one.kind for one in verdict.differences] == ["casts"], verdict


# The same by code that has no part in training.
UNFOLLOWED = {
    "an attribute": ("check(args)", "args.ok", "def check(options):\n    options.ok = b()\n"),
    "an item": ("check(args)", "args['ok']", "def check(options):\n    options['ok'] = b()\n"),
    "a name of the file": ("check()", "OK", "OK = a()\ndef check():\n    global OK\n    OK = b()\n"),
    "in a value": ("n = check(args)", "args.ok", "def check(options):\n    options.ok = b()\n    return 3\n"),
    "in a condition": (
        "if check(args):\n    print(3)",
        "args.ok",
        "def check(options):\n    options.ok = b()\n    return 3\n",
    ),
    "in a block": (
        "for i in range(3):\n    print(i)\n    check(args)",
        "args.ok",
        "def check(options):\n    options.ok = b()\n",
    ),
    "further down": (
        "check(args)",
        "args.ok",
        "def check(options):\n    inner(options)\ndef inner(options):\n    options.ok = b()\n",
    ),
    "by its name": ("setattr(args, 'ok', b())", "args.ok", ""),
    "by a name that is not written": ("setattr(args, a(), b())", "args.ok", ""),
    "by way of vars": ("vars(args).update(b())", "args.ok", ""),
    "by way of vars, a key": ("vars(args)['ok'] = b()", "args.ok", ""),
    "by way of __dict__": ("args.__dict__['ok'] = b()", "args.ok", ""),
    "by update": ("args.update({'ok': b()})", "args['ok']", ""),
    "by update with a dict": ("args.update(dict(ok=b()))", "args['ok']", ""),
    "by update with another": ("args.update(b())", "args['ok']", ""),
    "by update with another's items": ("args.update(**b())", "args['ok']", ""),
    "by update, further down": ("check(args)", "args['ok']", "def check(options):\n    options.update(b())\n"),
    "by a method": (
        "Checks(args).run()",
        "args.ok",
        "class Checks:\n    def __init__(self, options):\n        self.options = options\n"
        "    def run(self):\n        self.options.ok = b()\n",
    ),
}


@pytest.mark.parametrize(("call", "asked", "more"), UNFOLLOWED.values(), ids=UNFOLLOWED)
def test_what_code_changes_that_is_not_followed(call: str, asked: str, more: str) -> None:
    behind = f"if not ({asked}):\n    return\n{call}\nif not ({asked}):\n    print(model(x))\n"
    assert [one.kind for one in compared(behind, f"\n\n{more}").differences] == ["casts"]
    if more and "update" not in more:
        kept = more.replace("ok =", "name =").replace("['ok']", "['name']").replace("OK = b()", "pass")
        assert not compared(behind, f"\n\n{kept}").differences


def test_what_an_update_does_not_name_stays() -> None:
    behind = "if not args.ok:\n    return\n{}\nif not args.ok:\n    print(model(x))\n"
    other = ("meter.update(b())", "meter.update(n=1, **b())")
    for call in ("setattr(args, 'name', b())", "args.update({'name': 1})", *other, "vars(args)['n'] = 3"):
        assert not compared(behind.format(call)).differences, call


def test_what_does_not_change_is_one_question() -> None:
    behind = "if not args.ok:\n    return\nprint(args.name)\nif not args.ok:\n    print(model(x))\n"
    assert compared(behind) == Verdict(pairs=compared(behind).pairs)


@pytest.mark.parametrize(("first", "again"), [("> 1", "<= 1"), ("> 1", "== 1"), ("== 1", "> 1"), ("< 2", ">= 2")])
def test_what_is_compared_by_another_name_is_one_question(first: str, again: str) -> None:
    """``args.number`` is read at one place, but what it holds is asked for at two."""
    behind = f"n = args.number\nif not n {first}:\n    return\nfor x, y in data:\n    optimizer.zero_grad()\n"
    assert not compared(f"{behind}if n {again}:\n    print(model(x))\n").differences
    assert compared(f"{behind}n = b()\nif n {again}:\n    print(model(x))\n").differences


def test_a_variable_of_another_function_is_another() -> None:
    inner = "\n\ndef later(model, x):\n    ok = b()\n    if not ok:\n        print(model(x))\n"
    behind = "ok = a()\nif not ok:\n    return\nlater(model, x)\n"
    assert [one.kind for one in compared(behind, inner).differences] == ["casts"]


@pytest.mark.parametrize("value", ["b() + 1", "len(args)", "int(b())", "not b()"])
def test_what_is_calculated_is_not_none(value: str) -> None:
    assert not compared(f"n = {value}\nif n is None:\n    print(model(x))\n").differences
    assert compared(f"n = {value}\nif n:\n    print(model(x))\n").differences


def test_conditions_without_a_part_in_it_cost_little() -> None:
    def pairs(number: int) -> int:
        ifs = "".join(
            f"        if args.f{i}:\n            v{i} = x * {i}\n            loss += v{i}.mean()\n"
            for i in range(number)
        )
        more = "".join(f"        if args.f{i}:\n            print(v{i})\n" for i in range(number))
        text = (
            HEAD + OLD.replace("        optimizer.zero_grad()\n", ifs + "        optimizer.zero_grad()\n") + more + END
        )
        case = judged_case(text)
        assert case is not None and case.verdict.unknown is None and not case.verdict.differences
        return case.verdict.pairs

    few, many = pairs(6), pairs(12)
    assert many < 3 * few


def test_a_condition_that_nobody_asks_again_is_one_question() -> None:
    def pairs(condition: str) -> int:
        case = judged_case(HEAD + OLD + f"        if {condition}:\n            break\n" + END)
        assert case is not None and case.verdict.unknown is None and not case.verdict.differences
        return case.verdict.pairs

    assert pairs("args.last > 0 and total >= args.last or not args.more") == pairs("args.last > 0")


def test_what_is_remembered_of_questions() -> None:
    flag, other = ("attr", ("v", 7, "args"), "flag"), ("v", 9, "")
    kept = Kept(frozenset({"fp16"}))
    assert not kept.about(flag) and not kept.about(other)
    more = kept.with_those_of([flag])
    assert more.names == {"fp16", "flag"} and more.about(flag) and not more.about(other)
    assert not more.about(("attr", flag[1], "other"))
    whole = kept.with_those_of([flag], whole=True)
    assert whole.names == {"fp16", "flag", "args"} and whole.about(("attr", flag[1], "other"))
    key = ("op", "in", ("k", "fp16"), ("v", 8, "config"))
    assert kept.about(key) and kept.with_those_of([key]) == kept
    assert not kept.with_those_of([("op", "eq", flag, other)]).about(("v", 3, "unknown"))
    assert kept.with_those_of([other]).about(("op", "lt", other, ("k", 3)))
    assert kept.with_those_of([]) == kept


@pytest.mark.parametrize(
    ("target", "stored"),
    [
        ("a", {"a"}),
        ("a.b", {"b"}),
        ("a.b.c", {"c"}),
        ("a['k']", {"a", "k"}),
        ("a.b[i]", {"b", "i"}),
        ("a, (b.c, *d)", {"a", "c", "d"}),
    ],
)
def test_the_names_by_which_a_store_is_read(target: str, stored: set[str]) -> None:
    node = ast.parse(target, mode="eval").body
    assert stored_names(node) == stored
    assert stored <= names_in(node)


def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many states each search that is begun from now on looks at."""
    counts: list[int] = []
    run = Search.run

    def noted(search: Search, most: int) -> Verdict:
        try:
            return run(search, most)
        finally:
            counts.append(search.pairs)

    monkeypatch.setattr(Search, "run", noted)
    return counts


def test_a_search_goes_on_behind_what_is_worth_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these was the end of two searches, which began anew."""
    counts = searches(monkeypatch)
    evaluates = "".join(f"\n\ndef check_{i}(model, x):\n    print(model(x))\n" for i in range(6))
    calls = "".join(f"    if args.f{i}:\n        check_{i}(model, x)\n" for i in range(6))
    case = judged_case(HEAD + OLD + calls + evaluates + END)
    assert case is not None and not case.verdict.differences and case.verdict.unknown is None
    assert len(counts) == 1 and case.verdict.pairs == counts[0]


def test_what_no_run_comes_to_is_refuted_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = searches(monkeypatch)
    asks_twice = "if not args.ok:\n    return\nprint(args.name)\nif not args.ok:\n    print(model(x))\n"
    verdict = compared(asks_twice)
    assert not verdict.differences and len(counts) > 1 and verdict.pairs == sum(counts)


def test_a_search_that_is_over_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference is an exception, whose frames hold all pairs: cycles are looked for too seldom to wait for that."""
    begun: list[weakref.ref[Search]] = []
    run = Search.run

    def noted(search: Search, most: int) -> Verdict:
        begun.append(weakref.ref(search))
        return run(search, most)

    monkeypatch.setattr(Search, "run", noted)
    gc.disable()
    try:
        asks_twice = "if not args.ok:\n    return\nprint(args.name)\nif not args.ok:\n    print(model(x))\n"
        assert not compared(asks_twice).differences
        assert len(begun) > 1
        assert compared("print(model(x))\n").differences
        assert not any(search() for search in begun)
    finally:
        gc.enable()


def test_no_more_is_remembered_than_refutes_a_way(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[frozenset[str]] = []
    run = Search.run

    def noted(search: Search, most: int) -> Verdict:
        kept.append(search.forgetting.kept.names if search.forgetting.kept is not None else frozenset())
        return run(search, most)

    monkeypatch.setattr(Search, "run", noted)
    asked = "".join(f"if args.{name}:\n    optimizer.zero_grad()\n" for name in ("one", "two", "three"))
    verdict = compared(f"if not args.ok:\n    return\n{asked}if not args.ok:\n    print(model(x))\n")
    assert not verdict.differences and len(kept) == 2
    assert kept[1] - kept[0] == {"ok"}


WORDS = "list tuple iter enumerate len filter sorted zip set next sum chain reversed"


@pytest.mark.parametrize(
    ("listed", "reads"),
    [*((name, False) for name in WORDS.split()), ("total_of", True)],
)
def test_whoever_only_lists_parameters_reads_no_gradients(listed: str, reads: bool) -> None:
    stepping, after = "        optimizer.step()", "        scaler.step"
    old = OLD.replace(stepping, f"        n = {listed}(amp.master_params(optimizer))\n{stepping}")
    new = NEW.replace(after, f"        n = {listed}(p for one in optimizer.groups for p in one)\n{after}")
    assert bool(verdict_of(HEAD + old + END, HEAD + new + END).differences) is reads


def test_a_search_with_too_many_ways_open_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the whole, whatever a search that remembers more would come to."""
    assert compared("") == Verdict((), None, compared("").pairs)
    monkeypatch.setattr(search, "MAX_OPEN", 1)
    verdict = compared("")
    assert verdict.unknown == "it has more paths than can be followed" and not verdict.differences
    assert 1 < verdict.pairs < 50

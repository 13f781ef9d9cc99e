"""Which text of a migrated script comes from where, and which node from which."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.judge.origin import Origin
from migrate.model import DeleteLines, Edit, InsertLines, Reindent, Replace
from migrate.rewrite.apply import apply_traced
from migrate.rewrite.trace import Run, common_words

from .support import SCRIPTS, aligned, composed, judged_case, script_case

NAMES = sorted(script.stem for script in SCRIPTS.glob("*.py"))


@pytest.mark.parametrize("part", range(4))
def test_runs_of_the_scripts(part: int) -> None:
    """Every character is traced to one that reads the same, no two to the same one, and in order."""
    for name in NAMES[part::4]:
        case = script_case(name)
        if case is None:
            continue
        old, new = case.ctx.m.text, case.text
        for run in case.runs:
            assert run.length >= 0 and old[run.old : run.old + run.length] == new[run.new : run.new + run.length], name
        for one, other in zip(case.runs, case.runs[1:], strict=False):
            assert one.new + one.length <= other.new, name
            assert one.old + one.length <= other.old, name


@pytest.mark.parametrize("part", range(4))
def test_nodes_of_the_scripts(part: int) -> None:
    """A node comes from one of its kind; what reads the same on a line of its own comes from there."""
    for name in NAMES[part::4]:
        case = script_case(name)
        if case is None:
            continue
        old, new = case.ctx.m, Module(case.text)
        origin = Origin(old, new, case.runs)
        for node in new.nodes:
            source = origin.of(node)
            if source is not None:
                assert type(source) is type(node) and source in (old.tree, *old.parent), name
        before, after = ([ast.dump(s) for s in m.place] for m in (old, new))
        for stmt in new.place:
            source = origin.of(stmt)
            if source is None or before.count(ast.dump(stmt)) != 1 or after.count(ast.dump(stmt)) != 1:
                continue
            # of two arms that became one, it is the one with Apex's parameters that stayed
            same = ast.dump(source) == ast.dump(stmt) or "master_params" in old.src(source)
            assert same, f"{name}, line {stmt.lineno}"


def sources(old: str, new: str, runs: list[Run]) -> dict[str, str | None]:
    """The statements of the new text, and where those stood that were there."""
    one, other = Module(old), Module(new)
    origin = Origin(one, other, runs)
    found = {}
    for stmt in other.place:
        source = origin.of(stmt)
        place = None if source is None else f"{source.lineno}: {ast.unparse(source).splitlines()[0]}"  # type: ignore[attr-defined]
        found[ast.unparse(stmt).splitlines()[0]] = place
    return found


def test_edits_keep_what_they_do_not_name() -> None:
    old = "a = f(x)\nif a:\n    g(a)\n    h(a)\nk()\n"
    edits: list[Edit] = [
        Replace(old.index("g(a)"), old.index("g(a)") + 4, "scaler.g(a)"),
        DeleteLines(4, 4),
        InsertLines(5, ("new()",), after_previous=True),
        Reindent(5, 5, "", "    "),
        InsertLines(5, ("with autocast():",), inside=False),
    ]
    new, runs = apply_traced(old, edits)
    assert new == "a = f(x)\nif a:\n    scaler.g(a)\nnew()\nwith autocast():\n    k()\n"
    assert sources(old, new, runs) == {
        "a = f(x)": "1: a = f(x)",
        "if a:": "2: if a:",
        "scaler.g(a)": None,  # the call is the old one, see below
        "with autocast():": None,
        "new()": None,
        "k()": "5: k()",
    }
    one, other = Module(old), Module(new)
    call = next(n for n in other.nodes if isinstance(n, ast.Call) and ast.unparse(n) == "scaler.g(a)")
    source = Origin(one, other, runs).of(call)
    assert source is not None and ast.unparse(source) == "g(a)"


def test_a_call_that_was_moved_comes_from_the_one_that_went() -> None:
    old = "with scale_loss(f(out, y), opt) as s:\n    s.backward()\nf(out, z)\n"
    new = "with autocast():\n    loss = f(out, y)\nscaler.scale(loss).backward()\nf(out, z)\n"
    origin = Origin(Module(old), other := Module(new), aligned(old, new))
    calls = [n for n in other.nodes if isinstance(n, ast.Call) and ast.unparse(n).startswith("f(")]
    assert [getattr(origin.of(one), "lineno", 0) for one in calls] == [1, 3]


def test_common_words_are_in_order_and_whole() -> None:
    old, new = "optimizer.step(closure)", "scaler.step(optimizer, closure)"
    runs = common_words(old, new)
    shared = [(old[r.old : r.old + r.length], new[r.new : r.new + r.length]) for r in runs]
    assert shared == [(".", "."), ("step", "step"), ("(", "("), ("closure", "closure"), (")", ")")]


def test_maps_are_composed() -> None:
    first, second, third = "a\nb\nc\n", "a\n    b\nx\nc\n", "    b\nc\nnew\n"
    runs = composed(aligned(second, third), aligned(first, second))
    assert [(first[r.old : r.old + r.length], r.new) for r in runs] == [("b", 4), ("c", 6)]


def test_nothing_is_edited() -> None:
    text = "x = 1\n"
    assert apply_traced(text, []) == (text, [Run(0, 0, len(text))])
    assert judged_case("import torch\n") is None

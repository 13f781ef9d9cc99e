"""How many small faults in the planner and the judge the suite finds: ``make mutants``.

A mutant is one change of one file of migrate/{plan,units,check,flow,judge}:

* a comparison turned (``==`` to ``!=``, ``<`` to ``>=``, ``in`` to ``not in``, …);
* ``and`` for ``or``, and back;
* a condition (of an ``if``, a conditional expression or a comprehension) that is always False, or always True;
* a ``not`` dropped;
* the answer of a function that returns a bool turned round;
* one constant less in a frozenset.

Annotations, assertions, messages of exceptions, f-strings and functions that nothing calls are left alone. Of all
mutants there are, ``--sample`` are drawn by ``--seed``. All tests run once without a mutant, and of each it is noted
which mutants it reaches (`reached` says how). Then each mutant is put into a copy of the tree, never into the tree
itself, and the tests that reach it run there, the shortest first, until one fails; one that takes too long, or too
much memory, counts as found. Tests that fail without any mutant are left out, and named.

Every mutant that no test finds is printed, with the number of tests that reach it, and the rate at last.

    make mutants SAMPLE=70 SEED=0 JOBS=2
    python tests/mutants/run.py --part 0:20                          the first 20 of the 70
    python tests/mutants/run.py --only migrate/plan/home/homes.py:120      all mutants of one line (or file)
    python tests/mutants/run.py --list                               print the mutants, run nothing
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("plan", "units", "check", "flow", "judge")
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info", "reports")

# The tests that run programs before and after are left out: they run the texts that are recorded.
STAGES = (
    "tests/flow tests/facts tests/units tests/plan tests/rules tests/check tests/knowledge".split(),
    ["tests/recorded"],
    ["tests/judge"],
)

MEMORY = 8 << 30  # of a mutant that never stops to allocate
PATIENCE, START = 5, 10  # a test may take so many times as long as without a mutant, and so many seconds on top

TURNED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.GtE: "<",
    ast.Gt: "<=",
    ast.LtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


Source = Callable[[ast.expr], str]


class Mutant(NamedTuple):
    """In the bytes of a file, ``after`` for what stands at ``start`` to ``end``."""

    path: Path
    line: int
    start: int
    end: int
    before: str
    after: str

    @property
    def place(self) -> str:
        return f"{self.path.as_posix()}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {' '.join(self.before.split())}  →  {' '.join(self.after.split())}"

    def into(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


# ---------------------------------------------------------------- the mutants


def mutants_of(path: Path, text: str, called: frozenset[str]) -> Iterator[Mutant]:
    """Every mutant of one file; ``called`` are the names that something in the project reads."""
    starts, source = [0], text.encode()
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def src(node: ast.expr) -> str:
        return source[slice(*place(node))].decode()

    for node, new in _changes(ast.parse(text), called, src):
        yield Mutant(path, node.lineno, *place(node), src(node), new)


def _changes(node: ast.AST, called: frozenset[str], src: Source) -> Iterator[tuple[ast.expr, str]]:
    """Expressions with what takes their place, in a tree."""
    match node:
        case ast.Assert() | ast.Raise() | ast.JoinedStr():
            return
        case ast.FunctionDef(name=name) if name not in called and not name.startswith("__"):
            return
        case ast.AnnAssign(value=value):
            if value is not None:
                yield from _changes(value, called, src)
            return
        case ast.FunctionDef(returns=ast.Name(id="bool")):
            for one in _returned(node):
                yield one, f"(not ({src(one)}))"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield node, f"({src(left)} {TURNED[type(op)]} {src(right)})"
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield node, f"({word.join(f'({src(one)})' for one in values)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({src(operand)})"
        case ast.Call(func=ast.Name(id="frozenset"), args=[given]):
            yield from _less(given, src)
        case _:
            pass
    tests = [node.test] if isinstance(node, (ast.If, ast.IfExp)) else getattr(node, "ifs", [])
    for test in tests:
        if not isinstance(test, ast.Constant):
            yield test, "False"
            yield test, "True"
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child, called, src)


def _returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    todo: list[ast.AST] = [*function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)


def _less(given: ast.expr, src: Source) -> Iterator[tuple[ast.expr, str]]:
    """``"a b".split()`` or a display, each time without one of its constants."""
    match given:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="split"), args=[]):
            words = text.split()
            for number in range(len(words)):
                yield given, f"{' '.join(words[:number] + words[number + 1 :])!r}.split()"
        case ast.Set(elts=elts) | ast.List(elts=elts) | ast.Tuple(elts=elts) if all(
            isinstance(one, ast.Constant) for one in elts
        ):
            for number in range(len(elts)):
                yield given, f"[{', '.join(src(one) for one in elts[:number] + elts[number + 1 :])}]"
        case _:
            pass


def all_mutants() -> list[Mutant]:
    """Those of every file, in order."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((PROJECT / "migrate").rglob("*.py"))}
    called = frozenset(
        node.id if isinstance(node, ast.Name) else node.attr
        for text in texts.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
    )
    return [
        mutant
        for path, text in texts.items()
        if path.relative_to(PROJECT).parts[1] in PACKAGES
        for mutant in mutants_of(path.relative_to(PROJECT), text, called)
    ]


# ---------------------------------------------------------------- the tests


def probed(source: bytes, mutants: Iterable[tuple[int, Mutant]]) -> bytes:
    """A file with a call of `reached.by` around each expression that one of its numbered mutants changes."""
    pieces = []  # at one place: what ends before what begins, and what holds another outside of it
    for number, one in mutants:
        held = one.after if one.after in ("True", "False") else ""
        call = f"__import__('tests.mutants.reached', fromlist=['by']).by({number}, {held!r}, "
        pieces += [((one.start, 1, -one.end, number), call), ((one.end, 0, -one.start, -number), ")")]
    for (place, *_), piece in sorted(pieces, reverse=True):
        source = source[:place] + piece.encode() + source[place:]
    return source


class Suite:
    """The tests, in copies of the tree: a mutant is tried in one that is free, with the tests that reach it."""

    def __init__(self, folder: Path, pool: ThreadPoolExecutor, jobs: int, chosen: list[Mutant]) -> None:
        self.chosen = chosen
        self.copies: queue.Queue[Path] = queue.Queue()
        for number in range(jobs):
            self.copies.put(Path(shutil.copytree(PROJECT, folder / str(number), ignore=NOT_COPIED)))
        self.seconds: dict[str, float] = {}
        self.tests: list[list[str]] = [[] for _ in chosen]  # that reach a mutant, the shortest first
        self.failing: list[str] = []
        for said, failing in pool.map(self._without_mutant, STAGES):
            self.failing += failing
            for test, (seconds, *reached) in said.items():
                self.seconds[test] = seconds
                for number in reached if test not in failing else ():
                    self.tests[int(number)].append(test)
        for tests in self.tests:
            tests.sort(key=self.seconds.__getitem__)

    def _without_mutant(self, rooms: list[str]) -> tuple[dict[str, list[float]], list[str]]:
        """What `reached` says of the tests of some rooms, and which of them fail."""
        copy = self.copies.get()
        note = copy / "reached.json"
        right = {copy / one.path: (copy / one.path).read_bytes() for one in self.chosen}
        for path, source in right.items():
            here = ((number, one) for number, one in enumerate(self.chosen) if copy / one.path == path)
            path.write_bytes(probed(source, here))
        status, output = self._pytest(copy, ["-rfE", *rooms], {"REACHED": str(note)})
        for path, source in right.items():
            path.write_bytes(source)
        failing = re.findall(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", output, re.M)
        if not note.exists() or (status != 0 and not failing):
            raise SystemExit(f"the tests do not pass without a mutant, and none of them is named:\n{output}")
        said: dict[str, list[float]] = json.loads(note.read_text(encoding="utf-8"))
        self.copies.put(copy)
        return said, failing

    def finds(self, number: int) -> bool:
        """Whether a test fails, or does not end."""
        mutant, tests = self.chosen[number], self.tests[number]
        if not tests:
            return False
        copy = self.copies.get()
        path, picked = copy / mutant.path, copy / "picked.json"
        right = path.read_bytes()  # the same in every copy
        may = {test: PATIENCE * self.seconds[test] + START for test in tests}  # of the processor, be it busy or not
        picked.write_text(json.dumps(may), encoding="utf-8")
        try:
            path.write_bytes(mutant.into(right))
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                compiled.unlink()
            files = sorted({test.partition("::")[0] for test in tests})
            status, _ = self._pytest(copy, ["-x", *files], {"PICKED": str(picked)}, sum(may.values()))
            return status not in (0, pytest.ExitCode.NO_TESTS_COLLECTED)
        finally:
            path.write_bytes(right)
            self.copies.put(copy)

    def _pytest(
        self, copy: Path, words: list[str], names: dict[str, str], limit: float | None = None
    ) -> tuple[int, str]:
        options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "tests.mutants.reached"]
        process = subprocess.Popen(
            [sys.executable, *(["-B"] if limit else []), "-m", "pytest", *options, *words],  # keep no compiled mutant
            cwd=copy,
            env={**os.environ, "COLUMNS": "1000", "PYTHONPATH": str(copy), **names},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return -1, ""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that run scripts
            process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=70)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", default=":", metavar="FIRST:LAST", help="of the sample; LAST is not tried")
    parser.add_argument("--only", metavar="FILE[:LINE]", help="all mutants of it instead of a sample")
    parser.add_argument("--list", action="store_true", help="run nothing")
    options = parser.parse_args()
    every = all_mutants()
    chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    if options.only:
        chosen = [one for one in every if options.only in (one.path.as_posix(), one.place)]
    first, _, last = options.part.partition(":")
    chosen = chosen[int(first or 0) : int(last) if last else None]
    if options.list:
        print("\n".join(map(str, chosen)))
        return 0
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    found = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        suite = Suite(Path(folder), pool, options.jobs, chosen)
        print(f"{len(chosen)} of {len(every)} mutants; all tests take {sum(suite.seconds.values()):.0f} s", flush=True)
        if suite.failing:
            print(f"without a mutant these fail: {' '.join(suite.failing)}", flush=True)
        for number, killed in enumerate(pool.map(suite.finds, range(len(chosen)))):
            found += killed
            print(f"{number + 1} of {len(chosen)}", end="\r", file=sys.stderr, flush=True)
            if not killed:
                print(f"survives {len(suite.tests[number])} tests: {chosen[number]}", flush=True)
    print(f"{found} of {len(chosen)} mutants found ({100 * found / max(1, len(chosen)):.0f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())

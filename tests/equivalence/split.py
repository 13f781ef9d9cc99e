"""Programs that people wrote, taken apart at random: functions and classes of one file move to one or two others.

A program is the same however it is spread over files, so the tool has to do the same to it, or to say what it does not
see any more: a helper that looks at gradients, a base class that refuses attributes, a function that lengthens a list
of parameters. Each other file gets the imports that it needs and is imported in a way of its own (by names, as a
module, under another name, with a star; relatively where it is of a package, from a package that hands it on, from a
file that does nothing else, or from one whose functions call these and whose classes derive from them).

    python -m tests.equivalence.many --split --seeds 0:1000
"""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .changed import ATTEMPTS, bases
from .generate import MAIN, Program
from .harness import read_header, read_script

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_NAMES = ("engine", "utils", "helpers", "core", "lib", "parts", "tools", "common")
WAYS = ("names", "names", "module", "another name", "star", "package", "package", "relay", "wrapped")


def program(seed: int) -> Program:
    """The program of a seed, the same every time: ``shapes`` are the script, what went where and how it is imported."""
    rng = random.Random(seed)
    for _ in range(ATTEMPTS):
        path = rng.choice(bases())
        text = read_script(path)
        apart = split(text, rng)
        if apart is not None:
            files, said = apart
            return Program(seed, files, tuple(map(tuple, read_header(text).runs)), False, (path.stem, *said))
    raise AssertionError(f"seed {seed}: nothing could be taken apart")


def split(text: str, rng: random.Random) -> tuple[dict[str, str], list[str]] | None:
    """The files of a program, and what moved; None where nothing can move, or not in the way that was drawn."""
    source = _Source(text)
    groups = _groups(source, rng)
    if not groups:
        return None
    package = rng.choice(_NAMES) + "_package" if rng.random() < 0.4 else ""
    files = [f"{package}/{one}" if package else one for one in rng.sample(_NAMES, len(groups))]
    home = {name: file for file, group in zip(files, groups, strict=True) for stmt in group for name in _bound(stmt)}
    made = {f"{package}/__init__.py": ""} if package else {}
    ways: list[str] = []
    for file, group in zip(files, groups, strict=True):
        body = "\n\n\n".join(map(source.text_of, group))
        needed = source.imports_for(_read(group))
        part = _with_others(body, file, home, rng, ways)
        if part is None:
            return None
        made[f"{file}.py"] = "\n".join([*needed, *part[0]]) + f"\n\n\n{part[1]}\n"
    moved = [stmt for group in groups for stmt in group]
    rest = _with_others(source.without(moved), "", home, rng, ways)
    if rest is None:
        return None
    lines, body = rest
    if package and "package" in ways:
        names = {file: sorted(name for name in home if home[name] == file) for file in files}
        handed_on = (f"from .{file.rpartition('/')[2]} import {', '.join(names[file])}\n" for file in files)
        made[f"{package}/__init__.py"] = "".join(handed_on)
    made[MAIN] = _behind_the_imports(body, lines)
    for file, group in zip(files, groups, strict=True):
        for way in {"relay", "wrapped"}.intersection(ways):
            made[f"{way}_{file.rpartition('/')[2]}.py"] = _relay(file, group, wrapped=way == "wrapped")
    said = [", ".join(name for stmt in group for name in _bound(stmt)) for group in groups]
    return made, [*said, *ways]


class _Source:
    """One file, and what its statements bind and read."""

    def __init__(self, text: str) -> None:
        self.text, self.lines = text, text.split("\n")
        self.body = ast.parse(text).body

    @cached_property
    def imports(self) -> list[ast.stmt]:
        """Imports, and such that are tried: each file has its own."""
        tried = [s for s in self.body if isinstance(s, ast.Try) and any(isinstance(x, _IMPORTS) for x in s.body)]
        return [s for s in self.body if isinstance(s, _IMPORTS) or s in tried]

    @cached_property
    def home(self) -> dict[str, ast.stmt]:
        """The statement that binds each name; of one that has several, none."""
        every = [(name, stmt) for stmt in self.body for name in _bound(stmt)]
        names = [name for name, stmt in every if stmt not in self.imports]
        inner = [node for stmt in self.body for node in ast.walk(stmt)]
        given = {name for node in inner if isinstance(node, ast.Global) for name in node.names}
        return {name: stmt for name, stmt in every if names.count(name) < 2 and name not in given}

    @cached_property
    def movable(self) -> list[ast.stmt]:
        """What may stand in another file: functions, classes, and names that are given a value once."""
        named = [s for s in self.body if isinstance(s, ast.Assign) and all(isinstance(t, ast.Name) for t in s.targets)]
        return [s for s in self.body if isinstance(s, _DEFINED) or s in named]

    def with_what_it_needs(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt] | None:
        """Some statements, and all of this file that they read, in order; None where that cannot move."""
        found, todo = set[ast.stmt](), [*stmts]
        while todo:
            stmt = todo.pop()
            if stmt in found:
                continue
            if stmt not in self.movable or any(self.home.get(name) is not stmt for name in _bound(stmt)):
                return None
            found.add(stmt)
            own = [name for name in _read([stmt]) if name in self._bound_here]
            if not all(name in self.home for name in own):
                return None
            todo += [self.home[name] for name in own if self.home[name] not in self.imports]
        return [stmt for stmt in self.body if stmt in found]

    @cached_property
    def _bound_here(self) -> set[str]:
        return {name for stmt in self.body for name in _bound(stmt)}

    def text_of(self, stmt: ast.stmt) -> str:
        begin, end = _lines(stmt)
        return "\n".join(self.lines[begin:end])

    def without(self, stmts: Sequence[ast.stmt]) -> str:
        """The text that is left."""
        gone = {line for stmt in stmts for line in range(*_lines(stmt))}
        return "\n".join(line for number, line in enumerate(self.lines) if number not in gone)

    def imports_for(self, names: Collection[str]) -> list[str]:
        """The imports that bind some of these names."""
        return [self.text_of(s) for s in self.imports if _of_the_future(s) or not set(_bound(s)).isdisjoint(names)]


def _groups(source: _Source, rng: random.Random) -> list[list[ast.stmt]]:
    """The statements that move: those of one file, or those of two, of which the second may read the first."""
    choice = [stmt for stmt in source.movable if isinstance(stmt, _DEFINED) and stmt.name != "main"]
    if len(choice) < 2:
        return []
    moved = source.with_what_it_needs(rng.sample(choice, rng.randint(1, len(choice))))
    if not moved:
        return []
    if len(moved) > 2 and rng.random() < 0.5:
        first = source.with_what_it_needs([rng.choice(moved)]) or []
        return [group for group in (first, [stmt for stmt in moved if stmt not in first]) if group]
    return [moved]


@dataclass(frozen=True)
class _Brought:
    """How names come into a file: the import, and what stands before each where they are used."""

    line: str
    before: str = ""


def _with_others(
    body: str, own: str, home: dict[str, str], rng: random.Random, ways: list[str]
) -> tuple[list[str], str] | None:
    """The imports of other files that a text needs, and the text as it names what they bring."""
    read = _read(ast.parse(body).body)
    lines, before = list[str](), dict[str, str]()
    for file in dict.fromkeys(home.values()):
        names = sorted(name for name in read if home.get(name) == file) if file != own else []
        if not names:
            continue
        way = rng.choice(WAYS)
        if way == "package" and (own or "/" not in file):  # it is handed on to files outside of it
            way = "names"
        ways.append(way)
        brought = _bring(file, names, way, relative=bool(own) and "/" in file and rng.random() < 0.5)
        lines.append(brought.line)
        before.update({name: brought.before for name in names if brought.before})
    named = _named_by(body, before)
    return (lines, named) if named is not None else None


def _bring(file: str, names: Sequence[str], way: str, *, relative: bool) -> _Brought:
    package, _, module = file.rpartition("/")
    if way == "package":
        return _Brought(f"from {package} import {', '.join(names)}")
    if way in ("relay", "wrapped"):
        return _Brought(f"from {way}_{module} import {', '.join(names)}")
    dotted = f".{module}" if relative else file.replace("/", ".")
    if way == "star":
        return _Brought(f"from {dotted} import *")
    if way == "another name" or (way == "module" and relative):
        parent = "." if relative else package
        name = f"own_{module}"
        return _Brought(f"from {parent} import {module} as {name}" if parent else f"import {module} as {name}", name)
    if way == "module":
        return _Brought(f"import {dotted}", dotted)
    return _Brought(f"from {dotted} import {', '.join(names)}")


def _relay(file: str, group: Sequence[ast.stmt], *, wrapped: bool) -> str:
    """A file that hands on what another one has, or has functions and classes of the same names that stand for it."""
    dotted, module = file.replace("/", "."), file.rpartition("/")[2]
    own = [stand_in for stmt in group if wrapped and (stand_in := _stand_in(stmt, module))]
    names = {name for stmt in group if not (wrapped and _stand_in(stmt, module)) for name in _bound(stmt)}
    lines = [f"from {dotted} import {', '.join(sorted(names))}"] if names else []
    lines += [f"import {dotted} as _{module}"] if own else []
    return "\n\n\n".join(["\n".join(lines), *own]) + "\n"


def _stand_in(stmt: ast.stmt, module: str) -> str:
    """A function that calls one, or a class that derives from one; empty where neither can be written by its header."""
    match stmt:
        case ast.ClassDef(name=name):
            return f"class {name}(_{module}.{name}):\n    pass"
        case ast.FunctionDef(name=name, args=ast.arguments(posonlyargs=[], args=args, vararg=None, kwonlyargs=[])) if (
            not stmt.args.kwarg and not stmt.args.defaults
        ):
            given = ", ".join(arg.arg for arg in args)
            return f"def {name}({given}):\n    return _{module}.{name}({given})"
        case _:
            return ""


def _named_by(body: str, before: dict[str, str]) -> str | None:
    """A text in which some names stand behind that of their file; None where one is bound anew somewhere."""
    nodes = list(ast.walk(ast.parse(body)))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    stored |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    texts = {n.id for t in nodes if isinstance(t, ast.JoinedStr) for n in ast.walk(t) if isinstance(n, ast.Name)}
    if not before.keys().isdisjoint(stored | texts):
        return None
    lines = [line.encode() for line in body.split("\n")]
    used = [n for n in nodes if isinstance(n, ast.Name) and n.id in before]
    for node in sorted(used, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        line = lines[node.lineno - 1]
        lines[node.lineno - 1] = line[: node.col_offset] + before[node.id].encode() + b"." + line[node.col_offset :]
    return b"\n".join(lines).decode()


def _behind_the_imports(body: str, lines: Sequence[str]) -> str:
    at = 0
    for stmt in ast.parse(body).body:
        told = isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)
        if not (told or isinstance(stmt, _IMPORTS)):
            break
        at = stmt.end_lineno or at
    found = body.split("\n")
    found[at:at] = lines
    return "\n".join(found)


def _lines(stmt: ast.stmt) -> tuple[int, int]:
    first = min([stmt.lineno, *(one.lineno for one in getattr(stmt, "decorator_list", ()))])
    return first - 1, stmt.end_lineno or stmt.lineno


def _bound(stmt: ast.stmt) -> list[str]:
    """The names that a statement gives its file."""
    if isinstance(stmt, _DEFINED):
        return [stmt.name]
    found: list[str] = []
    for node in ast.walk(stmt):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
        elif isinstance(node, ast.Import):
            found += [alias.asname or alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [alias.asname or alias.name for alias in node.names]
    return found


def _read(stmts: Sequence[ast.stmt]) -> set[str]:
    names: Iterator[str] = (n.id for stmt in stmts for n in ast.walk(stmt) if isinstance(n, ast.Name))
    return {name for name in names if not hasattr(builtins, name)}


def _of_the_future(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"

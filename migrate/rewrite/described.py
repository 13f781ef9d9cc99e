"""What docstrings say of a function's parameters, and how that keeps step with them.

Google's, NumPy's, Sphinx' and Epydoc's ways of listing parameters are understood, and a plain list of ``name: text``
that names two of them. An entry is a line that begins with the name, and what is indented below it. One of a parameter
that goes goes with it, and a section that held no other; a new parameter gets an entry in the manner of the one that it
stands behind. What says more than that (a name in the middle of a sentence) is text, and stays.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..facts.module import Module

_FIELD = re.compile(
    r"[:@](?:param|parameter|arg|argument|key|keyword|kwarg|type)\s+(?:[^:]*\s)?\\?\*{0,2}(?P<names>\w+)\s*:"
)
_ITEM = re.compile(
    r"(?:[-*+]\s+)?(?P<tick>`{0,2})(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)(?P=tick)"
    r"(?P<kind>\s*\([^()]*(?:\([^()]*\)[^()]*)*\)|\s*\[[^\[\]]*\])?(?P<colon>\s*:|\s+--?(?=\s))(?P<text>.*)$"
)
_BARE = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)$")  # NumPy's, without a type
_HEADER = re.compile(
    r"(?:args|arguments|params|parameters|inputs?|keyword args|keyword arguments|other parameters)\s*:?$", re.I
)
_TYPE, _TEXT = "torch.amp.GradScaler", "the gradient scaler"


@dataclass(frozen=True)
class _Entry:
    """What is said of a parameter (``first`` to ``last`` line of the text), or of several."""

    names: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True)
class _Section:
    """A list of entries, below a header that begins at ``first`` or under none."""

    entries: tuple[_Entry, ...]
    first: int | None = None
    numpy: bool = False


@dataclass(frozen=True)
class Said:
    """What is written at the place of characters of the old text, and the lines that this concerns."""

    start: int
    end: int
    text: str
    first: int
    last: int


def described(
    m: Module,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    gone: Iterable[str],
    new: Mapping[str, tuple[str | None, bool]],
) -> Iterator[Said]:
    """How the docstrings of a function follow its parameters: ``gone`` are such as go, ``new`` such as come, each with
    the one that it stands behind and whether it has a default."""
    lost, parameters = frozenset(gone), _parameters(node)
    for doc in _docstrings(m, node):
        text = _Lines(m, doc)
        for section in _sections(text, parameters):
            fresh = [
                said
                for name, (after, default) in new.items()
                if (said := _added(text, section, parameters, lost, name, after, default))
            ]
            yield from fresh
            yield from _removed(text, section, lost, bool(fresh))


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    a = node.args
    several = [p for p in (a.vararg, a.kwarg) if p is not None]
    return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, *several)]


def _docstrings(m: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Constant]:
    """The docstring of a function, and of a constructor that of its class: such as are written as they read."""
    owner = m.class_of(m.scope_of[node]) if node.name == "__init__" else None
    for holder in (node, owner):
        match holder.body[0] if holder is not None else None:
            case ast.Expr(value=ast.Constant(value=str()) as doc) if _plain(m.src(doc)):
                yield doc


def _plain(source: str) -> bool:
    """Whether a string is one pair of three quotes, over several lines, none of which goes on behind a backslash."""
    quotes = source[-3:]
    body = source.lstrip("rRuU")
    whole = body.startswith(quotes) and quotes in ('"""', "'''") and quotes not in body[3:-3]
    return whole and "\n" in body and not re.search(r"\\\r?\n", body)


class _Lines:
    """The lines of a docstring by their numbers in the text, without the quotes."""

    def __init__(self, m: Module, doc: ast.Constant) -> None:
        self.m, self.first, self.last = m, doc.lineno, m.last_line(doc)
        self.closes = m.end(doc) - 3  # where the closing quotes stand
        self._row = {n: m.line_text(n) for n in range(self.first + 1, self.last + 1)}
        self._row[self.last] = m.text[m.starts[self.last - 1] : self.closes]
        self.indent = min((self.depth(n) for n in self._row if self.row(n)), default=0)

    def row(self, number: int) -> str:
        """What stands in a line, without the space around it; nothing in the line of the opening quotes."""
        return self._row.get(number, "").strip()

    def depth(self, number: int) -> int:
        text = self._row[number].expandtabs()
        return len(text) - len(text.lstrip())

    def space(self, number: int) -> str:
        """The white space ahead of a line."""
        text = self._row[number]
        return text[: len(text) - len(text.lstrip())]

    def end(self, number: int) -> int:
        """The offset behind what stands in a line."""
        return self.m.starts[number - 1] + len(self._row[number].rstrip())

    def end_of(self, first: int) -> int:
        """The last line of what begins at a line: what is indented below it belongs to it."""
        last = at = first
        while at < self.last:
            at += 1
            if self.row(at):
                if self.depth(at) <= self.depth(first):
                    break
                last = at
        return last

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The characters of some lines, so that the closing quotes stay where the last of them is theirs, too."""
        starts = self.m.starts
        if last < self.last:
            return starts[first - 1], starts[last]
        end = starts[first - 2] + len(self.m.line_text(first - 1))
        return end, self.closes


def _sections(text: _Lines, parameters: Sequence[str]) -> list[_Section]:
    """The lists of parameters in a docstring; a plain one only where there is no other."""
    numbers = range(text.first + 1, text.last + 1)
    fields = [_Entry((found["names"],), n, text.end_of(n)) for n in numbers if (found := _FIELD.match(text.row(n)))]
    sections = [_Section(tuple(fields))] if fields else []
    for n in numbers:
        if _HEADER.match(text.row(n)):
            under = n < text.last and bool(re.fullmatch("-{3,}|={3,}", text.row(n + 1)))
            if under or text.row(n).endswith(":"):
                section = _Section(tuple(_listed(text, n, under)), n, under)
                sections += [section] if section.entries else []
    if not sections:
        items = [
            (n, found)
            for n in numbers
            if text.row(n) and text.depth(n) == text.indent and (found := _ITEM.match(text.row(n)))
        ]
        entries = [_Entry((found["names"],), n, text.end_of(n)) for n, found in items if found["names"] in parameters]
        sections = [_Section(tuple(entries))] if len(entries) > 1 else []
    return sections


def _listed(text: _Lines, header: int, numpy: bool) -> Iterator[_Entry]:
    """The entries below a header."""
    begins = header + 1 + numpy
    inside: list[int] = []
    for n in range(begins, text.last + 1):
        if not text.row(n):
            continue
        if text.depth(n) < text.depth(header) + (not numpy) or (
            n < text.last and re.fullmatch("-{3,}", text.row(n + 1))
        ):
            break
        inside.append(n)
    if not inside or (numpy and text.depth(inside[0]) != text.depth(header)):
        return
    level = text.depth(inside[0])
    heads = [
        (n, found)
        for n in inside
        if text.depth(n) == level
        and (found := _ITEM.match(text.row(n)) or (_BARE.match(text.row(n)) if numpy else None))
    ]
    for (n, found), (following, _) in zip(heads, [*heads[1:], (text.last + 1, None)], strict=True):
        last = max((one for one in inside if n <= one < following), default=n)
        yield _Entry(tuple(name.strip(" *") for name in found["names"].split(",")), n, last)


def _removed(text: _Lines, section: _Section, lost: frozenset[str], filled: bool) -> Iterator[Said]:
    """What goes of a section."""
    whole = [entry for entry in section.entries if lost.issuperset(entry.names)]
    if section.first is not None and len(whole) == len(section.entries) and not filled:
        first, last = section.first, max(entry.last for entry in whole)
        yield _cut(text, first, last)
        return
    runs: list[tuple[int, int]] = []
    for entry in whole:
        joined = runs and not any(text.row(n) for n in range(runs[-1][1] + 1, entry.first))
        runs = [*runs[:-1], (runs[-1][0], entry.last)] if joined else [*runs, (entry.first, entry.last)]
    for first, last in runs:
        yield _cut(text, first, last)
    for entry in section.entries:
        some = [name for name in entry.names if name in lost]
        if some and entry not in whole:
            yield _without(text, entry, some)


def _cut(text: _Lines, first: int, last: int) -> Said:
    """Lines go; of the blank ones around them only one side stays."""
    blank = first
    while blank - 1 > text.first and not text.row(blank - 1):
        blank -= 1
    if last >= text.last or not text.row(last + 1):
        first = blank if blank > text.first + 1 or last >= text.last else first
    return Said(*text.span(first, last), "", first, last)


def _without(text: _Lines, entry: _Entry, names: Sequence[str]) -> Said:
    """An entry of several parameters, without some of them."""
    start = text.m.starts[entry.first - 1]
    row = text.m.line_text(entry.first)
    found = _ITEM.match(row.strip()) or _BARE.match(row.strip())
    assert found is not None
    begin = row.index(found["names"])
    kept = [one.strip() for one in found["names"].split(",") if one.strip(" *") not in names]
    return Said(start + begin, start + begin + len(found["names"]), ", ".join(kept), entry.first, entry.first)


def _added(
    text: _Lines,
    section: _Section,
    parameters: Sequence[str],
    lost: frozenset[str],
    name: str,
    after: str | None,
    default: bool,
) -> Said | None:
    """The entry of a new parameter, behind that of the one that it stands behind, or of the next one ahead of that."""
    ahead = parameters[: parameters.index(after) + 1] if after is not None else parameters
    known = [entry.names[-1] for entry in section.entries if lost.isdisjoint(entry.names)]
    beside = next((one for one in reversed(ahead) if one in known), None)
    if beside is None or name in known:
        return None
    mine = [entry for entry in section.entries if entry.names[-1] == beside]
    last = mine[-1]
    row, space = text.row(last.first), text.space(last.first)
    if _FIELD.match(row):
        written = _fields(text, mine, beside, name)
    elif found := _ITEM.match(row):
        written = [_item(found, row, name, default, section.numpy)]
        if not found["text"].strip() or section.numpy:
            below = next((n for n in range(last.first + 1, last.last + 1) if text.row(n)), None)
            if below is not None:
                written.append(text.space(below)[len(space) :] + _worded(text.row(below), text.row(last.last)))
    else:
        return None
    at = text.end(last.last)
    return Said(at, at, "".join(f"\n{space}{one}" for one in written), last.first, last.first)


def _fields(text: _Lines, entries: Sequence[_Entry], after: str, name: str) -> list[str]:
    """Sphinx' entries, of each kind that the neighbour has one."""
    written = []
    for entry in entries:
        head, _, said = text.row(entry.first).rpartition(f"{after}:")
        if head[1:].strip() == "type":
            written.append(f"{head}{name}: {_TYPE}")
        else:
            kind = f" {_TYPE} " if len(head.split()) > 1 else " "
            written.append(f"{head.split()[0]}{kind}{name}: {_worded(said.strip(), text.row(entry.last))}")
    return written


def _item(found: re.Match[str], row: str, name: str, default: bool, numpy: bool) -> str:
    """An entry of Google's or NumPy's in the manner of another one."""
    tick, kind, colon, said = found["tick"], found["kind"] or "", found["colon"], found["text"]
    optional = ", optional" if default and "optional" in f"{kind}{said}" else ""
    if kind:
        kind = f"{kind[: len(kind) - len(kind.lstrip()) + 1]}{_TYPE}{optional}{kind[-1]}"
    if numpy:
        said = f" {_TYPE}{optional}"
    elif said.strip():
        said = f"{said[: len(said) - len(said.lstrip())]}{_worded(said.strip(), said.strip())}"
    return f"{row[: found.start('names')]}{name}{tick}{kind}{colon}{said}"


def _worded(first: str, last: str) -> str:
    """The description, with a capital and a full stop where the neighbour has them."""
    said = _TEXT[0].upper() + _TEXT[1:] if first[:1].isupper() else _TEXT
    return f"{said}." if last.rstrip().endswith(".") else said

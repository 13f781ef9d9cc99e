"""What the rules want done to one module, in terms of statements and expressions.

Rules never touch text: they say "this statement goes", "this expression becomes …", "these
statements go under this header". `emission.edits` turns it all into edits by position, once `tidy` has gone
over what was emptied.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass

from ..facts.module import Module
from ..facts.scopes import Block
from .comments import comments_from


@dataclass(frozen=True, eq=False)
class Wrap:
    """Statements ``first`` to ``last`` of a block go under a ``with`` header, which lines may come before."""

    block: Block
    first: int
    last: int
    header: str


class Draft:
    """Collects wishes for one module. Lines given to it are written without indentation of their own
    (a nested line brings one level of it as ``\\t``)."""

    def __init__(self, module: Module) -> None:
        self.m = module
        self._units: dict[int, str] = {}  # of indentation, of each file
        self.replaced: dict[ast.AST, str] = {}
        self.points: dict[int, list[str]] = defaultdict(list)
        self.rewritten: dict[ast.stmt, tuple[str, ...]] = {}
        self.lines_before: dict[ast.stmt, list[str]] = defaultdict(list)
        self.lines_after: dict[ast.stmt, list[str]] = defaultdict(list)
        self.lines_last: dict[ast.stmt, list[str]] = defaultdict(list)  # behind those
        self.begun: dict[ast.FunctionDef | ast.AsyncFunctionDef, list[str]] = defaultdict(list)
        self.wraps: list[Wrap] = []
        self.unwrapped: dict[ast.stmt, str] = {}
        self.arms_joined: dict[ast.If, ast.If] = {}  # conditions whose arm goes, and those that ask them as well
        self.led: set[ast.stmt] = set()
        self.opened: list[Block] = []
        self.taken: set[ast.stmt] = set()  # statements whose comments went along to another place
        self.cuts: list[tuple[int, int]] = []
        self.cuts_in: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by each line that they touch

    # ------------------------------------------------------------ wishes

    def replace(self, node: ast.AST, text: str) -> None:
        """An expression (or any node with a span) becomes ``text``."""
        self.replaced[node] = text

    def cut(self, start: int, end: int) -> None:
        """Characters ``start`` to ``end`` of the old text go."""
        self.cuts.append((start, end))
        for line in range(bisect_right(self.m.starts, start), bisect_right(self.m.starts, end) + 1):
            self.cuts_in[line].append((start, end))

    def cut_alias(self, alias: ast.alias) -> None:
        """One of several names of an import goes, with its comma."""
        names = self.m.parent[alias].names  # type: ignore[attr-defined]
        index = names.index(alias)
        if index + 1 < len(names):
            self.cut(self.m.start(alias), self.m.start(names[index + 1]))
        else:
            self.cut(self.m.end(names[index - 1]), self.m.end(alias))

    def insert_at(self, offset: int, text: str) -> None:
        """``text`` goes in at a character offset of the old text."""
        if text not in self.points[offset]:
            self.points[offset].append(text)

    def rewrite(self, stmt: ast.stmt, *lines: str) -> None:
        """A whole statement becomes ``lines``; none deletes it."""
        self.rewritten[stmt] = lines

    def delete(self, stmt: ast.stmt) -> None:
        self.rewritten[stmt] = ()

    def before(self, stmt: ast.stmt, *lines: str) -> None:
        self.lines_before[stmt] += [line for line in lines if line not in self.lines_before[stmt]]

    def above(self, stmt: ast.stmt, *lines: str) -> None:
        """Like `before`, and above the comment lines that lead the statement; a heading of a few words (``# Step``)
        leads what is put there, too."""
        self.led.add(stmt)
        self.before(stmt, *lines)

    def after(self, stmt: ast.stmt, *lines: str) -> None:
        self.lines_after[stmt] += [line for line in lines if line not in self.lines_after[stmt]]

    def append(self, stmt: ast.stmt, *lines: str) -> None:
        """Like `after` for a whole definition, which comes last and whose lines may be alike."""
        self.lines_last[stmt] += lines

    def prepend(self, stmt: ast.stmt, *lines: str) -> None:
        """Like `above` for a whole definition, whose lines may be alike."""
        self.led.add(stmt)
        self.lines_before[stmt] += lines

    def begin(self, function: ast.FunctionDef | ast.AsyncFunctionDef, *lines: str) -> None:
        """``lines`` come first in a function, below its docstring: ahead of whatever its first statement goes under."""
        self.begun[function] += lines

    def appended(self, stmt: ast.stmt) -> bool:
        """Whether a definition is appended to a statement."""
        return stmt in self.lines_last

    def realign(self, call: ast.Call, name: ast.expr) -> None:
        """Where what is called gets a longer or shorter name, lines that begin below its parenthesis move along."""
        m, text = self.m, self.replaced.get(name)
        if text is None or name.end_lineno != name.lineno or "\n" in text:
            return
        more = len(text) - len(m.src(name))
        below = m.end(name) + 1 - m.starts[name.lineno - 1]  # the column behind the parenthesis
        for number in range(call.lineno + 1, m.last_line(call) + 1):
            start, line = m.starts[number - 1], m.line_text(number)
            if len(line) - len(line.lstrip(" ")) != below or self._cut_away(number, start):
                continue
            if more > 0:
                self.insert_at(start, " " * more)
            elif more < 0:
                self.cut(start, start - more)

    def wrap(self, block: Block, first: int, last: int, header: str) -> None:
        self.wraps.append(Wrap(block, first, last, header))

    def take_comments(self, stmt: ast.stmt) -> list[str]:
        """The comment lines right above a statement that goes to another place: they go from here."""
        if not self.m.owns_lines(stmt):
            return []
        self.taken.add(stmt)
        return [self.m.line_text(n).strip() for n in range(comments_from(self.m, stmt), self.m.first_line(stmt))]

    def on_own_lines(self, block: Block) -> None:
        """What stands behind its header (``with a: b``) goes below it."""
        if block not in self.opened:
            self.opened.append(block)

    def unwrap(self, stmt: ast.With | ast.If | ast.Try, arm: str = "body") -> None:
        """The header of a block goes, one arm moves up to the header's place, the other arm (and handlers) goes."""
        self.unwrapped[stmt] = arm

    def join(self, gone: ast.If, stays: ast.If) -> None:
        """The arm of ``gone`` goes, and its condition leads to that of ``stays``; one is the other's ``elif``."""
        self.arms_joined[gone] = stays

    def kept_arm(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        """The statements that stay of an unwrapped one; None for any other."""
        arm = self.unwrapped.get(stmt)
        return None if arm is None else getattr(stmt, arm)

    # ------------------------------------------------------------ questions

    def gone(self, node: ast.AST) -> bool:
        """Whether the text of ``node`` will not stand in the result."""
        if hasattr(node, "lineno") and self._cut_away(node.lineno, self.m.start(node)):
            return True
        at: ast.AST | None = node
        below: ast.AST | None = None
        while at is not None:
            if at in self.replaced or at in self.rewritten:
                return True
            if below is not None and self.without(at, below):
                return True
            below, at = at, self.m.parent.get(at)
        return False

    def _cut_away(self, line: int, offset: int) -> bool:
        """Whether what begins at an offset, in a line, is cut."""
        return any(start <= offset < end for start, end in self.cuts_in.get(line, ()))

    def text_of(self, expr: ast.expr) -> str:
        """What an expression becomes, where it is replaced as a whole; its own text for any other."""
        return self.replaced.get(expr, self.m.src(expr))

    def deleted(self, stmt: ast.stmt) -> bool:
        """Whether a statement goes and nothing takes its place."""
        if self.rewritten.get(stmt) == ():
            return True
        return stmt not in self.rewritten and self.gone(stmt)

    def touched(self) -> bool:
        around = self.lines_before or self.lines_after or self.lines_last or self.begun or self.arms_joined
        moved = self.wraps or self.unwrapped
        return bool(self.replaced or self.points or self.cuts or self.rewritten or around or moved)

    def dropped(self, stmt: ast.stmt) -> bool:
        """Whether an enclosing statement is rewritten as a whole."""
        below: ast.AST = stmt
        for outer in self.m.ancestors(stmt):
            if outer in self.rewritten:
                return True
            if self.without(outer, below):
                return True
            below = outer
        return False

    def without(self, outer: ast.AST, inner: ast.AST) -> bool:
        """Whether a statement stays, and what stands directly in it does not."""
        if isinstance(outer, ast.If) and outer in self.arms_joined:
            return inner in outer.body
        kept = self.kept_arm(outer) if isinstance(outer, ast.stmt) else None
        return kept is not None and inner not in kept

    def behind(self, stmt: ast.stmt) -> list[str]:
        """The lines that come behind a statement."""
        return [*self.lines_after.get(stmt, []), *self.lines_last.get(stmt, [])]

    def empties(self, stmt: ast.stmt) -> bool:
        """Whether a statement goes and leaves nothing beside it."""
        return self.rewritten.get(stmt) == () and not self.lines_before.get(stmt) and not self.behind(stmt)

    def unit(self, node: ast.AST) -> str:
        """One level of indentation in the file that a node stands in."""
        file = self.m.file(node)
        if file.number not in self._units:
            self._units[file.number] = self.m.unit(file)
        return self._units[file.number]

"""What the rules want done to one module, in terms of statements and expressions.

Rules never touch text: they say "this statement goes", "this expression becomes …", "these
statements go under this header". `Draft.edits` turns it all into edits by position, and tidies what
it emptied: an ``if`` left without a body goes, a ``try`` whose body went goes with its handlers, a
function keeps a ``pass``.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from ..facts.files import file_at
from ..facts.module import Module
from ..facts.names import called_name
from ..facts.predicates import predicate
from ..facts.scopes import Block
from ..model import DeleteLines, Edit, InsertLines, Reindent, Replace
from ..nodes import walk
from .arms import joined
from .emptied import goes_unseen

_HEADING = 5  # words of a comment, its # among them
_ABOUT_AMP = re.compile(
    r"\bapex\b|\bamp\b|\bfp16\b|mixed.precision|half.precision|loss.scal|scaling\b.*\bloss|\bopt_level\b", re.I
)
_HEADER_END = re.compile(r":[ \t]*(?:#.*)?$")
_INITIALIZES = re.compile(r"\binitiali[sz](?:e|ing) amp\b|\bamp accepts\b|\bamp\.initialize\b", re.I)
MAX_HEADING = 3  # lines
_OPPOSITE: dict[type[ast.cmpop], str] = {ast.Is: "is not", ast.IsNot: "is", ast.Eq: "!=", ast.NotEq: "=="}


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
        self._expr: dict[ast.AST, str] = {}
        self._points: dict[int, list[str]] = defaultdict(list)
        self._stmt: dict[ast.stmt, tuple[str, ...]] = {}
        self._before: dict[ast.stmt, list[str]] = defaultdict(list)
        self._after: dict[ast.stmt, list[str]] = defaultdict(list)
        self._last: dict[ast.stmt, list[str]] = defaultdict(list)  # behind those
        self._wraps: list[Wrap] = []
        self._unwrap: dict[ast.stmt, str] = {}
        self._else_only: dict[ast.If, str] = {}
        self._joined: dict[ast.If, ast.If] = {}  # conditions whose arm goes, and those that ask them as well
        self._lead: set[ast.stmt] = set()
        self._opened: list[Block] = []
        self._taken: set[ast.stmt] = set()  # statements whose comments went along to another place
        self._cuts: list[tuple[int, int]] = []
        self._cuts_in: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by each line that they touch
        self._went: list[ast.stmt] = []  # statements whose lines go
        self._edits: list[Edit] = []

    # ------------------------------------------------------------ wishes

    def replace(self, node: ast.AST, text: str) -> None:
        """An expression (or any node with a span) becomes ``text``."""
        self._expr[node] = text

    def cut(self, start: int, end: int) -> None:
        """Characters ``start`` to ``end`` of the old text go."""
        self._cuts.append((start, end))
        for line in range(bisect_right(self.m.starts, start), bisect_right(self.m.starts, end) + 1):
            self._cuts_in[line].append((start, end))

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
        if text not in self._points[offset]:
            self._points[offset].append(text)

    def rewrite(self, stmt: ast.stmt, *lines: str) -> None:
        """A whole statement becomes ``lines``; none deletes it."""
        self._stmt[stmt] = lines

    def delete(self, stmt: ast.stmt) -> None:
        self._stmt[stmt] = ()

    def before(self, stmt: ast.stmt, *lines: str) -> None:
        self._before[stmt] += [line for line in lines if line not in self._before[stmt]]

    def above(self, stmt: ast.stmt, *lines: str) -> None:
        """Like `before`, and above the comment lines that lead the statement; a heading of a few words (``# Step``)
        leads what is put there, too."""
        self._lead.add(stmt)
        self.before(stmt, *lines)

    def after(self, stmt: ast.stmt, *lines: str) -> None:
        self._after[stmt] += [line for line in lines if line not in self._after[stmt]]

    def append(self, stmt: ast.stmt, *lines: str) -> None:
        """Like `after` for a whole definition, which comes last and whose lines may be alike."""
        self._last[stmt] += lines

    def prepend(self, stmt: ast.stmt, *lines: str) -> None:
        """Like `above` for a whole definition, whose lines may be alike."""
        self._lead.add(stmt)
        self._before[stmt] += lines

    def appended(self, stmt: ast.stmt) -> bool:
        """Whether a definition is appended to a statement."""
        return stmt in self._last

    def realign(self, call: ast.Call, name: ast.expr) -> None:
        """Where what is called gets a longer or shorter name, lines that begin below its parenthesis move along."""
        m, text = self.m, self._expr.get(name)
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
        self._wraps.append(Wrap(block, first, last, header))

    def take_comments(self, stmt: ast.stmt) -> list[str]:
        """The comment lines right above a statement that goes to another place: they go from here."""
        if not self.m.owns_lines(stmt):
            return []
        self._taken.add(stmt)
        return [self.m.line_text(n).strip() for n in range(self._comments_from(stmt), self.m.first_line(stmt))]

    def on_own_lines(self, block: Block) -> None:
        """What stands behind its header (``with a: b``) goes below it."""
        if block not in self._opened:
            self._opened.append(block)

    def unwrap(self, stmt: ast.With | ast.If | ast.Try, arm: str = "body") -> None:
        """The header of a block goes, one arm moves up to the header's place, the other arm (and handlers) goes."""
        self._unwrap[stmt] = arm

    def join(self, gone: ast.If, stays: ast.If) -> None:
        """The arm of ``gone`` goes, and its condition leads to that of ``stays``; one is the other's ``elif``."""
        self._joined[gone] = stays

    def kept_arm(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        """The statements that stay of an unwrapped one; None for any other."""
        arm = self._unwrap.get(stmt)
        return None if arm is None else getattr(stmt, arm)

    # ------------------------------------------------------------ questions

    def gone(self, node: ast.AST) -> bool:
        """Whether the text of ``node`` will not stand in the result."""
        if hasattr(node, "lineno") and self._cut_away(node.lineno, self.m.start(node)):
            return True
        at: ast.AST | None = node
        below: ast.AST | None = None
        while at is not None:
            if at in self._expr or at in self._stmt:
                return True
            if below is not None and self._without(at, below):
                return True
            below, at = at, self.m.parent.get(at)
        return False

    def _cut_away(self, line: int, offset: int) -> bool:
        """Whether what begins at an offset, in a line, is cut."""
        return any(start <= offset < end for start, end in self._cuts_in.get(line, ()))

    def text_of(self, expr: ast.expr) -> str:
        """What an expression becomes, where it is replaced as a whole; its own text for any other."""
        return self._expr.get(expr, self.m.src(expr))

    def deleted(self, stmt: ast.stmt) -> bool:
        """Whether a statement goes and nothing takes its place."""
        if self._stmt.get(stmt) == ():
            return True
        return stmt not in self._stmt and self.gone(stmt)

    def touched(self) -> bool:
        around = self._before or self._after or self._last or self._joined
        return bool(self._expr or self._points or self._cuts or self._stmt or around or self._wraps or self._unwrap)

    # ------------------------------------------------------------ finishing

    def edits(self) -> list[Edit]:
        """All wishes as edits by position."""
        self._edits, self._went = [], []
        self._tidy()
        for stmt in list(self._unwrap):
            if stmt not in self._stmt and not self._dropped(stmt):
                self._emit_unwrap(stmt)
        for stmt in self.m.short:
            if not self._dropped(stmt) and stmt not in self._stmt:
                self._write_out(stmt)
        for wrap in self._wraps:
            self._emit_wrap(wrap)
        for block in self._opened:
            self._emit_opened(block)
        for stmt, lines in self._stmt.items():
            if not self._dropped(stmt):
                self._emit_statement(stmt, lines)
        for stmt in {**self._before, **self._after, **self._last}:
            if not self._dropped(stmt):
                self._emit_around(stmt)
        for node, text in self._expr.items():
            parent = self.m.parent.get(node)
            if parent is None or not self.gone(parent):
                self._edits.append(Replace(self.m.start(node), self.m.end(node), text))
        statements = _joined((self.m.start(s), self.m.end(s) + 1) for s in self._stmt)
        expressions = _joined((self.m.start(n) + 1, self.m.end(n)) for n in self._expr)

        def gone(offset: int) -> bool:
            return _in_one_of(statements, offset) or _in_one_of(expressions, offset)

        self._edits += [Replace(start, end, "") for start, end in self._cuts if not gone(start)]
        for offset, texts in sorted(self._points.items()):
            if not gone(offset):
                self._edits += [Replace(offset, offset, text) for text in texts]
        for one, other in self._joined.items():
            self._edits = joined(self.m, one, other, self._edits)
        self._drop_comments()
        self._close_gaps()
        return self._edits

    def _drop_comments(self) -> None:
        """Comments about mixed precision directly above lines that go, where nothing comes in their place, go too."""
        kept = {e.before for e in self._edits if isinstance(e, InsertLines)}
        for stmt in self._went:
            first, last = self.m.first_line(stmt), self.m.last_line(stmt)
            start = self._comments_from(stmt)
            begin = self.m.line_text(start) if start < first else ""  # what a comment begins with it is about
            of_amp = _ABOUT_AMP.search(begin) and not kept & set(range(start, last + 2))
            if start < first and (of_amp or stmt in self._taken):
                self._edits.append(DeleteLines(start, first - 1))
            self._drop_heading(stmt, kept)
        for stmt in self._stmt:
            last = self.m.last_line(stmt)
            end = self._comments_until(stmt)
            said = "\n".join(self.m.line_text(n) for n in range(last + 1, end + 1))
            if end > last and not self._dropped(stmt):
                if isinstance(stmt, ast.Try) or _ABOUT_AMP.search(said):
                    self._edits.append(DeleteLines(last + 1, end))
                elif not self._stmt[stmt]:  # what they were indented below is not there any more
                    inner = said[: len(said) - len(said.lstrip())]
                    self._edits.append(Reindent(last + 1, end, inner, self.m.indent(stmt)))

    def _drop_heading(self, stmt: ast.stmt, kept: set[int]) -> None:
        """Comments above a condition that stays, which say how amp is initialized, go with the initialize that its arm
        began with, where nothing comes in its place."""
        guard = self.m.parent[stmt]
        if not isinstance(guard, ast.If) or stmt is not guard.body[0] or self.gone(guard) or guard in self._unwrap:
            return
        start, first = self._comments_from(guard), self.m.first_line(guard)
        alone = kept.isdisjoint(range(start, first + 1))
        if alone and 0 < first - start <= MAX_HEADING and _INITIALIZES.search(self.m.line_text(start)):
            self._edits.append(DeleteLines(start, first - 1))

    def _comments_until(self, stmt: ast.stmt) -> int:
        """The last of the comment lines that end the last block of a statement; its own last line where there are
        none."""
        last = self.m.last_line(stmt)
        if not isinstance(stmt, (ast.Try, ast.If, ast.With)):
            return last
        inside = re.compile(rf"{re.escape(self.m.indent(stmt))}\s+#")
        while last < len(self.m.starts) and inside.match(self.m.line_text(last + 1)):
            last += 1
        return last

    def _comments_from(self, stmt: ast.stmt) -> int:
        """The first of the comment lines right above a statement; its own first line where there are none."""
        start = self.m.first_line(stmt)
        while start > 1 and self._comment(start - 1, self.m.indent(stmt)):
            start -= 1
        return start

    def _comment(self, number: int, indent: str) -> bool:
        """Whether a line is a comment that belongs to a block with this indentation, and no heading. Without a blank
        it may be code that was switched off: it has to say that it is about mixed precision."""
        text = self.m.line_text(number)
        if not text.startswith(f"{indent}#") or not any(c.isalpha() for c in text):
            return False
        sign = text[len(indent) + 1]
        return sign == " " or (sign.isalpha() and _ABOUT_AMP.search(text) is not None)

    def _close_gaps(self) -> None:
        """Lines that go take the blank lines on one of their sides with them: the wider gap stays."""
        gone = {n for e in self._edits if isinstance(e, DeleteLines) for n in range(e.first, e.last + 1)}
        kept = {n for e in self._edits if isinstance(e, InsertLines) for n in (e.before - 1, e.before)}
        last = len(self.m.starts)
        for end in sorted(n for n in gone if n + 1 not in gone):  # and between lines that go, unless widest
            between = range(end + 1, end + 1 + self._blank(range(end + 1, last + 1), gone))
            if between and between.stop in gone and not kept & {*between, between.stop}:
                first = next(n for n in range(end, 0, -1) if n - 1 not in gone)
                behind = next(n for n in range(between.stop, last + 2) if n not in gone)
                around = self._blank(range(first - 1, 0, -1), gone), self._blank(range(behind, last + 1), gone)
                if len(between) <= max(around):
                    self._edits.append(DeleteLines(between.start, between.stop - 1))
                    gone |= set(between)
        for first in sorted(n for n in gone if n - 1 not in gone):
            end = first
            while end + 1 in gone:
                end += 1
            above = self._blank(range(first - 1, 0, -1), gone)
            below = self._blank(range(end + 1, last + 1), gone)
            begins = first - above == file_at(self.m.files, first).first
            if begins or _HEADER_END.search(self.m.line_text(first - above - 1)):  # none is above
                above, less = 0, below
            elif end + below + 1 >= file_at(self.m.files, end).fence:  # none is below
                less = above
            else:
                less = min(above, below)
            edge = range(first - less, first) if above else range(end + 1, end + 1 + less)
            if less and not kept & {*range(edge.start, edge.stop + 1), *range(first, end + 2)}:
                self._edits.append(DeleteLines(edge.start, edge.stop - 1))

    def _blank(self, numbers: range, gone: set[int]) -> int:
        """How many lines, one after the other, are blank and stay."""
        count = 0
        for number in numbers:
            if number in gone or self.m.line_text(number).strip():
                break
            count += 1
        return count

    def _dropped(self, stmt: ast.stmt) -> bool:
        """Whether an enclosing statement is rewritten as a whole."""
        below: ast.AST = stmt
        for outer in self.m.ancestors(stmt):
            if outer in self._stmt:
                return True
            if self._without(outer, below):
                return True
            below = outer
        return False

    def _without(self, outer: ast.AST, inner: ast.AST) -> bool:
        """Whether a statement stays, and what stands directly in it does not."""
        if isinstance(outer, ast.If) and outer in self._joined:
            return inner in outer.body
        kept = self.kept_arm(outer) if isinstance(outer, ast.stmt) else None
        return kept is not None and inner not in kept

    def _behind(self, stmt: ast.stmt) -> list[str]:
        return [*self._after.get(stmt, []), *self._last.get(stmt, [])]

    def _deleted(self, stmt: ast.stmt) -> bool:
        return self._stmt.get(stmt) == () and not self._before.get(stmt) and not self._behind(stmt)

    def _tidy(self) -> None:
        """Delete what has no body left, innermost first; keep what still must stand with a ``pass``."""
        changed = True
        while changed:
            changed = False
            seen: set[int] = set()
            for stmt in [s for s in self._stmt if self._stmt[s] == ()]:
                block = self.m.block(stmt)
                if id(block) in seen or self._dropped(stmt):
                    continue
                seen.add(id(block))
                if all(self._deleted(s) for s in block.body) and self._emptied(block):
                    changed = True

    def _emptied(self, block: Block) -> bool:
        """A block lost all its statements: decide what becomes of its owner. True if that changed anything."""
        owner = block.owner
        if isinstance(owner, ast.stmt) and self.kept_arm(owner) is block.body:
            return self._once(owner)  # the only arm that was to stay went
        match owner:
            case ast.If() if block.field_name == "body":
                rest = owner.orelse
                if not rest or all(self._deleted(s) for s in rest):
                    if self.m.is_elif(owner) and self._pure(owner.test):
                        return self._once(owner)
                    return self._once(owner) if self._pure(owner.test) else self._pass(block)
                if len(rest) == 1 and isinstance(rest[0], ast.If) and self.m.is_elif(rest[0]):
                    return self._pass(block)
                if self.m.is_elif(owner):
                    return self._pass(block)
                return self._negate(owner)
            case ast.If() if block.field_name == "orelse":
                if self._emptied_before(owner.body) and self._pure(owner.test):
                    return self._once(owner)
                if self.m.is_elif(block.body[0]):
                    return self._cut(block, block.body[0].lineno)
                return self._cut_else(block)
            case ast.Try() if block.field_name == "body":
                if not owner.orelse and not owner.finalbody:
                    return self._once(owner)
                return self._pass(block)
            case ast.With() | ast.AsyncWith():
                return self._once(owner)
            case ast.For() | ast.While() if block.field_name == "orelse":
                return self._cut_else(block)
            case ast.For() if goes_unseen(self.m, owner):
                return self._once(owner)
            case ast.Module():
                return False
            case _:
                return self._pass(block)

    def _emptied_before(self, body: list[ast.stmt]) -> bool:
        """Whether an arm only stands with a ``pass`` because another came behind it."""
        return self._stmt.get(body[0]) == ("pass",) and all(self._deleted(s) for s in body[1:])

    def _pure(self, test: ast.expr) -> bool:
        return not any(
            isinstance(n, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr))
            or (isinstance(n, ast.Call) and not _harmless(n) and not self._predicate(called_name(n)))
            for n in walk(test)
        )

    def _predicate(self, name: str) -> bool:
        """Whether the functions of the program that have a name all look something up and do nothing else."""
        functions = [node for node in self.m.all(ast.FunctionDef) if node.name == name]
        return bool(functions) and all(predicate(node) is not None for node in functions)

    def _once(self, stmt: ast.stmt) -> bool:
        if self._stmt.get(stmt) == ():
            return False
        self._stmt[stmt] = ()
        return True

    def _pass(self, block: Block) -> bool:
        first = block.body[0]
        if self._stmt.get(first) == ("pass",):
            return False
        self._stmt[first] = ("pass",)
        return True

    def _negate(self, stmt: ast.If) -> bool:
        """``if x: (gone) else: B`` becomes ``if not x: B``."""
        if stmt in self._else_only:
            return False
        test = stmt.test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            text = self.m.src(test.operand)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
            left, right = self.m.src(test.left), self.m.src(test.comparators[0])
            text = f"{left} {_OPPOSITE[type(test.ops[0])]} {right}"
        else:
            simple = isinstance(test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Compare))
            text = f"not {self.m.src(test)}" if simple else f"not ({self.m.src(test)})"
        self._else_only[stmt] = text
        rest = stmt.orelse[0]
        if self.m.owns_lines(rest) and rest.lineno > self._else_line(stmt):
            self._expr[test] = text
            self._edits_later(DeleteLines(stmt.body[0].lineno, self._else_line(stmt)))
            return True
        return self._pass(self.m.block(stmt.body[0]))

    def _edits_later(self, edit: Edit) -> None:
        self._edits.append(edit)

    def _else_line(self, stmt: ast.If | ast.For | ast.While | ast.AsyncFor) -> int:
        """The line that holds the ``else`` of a compound statement."""
        first = stmt.orelse[0]
        for line in range(first.lineno, self.m.last_line(stmt.body[-1]) - 1, -1):
            if self.m.line_text(line).lstrip().startswith("else"):
                return line
        return first.lineno

    def else_offset(self, stmt: ast.If) -> int:
        """Where the ``else`` of an ``if`` stands in the text."""
        line = self._else_line(stmt)
        return self.m.starts[line - 1] + self.m.line_text(line).index("else")

    def _cut(self, block: Block, first: int) -> bool:
        header = self.m.line_text(first)
        indent = header[: len(header) - len(header.lstrip())]
        edit = DeleteLines(first, self._with_comments(block.body[-1], indent))  # those of the arm go with it
        if edit in self._edits:
            return False
        self._edits_later(edit)
        return True

    def _cut_else(self, block: Block) -> bool:
        owner = block.owner
        assert isinstance(owner, (ast.If, ast.For, ast.While, ast.AsyncFor))
        return self._cut(block, self._else_line(owner))

    # ------------------------------------------------------------ emission

    def unit(self, node: ast.AST) -> str:
        """One level of indentation in the file that a node stands in."""
        file = self.m.file(node)
        if file.number not in self._units:
            self._units[file.number] = self.m.unit(file)
        return self._units[file.number]

    def _expand(self, lines: list[str] | tuple[str, ...], indent: str, node: ast.AST) -> tuple[str, ...]:
        out = []
        for line in lines:
            depth = len(line) - len(line.lstrip("\t"))
            out.append(indent + self.unit(node) * depth + line[depth:] if line.strip() else "")
        return tuple(out)

    def _write_out(self, stmt: ast.stmt) -> None:
        """``test and step`` (or ``step if test else None``) becomes an ``if`` where more than the step's own text
        changes."""
        m, step = self.m, stmt.body[0]  # type: ignore[attr-defined]
        before, after = self._before.get(step, []), self._behind(step)
        if not isinstance(stmt, ast.If) or not (before or after or step in self._stmt):
            return
        indent = m.indent(stmt) + self.unit(stmt)
        if m.start(stmt.test) > m.start(step):
            self._edits += self._turned(stmt, step, before, after, indent)
            return
        start = m.text.rindex("and", m.end(stmt.test), m.start(step))
        lead = self._expand(["", *before, ""], indent, step)
        self._edits.append(Replace(m.start(stmt), m.start(stmt), "if "))
        self._edits.append(Replace(len(m.text[:start].rstrip()), m.start(step), ":" + "\n".join(lead) + indent))
        if step in self._stmt:
            lines = self._expand(self._stmt[step], indent, step)
            self._edits.append(Replace(m.start(step), m.end(step), "\n".join(lines).lstrip()))
        if after:
            lines = self._expand(["", *after], indent, step)
            self._edits.append(Replace(m.end(step), m.end(step), "\n".join(lines)))

    def _turned(
        self, stmt: ast.If, step: ast.stmt, before: list[str], after: list[str], indent: str
    ) -> list[Edit]:
        """``step if test else None`` as an ``if``."""
        m = self.m
        head = f"if {self.text_of(stmt.test)}:"
        lead = self._expand(["", *before, ""], indent, step)
        end = "\n".join(self._expand(["", *after], indent, step)) if after else ""
        edits: list[Edit] = [Replace(m.start(stmt), m.start(step), head + "\n".join(lead) + indent)]
        if step in self._stmt:
            lines = self._expand(self._stmt[step], indent, step)
            edits.append(Replace(m.start(step), m.end(step), "\n".join(lines).lstrip()))
        return [*edits, Replace(m.end(step), m.end(stmt), end)]

    def _written_out(self, stmt: ast.stmt) -> bool:
        owner = self.m.block(stmt).owner
        return isinstance(owner, ast.If) and owner in self.m.short

    def _emit_statement(self, stmt: ast.stmt, lines: tuple[str, ...]) -> None:
        if self._written_out(stmt):
            return
        m = self.m
        first, last = m.first_line(stmt), m.last_line(stmt)
        inline = not m.owns_lines(stmt)
        beside = [*self._before.get(stmt, []), *self._behind(stmt)]
        if not lines and inline and beside:  # these take its place
            self._edits.append(Replace(m.start(stmt), m.end(stmt), "; ".join(beside)))
            return
        if not lines:
            if not inline:
                self._edits.append(DeleteLines(first, last))
                self._went.append(stmt)
            else:
                self._emit_inline_delete(stmt)
            return
        indent = m.indent(stmt)
        if inline:
            self._emit_inline(stmt, lines)
        else:
            text = "\n".join(self._expand(lines, indent, stmt)).lstrip()
            self._edits.append(Replace(m.start(stmt), m.end(stmt), text))

    def _emit_inline_delete(self, stmt: ast.stmt) -> None:
        """Delete ``a`` of ``a; b`` with its semicolon, or leave ``pass`` in a one-line suite."""
        m, (block, index) = self.m, self.m.place[stmt]
        start, end = m.start(stmt), m.end(stmt)
        if index + 1 < len(block.body) and block.body[index + 1].lineno == m.last_line(stmt):
            self._edits.append(Replace(start, m.start(block.body[index + 1]), ""))
        elif index > 0 and m.last_line(block.body[index - 1]) == stmt.lineno:
            self._edits.append(Replace(m.end(block.body[index - 1]), end, ""))
        else:
            self._edits.append(Replace(start, end, "pass"))

    def _emit_inline(self, stmt: ast.stmt, lines: tuple[str, ...]) -> None:
        """Replace a statement that shares its line with others or with its header."""
        m, (block, _) = self.m, self.m.place[stmt]
        simple = all(not line.startswith("\t") and not line.rstrip().endswith(":") for line in lines)
        if simple:
            self._edits.append(Replace(m.start(stmt), m.end(stmt), "; ".join(lines)))
            return
        indent = m.indent(stmt)
        if isinstance(block.owner, ast.stmt) and block.owner.lineno == stmt.lineno and block.body[0] is stmt:
            inner = "\n".join(self._expand(lines, indent + self.unit(stmt), stmt))
            colon = m.text.rindex(":", m.start(block.owner), m.start(stmt)) + 1
            self._edits.append(Replace(colon, m.end(stmt), "\n" + inner))
        else:
            inner = "\n".join(self._expand(lines, indent, stmt))
            self._edits.append(Replace(m.start(stmt), m.end(stmt), "\n" + inner))

    def _emit_around(self, stmt: ast.stmt) -> None:
        if self._written_out(stmt):
            return
        m = self.m
        before, after = self._before.get(stmt, []), self._behind(stmt)
        if not m.owns_lines(stmt):
            if self._stmt.get(stmt) == ():
                return  # `_emit_statement` has put them there
            if (before or after) and self._suite_of_one(stmt):
                self._emit_suite(stmt, before, after)
                return
            if before and any(line.startswith("\t") for line in before):  # a block needs lines of its own
                self._edits.append(self._broken_above(stmt, before))
            elif before:
                self._edits.append(Replace(m.start(stmt), m.start(stmt), "; ".join(before) + "; "))
            if after:
                self._edits.append(Replace(m.end(stmt), m.end(stmt), "; " + "; ".join(after)))
            return
        indent = m.indent(stmt)
        if before:
            line = m.first_line(stmt)
            if stmt in self._lead:
                while line > 1 and m.line_text(line - 1).startswith(f"{indent}#"):
                    line -= 1
                if m.first_line(stmt) - line == 1 and len(m.line_text(line).split()) <= _HEADING:
                    line += 1
            self._edits.append(InsertLines(line, self._expand(before, indent, stmt)))
        if after:
            lines = self._expand(after, indent, stmt)
            self._edits.append(InsertLines(m.last_line(stmt) + 1, lines, after_previous=True))

    def _suite_of_one(self, stmt: ast.stmt) -> bool:
        """Whether a statement is all that stands behind a header, on its line."""
        block = self.m.block(stmt)
        wrapped = any(wrap.block is block for wrap in self._wraps)
        return len(block.body) == 1 and self._behind_header(block) and not wrapped

    def _emit_suite(self, stmt: ast.stmt, before: list[str], after: list[str]) -> None:
        """``if clip: clip_grad_norm_(…)`` with more beside it: a block of lines of its own."""
        m, owner = self.m, self.m.block(stmt).owner
        indent = (m.indent(owner) if isinstance(owner, ast.stmt) else m.indent(stmt)) + self.unit(stmt)
        lead = "\n".join(["", *self._expand([*before, ""], indent, stmt)]) + indent
        self._edits.append(Replace(self._blanks_before(m.start(stmt)), m.start(stmt), lead))
        if after:
            behind = "\n".join(["", *self._expand(after, indent, stmt)])
            self._edits.append(Replace(m.end(stmt), m.end(stmt), behind))

    def _broken_above(self, stmt: ast.stmt, lines: list[str]) -> Replace:
        """Lines above a statement that shares its own with a header or with others: it comes to stand below them."""
        m, block = self.m, self.m.block(stmt)
        suite = self._behind_header(block) and block.body[0].lineno == stmt.lineno
        if suite and block.body[0] is not stmt:
            self._emit_opened(block)
        indent = m.indent(stmt) + (self.unit(stmt) if suite else "")
        start = self._blanks_before(m.start(stmt))
        lead = "\n" if m.text[m.starts[stmt.lineno - 1] : start].strip() else ""
        start = start if lead else m.starts[stmt.lineno - 1]
        return Replace(start, m.start(stmt), lead + "\n".join(self._expand([*lines, ""], indent, stmt)) + indent)

    def _emit_wrap(self, wrap: Wrap) -> None:
        m = self.m
        first, last = wrap.block.body[wrap.first], wrap.block.body[wrap.last]
        if not m.owns_lines(first) or not m.owns_lines(last):
            self._emit_inline_wrap(wrap)
            return
        indent = m.indent(first)
        top = m.first_line(first)
        header = tuple(indent + line for line in wrap.header.split("\n"))
        self._edits.append(InsertLines(top, header, inside=False))
        self._edits.append(Reindent(top, self._with_comments(last, indent), indent, indent + self.unit(first)))

    def _with_comments(self, last: ast.stmt, indent: str) -> int:
        """The last line of a block that ends with ``last``: comments that stand deeper than it belong to it."""
        line = end = self.m.last_line(last)
        while line < len(self.m.starts):
            line += 1
            text = self.m.line_text(line)
            if text.strip() and not (text.lstrip().startswith("#") and len(text) - len(text.lstrip()) > len(indent)):
                break
            if text.strip():
                if not text.startswith(indent):
                    break
                end = line
        return end

    def _emit_inline_wrap(self, wrap: Wrap) -> None:
        """A region in a one-line suite or among ``a; b``: the statements move to lines of their own."""
        m, block = self.m, wrap.block
        body, rest = block.body[wrap.first : wrap.last + 1], block.body[wrap.last + 1 :]
        suite = self._behind_header(block)
        if suite and wrap.first:
            self._emit_opened(block)
        unit = self.unit(body[0])
        outer = m.indent(body[0]) + (unit if suite else "")
        header = [*(outer + line for line in wrap.header.split("\n")), outer + unit]
        start, line = m.start(body[0]), body[0].lineno
        if wrap.first == 0 or block.body[wrap.first - 1] not in self._stmt:
            start = self._blanks_before(start)
        lead = "\n" if m.text[m.starts[line - 1] : start].strip() else ""  # what stood before keeps its line
        start = start if lead else m.starts[line - 1]
        self._edits.append(Replace(start, m.start(body[0]), lead + "\n".join(header)))
        last = m.last_line(body[-1])
        beside = rest and rest[0].lineno == last and rest[0] not in self._stmt
        apart = beside and not any(w.block is block and w.first == wrap.last + 1 for w in self._wraps)
        # those on a line that is shared at its end
        alone = [s for s in body if s.lineno == last] if apart and last > line else []
        for one, following in pairwise(body):
            if following.lineno == m.last_line(one) and one not in self._stmt and following not in self._stmt:
                moved = line < following.lineno and following not in alone  # with its line
                below = m.indent(body[0]) if moved else outer + unit
                self._edits.append(Replace(m.end(one), m.start(following), "\n" + below))
        if alone and m.starts[last - 1] + len(m.indent(alone[0])) == m.start(alone[0]):
            self._edits.append(Replace(m.starts[last - 1], m.start(alone[0]), outer + unit))
            last -= 1
        if last > line:
            self._edits.append(Reindent(line + 1, last, m.indent(body[0]), outer + unit))
        if apart:
            self._edits.append(Replace(m.end(body[-1]), m.start(rest[0]), "\n" + outer))

    def _behind_header(self, block: Block) -> bool:
        """Whether a block stands on the line of its header."""
        first = block.body[0]
        return bool(self.m.text[self.m.starts[first.lineno - 1] : self.m.start(first)].strip())

    def _emit_opened(self, block: Block) -> None:
        """Move what follows a header on its line to a line of its own."""
        first = block.body[0]
        if self._behind_header(block) and not self._dropped(first) and first not in self._stmt:
            start = self.m.start(first)
            below = "\n" + self.m.indent(first) + self.unit(first)
            self._edits.append(Replace(self._blanks_before(start), start, below))

    def _blanks_before(self, offset: int) -> int:
        """Where the blanks in front of an offset begin, and the semicolon behind the statement before."""
        while offset and self.m.text[offset - 1] in " \t;":
            offset -= 1
        return offset

    def _emit_unwrap(self, stmt: ast.stmt) -> None:
        assert isinstance(stmt, (ast.With, ast.If, ast.Try))
        m = self.m
        kept: list[ast.stmt] = getattr(stmt, self._unwrap[stmt])
        first, last = kept[0], kept[-1]
        head = self._header_end(stmt) if kept is stmt.body else self._else_line(stmt)  # type: ignore[arg-type]
        if first.lineno <= head:
            # a one-line suite: the arm takes the header's place
            self._edits.append(Replace(m.start(stmt), m.start(first), ""))
            if m.end(last) < m.end(stmt):
                self._edits.append(Replace(m.end(last), m.end(stmt), ""))
            return
        self._edits.append(DeleteLines(stmt.lineno, head))
        at_the_end = m.last_line(last) == m.last_line(stmt)
        kept_to = self._with_comments(last, m.indent(stmt)) if at_the_end else m.last_line(last)
        self._edits.append(Reindent(head + 1, kept_to, m.indent(first), m.indent(stmt)))
        if not at_the_end:
            behind: ast.stmt = stmt if isinstance(stmt, ast.Try) else stmt.orelse[-1]  # type: ignore[union-attr]
            end = self._with_comments(behind, m.indent(stmt))
            self._edits.append(DeleteLines(m.last_line(last) + 1, end))

    def _header_end(self, stmt: ast.With | ast.If | ast.Try) -> int:
        """The last line of a compound statement's header."""
        if isinstance(stmt, ast.Try):
            return stmt.lineno
        ends = (
            [stmt.test]
            if isinstance(stmt, ast.If)
            else [e for i in stmt.items for e in (i.context_expr, i.optional_vars) if e is not None]
        )
        line = max(self.m.last_line(e) for e in ends)
        while line < stmt.body[0].lineno - 1 and ":" not in self._after_expr(line, ends):
            line += 1
        return line

    def _after_expr(self, line: int, ends: list[ast.expr]) -> str:
        m = self.m
        edge = max(m.end(e) for e in ends)
        start = max(m.starts[line - 1], edge)
        stop = m.starts[line] if line < len(m.starts) else len(m.text)
        return m.text[start:stop].split("#")[0]


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans, in order, those that meet as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _in_one_of(spans: list[tuple[int, int]], offset: int) -> bool:
    """Whether one of `_joined` spans holds an offset."""
    before = bisect_right(spans, offset, key=lambda span: span[0])
    return before > 0 and offset < spans[before - 1][1]


def _harmless(call: ast.Call) -> bool:
    """Calls that a vanishing condition may take with it."""
    return called_name(call) in {
        "getattr", "hasattr", "isinstance", "len", "bool", "int", "str", "get", "is_available",
        "is_initialized", "get_rank", "get_world_size", "startswith", "lower", "upper", "any", "all",
    }  # fmt: skip

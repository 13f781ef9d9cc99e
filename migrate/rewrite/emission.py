"""A draft as edits by position."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise

from ..facts.scopes import Block
from ..model import DeleteLines, Edit, InsertLines, Reindent, Replace
from .arms import joined
from .comments import leading, with_comments
from .draft import Draft, Wrap
from .dropped import dropped_comments
from .gaps import closed_gaps
from .places import behind_header, blanks_before, else_line, header_end, signature_end
from .tidy import tidy

_HEADING = 5  # words of a comment, its # among them


def edits_of(draft: Draft) -> list[Edit]:
    """All wishes as edits by position."""
    return _Emission(draft).run()


class _Emission:
    def __init__(self, draft: Draft) -> None:
        self.draft, self.m = draft, draft.m
        self._went: list[ast.stmt] = []  # statements whose lines go
        self._edits = tidy(draft)

    def run(self) -> list[Edit]:
        for stmt in list(self.draft.unwrapped):
            if stmt not in self.draft.rewritten and not self.draft.dropped(stmt):
                self._emit_unwrap(stmt)
        for stmt in self.m.short:
            if not self.draft.dropped(stmt) and stmt not in self.draft.rewritten:
                self._write_out(stmt)
        for wrap in self.draft.wraps:
            self._emit_wrap(wrap)
        for block in self.draft.opened:
            self._emit_opened(block)
        for stmt, lines in self.draft.rewritten.items():
            if not self.draft.dropped(stmt):
                self._emit_statement(stmt, lines)
        for stmt in {**self.draft.lines_before, **self.draft.lines_after, **self.draft.lines_last}:
            if not self.draft.dropped(stmt):
                self._emit_around(stmt)
        self._edits += [self._begun(function, lines) for function, lines in self.draft.begun.items()]
        for node, text in self.draft.replaced.items():
            parent = self.m.parent.get(node)
            if parent is None or not self.draft.gone(parent):
                self._edits.append(Replace(self.m.start(node), self.m.end(node), text))
        statements = _joined((self.m.start(s), self.m.end(s) + 1) for s in self.draft.rewritten)
        expressions = _joined((self.m.start(n) + 1, self.m.end(n)) for n in self.draft.replaced)

        def gone(offset: int) -> bool:
            return _in_one_of(statements, offset) or _in_one_of(expressions, offset)

        self._edits += [Replace(start, end, "") for start, end in self.draft.cuts if not gone(start)]
        for offset, texts in sorted(self.draft.points.items()):
            if not gone(offset):
                self._edits += [Replace(offset, offset, text) for text in texts]
        for one, other in self.draft.arms_joined.items():
            self._edits = joined(self.m, one, other, self._edits)
        self._edits += dropped_comments(self.draft, self._went, self._edits)
        return [*self._edits, *closed_gaps(self.m, self._edits)]

    def _expand(self, lines: list[str] | tuple[str, ...], indent: str, node: ast.AST) -> tuple[str, ...]:
        out = []
        for line in lines:
            depth = len(line) - len(line.lstrip("\t"))
            out.append(indent + self.draft.unit(node) * depth + line[depth:] if line.strip() else "")
        return tuple(out)

    def _write_out(self, stmt: ast.stmt) -> None:
        """``test and step`` (or ``step if test else None``) becomes an ``if`` where more than the step's own text
        changes."""
        m, step = self.m, stmt.body[0]  # type: ignore[attr-defined]
        before, after = self.draft.lines_before.get(step, []), self.draft.behind(step)
        if not isinstance(stmt, ast.If) or not (before or after or step in self.draft.rewritten):
            return
        indent = m.indent(stmt) + self.draft.unit(stmt)
        if m.start(stmt.test) > m.start(step):
            self._edits += self._turned(stmt, step, before, after, indent)
            return
        start = m.text.rindex("and", m.end(stmt.test), m.start(step))
        lead = self._expand(["", *before, ""], indent, step)
        self._edits.append(Replace(m.start(stmt), m.start(stmt), "if "))
        self._edits.append(Replace(len(m.text[:start].rstrip()), m.start(step), ":" + "\n".join(lead) + indent))
        if step in self.draft.rewritten:
            lines = self._expand(self.draft.rewritten[step], indent, step)
            self._edits.append(Replace(m.start(step), m.end(step), "\n".join(lines).lstrip()))
        if after:
            lines = self._expand(["", *after], indent, step)
            self._edits.append(Replace(m.end(step), m.end(step), "\n".join(lines)))

    def _turned(
        self, stmt: ast.If, step: ast.stmt, before: list[str], after: list[str], indent: str
    ) -> list[Edit]:
        """``step if test else None`` as an ``if``."""
        m = self.m
        head = f"if {self.draft.text_of(stmt.test)}:"
        lead = self._expand(["", *before, ""], indent, step)
        end = "\n".join(self._expand(["", *after], indent, step)) if after else ""
        edits: list[Edit] = [Replace(m.start(stmt), m.start(step), head + "\n".join(lead) + indent)]
        if step in self.draft.rewritten:
            lines = self._expand(self.draft.rewritten[step], indent, step)
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
        beside = [*self.draft.lines_before.get(stmt, []), *self.draft.behind(stmt)]
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
            inner = "\n".join(self._expand(lines, indent + self.draft.unit(stmt), stmt))
            colon = m.text.rindex(":", m.start(block.owner), m.start(stmt)) + 1
            self._edits.append(Replace(colon, m.end(stmt), "\n" + inner))
        else:
            inner = "\n".join(self._expand(lines, indent, stmt))
            self._edits.append(Replace(m.start(stmt), m.end(stmt), "\n" + inner))

    def _emit_around(self, stmt: ast.stmt) -> None:
        if self._written_out(stmt):
            return
        m = self.m
        before, after = self.draft.lines_before.get(stmt, []), self.draft.behind(stmt)
        if not m.owns_lines(stmt):
            if self.draft.rewritten.get(stmt) == ():
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
            if stmt in self.draft.led:
                while line > 1 and m.line_text(line - 1).startswith(f"{indent}#"):
                    line -= 1
                if m.first_line(stmt) - line == 1 and len(m.line_text(line).split()) <= _HEADING:
                    line += 1
            self._edits.append(InsertLines(line, self._expand(before, indent, stmt)))
        if after:
            lines = self._expand(after, indent, stmt)
            self._edits.append(InsertLines(m.last_line(stmt) + 1, lines, after_previous=True))

    def _begun(self, function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Replace:
        """Lines behind the header of a function, or its docstring; its first statement stands on a line of its own."""
        m, first = self.m, function.body[0]
        doc = ast.get_docstring(function, clean=False) is not None
        line = m.last_line(first) if doc else signature_end(m, function)
        end = m.starts[line - 1] + len(m.line_text(line))
        return Replace(end, end, "\n".join(["", *self._expand(lines, m.indent(first), first)]))

    def _suite_of_one(self, stmt: ast.stmt) -> bool:
        """Whether a statement is all that stands behind a header, on its line."""
        block = self.m.block(stmt)
        wrapped = any(wrap.block is block for wrap in self.draft.wraps)
        return len(block.body) == 1 and behind_header(self.m, block) and not wrapped

    def _emit_suite(self, stmt: ast.stmt, before: list[str], after: list[str]) -> None:
        """``if clip: clip_grad_norm_(…)`` with more beside it: a block of lines of its own."""
        m, owner = self.m, self.m.block(stmt).owner
        indent = (m.indent(owner) if isinstance(owner, ast.stmt) else m.indent(stmt)) + self.draft.unit(stmt)
        lead = "\n".join(["", *self._expand([*before, ""], indent, stmt)]) + indent
        self._edits.append(Replace(blanks_before(self.m, m.start(stmt)), m.start(stmt), lead))
        if after:
            behind = "\n".join(["", *self._expand(after, indent, stmt)])
            self._edits.append(Replace(m.end(stmt), m.end(stmt), behind))

    def _broken_above(self, stmt: ast.stmt, lines: list[str]) -> Replace:
        """Lines above a statement that shares its own with a header or with others: it comes to stand below them."""
        m, block = self.m, self.m.block(stmt)
        suite = behind_header(self.m, block) and block.body[0].lineno == stmt.lineno
        if suite and block.body[0] is not stmt:
            self._emit_opened(block)
        indent = m.indent(stmt) + (self.draft.unit(stmt) if suite else "")
        start = blanks_before(self.m, m.start(stmt))
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
        self._edits.append(Reindent(top, with_comments(self.m, last, indent), indent, indent + self.draft.unit(first)))

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
        suite = behind_header(self.m, block)
        if suite and wrap.first:
            self._emit_opened(block)
        unit = self.draft.unit(body[0])
        outer = m.indent(body[0]) + (unit if suite else "")
        header = [*(outer + line for line in wrap.header.split("\n")), outer + unit]
        start, line = m.start(body[0]), body[0].lineno
        if wrap.first == 0 or block.body[wrap.first - 1] not in self.draft.rewritten:
            start = blanks_before(self.m, start)
        lead = "\n" if m.text[m.starts[line - 1] : start].strip() else ""  # what stood before keeps its line
        start = start if lead else m.starts[line - 1]
        self._edits.append(Replace(start, m.start(body[0]), lead + "\n".join(header)))
        last = m.last_line(body[-1])
        beside = rest and rest[0].lineno == last and rest[0] not in self.draft.rewritten
        apart = beside and not any(w.block is block and w.first == wrap.last + 1 for w in self.draft.wraps)
        # those on a line that is shared at its end
        alone = [s for s in body if s.lineno == last] if apart and last > line else []
        for one, following in pairwise(body):
            rewritten = one in self.draft.rewritten or following in self.draft.rewritten
            if following.lineno == m.last_line(one) and not rewritten:
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

    def _emit_opened(self, block: Block) -> None:
        """Move what follows a header on its line to a line of its own."""
        first = block.body[0]
        if behind_header(self.m, block) and not self.draft.dropped(first) and first not in self.draft.rewritten:
            start = self.m.start(first)
            below = "\n" + self.m.indent(first) + self.draft.unit(first)
            self._edits.append(Replace(blanks_before(self.m, start), start, below))

    def _emit_unwrap(self, stmt: ast.stmt) -> None:
        assert isinstance(stmt, (ast.With, ast.If, ast.Try))
        m = self.m
        kept: list[ast.stmt] = getattr(stmt, self.draft.unwrapped[stmt])
        first, last = kept[0], kept[-1]
        head = header_end(self.m, stmt) if kept is stmt.body else else_line(self.m, stmt)  # type: ignore[arg-type]
        if first.lineno <= head:
            # a one-line suite: the arm takes the header's place
            self._edits.append(Replace(m.start(stmt), m.start(first), ""))
            if m.end(last) < m.end(stmt):
                self._edits.append(Replace(m.end(last), m.end(stmt), ""))
            return
        self._edits.append(DeleteLines(stmt.lineno, head))
        at_the_end = m.last_line(last) == m.last_line(stmt)
        kept_to = with_comments(self.m, last, m.indent(stmt)) if at_the_end else m.last_line(last)
        self._edits.append(Reindent(head + 1, kept_to, m.indent(first), m.indent(stmt)))
        if not at_the_end:
            behind: ast.stmt = stmt if isinstance(stmt, ast.Try) else stmt.orelse[-1]  # type: ignore[union-attr]
            end = with_comments(self.m, behind, m.indent(stmt))
            if (about := leading(m, behind, end)) is not None:
                self._edits.append(Reindent(about, end, m.indent(behind), m.indent(stmt)))
                end = m.last_line(behind)
            self._edits.append(DeleteLines(m.last_line(last) + 1, end))


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

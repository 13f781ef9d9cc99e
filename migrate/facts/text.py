"""The text of a program, and where nodes stand in it."""

from __future__ import annotations

import ast
import re
from typing import Any

from .logical import unbroken
from .usual_names import mark

_IN_BRACKETS = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
_NEWLINE = re.compile(r"\r\n|\n|\r")


def parsed(text: str) -> ast.Module | None:
    """The syntax tree; None where the text has none, or one that is nested too deeply."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    mark(text, tree)
    return tree


class Text:
    """A text by lines and offsets; ``ast`` counts columns in UTF-8 bytes, this counts characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(m.end() for m in _NEWLINE.finditer(text))]
        self._plain = text.isascii()  # columns count characters
        self.kept: dict[object, Any] = {}  # what `once` has found
        self._said: dict[tuple[ast.AST, tuple[str, ...]], bool] = {}

    def offset(self, line: int, col: int) -> int:
        """Character offset of a position as ``ast`` gives it (its columns count UTF-8 bytes)."""
        start = self.starts[line - 1]
        if self._plain:
            return start + col
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        row = self.text[start:end]
        return start + (col if row.isascii() else len(row.encode()[:col].decode(errors="ignore")))

    def start(self, node: ast.AST) -> int:
        return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def written(self, node: ast.AST) -> str:
        """The text of ``node`` as it stands in the file, to be found in that of what it is a part of."""
        return self.text[self.start(node) : self.end(node)]

    def src(self, node: ast.AST) -> str:
        """The text of ``node`` as it stands in the file; of an expression so that it can stand anywhere."""
        text = self.written(node)
        goes_on = "\n" in text and isinstance(node, ast.expr) and not isinstance(node, _IN_BRACKETS)
        return unbroken(text) if goes_on else text

    def says(self, node: ast.AST, words: tuple[str, ...]) -> bool:
        """Whether one of several words stands in the text of ``node``."""
        if (node, words) not in self._said:
            text = self.written(node)
            self._said[node, words] = any(word in text for word in words)
        return self._said[node, words]

    def first_line(self, stmt: ast.stmt) -> int:
        """The line a statement begins on, decorators included."""
        decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
        return min([stmt.lineno, *(d.lineno for d in decorators)])

    def last_line(self, node: ast.AST) -> int:
        line: int = node.end_lineno  # type: ignore[attr-defined]
        return line

    def line_text(self, line: int) -> str:
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[self.starts[line - 1] : end].rstrip("\r\n")

    def indent(self, stmt: ast.stmt) -> str:
        """The white space before a statement's first line."""
        row = self.line_text(stmt.lineno)
        return row[: len(row) - len(row.lstrip(" \t\f"))]

    def owns_lines(self, stmt: ast.stmt) -> bool:
        """Whether no other statement shares this one's first or last line."""
        head = self.line_text(stmt.lineno)[: self.start(stmt) - self.starts[stmt.lineno - 1]]
        tail = self.line_text(self.last_line(stmt))
        tail = tail[self.end(stmt) - self.starts[self.last_line(stmt) - 1] :]
        return not head.strip() and (not tail.strip() or tail.lstrip().startswith("#"))

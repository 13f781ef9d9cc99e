"""Which files of a run import Apex, before and after it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..nodes import walk
from .words import PARTS

_EXTENSIONS = frozenset({"amp_C", "apex_C"})
_CALLS = frozenset({"import_module", "__import__"})
_WORD = re.compile(r"\b(?:import|from|import_module|__import__)\b")
_NAME = re.compile(r"\b(?:apex|amp_C|apex_C)\b")
_STATEMENT = re.compile(r"\s*(?:import\s+(?:\w+\s*,\s*)*apex|from\s+apex)\b")
_OURS = re.compile(
    rf"^[ \t]*from\s+apex(?:\.(?:{PARTS})\b"
    rf"|\s+import\s+(?:\(\s*)?(?:\w+\s*,\s*)*(?:{PARTS})\b)|\bapex\.(?:{PARTS})\b",
    re.M,
)


@dataclass(frozen=True)
class Needs:
    """Who needs Apex: how many files imported it before the run, and by path a line of those that do behind it.

    ``unread`` are files that could not be looked into, so that nobody knows."""

    before: int
    left: Mapping[str, int]
    unread: Mapping[str, int] = field(default_factory=dict)
    looked: bool = True  # at any Python file

    @property
    def gone(self) -> bool:
        """Whether nothing needs Apex any more."""
        return self.looked and not self.left and not self.unread

    def __str__(self) -> str:
        if not self.looked:
            return "which files need Apex is not known, as no Python file was looked at"
        if self.gone:
            return "no file needs Apex any more" if self.before else "no file imports Apex"
        count = len(self.left) or len(self.unread)
        path, line = next(iter((self.left or self.unread).items()))
        files = "1 file" if count == 1 else f"{count} files"
        if not self.left:
            return f"{files} could not be looked into for it, {'first ' if count > 1 else ''}{path}"
        does = "1 file still needs Apex:" if count == 1 else f"{count} files still need Apex, first"
        return f"{does} {path}, line {line}"


def imports(text: str) -> int | None:
    """The first line that imports Apex, wherever it stands; None where none does."""
    if not any((word := _WORD.search(line)) and _NAME.search(line, word.end()) for line in text.split("\n")):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            found = (number for number, line in enumerate(text.split("\n"), 1) if _STATEMENT.match(line))
            return next(found, None)
    return min((getattr(node, "lineno", 1) for node in walk(tree) if _imports(node)), default=None)


def ours(text: str) -> bool:
    """Whether what a text imports as apex has parts of NVIDIA's."""
    return _OURS.search(text) is not None


def _imports(node: ast.AST) -> bool:
    match node:
        case ast.Import(names):
            return any(_is_apex(alias.name) for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return _is_apex(module)
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=[ast.Constant(str(module)), *_]):
            return name in _CALLS and _is_apex(module)
    return False


def _is_apex(module: str) -> bool:
    first = module.partition(".")[0]
    return first == "apex" or first in _EXTENSIONS

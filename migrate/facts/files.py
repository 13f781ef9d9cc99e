"""The files of a program: their texts as one, and which of them import which."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..nodes import walk
from .scopes import Scope

# Between two files of one text: neither a comment nor blank, so what is looked for from line to line ends there.
FENCE = "=" * 8 + "\n"
LARGE_TEXT = 200_000  # characters
LARGE_TABLE = 500  # constants


@dataclass(frozen=True, eq=False)
class File:
    """One file of a program: its own text, and where that stands in the text of all."""

    number: int
    text: str
    start: int  # offset of its first character
    first: int  # its first line, counted from 1
    fence: int  # the line behind its last
    scope: Scope

    @property
    def tree(self) -> ast.Module:
        assert isinstance(self.scope.node, ast.Module)
        return self.scope.node


@dataclass(frozen=True)
class Copied:
    """A name that a scope takes from another file under a name of its own, or beside other values."""

    stmt: ast.ImportFrom
    scope: Scope
    name: str
    source: Scope
    original: str


def join(texts: Sequence[str]) -> str:
    """The text of several files as one, with a fence between each two; that of one file as it is."""
    return FENCE.join([*map(closed, texts[:-1]), *texts[-1:]])


def closed(text: str) -> str:
    return text if text.endswith(("\n", "\r")) or not text else f"{text}\n"


def reached_from(links: Sequence[Mapping[str, int]], number: int) -> frozenset[int]:
    """A file and all that it imports, directly or through others; ``links`` as `Module` takes them."""
    found, todo = {number}, [number]
    while todo:
        at = todo.pop()
        for following in links[at].values() if links else ():
            if following not in found:
                found.add(following)
                todo.append(following)
    return frozenset(found)


def file_at(files: Sequence[File], line: int) -> File:
    """The file that a line of the whole text stands in; a fence belongs to the file before it."""
    return files[max(bisect_right(files, line, key=lambda file: file.first) - 1, 0)]


def asks_for_main(tree: ast.Module) -> bool:
    """Whether a file is run itself: ``if __name__ == "__main__":``"""
    return any(isinstance(stmt, ast.If) and names_main(stmt.test) for stmt in tree.body)


def names_main(test: ast.expr) -> bool:
    """Whether a condition asks whether its file is the one that is run."""
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in walk(test))


def empty_tables(tree: ast.Module) -> None:
    """Take the elements out of large tables of constants: nothing in them can matter, and each costs a kilobyte."""
    size: dict[ast.AST, int] = {}  # of constants, and of displays of nothing else
    every = list(ast.walk(tree))
    for node in reversed(every):
        match node:
            case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
                size[node] = 1
            case ast.List(elts=held) | ast.Tuple(elts=held) | ast.Set(elts=held) if all(e in size for e in held):
                size[node] = sum(size[e] for e in held)
            case ast.Dict(keys=keys, values=held) if all(e in size for e in (*keys, *held)):
                size[node] = sum(size[e] for e in held)
            case _:
                pass
    for node in every:
        if size.get(node, 0) > LARGE_TABLE:
            for name in ("elts", "keys", "values"):
                if hasattr(node, name):
                    setattr(node, name, [])

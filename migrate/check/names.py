"""Every name of the new text is defined where it was before, as pyflakes sees it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from ..errors import Tangled
from ..knowledge.apex import FP16_UTILS
from ..nodes import children, walk
from .compiles import parse
from .problem import MEMORY, Problem, surplus

CODE = "undefined-name"
# A star whose names are known: what is undefined beside it is so without it.
_STAR = re.compile(r"^([ \t]*from[ \t]+apex\.fp16_utils[ \t]+import[ \t]+)\*", re.M)


def undefined_names(old_text: str, new_text: str) -> tuple[Problem, ...]:
    """Names that are undefined in the new text more often than in the old one.

    A text that does not parse has none: that is for `compiles` to say. Where pyflakes itself fails nothing is known:
    that is a problem, whatever it makes of the old text.
    """
    if old_text == new_text:
        return ()
    try:
        after = _undefined(new_text)
        before = _undefined(old_text) if after else ()
    except (RecursionError, MemoryError, Tangled):
        raise
    except Exception as error:
        return (Problem(1, f"pyflakes fails on it ({type(error).__name__})", CODE),)
    return surplus(old_text, new_text, before, after, lambda one: one.message)


def newly_undefined(old_text: str, new_text: str) -> tuple[Problem, ...]:
    """Names that are undefined in the new text and nowhere in the old one: where an argument is only repeated, a name
    that a snippet leaves out stays as undefined as it was. ``torch`` counts each time, as it is what is written."""
    known = {one.message for one in _undefined(old_text)} - {"undefined name 'torch'"}
    return tuple(one for one in undefined_names(old_text, new_text) if one.message not in known)


# A line that imports and does not begin with that: most files have none in a function.
_INNER_IMPORT = re.compile(r"^(?!import\b|from\b).*\bimport\b", re.M)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_ALWAYS = (ast.With, ast.AsyncWith, ast.Try)  # their bodies run wherever they do


def _early(tree: ast.Module) -> Iterator[Problem]:
    """Names that a function imports itself, and reads where that import may not have run yet."""
    for function in walk(tree):
        if isinstance(function, _FUNCTIONS) and any(isinstance(n, _IMPORTS) for n in walk(function)):
            blocks: dict[str, list[tuple[int, ast.AST]]] = {}
            reads: list[tuple[ast.Name, list[ast.AST]]] = []
            other: set[str] = set()
            _look(function, [function], blocks, reads, other)
            for name, above in reads:
                mine = blocks.get(name.id, []) if name.id not in other else []
                if mine and not any(line < name.lineno and block in above for line, block in mine):
                    yield Problem(name.lineno, f"{name.id} is read before this function imports it", CODE)


def _look(
    node: ast.AST,
    above: list[ast.AST],
    blocks: dict[str, list[tuple[int, ast.AST]]],
    reads: list[tuple[ast.Name, list[ast.AST]]],
    other: set[str],
) -> None:
    """Where a function imports names, each with what has to be around a reader; where it reads some; what is bound in
    other ways, or is not its own."""
    for child in children(node):
        if isinstance(child, _IMPORTS):
            block = next(one for one in reversed(above) if not isinstance(one, _ALWAYS))
            for alias in child.names:
                blocks.setdefault(alias.asname or alias.name.split(".")[0], []).append((child.lineno, block))
        elif isinstance(child, (ast.Global, ast.Nonlocal)):
            other.update(child.names)
        elif isinstance(child, ast.Name):
            if isinstance(child.ctx, ast.Load):
                reads.append((child, above))
            else:
                other.add(child.id)
        elif isinstance(child, ast.arg):
            other.add(child.arg)
        elif not isinstance(child, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            _look(child, [*above, child] if isinstance(child, ast.stmt) else above, blocks, reads, other)


@cache
def _checker() -> Any:
    """pyflakes' own checker, but for names that are bound twice: whether that is in two arms, where it says nothing, it
    asks in time that grows as the square of the arms of a `match`; nobody here listens. Imported by name as pyflakes
    carries no types."""
    checker = import_module("pyflakes.checker")

    class Checker(checker.Checker):  # type: ignore[misc, name-defined]
        def differentForks(self, lnode: ast.AST, rnode: ast.AST) -> bool:
            return True

    return Checker


@lru_cache(MEMORY)
def _undefined(text: str) -> tuple[Problem, ...]:
    tree = parse(_STAR.sub(lambda found: found[1] + ", ".join(sorted(FP16_UTILS)), text))
    if tree is None:
        return ()
    messages = import_module("pyflakes.messages")
    found = [
        Problem(message.lineno, f"undefined name {message.message_args[0]!r}", CODE)
        for message in _checker()(tree, filename="<new>").messages
        if isinstance(message, (messages.UndefinedName, messages.UndefinedLocal))
    ]
    early = _early(tree) if _INNER_IMPORT.search(text) else ()
    return (*early, *found)

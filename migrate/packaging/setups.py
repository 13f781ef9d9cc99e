"""``setup.py``: strings in lists that say what is installed, found by their places in the syntax tree."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace

from ..nodes import children, walk
from .mention import About, Mention
from .texts import Cut, lines, starts, without
from .words import requirement

_LISTS = re.compile(r"requires?$|requirements?$|require$|dependenc|deps$|reqs$|extras", re.I)
_Sequence = ast.List | ast.Tuple | ast.Set


def look(text: str) -> list[Mention]:
    """The elements that are Apex, each with what goes; what only holds the name in another form has no cut."""
    try:
        tree = _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    at = _Places(text)
    found: list[Mention] = []
    gone: set[ast.expr] = set()
    for holder, element, context in _elements(tree, ""):
        if not (isinstance(element, ast.Constant) and isinstance(element.value, str)):
            continue
        sure = requirement(element.value)
        if sure is None:
            continue
        last = element.end_lineno or element.lineno
        if _LISTS.search(context):
            found.append(Mention(About.REQUIRES, element.lineno, last, sure, at.cut(holder, element)))
            gone.add(element)
        elif sure:  # the words of a command, say
            found.append(Mention(About.INSTALLS, element.lineno, last, sure))
    found += _commands(tree)
    if gone and not _fits(text, tree, found, gone):
        return [replace(one, cut=None) for one in found]
    return found


def _commands(tree: ast.Module) -> Iterator[Mention]:
    """Calls that hand pip a requirement: ``subprocess.check_call([…, "install", "git+…apex"])`` has it in a list."""
    for node in walk(tree):
        if isinstance(node, ast.Call):
            for word in node.args:
                if isinstance(word, ast.Constant) and isinstance(word.value, str) and "pip install" in word.value:
                    names = [requirement(one) for one in word.value.split()]
                    if any(one is not None for one in names):
                        sure = any(names)
                        yield Mention(About.INSTALLS, word.lineno, word.end_lineno or word.lineno, sure)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file's own, such as invalid escapes
        return ast.parse(text)


def _elements(node: ast.AST, context: str) -> Iterator[tuple[_Sequence, ast.expr, str]]:
    """Elements of list literals, and the name that their list is given: a keyword's, a variable's, a key's."""
    if isinstance(node, _Sequence):
        for element in node.elts:
            yield node, element, context
    if isinstance(node, ast.keyword):
        context = node.arg or context
    elif isinstance(node, ast.Call):  # what a call makes of a list is not known: find_packages(exclude=[…])
        context = ""
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        context = next((_name(target) for target in targets), context)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            named = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
            yield from _elements(value, context if _LISTS.search(context) else named)
        return
    for child in children(node):
        inside = _name(node.func) if isinstance(node, ast.Call) and child in node.args else context
        yield from _elements(child, inside)


def _name(target: ast.expr) -> str:
    match target:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value, slice=ast.Constant(str(key))):
            return f"{key} {_name(value)}"
    return ""


class _Places:
    """Offsets into a text for the places of a syntax tree, which counts bytes of UTF-8."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._rows = lines(text)
        self._starts = starts(text)

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._rows[line - 1].encode()[:column].decode())

    def _span(self, node: ast.expr) -> tuple[int, int]:
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0),
        )

    def cut(self, holder: _Sequence, element: ast.expr) -> Cut:
        """What has to go with an element: its lines where it has them to itself, else up to its neighbour."""
        start, end = self._span(element)
        first, last = element.lineno, element.end_lineno or element.lineno
        before = self._text[self._starts[first - 1] : start]
        behind = re.match(r"[ \t]*(,?)[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r)", self._text[end:])
        at = holder.elts.index(element)
        if not before.strip() and behind and (behind[1] or at == len(holder.elts) - 1):
            return Cut(self._starts[first - 1], self._starts[last])
        if at + 1 < len(holder.elts):
            return Cut(start, self._span(holder.elts[at + 1])[0])
        if at:
            return Cut(self._span(holder.elts[at - 1])[1], end)
        comma = re.match(r"\s*,", self._text[end:])
        return Cut(start, end + (comma.end() if comma else 0))


def _fits(text: str, tree: ast.Module, mentions: list[Mention], gone: set[ast.expr]) -> bool:
    """Whether the text without the cuts is the same program without these elements."""
    new = without(text, [one.cut for one in mentions if one.cut is not None])
    try:
        after = ast.dump(_parsed(new))
    except (SyntaxError, ValueError):
        return False
    for node in walk(tree):
        if isinstance(node, _Sequence):
            node.elts = [one for one in node.elts if one not in gone]
    return ast.dump(tree) == after

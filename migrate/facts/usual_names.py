"""What a file calls torch, torch.nn and torch.nn.functional, and what nearly everybody does: `fn.softmax(x)` behind
`import torch.nn.functional as fn` is `F.softmax(x)`, for all that looks at a program by the usual names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..imports.spelled import spelled

USUAL = ("torch", "nn", "F", "functional")
_MODULES = {"torch": "torch", "torch.nn": "nn", "torch.nn.functional": "F"}
_MARK = "usual_name"


def own_names(text: str) -> Iterator[tuple[str, str]]:
    """The names that a file has of its own for these, with the usual one; not one that holds something else too."""
    for name, usual in _imported(text) if "torch" in text else ():
        if name not in USUAL and not re.search(_bound(name), text):
            yield name, usual


def _imported(text: str) -> Iterator[tuple[str, str]]:
    said = spelled(text.encode(errors="replace"))
    for dotted_name, name in said.whole:
        if dotted_name in _MODULES and name != dotted_name:
            yield name, _MODULES[dotted_name]
    for one in said.froms:
        for taken, name in one.names:
            if name and (full := one.dotted(taken)) in _MODULES:
                yield name, "functional" if taken == "functional" else _MODULES[full]


def _bound(name: str) -> str:
    """What binds a name to something else: an assignment, a parameter, a loop, a block."""
    return "|".join(
        (
            rf"(?<![\w.]){name}[ \t]*(?:,[^\n=()]{{0,200}})?=(?!=)",
            rf"\bdef[ \t]+\w+\([^()]{{0,400}}\b{name}\b",
            rf"\b(?:for|lambda)[ \t]+(?:\w+,[ \t]*){{0,9}}{name}\b",
            rf"\b(?:with|except)\b[^\n]{{0,200}}\bas[ \t]+{name}\b",
        )
    )


def usual_names(text: str) -> str:
    """The text with the usual names."""
    for name, usual in list(own_names(text)):
        text = re.sub(rf"(?<![\w.]){name}(?=\.)", usual, text)
    return text


def mark(text: str, tree: ast.AST) -> None:
    """Note at each name of a file's tree what is usual for it, for `dotted`."""
    usual = dict(own_names(text))
    for node in ast.walk(tree) if usual else ():
        if isinstance(node, ast.Name) and node.id in usual:
            setattr(node, _MARK, usual[node.id])


def dotted(expr: ast.AST) -> str:
    """A dotted name with the usual name of torch's modules: ``F.softmax``; nothing of what is none."""
    if isinstance(expr, ast.Name):
        return str(getattr(expr, _MARK, expr.id))
    if isinstance(expr, ast.Attribute):
        base = dotted(expr.value)
        return f"{base}.{expr.attr}" if base else ""
    return ""


def home(func: ast.AST) -> str:
    """The last name of what a function is taken from: ``functional`` of ``torch.nn.functional.softmax``."""
    return dotted(func.value).rpartition(".")[2] if isinstance(func, ast.Attribute) else ""

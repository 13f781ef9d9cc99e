"""Files that only ask whether Apex's amp is there, once nothing in the tree needs it any more.

``file_utils.py`` tries to import amp, and tells others whether it was there. Where these are in one program with it
their conditions are folded. In a large package they are not, or the answer is read where no amp is used at all ("Please
install apex to train with --fp16"). When all that used amp is migrated the answer is *yes*: mixed precision is there.
It stays a question as long as somebody who hears it goes on to import what is left of Apex.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import suppress

from .facts.names import imports_apex
from .imports.tree import Imports
from .nodes import walk
from .reading import NOTEBOOK, read

_TRIES = frozenset("ImportError ModuleNotFoundError Exception BaseException".split())


def may_be_answered(location: str, imports: Imports, now: Mapping[str, Callable[[], bytes]]) -> bool:
    """Whether the tree used Apex, and nobody who may hear the answer of a file imports Apex for it any more: an import
    that its own ``try`` catches asks by itself. ``now`` are the files that change, as they will be."""
    if not now:
        return False  # it is for others, of whom nothing is known
    for user in sorted(imports.above((location,)) - {location}):
        text = b""
        with suppress(OSError):
            text = now[user]() if user in now else read(user)
        if b"apex" in text and (user.endswith(NOTEBOOK) or _imports_bare(text)):
            return False
    return True


def _imports_bare(text: bytes) -> bool:
    """Whether a text imports Apex where a failure is not caught."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    caught: set[ast.AST] = set()
    for node in walk(tree):
        if isinstance(node, ast.Try) and any(map(_catches, node.handlers)):
            caught.update(inner for stmt in node.body for inner in walk(stmt))
    imports = (node for node in walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return any(imports_apex(node) and node not in caught for node in imports)


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(name, ast.Name) and name.id in _TRIES for name in names)

"""What a parser's ``set_defaults(func=train)`` gives the options of a run: ``args.func(args)`` runs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.module import Module

SETS_COMMANDS = "set_defaults"


def commands(m: Module) -> Iterator[tuple[str, ast.expr]]:
    """The names by which options hold something, with what that is."""
    for call in m.calls(SETS_COMMANDS):
        for word in call.keywords:
            if word.arg is not None and isinstance(word.value, (ast.Name, ast.Attribute, ast.Lambda, ast.Call)):
                yield word.arg, word.value

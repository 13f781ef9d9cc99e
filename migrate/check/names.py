"""Every name of the new text is defined where it was before, as pyflakes sees it."""

from __future__ import annotations

from importlib import import_module

from migrate.check.compiles import parse
from migrate.check.problem import Problem, surplus

CODE = "undefined-name"


def undefined_names(old_text: str, new_text: str) -> tuple[Problem, ...]:
    """Names that are undefined in the new text more often than in the old one.

    A text that does not parse has none: that is for `compiles` to say.
    """
    if old_text == new_text:
        return ()
    return surplus(old_text, new_text, _undefined(old_text), _undefined(new_text), lambda one: one.message)


def _undefined(text: str) -> list[Problem]:
    tree = parse(text)
    if tree is None:
        return []
    # imported by name as pyflakes carries no types
    checker, messages = import_module("pyflakes.checker"), import_module("pyflakes.messages")
    return [
        Problem(message.lineno, f"undefined name {message.message_args[0]!r}", CODE)
        for message in checker.Checker(tree, filename="<new>").messages
        if isinstance(message, (messages.UndefinedName, messages.UndefinedLocal))
    ]

"""Arms that are reached where something is None and hand on just that: ``amp.state() if amp is not None else amp``."""

from __future__ import annotations

import ast


def arms(choice: ast.IfExp) -> tuple[ast.expr, ...]:
    """The arms of a choice that may hold something: not what the condition says is None."""
    match choice.test:
        case ast.Compare(left=asked, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            missing = choice.orelse
        case ast.Compare(left=asked, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            missing = choice.body
        case _:
            return choice.body, choice.orelse
    same = isinstance(asked, (ast.Name, ast.Attribute)) and ast.dump(asked) == ast.dump(missing)
    return tuple(arm for arm in (choice.body, choice.orelse) if not (same and arm is missing))

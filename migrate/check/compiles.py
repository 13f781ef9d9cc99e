"""The new text is Python."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache

from .problem import Problem

CODE = "does-not-compile"


@lru_cache(1)  # all checks of a text ask for it, one behind the other
def parse(text: str) -> ast.Module | None:
    """The syntax tree, None where the text has none. Warnings about the text are its author's affair."""
    return _try(text, whole=False)[0]


def compiles(old_text: str, new_text: str) -> tuple[Problem, ...]:
    """A problem where the new text does not parse, or compiles no more though the old text did.

    Compiling finds what parsing does not, such as a ``global`` behind the first use of a name.
    """
    if old_text == new_text:
        return ()
    problem = _try(new_text, whole=True)[1]
    if problem is None or (parse(new_text) is not None and _try(old_text, whole=True)[1] is not None):
        return ()
    return (problem,)


def _try(text: str, whole: bool) -> tuple[ast.Module | None, Problem | None]:
    tree: ast.Module | None = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if whole:
                # a notebook's cells may await at their top level
                compile(text, "<new>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            else:
                tree = ast.parse(text)
    except SyntaxError as error:
        return None, Problem(error.lineno or 1, f"not valid Python: {error.msg}", CODE)
    except (ValueError, RecursionError, MemoryError) as error:
        return None, Problem(1, f"not valid Python: {error}", CODE)
    return tree, None

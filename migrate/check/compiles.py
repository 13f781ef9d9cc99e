"""The new text is Python."""

from __future__ import annotations

import ast
import warnings

from .problem import Problem

CODE = "does-not-compile"


def parse(text: str) -> ast.Module | None:
    """The syntax tree, None where the text has none. Warnings about the text are its author's affair."""
    return _try(text, whole=False)[0]


def compiles(old_text: str, new_text: str) -> tuple[Problem, ...]:
    """A problem where the new text does not parse, or compiles no more though the old text did.

    Compiling finds what parsing does not, such as a ``global`` behind the first use of a name.
    """
    if old_text == new_text:
        return ()
    tree, problem = _try(new_text, whole=False)
    if tree is not None and _try(old_text, whole=True)[1] is None:
        problem = _try(new_text, whole=True)[1]
    return () if problem is None else (problem,)


def _try(text: str, whole: bool) -> tuple[ast.Module | None, Problem | None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            if whole:
                # a notebook's cells may await at their top level
                compile(tree, "<new>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return None, Problem(error.lineno or 1, f"not valid Python: {error.msg}", CODE)
    except (ValueError, RecursionError, MemoryError) as error:
        return None, Problem(1, f"not valid Python: {error}", CODE)
    return tree, None

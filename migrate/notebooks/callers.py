"""Notebooks that call functions which take more than before: nobody follows a notebook's calls, so they are named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from ..imports.spelled import module_name
from ..imports.tree import Imports
from ..model import Finding, Severity
from ..nodes import needed
from ..reading import imports_of, read

RULE = "APX022"


def told(
    changed: Iterable[tuple[str, str, bytes, bytes]], notebooks: Mapping[str, str], imports: Imports
) -> dict[str, list[Finding]]:
    """For each notebook (by its place) what it has to hand on now.

    ``changed`` are files: their places, what reports call them, and their bytes before and after."""
    asking = [(at, shown, more) for at, shown, old, new in changed if (more := _more(old, new))] if notebooks else []
    found: dict[str, list[Finding]] = {}
    for notebook in notebooks if asking else ():
        data = _bytes(notebook)
        for location, shown, more in asking:
            spelled = data is None or module_name(location).encode(errors="surrogateescape") in data
            imported = spelled and location in imports.imported(notebook)
            reached = imported or imports.reached(notebook, {location}) is not None
            for name, parameter in more.items():
                of_object = "." in name  # which may come from a file between
                if (reached if of_object else imported) and _calls(notebook, name):
                    said = f"{name}() of {shown}, which this notebook calls, takes {parameter} now"
                    found.setdefault(notebook, []).append(Finding(RULE, Severity.REVIEW, 1, 1, said))
    return found


def _bytes(notebook: str) -> bytes | None:
    """None of one that cannot be read as a whole."""
    with suppress(OSError):
        return read(notebook)
    return None


def _more(old: bytes, new: bytes) -> dict[str, str]:
    """Functions that ask for one more argument, with its name."""
    before, after = _asked(old), _asked(new)
    return {
        name: min(wanted - before[name])
        for name, wanted in after.items()
        if name in before and wanted - before[name]
    }


def _asked(data: bytes) -> dict[str, set[str]]:
    """The parameters without a default of each function of a file's own level, and of each method of its classes; a
    constructor is called by the name of its class."""
    found: dict[str, set[str]] = {}
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for stmt in ast.parse(data).body:
            if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found[stmt.name] = set(needed(stmt))
            for one in stmt.body if isinstance(stmt, ast.ClassDef) else ():
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    name = stmt.name if one.name == "__init__" else f"{stmt.name}.{one.name}"  # type: ignore[attr-defined]
                    found[name] = set(needed(one))
    return found


def _calls(notebook: str, name: str) -> bool:
    """Whether a notebook calls a function, or a method of that name."""
    owner, _, last = name.rpartition(".")
    spelled = (r"\.\s*" if owner else r"\b") + rf"{re.escape(last)}\("
    with suppress(OSError):
        return re.search(spelled.encode(), imports_of(notebook, read(notebook))) is not None
    return False

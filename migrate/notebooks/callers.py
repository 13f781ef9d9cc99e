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
            if not spelled or location not in imports.imported(notebook):
                continue
            for name, parameter in more.items():
                if _calls(notebook, name):
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
    """The parameters without a default of each function of a file's own level."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        functions = [n for n in ast.parse(data).body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        return {one.name: set(needed(one)) for one in functions}
    return {}


def _calls(notebook: str, name: str) -> bool:
    with suppress(OSError):
        return re.search(rf"\b{re.escape(name)}\(".encode(), imports_of(notebook, read(notebook))) is not None
    return False

"""Which files others than the tree's may import: those of a package that a project installs, and those of one of which
the tree itself runs nothing.

A package is what lies in folders with an ``__init__.py``; whoever has it installed calls its functions, and their calls
are not in the tree. A folder of modules beside a script is only that script's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from contextlib import suppress

from .model import Importable
from .reading import read

_INIT = "__init__.py"
_RUN = re.compile(rb"^if[ \t]+__name__[ \t]*==", re.M)
# What says that packages are installed; one that only builds an extension does not.
_INSTALLS = {
    "setup.py": re.compile(rb"\b(?:packages|package_dir|py_modules)[ \t]*=|\bfind_packages\b|\bsetup\(\s*\)"),
    "setup.cfg": re.compile(rb"^\[(?:options|metadata)\]", re.M),
    "pyproject.toml": re.compile(rb"^\[(?:project|tool\.poetry|tool\.flit\.metadata)\]", re.M),
}
_OF_SOURCES = ("src", "lib", "python")  # folders of a project that hold its packages and nothing else


def importable(program: Collection[str], above: Collection[str]) -> dict[str, Importable]:
    """Who may import names from the files of a program, beside the tree; ``above`` are those that run them."""
    run: bool | None = None  # whether the tree runs the package: all of these files are read for that
    installs: dict[str, bool] = {}
    found: dict[str, Importable] = {}
    for location in program:
        top = _above_packages(location)
        if top not in installs:
            installs[top] = _installs(top)
        if _run_by_itself(location) or not _packaged(location):
            found[location] = Importable.NOWHERE
        elif installs[top]:
            found[location] = Importable.ALL
        else:
            if run is None:
                run = any(_run_by_itself(one) or not _packaged(one) for one in {*program, *above})
            found[location] = Importable.NOWHERE if run else Importable.LISTED
    return found


def _packaged(location: str) -> bool:
    return os.path.isfile(os.path.join(os.path.dirname(location), _INIT))


def _above_packages(location: str) -> str:
    """The folder that imports of a file's package begin from."""
    folder = os.path.dirname(location)
    while os.path.isfile(os.path.join(folder, _INIT)):
        folder = os.path.dirname(folder)
    return folder


def _installs(folder: str) -> bool:
    """Whether a project installs the packages of a folder."""
    folders = [folder, *([os.path.dirname(folder)] if os.path.basename(folder) in _OF_SOURCES else [])]
    return any(_said(os.path.join(one, name)) for one in folders for name in _INSTALLS)


def _said(location: str) -> bool:
    with suppress(OSError):  # it is not there, or no file, or larger than any is
        return _INSTALLS[os.path.basename(location)].search(read(location)) is not None
    return False


def _run_by_itself(location: str) -> bool:
    with suppress(OSError):
        return b"__name__" in (data := read(location)) and _RUN.search(data) is not None
    return False

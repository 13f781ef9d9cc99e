"""Imports that may mean one of several files of the tree, where a file stays by hand: neither is read with it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress

from .imports.tree import Imports
from .model import FileResult, Finding, Severity, by_hand
from .reading import read
from .sources import Selection

_SUGGESTION = "import it by a name that only one of them has, or leave the others out (--exclude), and run again"


def unclear_imports(results: Sequence[FileResult], selection: Selection, imports: Imports) -> dict[str, list[Finding]]:
    """What there is to say of each file, by what reports call it: which of several files with amp in them it means."""
    staying = [one.path for one in results if by_hand([one]) and one.path.endswith(".py")]
    if not staying:
        return {}
    locations, amp = selection.locations(), {source.location for source in selection.amp}
    found: dict[str, list[Finding]] = {}
    for path in staying:
        meant = imports.meant(locations[path]).items()
        unclear = {name: sorted(files) for name, files in meant if len(files) > 1 and amp & {*files}}
        for name, line in _imported(locations[path]) if unclear else ():
            if name in unclear:
                shown = " or ".join(selection.python[one] for one in unclear.pop(name))
                said = f"`{name}` may be {shown}, so neither is read together with this file"
                new = Finding("APX091", Severity.MANUAL, line, line, said, suggestion=_SUGGESTION)
                found.setdefault(path, []).append(new)
    return found

def _imported(location: str) -> Iterator[tuple[str, int]]:
    """The modules that a file imports, by the names as they are written, with the lines."""
    with suppress(OSError, SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file's own
        for node in ast.walk(ast.parse(read(location))):
            match node:
                case ast.ImportFrom(module=module, level=level):
                    yield f"{'.' * level}{module or ''}", node.lineno
                case ast.Import(names=names):
                    yield from ((alias.name, node.lineno) for alias in names)
                case _:
                    pass

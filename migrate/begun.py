"""Whether somebody may initialize Apex in the process in which a file runs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from .components import import_root
from .imports.tree import Imports
from .sources import Selection

_BEGINS = re.compile(rb"\binitialize\b")
_APEX = re.compile(rb"\b(?:apex|amp)\b")


def may_be_initialized(
    files: Collection[str], selection: Selection, imports: Imports, native: Collection[str] = ()
) -> bool:
    """Whether amp is initialized by a file that these reach, by one of those that import them or what these reach, or
    by any below the folder from which their imports begin: a runner of a library joins what no import does. ``native``
    are files that are migrated in this run."""
    near = imports.above(files)
    todo = list(near)
    while todo:
        for following in imports.imported(todo.pop()):
            if following not in near:
                near.add(following)
                todo.append(following)
    roots = tuple({os.path.join(import_root(one), "") for one in files})
    near |= {source.location for source in selection.candidates if source.location.startswith(roots)}
    return any(imports.words(_BEGINS, one) and imports.words(_APEX, one) for one in near.difference(native))

"""Copies of Apex in a tree: somebody else's code, which is left as it is.

Projects that had trouble with the installation took Apex in (``apex/apex/amp/__init__.py`` beside their own code).
Such a folder needs Apex whatever becomes of the project, and nobody would merge a change in there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

_PARTS = ("parallel", "normalization", "fp16_utils", "optimizers", "multi_tensor_apply")


def copies(python: Iterable[str], paths: Sequence[str]) -> tuple[str, ...]:
    """The folders of copies of Apex among files of a walk of ``paths``: its package, or the whole project where that
    lies below and is called after it."""
    known = frozenset(python)
    end = os.path.join(os.sep, "apex", "amp", "__init__.py")
    walked = {os.path.realpath(path) for path in paths}
    found = set()
    for root in (location.removesuffix(end) for location in known if location.endswith(end)):
        package = os.path.join(root, "apex")
        if any(os.path.join(package, part, "__init__.py") in known for part in _PARTS):
            project = "apex" in os.path.basename(root).lower() and root not in walked
            found.add((root if project else package) + os.sep)
    return tuple(sorted(found))

"""What the Python files of a run say of Apex, as they were and as they will be."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from .. import textio
from ..model import Severity
from ..outcome import Outcome
from ..reading import read
from ..sources import Selection
from ..spool import Spool
from .mention import About, Mention
from .needs import Needs, imports, ours

_OF_AMP = re.compile(r"\bamp\.initialize\b|\bFP16_Optimizer\b|\bfp16_utils\b")
_NAME = re.compile(r"[a-z]\w*")
_NEAR = 2  # folders from a command up to where the code lies too


class Code:
    """The Python files of a run that mention Apex, as they were and as they will be."""

    def __init__(self, selection: Selection, outcome: Outcome, spool: Spool) -> None:
        self._old: dict[str, str] = {}  # by place: the texts of files that import it
        self._left: dict[str, int] = {}
        self._unread: dict[str, int] = {}
        new = {str(one.texts.location): spool.get(one.texts.new) for one in outcome.changed if one.texts is not None}
        for source in selection.candidates:
            try:
                old = _code(source.location, read(source.location))
            except OSError:
                self._unread[source.shown] = 1
                continue
            if imports(old) is None:
                continue
            self._old[source.location] = old
            now = new.get(source.location)
            line = imports(old if now is None else _code(source.location, now))
            if line is not None:
                self._left[source.shown] = line
        self._ours = any(map(ours, self._old.values()))
        self._names: dict[str, frozenset[str]] = {}  # by place: what files that use amp call things

    def counts(self, mention: Mention, location: str, text: str, sure: bool) -> bool:
        """Whether a mention in a file means NVIDIA's Apex; ``sure`` says that another one of the tree does."""
        if mention.option:
            return self._ours and self._has(mention.option, location)
        return mention.sure or sure or self._ours or (mention.about is About.REQUIRES and _beside_torch(text))

    def _has(self, option: str, location: str) -> bool:
        """Whether a file that uses Apex's amp, not far from a command or a setting, has an option of that name."""
        if not self._names:
            used = {path: text for path, text in self._old.items() if _OF_AMP.search(text)}
            self._names = {
                path: frozenset(_NAME.findall(text.lower().replace("-", "_"))) for path, text in used.items()
            }
        if option.endswith("opt_level"):  # nobody else says so and means O0 to O3
            return bool(self._names)
        nested = option.endswith("loss_scale")
        return any(option in names and _near(path, location, nested=nested) for path, names in self._names.items())

    def needs(self, others: Iterable[tuple[str, int]], selection: Selection) -> Needs:
        """Who needs Apex: Python files, ``others`` (settings that name its classes), what could not be looked into."""
        left = dict(self._left)
        left.update((path, line) for path, line in others if path not in left)
        unread = dict(self._unread)
        for result in selection.problems:
            if any(finding.severity is Severity.MANUAL for finding in result.findings):
                unread[result.path] = result.findings[0].line
        looked = bool(selection.candidates or selection.python)
        return Needs(len(self._old), dict(sorted(left.items(), key=_code_first)), dict(sorted(unread.items())), looked)


def _code_first(item: tuple[str, int]) -> tuple[bool, str]:
    return not item[0].endswith(".py"), item[0]


def _code(location: str, data: bytes) -> str:
    """The code of a Python file; of a notebook, that of all cells."""
    try:
        if not location.endswith(".ipynb"):
            return textio.decode(data)[0]
        cells = json.loads(data)["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    except (textio.Undecodable, ValueError, KeyError, TypeError, RecursionError):
        return data.decode("utf-8", "replace")


def _near(code: str, location: str, *, nested: bool) -> bool:
    above, here = os.path.dirname(code), os.path.dirname(location)
    common = os.path.commonpath([above, here])
    if common in (above, here):
        return True
    return not nested and len(Path(here).relative_to(common).parts) <= _NEAR


def _beside_torch(text: str) -> bool:
    """PyPI's own apex is a toolkit for Pyramid: a list that names torch does not mean that one."""
    lower = text.lower()
    return "torch" in lower and "pyramid" not in lower

"""Comments, help and messages that still speak of Apex are named, with their lines.

What they tell is not true any more once the training is native: `help="through NVIDIA apex"`, "install apex", "after
amp.initialize". Which words are right instead only the author knows.

Source: readings of migrated repositories by people who had not written the tool.
"""

from __future__ import annotations

import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from ..facts.tokens import tokens
from ..model import Finding, Severity
from ..units.unit import Context
from .common import Stage, Work

ID = "APX093"
STAGE = Stage.REPORT
BEFORE = """\
parser.add_argument("--fp16", action="store_true", help="mixed precision through NVIDIA apex")
"""
AFTER = """\
parser.add_argument("--fp16", action="store_true", help="mixed precision through NVIDIA apex")
"""
NOTES: dict[str, str] = {}

_SPEAKS = re.compile(r"\bapex\b|\bamp\.(?:initialize|scale_loss|init)\b|\bNVIDIA amp\b", re.I)


def apply(ctx: Context, work: Work) -> None:
    """One finding for each file that is rewritten, where such texts stay in it."""
    if not work.migrated or work.texts is None:
        return
    used = {node.lineno for node in ctx.facts.uses}
    rewritten = {line for _, noted in work.noted for line in range(noted.line, noted.end_line + 1)}
    for file in ctx.m.files:
        if not _SPEAKS.search(work.texts[file.number]):
            continue
        kept = Counter(said for _, said in _speaking(work.texts[file.number]))  # what stands beside it may have changed
        spoken = [(file.first + number - 1, said) for number, said in dict.fromkeys(_speaking(file.text))]
        untouched = Counter(said for at, said in spoken if at not in rewritten)  # a second one may be gone
        told = [at for at, said in spoken if kept[said] > untouched[said] or (kept[said] and at not in rewritten)]
        lines = [line for line in dict.fromkeys(told) if line not in used]
        if lines and work.texts[file.number] != file.text:
            message = "these comments, strings or help texts still speak of Apex"
            work.findings.append(Finding(ID, Severity.INFO, lines[0], lines[0], message, lines=tuple(lines[1:])))


@lru_cache(4)  # the second look at a file reads what the first one has written
def _speaking(text: str) -> tuple[tuple[int, str], ...]:
    """The lines on which a comment or a string speaks of Apex, with what it says there."""
    return tuple(_spoken(text))


def _spoken(text: str) -> Iterator[tuple[int, str]]:
    for token in tokens(text):
        if token.type == tokenize.COMMENT or tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE"):
            for number, line in enumerate(token.string.splitlines()):
                if _SPEAKS.search(line):
                    yield token.start[0] + number, line.strip()

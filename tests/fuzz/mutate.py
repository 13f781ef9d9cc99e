"""Files as nobody wrote them: real legacy scripts, cut, doubled and mixed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+|[^\w\s]|\n[ \t]*")
_ODD = (
    "\x0c", "\t", "\r\n", "\\\n", ";", "...", "lambda: ", "await ", "*", "**", "global optimizer\n", "del scaler\n",
    "é", "apex = apex.amp\n", "amp = amp\n", "from apex import *\n", "from __future__ import division\n",
    "# type: ignore", "if True: pass\n", "else:", "try:\n", "return\n", "yield\n", "(", ")", "'''",
    "with amp.scale_loss(loss, opt) as s: 1\n",
)  # fmt: skip


def mutated(seed: int, texts: Sequence[str]) -> str:
    """One made-up file, the same for a seed every time: some changes of one text, sometimes with parts of others."""
    chance = random.Random(seed)
    text = chance.choice(texts)
    for _ in range(chance.choice((1, 1, 2, 3, 5, 8))):
        text = chance.choice((_lines, _lines, _words, _words, _odd, _piece, _indented))(text, chance, texts)
    return text


def _lines(text: str, chance: random.Random, texts: Sequence[str]) -> str:
    """A run of lines goes, comes twice, or stands elsewhere."""
    lines = text.splitlines(keepends=True) or [""]
    low = chance.randrange(len(lines))
    run = lines[low : low + chance.choice((1, 1, 1, 2, 5))]
    how = chance.randrange(3)
    if how != 1:
        del lines[low : low + len(run)]
    if how != 0:
        at = chance.randrange(len(lines) + 1)
        lines[at:at] = run
    return "".join(lines)


def _words(text: str, chance: random.Random, texts: Sequence[str]) -> str:
    """A word or sign goes, or another of the file stands for it."""
    found = list(_WORD.finditer(text))
    if not found:
        return text
    one, other = chance.choice(found), chance.choice(found)
    return text[: one.start()] + ("" if chance.random() < 0.3 else other.group()) + text[one.end() :]


def _odd(text: str, chance: random.Random, texts: Sequence[str]) -> str:
    at = chance.randrange(len(text) + 1)
    if chance.random() < 0.7:
        at = text.rfind("\n", 0, at) + 1
        row = text[at:].split("\n", 1)[0]
        at += len(row) - len(row.lstrip())
    return text[:at] + chance.choice(_ODD) + text[at:]


def _piece(text: str, chance: random.Random, texts: Sequence[str]) -> str:
    """Lines of another file among those of this one."""
    lines, others = text.splitlines(keepends=True), chance.choice(texts).splitlines(keepends=True)
    at, low = chance.randrange(len(lines) + 1), chance.randrange(len(others))
    return "".join([*lines[:at], *others[low : low + chance.randrange(1, 30)], *lines[at:]])


def _indented(text: str, chance: random.Random, texts: Sequence[str]) -> str:
    """A run of lines under one more header."""
    lines = text.splitlines(keepends=True) or [""]
    low = chance.randrange(len(lines))
    high = low + chance.randrange(1, 12)
    space = lines[low][: len(lines[low]) - len(lines[low].lstrip(" "))]
    header = chance.choice(
        ("if args.fp16:", "for _ in range(2):", "try:", "with open(f) as g:", "def inner():", "while x:")
    )
    under = [f"    {line}" if line.strip() else line for line in lines[low:high]]
    tail = [f"{space}finally:\n{space}    pass\n"] if header == "try:" else []
    return "".join([*lines[:low], f"{space}{header}\n", *under, *tail, *lines[high:]])

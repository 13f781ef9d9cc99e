"""Lines that a rewrite made too long are broken as Black breaks them: white space and a comma behind a last argument.

What a call is handed moves to a line of its own, or each argument to one. Where the call is on several lines already
the long line is broken at a comma, with the indentation that the file gave the next one. Lines that were too long
before stay as their author wrote them.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..model import Edit, Replace
from .apply import apply_traced
from .lines import Lines
from .trace import Run, through

_LIMIT, _WIDE = 100, 120
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(eq=False)
class _Pair:
    """The parentheses of a call or of a definition: offsets of both, of the commas in between, and what else counts."""

    start: int
    call: bool
    depth: int
    end: int = -1
    commas: list[int] = field(default_factory=list)
    generator: bool = False  # its one argument is a generator: no comma may follow
    comment: bool = False


def lay_out(old: str, new: str, runs: Sequence[Run], unit: str) -> tuple[str, list[Run]]:
    """The new text with its own long lines broken, and where its characters stood in the old text."""
    if new == old:
        return new, list(runs)
    lines, before = Lines(new), Lines(old)
    limit = _limit(before)
    kept = {text.strip() for text in before.contents()}
    long = [
        number
        for number in range(1, lines.count + 1)
        if len(lines.content(number)) > limit
        and lines.content(number).strip() not in kept
        and not _was_long(before, runs, lines, number, limit)
    ]
    pairs = _pairs(new, lines) if long else None
    if pairs is None:
        return new, list(runs)
    edits: list[Edit] = []
    for number in long:
        edits += _broken(lines, number, pairs, limit, unit)
    if not edits:
        return new, list(runs)
    text, moved = apply_traced(new, edits)
    return text, through(moved, runs)


def _limit(old: Lines) -> int:
    """100 characters, or 120 in a file that goes beyond 100 itself."""
    return _WIDE if sum(len(text) > _LIMIT for text in old.contents()) >= 3 else _LIMIT


def _was_long(old: Lines, runs: Sequence[Run], new: Lines, number: int, limit: int) -> bool:
    """Whether a line begins with what began a long line of the old text."""
    start = new.start(number) + len(new.content(number)) - len(new.content(number).lstrip())
    index = bisect_right([run.new for run in runs], start) - 1
    if index < 0 or start >= runs[index].new + runs[index].length:
        return False
    return len(old.content(old.line_of(runs[index].old + start - runs[index].new))) > limit


def _pairs(text: str, lines: Lines) -> list[_Pair] | None:
    """All parentheses of calls and definitions; None where the text cannot be read."""
    found: list[_Pair] = []
    around: list[_Pair] = []
    quoted, before = 0, ""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    for token in tokens:
        name = tokenize.tok_name[token.type]
        quoted += (name == "FSTRING_START") - (name == "FSTRING_END")
        at = lines.start(token.start[0]) + token.start[1]
        if quoted or token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            continue
        if token.type == tokenize.COMMENT:
            for pair in around:
                pair.comment = True
        elif token.type == tokenize.OP and token.string in _OPEN:
            follows = (before.isidentifier() and not keyword.iskeyword(before)) or before in (")", "]")
            around.append(_Pair(at, token.string == "(" and follows, len(around)))
        elif token.type == tokenize.OP and token.string in _CLOSE and around:
            around[-1].end = at
            found.append(around.pop())
        elif around and token.string == ",":
            around[-1].commas.append(at)
        elif around and token.string == "for":
            around[-1].generator = True
        before = token.string
    return sorted((pair for pair in found if pair.call), key=lambda pair: pair.start)


def _broken(lines: Lines, number: int, pairs: list[_Pair], limit: int, unit: str) -> list[Replace]:
    """The edits that break one line."""
    first, last = lines.start(number), lines.content_end(number)
    content = lines.content(number)
    if ";" in content:  # several statements: the others would begin behind a parenthesis
        return []
    indent = content[: len(content) - len(content.lstrip())]
    around = [pair for pair in pairs if pair.start < last <= pair.end or pair.start < first <= pair.end < last]
    if around:
        pair = max(around, key=lambda pair: pair.depth)
        return _at_comma(lines, number, pair, limit) or _spread(lines, number, pair, limit, indent, unit)
    here = [pair for pair in pairs if first <= pair.start and pair.end < last and pair.end > pair.start + 1]
    if not here:
        return []
    least = min(pair.depth for pair in here)
    pair = max((pair for pair in here if pair.depth == least), key=lambda pair: pair.end - pair.start)
    return _spread(lines, number, pair, limit, indent, unit)


def _spread(lines: Lines, number: int, pair: _Pair, limit: int, indent: str, unit: str) -> list[Replace]:
    """What stands between parentheses that open on a line moves to the next one, or each argument to one."""
    text, first = lines.text, lines.start(number)
    if pair.comment or not first <= pair.start < first + limit:
        return []
    edges = [pair.start, *pair.commas, pair.end]
    gaps = [_gap(text, at + 1) for at in edges[:-1]]
    parts = [text[gap:at].rstrip() for gap, at in zip(gaps, edges[1:], strict=True)]
    if any("\n" in part for part in parts):
        return []
    inner = indent + unit
    trailing = not parts[-1]
    whole = len(inner) + len(", ".join(p for p in parts if p)) <= limit and not trailing
    edits = []
    for index, (at, gap) in enumerate(zip(edges, gaps, strict=False)):
        if index and trailing and index == len(gaps) - 1:
            continue
        edits.append(Replace(at + 1, gap, " " if whole and index else f"\n{inner}"))
    comma = "" if whole or trailing or pair.generator else ","
    end = edges[-2] + 1 if trailing else gaps[-1] + len(parts[-1])
    return [*edits, Replace(end, pair.end, f"{comma}\n{indent}")]


def _gap(text: str, at: int) -> int:
    """Where the next thing that is no white space stands."""
    while text[at].isspace():
        at += 1
    return at


def _next_line(text: str, comma: int, indent: str) -> Replace:
    """What follows a comma goes to the next line."""
    return Replace(comma + 1, _gap(text, comma + 1), f"\n{indent}")


def _at_comma(lines: Lines, number: int, pair: _Pair, limit: int) -> list[Replace]:
    """A call on several lines: the long one is broken behind the last comma that fits."""
    first, last = lines.start(number), lines.content_end(number)
    commas = [at for at in pair.commas if first <= at < last - 1 and at + 1 - first <= limit]
    if pair.start >= first:
        after = lines.content(number + 1) if number < lines.count else ""
        indent = after[: len(after) - len(after.lstrip())]
    else:
        content = lines.content(number)
        indent = content[: len(content) - len(content.lstrip())]
    if not commas:
        return []
    return [_next_line(lines.text, commas[-1], indent), *_joined(lines, number, pair, commas[-1], limit, indent)]


def _joined(lines: Lines, number: int, pair: _Pair, comma: int, limit: int, indent: str) -> list[Replace]:
    """What moved to a line of its own is filled up with the next line of the call, where that fits as a whole."""
    end = lines.content_end(number)
    if pair.comment or number >= lines.count or lines.start(number + 1) > pair.end or lines.text[end - 1] != ",":
        return []
    moved, following = lines.text[comma + 1 : end].strip(), lines.content(number + 1).strip()
    opened = sum(c in _OPEN for c in following) - sum(c in _CLOSE for c in following)
    if not following or opened > 0 or len(f"{indent}{moved} {following}") > limit:
        return []
    return [Replace(end, _gap(lines.text, end), " ")]

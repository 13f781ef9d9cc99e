"""Apply edits by position to the text of one module.

Only text is handled, never syntax: what is not named by an edit comes out byte for byte, with
the newlines, tabs and oddities it had. The rules, where several edits meet:

Replace
    Ranges never overlap (`EditConflict`). Insertions at one offset keep their given order and
    come before a replacement that starts there. Newlines in the text become those of the file.
DeleteLines
    Wins over a Replace inside the deleted lines and over an InsertLines between two lines of
    one DeleteLines; at its edges lines can be inserted. A deletion inside a longer Replace has
    nothing left to do; one that overlaps it halfway is an `EditConflict`.
Reindent
    Ranges nest or are disjoint (`EditConflict`). Inner ranges come first, so an outer one sees
    the indentation that an inner one made; of equal ranges the one given first is the inner one.
    A line is moved by the Reindents that contain the old line its first character comes from, or,
    for a line that begins inside a Replace's text, the old line where that Replace starts.
InsertLines
    Lines at one place: first those with ``after_previous``, then the others, both in given order.
    The first belong to the line above and are moved by what moves it, the others to ``before``.

    ``inside=False`` puts lines out of a block that begins at ``before``: they open it (a ``with``
    header). Where several blocks begin there, the lines nearest to the block open the innermost,
    the next ones the block around it, and so on: the last one given skips the Reindents up to the
    innermost one that indents, the one before it skips up to the second that indents… Two nested
    headers are thus given outer first, and the inner one is moved by the outer Reindent alone.
    With fewer headers than blocks the outer Reindents move all headers; with more, the headers
    farthest away skip up to the outermost Reindent that indents. A Reindent that takes
    indentation away opens no block and is not counted: it moves the headers inside of it.
    Where none that begins there indents, all that begin there are skipped.
    With ``after_previous`` the same holds mirrored for Reindents that end at the line above: the
    first one given is nearest to the block.

A text that lacks the newline at its end still lacks it afterwards.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

from ..model import DeleteLines, Edit, InsertLines, Reindent, Replace
from .idle_strings import idle_string_lines
from .lines import Lines, may_span_lines, string_lines
from .trace import Run, common_words


class EditConflict(ValueError):
    """Two edits that cannot both be applied."""

    def __init__(self, first: Edit, second: Edit, why: str) -> None:
        super().__init__(f"{why}: {first} and {second}")
        self.first = first
        self.second = second


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits applied; positions are those of the text as given.

    Raises as `apply_traced`.
    """
    return apply_traced(text, edits)[0]


def apply_traced(text: str, edits: Iterable[Edit]) -> tuple[str, list[Run]]:
    """The text with all edits applied, and where each piece of it stood in the old text.

    Raises `EditConflict` where two edits cannot both be applied, and `ValueError` where one lies
    outside of the text or, with a Reindent, where the outcome has strings that are not closed.
    """
    given = tuple(edits)
    if not given:
        return text, [Run(0, 0, len(text))]
    lines = Lines(text)
    reindents = _nested([edit for edit in given if isinstance(edit, Reindent)], lines)
    written = _Writer(lines, reindents)
    deletions = [edit for edit in given if isinstance(edit, DeleteLines)]
    replacements = [edit for edit in given if isinstance(edit, Replace)]
    chunks = _chunks(lines, replacements, deletions)
    inserted = _inserted(
        lines, [edit for edit in given if isinstance(edit, InsertLines)], deletions, replacements
    )
    position = 0
    for start, end, replace in chunks:
        _copy(written, lines, inserted, position, start)
        _insert_at(written, lines, inserted, start)
        if replace is not None:
            written.replacement(replace)
        position = end
    _copy(written, lines, inserted, position, len(text))
    _insert(written, lines, inserted, lines.count + 1)
    return written.result(), written.runs


# ---------------------------------------------------------------- what meets what


def _nested(reindents: list[Reindent], lines: Lines) -> tuple[Reindent, ...]:
    """The Reindents, inner ones first."""
    for edit in reindents:
        _check_range(edit, lines)
    around: list[Reindent] = []
    for edit in sorted(reindents, key=lambda one: (one.first, -one.last)):
        while around and around[-1].last < edit.first:
            around.pop()
        if around and around[-1].last < edit.last:
            raise EditConflict(around[-1], edit, "the ranges of two Reindents cross")
        around.append(edit)
    # of those that contain a common line the shorter lies in the longer; the sort is stable
    return tuple(sorted(reindents, key=lambda one: one.last - one.first))


def _check_range(edit: DeleteLines | Reindent, lines: Lines) -> None:
    if not 1 <= edit.first <= edit.last <= lines.count:
        raise ValueError(f"{edit} is outside of the text, which has {lines.count} lines")


_Chunk = tuple[int, int, Replace | None]


def _chunks(lines: Lines, replacements: list[Replace], deletions: list[DeleteLines]) -> list[_Chunk]:
    """Ranges of the old text that do not come out as they are, in order: replaced ones and deleted lines."""
    for deletion in deletions:
        _check_range(deletion, lines)
    deleted = {line for one in deletions for line in range(one.first, one.last + 1)}
    kept: list[Replace] = []
    for replace in replacements:
        if not 0 <= replace.start <= replace.end <= len(lines.text):
            raise ValueError(f"{replace} is outside of the text, which has {len(lines.text)} characters")
        touched = range(lines.line_of(replace.start), lines.line_of(max(replace.start, replace.end - 1)) + 1)
        if not deleted.issuperset(touched):
            kept.append(replace)
    # sorting is stable: insertions at one offset keep their order
    kept.sort(key=lambda one: (one.start, one.end))
    for one, other in pairwise(kept):
        if other.start < one.end:
            raise EditConflict(one, other, "two replacements overlap")

    absorbed: set[int] = set()
    ends = [one.end for one in kept]  # in order as well, as none overlap
    for deletion in deletions:
        start, end = lines.start(deletion.first), lines.end(deletion.last)
        for at in range(bisect_right(ends, start), len(kept)):
            replace = kept[at]
            if replace.start >= end:
                break
            if replace.start <= start and end <= replace.end:
                absorbed.update(range(deletion.first, deletion.last + 1))
            elif start < replace.end and replace.start < end:
                raise EditConflict(deletion, replace, "a replacement reaches out of deleted lines")
    chunks: list[_Chunk] = [(one.start, one.end, one) for one in kept]
    chunks += [(lines.start(line), lines.end(line), None) for line in deleted - absorbed]
    return sorted(chunks, key=lambda chunk: chunk[:2])


def _inserted(
    lines: Lines, edits: list[InsertLines], deletions: list[DeleteLines], replacements: list[Replace]
) -> dict[int, list[InsertLines]]:
    """Insertions by the line they come before, in the order they come out."""
    found: dict[int, list[InsertLines]] = defaultdict(list)
    gone = {line for one in deletions for line in range(one.first + 1, one.last + 1)}
    replaced = sorted((one.start, one.end) for one in replacements)
    furthest = [*accumulate((end for _, end in replaced), max)]
    for edit in edits:
        if not 1 <= edit.before <= lines.count + 1:
            raise ValueError(f"{edit} is outside of the text, which has {lines.count} lines")
        if edit.before in gone:
            continue
        place = lines.start(edit.before)
        ahead = bisect_left(replaced, (place, 0))
        if ahead and furthest[ahead - 1] > place:
            replace = next(one for one in replacements if one.start < place < one.end)
            raise EditConflict(replace, edit, "lines are inserted into replaced text")
        found[edit.before].append(edit)
    for here in found.values():
        here.sort(key=lambda one: not one.after_previous)
    return found


# ---------------------------------------------------------------- writing


@dataclass
class _Out:
    """One line on its way out. ``movers`` are the Reindents that hold for it, inner first."""

    content: str
    newline: str
    movers: tuple[Reindent, ...]
    runs: tuple[Run, ...] = ()  # counted from the start of the line
    idle: bool = False  # it begins within a string that nobody reads


@dataclass
class _Writer:
    """Collects lines, each with what will move it, and indents them at the end."""

    lines: Lines
    reindents: tuple[Reindent, ...]
    out: list[_Out] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    traced: list[Run] = field(default_factory=list)  # of the line being written
    runs: list[Run] = field(default_factory=list)  # of the whole outcome, once it is there
    owner: int = 0
    last_replace: Replace | None = None

    @property
    def open(self) -> bool:
        return bool(self.parts)

    def put(self, content: str, newline: str, owner: int, runs: Sequence[Run] = ()) -> None:
        """Add to the line being written; a newline ends it. Its first text decides whose it is.

        ``runs`` say what of the content stood in the old text, counted from the start of the content."""
        if not self.parts:
            self.owner = owner
        if content:
            before = sum(len(part) for part in self.parts)
            self.traced += [Run(before + run.new, run.old, run.length) for run in runs]
            self.parts.append(content)
        if newline:
            movers, idle = self.containing(self.owner), self.owner in self._idle
            self.out.append(_Out("".join(self.parts), newline, movers, tuple(self.traced), idle))
            self.parts, self.traced = [], []

    def replacement(self, replace: Replace) -> None:
        """The text of a Replace, with the newlines of the file."""
        self.last_replace = replace
        owner = self.lines.line_of(replace.start)
        pieces = Lines(replace.text)
        shared = common_words(self.lines.text[replace.start : replace.end], replace.text)
        for number in range(1, pieces.count + 1):
            content = pieces.content(number)
            ended = number < pieces.count or pieces.ends_with_newline
            first = pieces.start(number)
            here = [
                Run(run.new - first, replace.start + run.old, run.length)
                for run in shared
                if first <= run.new < first + len(content)
            ]
            self.put(content, self.lines.newline if ended else "", owner, here)

    def insertion(self, edit: InsertLines, movers: tuple[Reindent, ...]) -> None:
        for line in edit.lines:
            for content in Lines(line).contents() or [""]:
                self.out.append(_Out(content, self.lines.newline, movers))

    def containing(self, line: int) -> tuple[Reindent, ...]:
        """The Reindents around an old line, inner first."""
        return tuple(self._around.get(line, ()))

    @cached_property
    def _around(self) -> dict[int, list[Reindent]]:
        found: dict[int, list[Reindent]] = defaultdict(list)
        for one in self.reindents:
            for line in range(one.first, one.last + 1):
                found[line].append(one)
        return found

    @cached_property
    def _idle(self) -> frozenset[int]:
        return idle_string_lines(self.lines.text) if self.reindents else frozenset()

    def result(self) -> str:
        if self.parts:
            self.put("", "\n", self.owner)
            self.out[-1].newline = ""
        if any(line.movers for line in self.out):
            contents = [line.content for line in self.out]
            fixed = string_lines(contents) if may_span_lines(contents) else frozenset()
            for number, line in enumerate(self.out, 1):
                if number not in fixed or line.idle:
                    before = len(line.content)
                    line.content = _moved(line)
                    line.runs = _shifted(line.runs, len(line.content) - before)
        at = 0
        for line in self.out:
            self.runs += [Run(at + run.new, run.old, run.length) for run in line.runs]
            at += len(line.content) + len(line.newline)
        text = "".join(line.content + line.newline for line in self.out)
        return text if self.lines.ends_with_newline else text.rstrip("\r\n")


def _moved(line: _Out) -> str:
    content = line.content
    if not content.strip():
        return content
    for edit in line.movers:
        if content.startswith(edit.old):
            content = edit.new + content[len(edit.old) :]
    return content


def _shifted(runs: tuple[Run, ...], by: int) -> tuple[Run, ...]:
    """Where the pieces of a line stand once its indentation has grown or shrunk; what was cut off is gone."""
    return tuple(
        Run(max(run.new + by, 0), run.old + max(-by - run.new, 0), run.length - max(-by - run.new, 0))
        for run in runs
        if run.new + by + run.length > 0
    )


def _copy(
    written: _Writer, lines: Lines, inserted: dict[int, list[InsertLines]], start: int, end: int
) -> None:
    """Old text from start to end, and what is inserted before the lines that begin in it."""
    while start < end:
        _insert_at(written, lines, inserted, start)
        line = lines.line_of(start)
        stop = min(end, lines.end(line))
        split = max(start, lines.content_end(line))
        if stop == lines.end(line):
            written.put(lines.text[start:split], lines.text[split:stop], line, [Run(0, start, split - start)])
        else:
            written.put(lines.text[start:stop], "", line, [Run(0, start, stop - start)])
        start = stop


def _insert_at(written: _Writer, lines: Lines, inserted: dict[int, list[InsertLines]], offset: int) -> None:
    """What is inserted before the line that begins at an offset, if one does; once only."""
    line = lines.line_of(offset)
    if lines.start(line) == offset:
        _insert(written, lines, inserted, line)


def _insert(written: _Writer, lines: Lines, inserted: dict[int, list[InsertLines]], line: int) -> None:
    if line not in inserted:
        return
    here = inserted.pop(line)
    if written.open:
        if line <= lines.count and written.last_replace is not None:
            raise EditConflict(
                written.last_replace, here[0], "a replacement joins the lines around inserted ones"
            )
        written.put("", lines.newline, written.owner)  # the last line had no newline
    for edit, movers in zip(here, _movers(written, here), strict=True):
        written.insertion(edit, movers)


def _movers(written: _Writer, here: Sequence[InsertLines]) -> list[tuple[Reindent, ...]]:
    """For insertions at one place, the Reindents that move each."""
    line = here[0].before
    above = _beside(
        [one.inside for one in here if one.after_previous],
        written.containing(line - 1),
        lambda one: one.last == line - 1,
    )
    below = _beside(
        [one.inside for one in reversed(here) if not one.after_previous],
        written.containing(line),
        lambda one: one.first == line,
    )
    return above + below[::-1]


def _beside(
    inside: Sequence[bool], around: tuple[Reindent, ...], at_edge: Callable[[Reindent], bool]
) -> list[tuple[Reindent, ...]]:
    """What moves each of the insertions at the edge of blocks, the nearest to the blocks given first."""
    edge = [at for at, one in enumerate(around) if at_edge(one)]
    opened = [at for at in edge if len(around[at].new) > len(around[at].old)] or edge[-1:]
    movers: list[tuple[Reindent, ...]] = []
    headers = 0
    for one in inside:
        if one or not opened:
            movers.append(around)
            continue
        skipped = opened[min(headers, len(opened) - 1)]
        headers += 1
        # nothing crosses, so those that reach over this edge come last in `around`: they move everything
        movers.append(around[skipped + 1 :])
    return movers

"""What a check of a module finds, and how old problems are told from new ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..rewrite.lines import Lines

MEMORY = 32  # texts whose problems are remembered: the old one is looked at beside each attempt at a new one


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong in a text. ``code`` names the kind, such as ``backward-under-autocast``."""

    line: int
    message: str
    code: str = ""


def surplus(
    old_text: str,
    new_text: str,
    old: Iterable[Problem],
    new: Iterable[Problem],
    kind: Callable[[Problem], str],
) -> tuple[Problem, ...]:
    """The problems that there are more of in the new text than in the old one, counted by kind.

    Lines move, so a problem cannot be followed from text to text: those on lines that the old text
    holds too are taken for the old ones first.
    """
    known = Counter(kind(one) for one in old)
    groups: dict[str, list[Problem]] = defaultdict(list)
    for problem in new:
        groups[kind(problem)].append(problem)
    seen = {line.strip() for line in Lines(old_text).contents()}
    lines = Lines(new_text)

    def familiar(problem: Problem) -> bool:
        return problem.line <= lines.count and lines.content(problem.line).strip() in seen

    found: list[Problem] = []
    for name, group in groups.items():
        group.sort(key=lambda one: (familiar(one), one))
        found += group[: max(0, len(group) - known[name])]
    return tuple(sorted(found))

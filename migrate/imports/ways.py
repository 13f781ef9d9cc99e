"""How files lead to each other: by imports, and by what these hand on and call."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence

from ..facts.elsewhere import Outline
from .tree import Imports

MOST_SEEN = 5_000  # files that are looked at for imports
MOST_CALLS = 4  # files between one that calls and one that is led to
NAME = re.compile(rb"\b[A-Za-z_]\w+")


def files_below(files: Sequence[str], imports: Imports) -> list[str]:
    """Files and what they import, directly or through others, the nearest first."""
    return spread(files, imports.imported)


def files_above(files: Sequence[str], imports: Imports) -> list[str]:
    """Files and those that import them, directly or through others, the nearest first."""
    return spread(files, imports.importers)


def spread(files: Sequence[str], following: Callable[[str], Iterable[str]], most: int = MOST_SEEN) -> list[str]:
    """Files and what follows from them, and from that, the nearest first; no more once these are ``most``."""
    found, todo = dict.fromkeys(files), deque(files)
    while todo and len(found) < most:
        for one in following(todo.popleft()):
            if one not in found:
                found[one] = None
                todo.append(one)
    return list(found)


def taken_from(files: Iterable[str], imports: Imports) -> set[str]:
    """What some files import, also through packages."""
    return {one for at in files for one in (*imports.imported(at), *imports.through(at))}


def shortest_ways(start: str, wanted: Collection[str], imports: Imports) -> set[str]:
    """The files on the shortest ways from one file to others."""
    before: dict[str, str] = {}
    todo = deque([start])
    while todo and len(before) < MOST_SEEN:
        at = todo.popleft()
        for following in imports.imported(at):
            if following not in before and following != start:
                before[following] = at
                if following not in wanted:
                    todo.append(following)
    found: set[str] = set()
    for end in wanted:
        while end in before:
            end = before[end]
            found.add(end)
    return found


def led_to(end: str, names: frozenset[str], members: Collection[str], imports: Imports) -> set[str]:
    """A file of which members name some names, and those on the ways to it that call these; empty where none does."""
    found, seen = set[str](), {end}
    ways: list[tuple[tuple[str, ...], frozenset[str]]] = [((end,), names)]
    while ways:
        way, named = ways.pop()
        for user in imports.importers(way[-1]):
            hands_on = only_hands_on(user, imports)
            if not _hands_on_all(user, imports) and named.isdisjoint(imports.words(NAME, user)):
                continue
            if user in members:
                found.update(way)
            elif user not in seen and len(way) < MOST_CALLS:
                seen.add(user)
                onward = _handed_on(user, named, imports)
                onward = onward if hands_on else onward | _callers(imports.outline(user), named)
                ways.append(((*way, user), onward))
    return found


def _handed_on(location: str, names: frozenset[str], imports: Imports) -> frozenset[str]:
    """What a file calls what it takes by some names, these among them: ``from impl import log_model as report``."""
    return names | {local for local, name in imports.outline(location).imported if name in names}


def _callers(file: Outline, names: frozenset[str]) -> frozenset[str]:
    """The functions and classes of a file that call one of some names; all where none does, and it names one."""
    every = {one.name: [one] for one in file.functions} | {one.name: [*one.methods.values()] for one in file.classes}
    calls = {at for at, parts in every.items() if any(not names.isdisjoint(one.called) for one in parts)}
    return frozenset(calls or every)


def only_hands_on(location: str, imports: Imports) -> bool:
    """Whether a file is a package's, or has nothing of its own: ``from impl import log_model``."""
    if os.path.basename(location) == "__init__.py":
        return True
    outline = imports.outline(location)
    return not outline.functions and not outline.classes


def _hands_on_all(location: str, imports: Imports) -> bool:
    """Whether a file is a package's, or takes from others all that they have: it need not spell what it hands on."""
    package = os.path.basename(location) == "__init__.py"
    return package or any(local == "*" for local, _ in imports.outline(location).imported)

"""No pattern takes time that grows as the square of what it is given: a line may be of any length, and most of a tree
is searched before there is a bound of time on it.

Each pattern of the package is given its own words, and single characters, over and over.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import migrate

SIZE = 10_000  # characters
MOST = 200  # times a search for single characters: one that is linear takes some, one that is not thousands
ANY = [*" a1_([{.,='\"#\n-/`:@*", "a ", "a.", "a,", "a = ", "('a'", " \n", "- "]
OTHERS = ("migrate.verify.", "migrate.checkpoint.")  # of what the user runs, not of a tree
SHORT = ("migrate.packaging.files.", "migrate.packaging.words.")  # names of files; what is cut off at 2,000 characters
_NO_WORDS = re.compile(r"\\[A-Za-z]|\(\?[A-Za-z<=!:]+")
_WORD = re.compile(r"[A-Za-z_]{2,}")
_CHARACTER = re.compile(r"\w|\W")


def held(value: Any) -> Iterator[re.Pattern[Any]]:
    """The patterns that a variable of a module holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from held(one)


def patterns() -> dict[str, tuple[re.Pattern[Any], str, int]]:
    """All of the package, by where they stand, each once; how it is used, and on how much."""
    found: dict[re.Pattern[Any], tuple[str, str]] = {}
    for info in pkgutil.walk_packages(migrate.__path__, "migrate."):
        if not info.name.startswith(OTHERS):
            module = importlib.import_module(info.name)
            source = Path(str(module.__file__)).read_text(encoding="utf-8")
            for name, value in sorted(vars(module).items()):
                uses = set(re.findall(rf"\b{name}\.(\w+)", source))
                use = next((one for one in ("fullmatch", "match") if uses == {one}), "findall")
                for one in held(value):
                    found.setdefault(one, (f"{info.name}.{name}", use))
    sizes = {name: 2000 if name.startswith(SHORT) else SIZE for name, _ in found.values()}
    return {f"{name} {at}": (one, use, sizes[name]) for at, (one, (name, use)) in enumerate(found.items())}


def pumps(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    words = list(dict.fromkeys(_WORD.findall(_NO_WORDS.sub(" ", source))))[:8]
    first = words[0] if words else ""
    for unit in [*ANY, *(word + end for word in words for end in ("", " ", "(", "."))]:
        yield unit * (size // len(unit))
        if unit in (" ", "_"):
            yield first + unit * size


@contextmanager
def at_most(times: int, text: str) -> Iterator[None]:
    """Fail once something takes so many times as long as a plain search of a text; a search is interrupted too."""

    def over(number: int, frame: object) -> None:
        pytest.fail(f"too slow on {text[:40]!r}")

    begun = time.process_time()
    _CHARACTER.findall(text)
    plain = max(time.process_time() - begun, 0.0005)
    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, times * plain)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize(("pattern", "use", "size"), patterns().values(), ids=patterns())
def test_a_pattern_takes_the_time_that_its_text_is_long(pattern: re.Pattern[Any], use: str, size: int) -> None:
    for text in pumps(pattern, size):
        given: Any = text if isinstance(pattern.pattern, str) else text.encode()
        with at_most(MOST, text):
            getattr(pattern, use)(given)

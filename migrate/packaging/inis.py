"""``setup.cfg``: requirements on lines of their own below a key that lists some."""

from __future__ import annotations

import re

from .lines import spoken
from .mention import About, Mention
from .texts import lines, whole_lines
from .words import requirement

_SECTION = re.compile(r"\[\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"([\w.-]+)\s*[=:]")
_LISTS = re.compile(r"(?:install|setup|tests)_requires|requires|dependency_links")


def look(text: str) -> list[Mention]:
    """Requirements that are Apex; one that shares its line with others has no cut."""
    found: list[Mention] = []
    taken: set[int] = set()
    section = key = ""
    for number, line in enumerate(lines(text), 1):
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        if header := _SECTION.match(line):
            section, key = header[1], ""
            continue
        rest = line.strip()
        own = line[0] in " \t"
        if not own:
            named = _KEY.match(line)
            key = named[1].replace("-", "_") if named else ""
            rest = line[named.end() :].strip() if named else ""
        if not (section == "options.extras_require" or _LISTS.fullmatch(key)):
            continue
        for one in rest.split(";") if not own else [rest]:
            sure = requirement(one)
            if sure is not None:
                cut = whole_lines(text, number, number) if own else None
                found.append(Mention(About.REQUIRES, number, number, sure, cut))
                taken.add(number)
    return found + [one for one in spoken(text) if one.line not in taken]

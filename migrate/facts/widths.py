"""Names of a function that hold no half result, by its text: what ``.float()`` gave, and what is computed of that."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection

from ..knowledge import operations

_GIVEN = re.compile(r"^[ \t]+(\w+)[ \t]*([-+*/]?)=(?!=)[ \t]*([^\n]*)$", re.M)
_BOUND = re.compile(
    r"\bfor[ \t]+([\w(][\w, \t()]{0,199}?)[ \t]+in\b|\bas[ \t]+(\w+)"
    r"|(?<!\w)(\w+)[ \t]*:=|^[ \t]+([\w(][\w, \t()]*)=(?!=)",
    re.M,
)
_NAME = re.compile(r"\w+")
_WIDE = re.compile(r"\.(?:float|double|long|int|bool|item)\(\)\Z")
_PRODUCTS = "|".join(sorted(operations.O1_HALF | operations.O1_HALF_METHODS))
_NARROWS = re.compile(
    rf"\.(?:half|to|type|type_as|bfloat16|{_PRODUCTS})\(|@|\b(?:dtype|if|and|or|for|lambda)\b"
)
_OF_TORCH = re.compile(r"(?:torch|F|functional)\.\w+\(")
_HEAD = re.compile(r"(\w+)(?:\[[^\[\]]*\])?(?=\.|[ \t]*[-+*/,)]|\Z)")


def wide(body: str, parameters: Collection[str]) -> frozenset[str]:
    """The names of a body each value of which is float32, or no floating one, whatever the function is handed."""
    values: dict[str, list[str]] = defaultdict(list)
    for name, sign, value in _GIVEN.findall(body):
        values[name].append(f"{name} {sign} {value}" if sign else value)
    bound: set[str] = set()
    for *single, several in _BOUND.findall(body):
        bound.update(_NAME.findall(" ".join([*single, several if "," in several else ""])))
    found = values.keys() - bound - {*parameters}
    leans: dict[str, set[str]] = defaultdict(set)  # the names that are wide only where another is
    lost: list[str] = []
    for name in found:
        for given in values[name]:
            said = _said(given)
            if isinstance(said, str) and said in found:
                leans[said].add(name)
            elif said is not True:
                lost.append(name)
    while lost:
        name = lost.pop()
        if name in found:
            found.discard(name)
            lost += leans[name]
    return frozenset(found)


def of_wide(text: str, known: Collection[str]) -> bool:
    """Whether what a call is handed first, of which ``text`` begins behind its parenthesis, is no half result."""
    given = _first(text[:200]).strip()
    said = True if _WIDE.search(given) else _said(given)
    return said in known if isinstance(said, str) else said


def _said(value: str) -> bool | str:
    """Whether a value is wide, by its end; the name by which it is, where that is what it is computed of first."""
    value = value.split("#")[0].strip()
    if _WIDE.search(value):
        return value.count("(") == value.count(")") and not _split(value)
    if _NARROWS.search(value):
        return False
    at = 0
    while (call := _OF_TORCH.match(value, at)) is not None:
        at = call.end()
    head = _HEAD.match(value, at)
    return False if head is None else head[1]


def _split(value: str) -> bool:
    """Whether an operator parts a value, so that its end says nothing of its beginning."""
    depth = 0
    for sign in value:
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign in "+-*/@%":
            return True
    return False


def _first(text: str) -> str:
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (depth == 0 and sign == ","):
            return text[:at]
    return ""

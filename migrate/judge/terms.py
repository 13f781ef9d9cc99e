"""Symbolic values: what the judge knows of an expression, as plain hashable terms.

A term is a tuple whose first item says what it is:

    ("k", value)              a constant
    ("made", place)           an object of a class that is not here, which scales losses by its name
    ("apex", dotted)          something of Apex
    ("file", number)          a file of this program that was imported
    ("obj", keys)             one of these objects: models, optimizers, instances, functions
    ("scaler", key)           a GradScaler, by the place that made it
    ("scaled", site)          a loss times the loss scale
    ("scaling", site, optimizers, delay, loss, row, by)   what ``amp.scale_loss`` hands back, not entered yet
    ("null", term)            ``nullcontext(…)``, not entered yet
    ("autocast", term)        ``torch.autocast`` itself, or a ``partial`` of it; whether it is on where nobody says more
    ("seq", items)            a tuple or list written out
    ("dict", pairs)           a dictionary or namespace written out
    ("v", place, name)        a value of which nothing is known but the place that made it
    ("attr", base, name), ("sub", base, index), ("op", name, *operands)   made of others
    ("not", term), ("and", *terms), ("or", *terms)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from ..knowledge.gradients import BACKWARDS

Term = tuple[Any, ...]
Facts = dict[Term, bool]

NONE: Term = ("k", None)
TRUE: Term = ("k", True)
FALSE: Term = ("k", False)
AUTOCAST: Term = ("autocast", TRUE)
# Operations that never give None.
_NUMBERS = frozenset("Add Sub Mult Div FloorDiv Mod Pow USub int len str text eq is lt le in".split())
_THERE = frozenset("obj scaler apex file seq scaled autocast made".split())  # what is not None
_OPPOSITE = {"ne": "eq", "isnot": "is", "notin": "in", "ge": "lt", "gt": "le"}
_FLAT = frozenset("k v obj scaler apex file made scaled".split())  # what no other terms lie in
MAX_DEPTH = 9
MOST_LISTED = 6  # constants of which a value may be one
MEMORY = 1 << 16  # terms whose parts are remembered, over all files


class Ask(Exception):
    """The truth of a term decides which way a program goes, and it is not known yet. ``condition`` is the whole that it
    is a part of, where that is the condition of a branch."""

    def __init__(self, term: Term) -> None:
        super().__init__(term)
        self.term = term
        self.condition: Term | None = None


def opaque(place: int, name: str = "") -> Term:
    return ("v", place, name)


def is_deep(term: Term) -> bool:
    """Whether more terms lie in one another than any should."""
    return term[0] not in _FLAT and depth(term) > MAX_DEPTH


@lru_cache(MEMORY)
def depth(term: Term) -> int:
    """How many terms lie in one another."""
    return 1 + max((depth(part) for part in term if isinstance(part, tuple)), default=0)


@lru_cache(MEMORY)
def leaves(term: Term) -> frozenset[Term]:
    """The opaque values that a term is made of."""
    if term and term[0] == "v":
        return frozenset({term})
    return frozenset[Term]().union(*(leaves(part) for part in term if isinstance(part, tuple)))


@lru_cache(MEMORY)
def parts_in_question(term: Term) -> frozenset[Term]:
    """A value and what it is made of, where it may be asked for its truth."""
    if term[0] not in ("op", "and", "or", "not", "attr", "sub", "v"):
        return frozenset()
    return frozenset({term}).union(*(parts_in_question(part) for part in term if isinstance(part, tuple) and part))


def record(items: Iterable[tuple[object, Term]]) -> Term:
    """A dictionary or namespace written out; what is not constant in it stays what it is."""
    return ("dict", tuple(items))


def made_of(name: str, *parts: Term) -> Term:
    """What an operation makes of values: a scaled loss stays one."""
    scaled = next((p for p in parts if p[0] == "scaled"), None)
    return scaled if scaled is not None else ("op", name, *parts)


def inside(term: Term) -> Term:
    """What entering a context gives: a ``nullcontext`` what it was made with."""
    return term[1] if term[0] == "null" else term


def member(enumeration: str, name: str) -> Term:
    """A member of an enumeration: a value is one of them at most."""
    return ("attr", ("members", enumeration), name)


def is_member(term: Term) -> bool:
    """Whether a value is a member of an enumeration."""
    return bool(term[0] == "attr" and term[1][0] == "members")


def negated(term: Term) -> Term:
    """The opposite; a double negation is none."""
    if term[0] == "not":
        inner: Term = term[1]
        return inner
    if term[0] == "k":
        return ("k", not term[1])
    return ("not", term)


def is_number(term: Term) -> bool:
    """Whether a value was calculated: it is not None."""
    return term[0] == "not" or (term[0] == "op" and term[1] in _NUMBERS)


def _word(term: Term) -> bool:
    return term[0] == "k" and isinstance(term[1], str)


def _one_less(term: Term) -> Term:
    if term[0] == "k" and isinstance(term[1], int):
        return ("k", term[1] - 1)
    return ("op", "Sub", term, ("k", 1))


def compared(op: str, left: Term, right: Term) -> Term:
    """A comparison in one form for both ways of writing it."""
    if op in _OPPOSITE:
        return negated(compared(_OPPOSITE[op], left, right))
    if op == "in" and left[0] == "k" and right[0] == "apex" and right[1].endswith(".__dict__"):
        return TRUE  # what amp has
    if op == "in" and right[0] == "seq" and 0 < len(right[1]) <= MOST_LISTED and all(map(_word, right[1])):
        each = [compared("eq", left, one) for one in right[1]]  # `mode in ("train", "valid")`
        return each[0] if len(each) == 1 else ("or", *each)
    if op == "eq" and left[:2] == ("op", "Mod") and right == _one_less(left[3]):
        # `n % p == p - 1` is `(n + 1) % p == 0`
        return ("op", "eq", ("op", "Mod", ("op", "Add", left[2], ("k", 1)), left[3]), ("k", 0))
    if op in ("eq", "is"):
        if (left[0] == "k" or is_member(left)) and right[0] != "k" and not is_member(right):
            left, right = right, left  # `"apex" == mode`
        if left[0] == "k" and right[0] == "k":
            return ("k", left[1] == right[1])
        if right == NONE and (left[0] in _THERE or is_number(left)):
            return FALSE
        if is_member(left) and is_member(right) and left[1] == right[1]:
            return ("k", left == right)
        op = "eq" if is_member(right) or (right[0] == "k" and not isinstance(right[1], str)) else op
    return ("op", op, left, right)


def known(term: Term, facts: Facts) -> bool | None:
    """As `truth`, None where it is open; ``open and False`` is False all the same."""
    match term:
        case ("not", inner):
            found = known(inner, facts)
            return None if found is None else not found
        case ("and", *parts):
            every = [known(part, facts) for part in parts]
            return False if False in every else None if None in every else True
        case ("or", *parts):
            every = [known(part, facts) for part in parts]
            return True if True in every else None if None in every else False
        case _:
            try:
                return truth(term, facts)
            except Ask:
                return None


def truth(term: Term, facts: Facts) -> bool:
    """Whether a term holds on this path; raises `Ask` where that is open."""
    if term[0] in ("and", "or", "not") and (found := known(term, facts)) is not None:
        return found
    match term:
        case ("k", value):
            return bool(value)
        case ("apex", *_) | ("file", *_) | ("obj", *_) | ("scaler", *_) | ("autocast", *_) | ("made", *_):
            return True
        case ("seq", items):
            return bool(items)
        case ("not", inner):
            return not truth(inner, facts)
        case ("and", *parts):
            return all(truth(part, facts) for part in parts)
        case ("or", *parts):
            return any(truth(part, facts) for part in parts)
        case _:
            return _asked(term, facts)


def _asked(term: Term, facts: Facts) -> bool:
    if term in facts:
        return facts[term]
    match term:
        case ("op", "eq" | "lt" | "le" as op, left, ("k", value)):
            implied = _implied(op, left, value, facts)
            if implied is not None:
                return implied
        case ("op", "eq", left, right) if is_member(right):
            equal = (other[3] for other, holds in facts.items() if holds and other[:3] == term[:3])
            if any(is_member(one) and one[1] == right[1] for one in equal):
                return False
        case _:
            if facts.get(("op", "eq", term, NONE)):
                return False
    raise Ask(term)


def _implied(op: str, left: Term, value: object, facts: Facts) -> bool | None:
    """What other answers about the same value say of a comparison with a constant."""
    if op == "eq" and value is None and facts.get(left):
        return False
    # the value lies between; whether above it, and whether up to it
    low, high = (1.0 if _counts(left) else -math.inf, False), (math.inf, True)
    unequal: list[float] = []
    for asked, known, holds in _compared.about(facts, left):
        if asked == "eq" and holds:
            return _compares(op, known, value)
        if asked == "eq" and isinstance(known, (int, float)):
            unequal.append(known)
        if asked in ("lt", "le") and isinstance(known, (int, float)):
            if holds:
                high = min(high, (known, asked == "le"))
            else:
                low = max(low, (known, asked == "le"))
    if low[0] in unequal:
        low = (low[0], True)
    if high[0] in unequal:
        high = (high[0], False)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _between(op, low, high, value)
    return None


class _Compared:
    """The answers of the facts that were asked last, which nobody changes, to comparisons with constants."""

    def __init__(self) -> None:
        self._of: Facts = {}
        self._by_value: dict[Term, list[tuple[str, Any, bool]]] = {}

    def about(self, facts: Facts, value: Term) -> Sequence[tuple[str, Any, bool]]:
        """For each comparison of a value how it was compared, with what, and whether that holds."""
        if facts is not self._of:
            self._of, self._by_value = facts, {}
            for term, holds in facts.items():
                if term[0] == "op" and len(term) == 4 and term[3][0] == "k":
                    self._by_value.setdefault(term[2], []).append((term[1], term[3][1], holds))
        return self._by_value.get(value, ())


_compared = _Compared()


def _counts(term: Term) -> bool:
    """Whether a value is called how many backwards make a step: at least one does."""
    return term[0] in ("attr", "v") and isinstance(term[-1], str) and BACKWARDS.fit(term[-1])


def _between(op: str, low: tuple[float, bool], high: tuple[float, bool], value: float) -> bool | None:
    """A comparison of what lies between two bounds: above the first or on it, below the second or up to it."""
    if op == "eq":
        if low[0] == high[0] == value and not low[1] and high[1]:
            return True
        below = value < low[0] or (value == low[0] and low[1])
        return False if below or value > high[0] or (value == high[0] and not high[1]) else None
    if low[0] > value or (low[0] == value and (low[1] or op == "lt")):
        return False
    if high[0] < value or (high[0] == value and (op == "le" or not high[1])):
        return True
    return None


def _compares(op: str, left: Any, right: Any) -> bool | None:
    if op == "eq":
        return bool(left == right)
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left < right if op == "lt" else left <= right
    return None


def forget(facts: Facts, gone: Callable[[Term], bool]) -> Facts:
    """The facts that no vanished value has a part in."""
    return {term: held for term, held in facts.items() if not gone(term)}

"""Symbolic values: what the judge knows of an expression, as plain hashable terms.

A term is a tuple whose first item says what it is:

    ("k", value)              a constant
    ("apex", dotted)          something of Apex
    ("obj", keys)             one of these objects: models, optimizers, instances, functions
    ("scaler", key)           a GradScaler, by the place that made it
    ("scaled", site)          a loss times the loss scale
    ("seq", items)            a tuple or list written out
    ("v", place, name)        a value of which nothing is known but the place that made it
    ("attr", base, name), ("sub", base, index), ("op", name, *operands)   made of others
    ("not", term), ("and", *terms), ("or", *terms)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

Term = tuple[Any, ...]
Facts = dict[Term, bool]

NONE: Term = ("k", None)
TRUE: Term = ("k", True)
FALSE: Term = ("k", False)
MAX_DEPTH = 9


class Ask(Exception):
    """The truth of a term decides which way a program goes, and it is not known yet."""

    def __init__(self, term: Term) -> None:
        super().__init__(term)
        self.term = term


def opaque(place: int, name: str = "") -> Term:
    return ("v", place, name)


def depth(term: Term) -> int:
    return 1 + max((depth(part) for part in term if isinstance(part, tuple)), default=0)


@cache
def leaves(term: Term) -> frozenset[Term]:
    """The opaque values that a term is made of."""
    if term and term[0] == "v":
        return frozenset({term})
    return frozenset[Term]().union(*(leaves(part) for part in term if isinstance(part, tuple)))


def negated(term: Term) -> Term:
    """The opposite; a double negation is none."""
    if term[0] == "not":
        inner: Term = term[1]
        return inner
    if term[0] == "k":
        return ("k", not term[1])
    return ("not", term)


def compared(op: str, left: Term, right: Term) -> Term:
    """A comparison in one form for both ways of writing it."""
    if op in ("ne", "isnot", "notin", "ge", "gt"):
        positive = {"ne": "eq", "isnot": "is", "notin": "in", "ge": "lt", "gt": "le"}[op]
        return negated(compared(positive, left, right))
    if op in ("eq", "is"):
        if left[0] == "k" and right[0] == "k":
            return ("k", left[1] == right[1])
        if right == NONE and left[0] in ("obj", "scaler", "apex", "seq", "scaled"):
            return FALSE
        op = "eq" if right[0] == "k" and not isinstance(right[1], str) else op
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
        case ("apex", *_) | ("obj", *_) | ("scaler", *_):
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
        case ("op", "eq", left, ("k", value)):
            # another constant is known already, or the value's own truth
            for other, holds in facts.items():
                if holds and other[0] == "op" and other[1] == "eq" and other[2] == left and other[3] != ("k", value):
                    return False
            if value is None and facts.get(left):
                return False
        case _:
            if facts.get(("op", "eq", term, NONE)):
                return False
    raise Ask(term)


def forget(facts: Facts, gone: Callable[[Term], bool]) -> Facts:
    """The facts that no vanished value has a part in."""
    return {term: held for term, held in facts.items() if not gone(term)}

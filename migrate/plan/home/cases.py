"""Conditions of several calls of ``initialize`` as one: what holds in any of the cases, said as shortly as it goes."""

from __future__ import annotations

from itertools import combinations

from ...units.conditions import FALSE, Term, conjunction, negation


def without_opposites(cases: list[list[Term]]) -> list[list[Term]]:
    """Fewer cases that say the same: two that differ in one condition alone, which holds here and does not hold there,
    are one without it (the arms of ``if … elif … else``); one that says all that another says, and more, is that; one
    that holds where another does not need not say so."""
    for one, other in combinations(cases, 2):
        mine, theirs = _beyond(one, other), _beyond(other, one)
        if not mine or not theirs:
            more = other if not mine else one
            return without_opposites([case for case in cases if case is not more])
        if len(mine) == len(theirs) == 1 and _opposites(mine[0], theirs[0]):
            rest = [term for term in one if term.text != mine[0].text]
            return without_opposites([*(case for case in cases if case is not one and case is not other), rest])
        for short, long, alone, more in ((one, other, mine, theirs), (other, one, theirs, mine)):
            if len(alone) == 1 and any(_opposites(alone[0], term) for term in more):
                rest = [term for term in long if not _opposites(alone[0], term)]  # `a or not a and b`, a first
                others = [case for case in cases if case is not short and case is not long]
                return without_opposites([*others, short, rest])
    return cases


def _beyond(one: list[Term], other: list[Term]) -> list[Term]:
    """The conditions of one case that another does not have."""
    return [term for term in one if term.value is None and term.text not in {x.text for x in other}]


def _opposites(one: Term, other: Term) -> bool:
    return negation(one).text == other.text or negation(other).text == one.text


def either(cases: list[list[Term]]) -> Term:
    """``a or b`` of the conditions of several initialize calls; what all have in common is said once."""
    live = [[t for t in case if t.value is None] for case in cases if not any(t.value is False for t in case)]
    if not live:
        return FALSE
    live = without_opposites(live)
    common = [t for t in live[0] if all(t.text in {x.text for x in case} for case in live)]
    texts = {t.text for t in common}
    rest = [conjunction([t for t in case if t.text not in texts]) for case in live]
    if any(t.value for t in rest) or any(negation(t).text in {x.text for x in rest} for t in rest):
        return conjunction(common)
    kept = list({t.text: t for t in rest}.values())
    if len(kept) == 1:
        return conjunction([*common, kept[0]])
    either = Term(" or ".join(t.inside(2) for t in kept), 1, boolean=all(t.boolean for t in kept))
    return conjunction([*common, either])

"""Conditions of several calls of ``initialize`` as one: what holds in any of the cases, said as shortly as it goes."""

from __future__ import annotations

from itertools import islice, permutations

from ...units.conditions import FALSE, Term, conjunction, conjuncts, negation


class _Case:
    """What has to hold in one case, by the text of each condition, and what each of them denies."""

    def __init__(self, terms: list[Term]) -> None:
        self.terms = {term.text: term for term in terms}
        self._denies = {negation(term).text: term.text for term in terms}
        self.implied = False  # by another case

    def beyond(self, other: _Case) -> list[Term]:
        """The conditions that another case does not have; of several, two."""
        missing = (term for text, term in self.terms.items() if term.value is None and text not in other.terms)
        return list(islice(missing, 2))

    def drop_opposite(self, of: Term) -> bool:
        """Drop the condition that denies one; whether there is any."""
        texts = (self._denies.get(of.text), negation(of).text)
        return any(text is not None and self.terms.pop(text, None) is not None for text in texts)


def without_opposites(cases: list[list[Term]]) -> list[list[Term]]:
    """Fewer cases that say the same, or shorter ones: one that says all that another says, and more, is that; and where
    a case says but one thing that another denies, the other need not deny it (``a or not a and b`` is ``a or b``, as
    in the arms of ``if … elif …``)."""
    left = [_Case(case) for case in cases]
    changed = True
    while changed:
        changed = False
        for one, other in permutations(left, 2):
            if one.implied or other.implied:
                continue
            mine = one.beyond(other)
            other.implied = not mine
            changed |= not mine or (len(mine) == 1 and other.drop_opposite(mine[0]))
        left = [case for case in left if not case.implied]
    return [list(case.terms.values()) for case in left]


def either(cases: list[list[Term]]) -> Term:
    """``a or b`` of the conditions of several initialize calls; what all have in common is said once."""
    live = [[t for t in case if t.value is None] for case in cases if not any(t.value is False for t in case)]
    if not live:
        return FALSE
    live = without_opposites([conjuncts(case) for case in without_opposites(live)])
    said = [{t.text for t in case} for case in live]
    common = [t for t in live[0] if all(t.text in one for one in said)]
    texts = {t.text for t in common}
    rest = [conjunction([t for t in case if t.text not in texts]) for case in live]
    found = {t.text: t for t in rest}
    kept = list(found.values())
    if any(t.value for t in kept) or any(negation(t).text in found for t in kept):
        return conjunction(common)
    if len(kept) == 1:
        return conjunction([*common, kept[0]])
    either = Term(" or ".join(t.inside(2) for t in kept), 1, boolean=all(t.boolean for t in kept))
    return conjunction([*common, either])

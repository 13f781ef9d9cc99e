"""Answers that hold no longer: about values that a round of a loop or a call makes anew, and that nobody holds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ...nodes import walk
from ..program.counting import LAST_ROUND
from ..terms import MEMORY, Ask, Facts, Term, forget, leaves
from .pair import Both, Pair
from .past import Past


@dataclass(frozen=True)
class Kept:
    """What answers are remembered about: values that are read by these ``names``, and that come from these places."""

    names: frozenset[str]
    values: frozenset[Term] = frozenset()

    def with_those_of(self, questions: Iterable[Term], whole: bool = False) -> Kept:
        """These, and what some questions were about: the names by which it is read, or the values where it has none.
        ``whole``: the values in any case, and so all that is asked of them."""
        terms = list(questions)
        names = frozenset[str]().union(*map(_names_read, terms))
        values = frozenset[Term]().union(*(leaves(term) for term in terms if whole or not _names_read(term)))
        names |= {leaf[2] for leaf in values if leaf[2]}
        return Kept(self.names | names, self.values | {v for v in values if v[1]})

    @staticmethod
    def names_of(questions: Iterable[Term]) -> frozenset[str]:
        """The names by which a program reads what questions are about."""
        return frozenset[str]().union(*map(_names_read, questions))

    def about(self, term: Term) -> bool:
        """Whether a question is about nothing else."""
        names = _names_read(term)
        if LAST_ROUND in names:
            return True
        return bool(names and names <= self.names) or not leaves(term).isdisjoint(self.values)


@dataclass(frozen=True)
class _Life:
    """An answer is remembered as long as all values are held that it is ``of``; where it is asked ``once``, as long as
    what it is about can still be read."""

    of: frozenset[Term]
    once: bool


class Forgetting:
    """What both programs forget of their answers.

    ``once`` are names that one place of both programs asks about: nobody asks again. Answers about something else than
    what is ``kept`` are forgotten at once; None: no answer is.
    """

    def __init__(self, both: Both, once: frozenset[str], kept: Kept | None) -> None:
        self.both, self.once, self.kept = both, once - both.again, kept  # one place asks again in the next round
        self.past = Past()
        self._touched: dict[ast.AST, list[ast.expr]] = {}
        self._lives: dict[Term, _Life | None] = {}

    def within(self, facts: Facts, node: ast.AST) -> Facts:
        """The facts without those about values that are made in a piece of the old program."""
        m = self.both.old.m
        low, high = m.start(node), m.end(node)
        return forget(facts, lambda term: any(low <= leaf[1] <= high for leaf in leaves(term)))

    def begin_round(self, pair: Pair, loop: ast.AST) -> None:
        """What a round of a loop makes anew has no answer yet, nor what a method called in it may have changed."""
        facts = self.within(pair.facts, loop)
        changed: set[Term] = set()
        for expr in self._objects_called(loop):
            try:
                term = self.both.old.evaluator.value(pair.old, expr, facts)
            except Ask:
                continue
            if term[0] in ("v", "attr"):
                changed.add(term)
        if changed:
            facts = forget(facts, lambda term: any(part in changed for part in _bases(term)))
        pair.facts = facts

    def collect(self, pair: Pair) -> None:
        """Drop what nobody can read any more: dead local names, and answers about values that neither program holds."""
        for runner, state in ((self.both.old, pair.old), (self.both.new, pair.new)):
            runner.bury(state)
        self.past.forget(pair)
        known = self._lives  # there may be hundreds of them, each time
        lives = {term: known[term] if term in known else self._life(term) for term in pair.facts}
        if all(life is None for life in lives.values()):  # they end here, if there are any
            pair.facts = {}
            return
        stores = [store.contents() for store in (*pair.old.stores(), *pair.new.stores())]
        wanted = {leaf for life in lives.values() if life is not None for leaf in life.of}
        held = {leaf for store in stores for leaf in wanted & store.leaves} if wanted else wanted
        asked = {_subject(term) for term, life in lives.items() if life is not None and life.once}
        read = {term for store in stores for term in asked & store.questioned} if asked else asked

        def gone(term: Term) -> bool:
            life = lives[term]
            return life is None or not life.of <= held or (life.once and _subject(term) not in read)

        pair.facts = forget(pair.facts, gone)

    def _life(self, term: Term) -> _Life | None:
        """How long an answer is remembered; None where it is forgotten at once."""
        if term not in self._lives:
            ends = self.kept is not None and not self.kept.about(term)
            of = frozenset(leaf for leaf in leaves(term) if leaf[1])
            self._lives[term] = None if ends else _Life(of, bool(_names_read(term) & self.once))
        return self._lives[term]

    def _objects_called(self, loop: ast.AST) -> list[ast.expr]:
        """Objects of which a loop calls a method for its effect."""
        if loop not in self._touched:
            self._touched[loop] = [
                n.value.func.value
                for n in walk(loop)
                if isinstance(n, ast.Expr)
                and isinstance(n.value, ast.Call)
                and isinstance(n.value.func, ast.Attribute)
                and isinstance(n.value.func.value, (ast.Name, ast.Attribute))
            ]
        return self._touched[loop]


def _subject(term: Term) -> Term:
    """What a question is about: of a comparison with a constant what is compared, which may be held by another name."""
    match term:
        case ("op", "eq" | "lt" | "le", subject, ("k", _) | ("attr", ("members", _), _)):
            found: Term = subject
            return found
        case _:
            return term


@lru_cache(MEMORY)
def _names_read(term: Term) -> frozenset[str]:
    """The names by which a program reads what a term is made of: of an attribute its own, as what it is read of may
    go by several."""
    match term:
        case ("attr", _, str(name)) | ("v", _, str(name)) | ("sub", _, ("k", str(name))):
            return frozenset({name} if name else ())
        case ("op", "in", ("k", str(name)), _):  # `"fp16" in config`
            return frozenset({name})
        case _:
            return frozenset[str]().union(*(_names_read(part) for part in term if isinstance(part, tuple)))


def _bases(term: Term) -> Iterator[Term]:
    """What a term reads attributes and items of."""
    if term and term[0] in ("attr", "sub"):
        yield term[1]
    for part in term:
        if isinstance(part, tuple):
            yield from _bases(part)

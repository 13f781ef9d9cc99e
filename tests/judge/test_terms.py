"""Symbolic values: truth with what is known, and comparisons in one form."""

from __future__ import annotations

import itertools
import operator
import random

import pytest

from migrate.judge.terms import (
    FALSE,
    NONE,
    TRUE,
    Ask,
    Facts,
    Term,
    compared,
    depth,
    forget,
    known,
    leaves,
    member,
    negated,
    opaque,
    truth,
)

A, B, C = (opaque(place, name) for place, name in enumerate("abc", start=1))
Given = dict[Term, bool | None]


def made(rng: random.Random, levels: int) -> Term:
    if levels == 0 or rng.random() < 0.2:
        return rng.choice((A, B, C, TRUE, FALSE, NONE, ("k", 3)))
    parts = [made(rng, levels - 1) for _ in range(rng.choice((2, 2, 3)))]
    return rng.choice((("and", *parts), ("or", *parts), ("not", parts[0]), negated(parts[0])))


def evaluated(term: Term, given: Given) -> bool | None:
    """Kleene's three-valued logic, spelt out."""
    match term:
        case ("k", value):
            return bool(value)
        case ("not", inner):
            found = evaluated(inner, given)
            return None if found is None else not found
        case ("and" | "or" as word, *parts):
            decides = word == "or"
            values = [evaluated(part, given) for part in parts]
            return decides if decides in values else None if None in values else not decides
    return given[term]


def test_three_valued_logic() -> None:
    rng = random.Random(0)
    for _ in range(300):
        term = made(rng, 3)
        for values in itertools.product((True, False, None), repeat=3):
            given: Given = dict(zip((A, B, C), values, strict=True))
            facts = {one: value for one, value in given.items() if value is not None}
            expected = evaluated(term, given)
            assert known(term, facts) is expected, (term, given)
            if expected is not None:
                assert truth(term, facts) is expected
            else:
                with pytest.raises(Ask) as asked:
                    truth(term, facts)
                assert asked.value.term in (A, B, C) and given[asked.value.term] is None


def test_answering_what_is_asked_decides() -> None:
    """The loop of questions ends, and comes to what all answers together say."""
    rng = random.Random(1)
    for _ in range(300):
        term, answers = made(rng, 3), {one: rng.random() < 0.5 for one in (A, B, C)}
        facts: Facts = {}
        while True:
            try:
                found = truth(term, facts)
                break
            except Ask as asked:
                assert asked.term not in facts
                facts[asked.term] = answers[asked.term]
        assert found is evaluated(term, dict(answers))


@pytest.mark.parametrize(
    ("one", "other"),
    [("eq", "ne"), ("is", "isnot"), ("in", "notin"), ("lt", "ge"), ("le", "gt")],
)
def test_a_comparison_and_its_opposite_are_one_question(one: str, other: str) -> None:
    assert compared(other, A, B) == negated(compared(one, A, B))
    assert negated(negated(compared(one, A, B))) == compared(one, A, B)


def test_is_none_is_the_same_question_as_equals_none() -> None:
    assert compared("is", A, NONE) == compared("eq", A, NONE)
    assert compared("isnot", A, NONE) == compared("ne", A, NONE)


_NUMBERS = (0, 0.5, 1, 1.5, 2, 2.5, 3)


@pytest.mark.parametrize("words", list(itertools.product(("lt", "le", "gt", "ge"), ("eq", "ne", "lt", "le"))))
def test_comparisons_with_two_numbers(words: tuple[str, str]) -> None:
    """What is known of one says of the other just what it does: as all numbers between the two say together."""
    first, second = words
    for one, other in itertools.product((1, 2), repeat=2):
        facts: Facts = {}
        asked = compared(first, A, ("k", one))
        facts[negated(asked) if asked[0] == "not" else asked] = asked[0] != "not"
        held = [n for n in _NUMBERS if getattr(operator, first)(n, one)]
        answers = {getattr(operator, second)(n, other) for n in held}
        found = known(compared(second, A, ("k", other)), facts)
        assert found is (answers.pop() if len(answers) == 1 else None), (words, one, other)


def test_constants_are_compared() -> None:
    assert compared("eq", ("k", "O1"), ("k", "O1")) == TRUE
    assert compared("ne", ("k", "O1"), ("k", "O1")) == FALSE
    assert compared("is", NONE, NONE) == TRUE
    assert compared("is", ("obj", frozenset()), NONE) == FALSE
    assert compared("isnot", ("apex", "apex.amp"), NONE) == TRUE


def test_what_one_comparison_says_of_another() -> None:
    facts = {compared("eq", A, ("k", "O1")): True}
    assert truth(compared("eq", A, ("k", "O2")), facts) is False
    assert truth(compared("ne", A, ("k", "O0")), facts) is True
    assert known(compared("eq", B, ("k", "O2")), facts) is None
    assert known(compared("eq", A, ("k", "O2")), {compared("eq", A, ("k", "O1")): False}) is None


def test_none_does_not_hold_and_what_holds_is_not_none() -> None:
    assert truth(A, {compared("is", A, NONE): True}) is False
    assert truth(compared("is", A, NONE), {A: True}) is False
    assert known(A, {compared("is", A, NONE): False}) is None


def test_what_is_not_open() -> None:
    assert truth(("obj", frozenset()), {}) and truth(("apex", "apex.amp"), {}) and truth(("scaler", ("call", 1)), {})
    assert truth(("seq", (A,)), {}) and not truth(("seq", ()), {})


def test_forgetting() -> None:
    facts = {A: True, compared("eq", ("attr", B, "x"), ("k", 1)): False, ("op", "Mod", A, C): True}
    assert set(leaves(("op", "Mod", A, ("attr", B, "x")))) == {A, B}
    assert forget(facts, lambda term: A in leaves(term)) == {compared("eq", ("attr", B, "x"), ("k", 1)): False}
    assert depth(("not", ("attr", A, "x"))) == depth(A) + 2


STEPS = ("attr", opaque(1, "args"), "gradient_accumulation_steps")


@pytest.mark.parametrize(
    ("value", "asked", "holds", "then", "follows"),
    [
        (STEPS, ("eq", 1), False, ("gt", 1), True),  # how many backwards make a step: no less than one
        (STEPS, ("gt", 1), False, ("eq", 1), True),
        (A, ("eq", 1), False, ("gt", 1), None),  # of another value nothing is known
        (("attr", A, "loss_accumulated"), ("eq", 1), False, ("gt", 1), None),
    ],
)
def test_a_step_has_a_backward(
    value: Term, asked: tuple[str, int], holds: bool, then: tuple[str, int], follows: bool | None
) -> None:
    first, second = (compared(op, value, ("k", number)) for op, number in (asked, then))
    fact = first[1] if first[0] == "not" else first
    assert known(second, {fact: holds is not (first[0] == "not")}) is follows


def test_a_bound_that_is_not_reached() -> None:
    """``x >= 2`` and not ``x == 2``: more than 2."""
    facts: Facts = {("op", "lt", A, ("k", 2)): False, ("op", "eq", A, ("k", 2)): False}
    assert known(("op", "le", A, ("k", 2)), facts) is False
    assert known(("op", "le", A, ("k", 3)), facts) is None


def test_one_of_several_constants_is_equal_to_one_of_them() -> None:
    """`mode in ["train"]` was another question than `mode == "train"`, also where mode was known."""
    train, valid = ("k", "train"), ("k", "valid")
    assert compared("in", A, ("seq", (train,))) == compared("eq", A, train)
    assert compared("in", valid, ("seq", (train,))) == FALSE
    both = ("seq", (train, valid))
    assert truth(compared("in", valid, both), {}) is True
    assert truth(compared("notin", A, both), {compared("eq", A, ("k", "test")): True}) is True
    assert compared("in", A, ("seq", (train, B))) == ("op", "in", A, ("seq", (train, B)))


def test_a_value_is_one_member_of_an_enumeration() -> None:
    apex, native = (compared("eq", A, member("Backend", name)) for name in ("APEX", "NATIVE"))
    assert known(native, {apex: True}) is False
    assert known(native, {apex: False}) is None
    assert known(compared("is", A, member("Backend", "APEX")), {apex: True}) is True
    assert known(compared("eq", A, member("Mode", "NATIVE")), {apex: True}) is None
    assert known(native, {compared("eq", B, member("Backend", "APEX")): True}) is None
    assert compared("eq", member("Backend", "APEX"), member("Backend", "NATIVE")) == FALSE
    assert compared("ne", member("Backend", "APEX"), A) == negated(apex)


def test_a_value_is_one_word() -> None:
    apex, native = (compared("eq", A, ("k", word)) for word in ("apex", "native"))
    assert known(native, {apex: True}) is False
    assert compared("eq", ("k", "apex"), A) == apex


def test_the_last_of_a_window_is_the_one_before_the_next() -> None:
    more, less = ("op", "Add", A, ("k", 1)), ("op", "Sub", B, ("k", 1))
    assert compared("eq", ("op", "Mod", A, B), less) == compared("eq", ("op", "Mod", more, B), ("k", 0))
    assert compared("eq", ("op", "Mod", A, ("k", 4)), ("k", 3)) == compared(
        "eq", ("op", "Mod", more, ("k", 4)), ("k", 0)
    )
    assert compared("eq", ("op", "Mod", A, B), B)[2] == ("op", "Mod", A, B)

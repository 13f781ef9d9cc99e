"""Conditions of several calls of ``initialize`` as one, said as shortly as it goes."""

from __future__ import annotations

import pytest

from migrate.plan.home.cases import either
from migrate.units.conditions import Term, negation

X, Y, Z = Term("x"), Term("y"), Term("z")
TRAINS = Term('args.load == "" and args.start == ""', 2, boolean=True)
STARTS = Term('args.start != ""', 3, boolean=True)
LOADS = Term('args.load != ""', 3, boolean=True)


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ([[X], [negation(X), Y]], "x or y"),
        ([[X], [negation(X), Y], [negation(X), negation(Y), Z]], "x or y or z"),
        ([[X, Z], [negation(X), Z]], "z"),
        ([[X, Y], [negation(X), Y, Z]], "y and (x or z)"),
        ([[Term("x and y", 2)], [X, negation(Y)]], "x"),
        ([[Term("x and y", 2)], [negation(X), Z]], "x and y or not x and z"),
        ([[TRAINS], [negation(TRAINS), STARTS], [negation(TRAINS), negation(STARTS), LOADS]], "True"),
        ([[TRAINS], [negation(TRAINS), STARTS]], 'args.load == "" or args.start != ""'),
    ],
)
def test_what_holds_in_any_case(cases: list[list[Term]], said: str) -> None:
    assert either(cases).text == said


def test_a_long_chain_of_arms() -> None:
    """Each arm denies those above it: of 100 that are 5,000 conditions to drop, one below the other."""
    names = [Term(f"x{at}") for at in range(100)]
    cases = [[*map(negation, names[:at]), name] for at, name in enumerate(names)]
    assert either(cases).text == " or ".join(name.text for name in names)

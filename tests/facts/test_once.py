"""What is looked for once: of a program, and of each thing in it."""

from __future__ import annotations

from typing import Any

from migrate.facts.once import once, once_each


class Whole:
    def __init__(self) -> None:
        self.kept: dict[object, Any] = {}
        self.asked: list[object] = []


@once
def of_all(whole: Whole) -> int:
    whole.asked.append("all")
    return len(whole.asked)


@once_each
def of_each(whole: Whole, name: str, depth: int = 0) -> str | None:
    whole.asked.append((name, depth))
    return name or None


def test_a_program_is_asked_once() -> None:
    one, other = Whole(), Whole()
    assert [of_all(one), of_all(one), of_all(other)] == [1, 1, 1]
    assert one.asked == other.asked == ["all"]


def test_each_thing_in_it_is_asked_once_also_where_the_answer_is_none() -> None:
    one, other = Whole(), Whole()
    assert [of_each(one, name) for name in ("a", "", "a", "")] == ["a", None, "a", None]
    assert of_each(one, "a", depth=1) == of_each(one, "a", depth=1) == "a"
    assert of_each(other, "a") == "a"
    assert one.asked == [("a", 0), ("", 0), ("a", 1)]
    assert other.asked == [("a", 0)]

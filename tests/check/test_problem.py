"""Old problems are not reported again, wherever they moved."""

from migrate.check.problem import Problem, surplus


def code(problem: Problem) -> str:
    return problem.code


def test_counted_by_kind() -> None:
    old = [Problem(1, "m", "a"), Problem(2, "m", "b")]
    new = [Problem(7, "m", "a"), Problem(9, "m", "b"), Problem(8, "m", "a")]
    found = surplus("x\ny\n", "\n" * 9, old, new, code)
    assert [(one.code, one.line) for one in found] == [("a", 7)]


def test_a_line_that_was_there_before_is_taken_for_the_old_problem() -> None:
    old_text, new_text = "  f()\n", "f()\ng()\n"
    found = surplus(
        old_text, new_text, [Problem(1, "m", "a")], [Problem(1, "m", "a"), Problem(2, "m", "a")], code
    )
    assert found == (Problem(2, "m", "a"),)


def test_a_line_behind_the_end_is_no_trouble() -> None:
    assert surplus("", "", [], [Problem(1, "m", "a")], code) == (Problem(1, "m", "a"),)

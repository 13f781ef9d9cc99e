"""Lines are Python's lines, and lines inside strings are known."""

import sys

import pytest

from migrate.rewrite.lines import Lines, Untokenizable, may_span_lines, string_lines


def test_only_newlines_of_python_end_a_line() -> None:
    text = "a\x0cb\x85c\u2028d\x0b\x1ce\nf\r\ng\rh"
    lines = Lines(text)
    assert lines.contents() == ["a\x0cb\x85c\u2028d\x0b\x1ce", "f", "g", "h"]
    assert "".join(lines.raw(number) for number in range(1, lines.count + 1)) == text


@pytest.mark.parametrize(
    ("text", "contents", "ended"),
    [
        ("", [], True),
        ("\n", [""], True),
        ("a", ["a"], False),
        ("a\n", ["a"], True),
        ("a\n\n", ["a", ""], True),
    ],
)
def test_edges(text: str, contents: list[str], ended: bool) -> None:
    assert Lines(text).contents() == contents
    assert Lines(text).ends_with_newline is ended


def test_offsets_there_and_back() -> None:
    lines = Lines("ab\r\n\rc\n")
    assert [lines.line_of(offset) for offset in range(8)] == [1, 1, 1, 1, 2, 3, 3, 4]
    assert [lines.start(number) for number in (1, 2, 3, 4)] == [0, 4, 5, 7]
    assert [lines.content_end(number) for number in (1, 2, 3)] == [2, 4, 6]
    assert lines.offset(3, 1) == 6
    assert Lines("ab\ncd").line_of(5) == 2


@pytest.mark.parametrize("number", [0, 3, -1])
def test_a_line_that_is_not_there(number: int) -> None:
    with pytest.raises(ValueError, match="no line"):
        Lines("a\n").start(number)


def test_positions_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="column"):
        Lines("a\nb\n").offset(1, 3)
    with pytest.raises(ValueError, match="outside"):
        Lines("a\n").line_of(3)


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\rb", "\r"),
        ("a\nb\r\n", "\n"),
        ("a\r\nb\n", "\r\n"),
    ],
)
def test_the_newline_of_a_file(text: str, newline: str) -> None:
    assert Lines(text).newline == newline


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x = """a\nb\nc"""\ny = 1\n', {2, 3}),
        ("x = 'a\\\nb'\ny = \\\n  1\n", {2}),
        ('f"""{\na\n}"""\nb', {2, 3}),
        ("f'''a{b}\nd'''\n", {2}),
        ("# '''\nx = 1  # \"\"\"\n", set()),
        ("call(\n  1,\n)\n", set()),
        ("    deep\n  odd\n        x = '''\n'''\n", {4}),
        ("r'''\\\n'''; b'''\n'''\r\n", {2, 3}),
        ("'''\r\na\r\n'''\rb", {2, 3}),
        ("", set()),
        ("x = 1 # no newline", set()),
    ],
)
def test_lines_inside_strings(text: str, expected: set[int]) -> None:
    assert Lines(text).string_lines() == expected


@pytest.mark.parametrize("text", ["x = '''\n", "f(\n" * 2])
def test_what_has_no_end_is_refused(text: str) -> None:
    with pytest.raises(Untokenizable):
        string_lines(text.split("\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x = 1\ny = 'a'", False), ("x = '''a\nb'''", True), ('x = """a\nb"""', True), ("x = 'a\\\nb'", True)],
)
def test_only_some_texts_have_strings_over_several_lines(text: str, expected: bool) -> None:
    assert may_span_lines(text.split("\n")) is expected
    assert expected or not Lines(text).string_lines()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="f-strings could not nest their own quotes before")
def test_nested_f_strings() -> None:
    assert string_lines(["f'''{f'''", "'''", "}", "'''", "x"]) == {2, 3, 4}

"""Bytes to text and back."""

from __future__ import annotations

import ast
import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrate.textio import Undecodable, decode, encode, looks_like_python_2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\n\x0c\n",
        codecs.BOM_UTF8 + b"x = '\xc3\xa4'\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe4'\n",
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
        b"# coding: gbk\n# \xc4\xe3\xba\xc3\n",
        b"# coding: shift_jis\n# \x83\x5c\n",
    ],
)
def test_round_trip(data: bytes) -> None:
    text, encoding = decode(data)
    assert encode(text, encoding) == data
    assert not text.startswith("\ufeff")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.booleans())
def test_every_utf8_text_round_trips(text: str, bom: bool) -> None:
    data = (codecs.BOM_UTF8 if bom else b"") + b"x = 1\n" + text.encode()
    found, encoding = decode(data)
    assert encode(found, encoding) == data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x = '\xe4'\n", "cannot be decoded"),
        (b"# coding: no-such-thing\n", "cannot be decoded"),
        (b"# coding: rot13\n", "cannot be decoded"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "cannot be decoded"),
        (b"import apex\n\0", "null bytes"),
        (codecs.BOM_UTF16_LE + "import apex\n".encode("utf-16-le"), "null bytes"),
        (b"# coding: utf-7\nx = '+AGE-'\n", "byte for byte"),
    ],
)
def test_what_is_no_source_text(data: bytes, why: str) -> None:
    with pytest.raises(Undecodable, match=why):
        decode(data)


@pytest.mark.parametrize(
    ("text", "is_python_2"),
    [
        ("print 'apex'\n", True),
        ("raise ValueError, 'x'\n", True),
        ("exec 'x'\n", True),
        ("x = 0777\n", True),
        ("x = 10L\n", True),
        ("if a <> b:\n    pass\n", True),
        ("def f(:\n", False),
        ("x = (1\n", False),
        ("print(1\n", False),
        ("x = 'a\n", False),
    ],
)
def test_python_2_is_told_from_broken_syntax(text: str, is_python_2: bool) -> None:
    with pytest.raises(SyntaxError) as caught:
        ast.parse(text)
    assert looks_like_python_2(caught.value, text) is is_python_2


@pytest.mark.parametrize(
    ("line", "is_python_2"), [("except OSError, error:", True), ("except ValueError, OSError:", False)]
)
def test_what_python_3_14_reads_is_not_called_python_2(line: str, is_python_2: bool) -> None:
    said = SyntaxError("multiple exception types must be parenthesized", ("x.py", 3, 1, line))
    assert looks_like_python_2(said, f"try:\n    pass\n{line}\n    pass\n") is is_python_2


def test_encodings_that_take_the_square_are_not_tried() -> None:
    """A megabyte in punycode took more than a minute, and no bound ends what comes before the analysis."""
    lines = "".join(f"x{at} = {at}\n" for at in range(60_000))
    begun = time.process_time()
    for name in ("punycode", "Punycode", "idna"):
        with pytest.raises(Undecodable, match="is for names in the net, not for source text"):
            decode(f"# coding: {name}\nimport apex\n{lines}a-{'bcdefgh' * 20_000}".encode())
    assert time.process_time() - begun < 5


def test_a_long_line_is_not_looked_at_to_its_end() -> None:
    text = "def a(" * 50_000
    with pytest.raises(SyntaxError) as caught:
        ast.parse(text)
    begun = time.process_time()
    assert not looks_like_python_2(caught.value, text)
    assert time.process_time() - begun < 1


def test_lines_are_counted_as_python_does() -> None:
    text = "\f\nx = 1\n\f\nexcept Error, error: pass\n"
    with pytest.raises(SyntaxError) as caught:
        ast.parse(text)
    assert looks_like_python_2(caught.value, text)

"""Between the bytes of a source file and its text, exactly and in both directions.

Python's own rules decide the encoding (a byte order mark, a coding cookie, else UTF-8); newlines
are never translated, so that whatever lies outside an edit is written back byte for byte.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize

# What Python 3 says about the spellings only Python 2 knew, and how such a line looks.
_PYTHON_2_ERRORS = ("Missing parentheses in call to", "leading zeros in decimal integer literals")
_PYTHON_2_LINE = re.compile(
    r"""^\s*(?:
        print\s+(?![=(.,:)\]])\S | print\s*>> | exec\s+["'\w] | raise\s+[\w.]+\s*,
      | except\s+[\w.]+\s*,\s*[a-z_]\w*\s*: | except\s*\([^)]*\)\s*,\s*\w+\s*:  # `except A, B:` is Python 3.14
    ) | <> | `[^`]+` | \b0[0-7]+\b | \b\d+[lL]\b | \b[uU][rR]["'] | def\s+\w+\s*\([^)]*\(\w+\s*,""",
    re.VERBOSE,
)
_NEWLINE = re.compile(r"\r\n|\n|\r")
# Encodings for names in the net: Python's take the square of what they are given, and no source is written in one.
_FOR_NAMES = frozenset({"idna", "punycode"})
_LONGEST = 1000  # characters of a line that somebody wrote


class Undecodable(Exception):
    """The bytes are no Python source text; the message says why, as part of a sentence."""


def decode(data: bytes) -> tuple[str, str]:
    """The text without its byte order mark, and the encoding that `encode` needs to undo this."""
    if b"\0" in data:
        raise Undecodable("it holds null bytes")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if codecs.lookup(encoding).name in _FOR_NAMES:
            raise Undecodable(f"its encoding {encoding} is for names in the net, not for source text")
        text = data.decode(encoding)
        exact = text.encode(encoding) == data
    except (SyntaxError, LookupError, ValueError) as error:
        raise Undecodable(f"it cannot be decoded ({_first_line(error)})") from error
    if not exact:
        # Encodings with a state (UTF-7, ISO-2022) know several spellings of one text.
        raise Undecodable(f"its encoding {encoding} cannot be written back byte for byte")
    return text, encoding


def encode(text: str, encoding: str) -> bytes:
    """The bytes of `text`, with the byte order mark that `decode` took off."""
    return text.encode(encoding)


def looks_like_python_2(error: SyntaxError, text: str) -> bool:
    """Whether a text that Python 3 rejects is plainly Python 2."""
    if str(error.msg).startswith(_PYTHON_2_ERRORS):
        return True
    lines = _NEWLINE.split(text)  # as Python counts them: a form feed ends none
    at = (error.lineno or 0) - 1
    return 0 <= at < len(lines) and bool(_PYTHON_2_LINE.search(lines[at][:_LONGEST]))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]

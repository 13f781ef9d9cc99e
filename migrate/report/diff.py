"""The unified diff of one file, in bytes, so that a patch made of it fits any encoding."""

from __future__ import annotations

import difflib
import os

_SHORT = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r", 34: b'"', 92: b"\\"}
_NO_NEWLINE = b"\n\\ No newline at end of file\n"


def unified(path: str, old: bytes, new: bytes) -> list[bytes]:
    """The diff's lines, each with its newline, as ``git apply`` and ``patch -p1`` take them."""
    name = os.fsencode(path).lstrip(b"/")
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(old), _lines(new), _header(b"a/" + name), _header(b"b/" + name), lineterm=b"\n"
    )
    return [line if line.endswith(b"\n") else line + _NO_NEWLINE for line in lines]


def _header(name: bytes) -> bytes:
    """A name as git writes it: quoted where it holds more than plain characters, ended where it holds spaces."""
    quoted = b"".join(map(_quoted, name))
    end = b"\t" if b" " in name else b""
    return (name if quoted == name else b'"' + quoted + b'"') + end


def _quoted(byte: int) -> bytes:
    if byte in _SHORT:
        return b"\\" + _SHORT[byte]
    return b"%c" % byte if 32 <= byte < 127 else b"\\%03o" % byte


def _lines(data: bytes) -> list[bytes]:
    """Lines as diff tools count them: only a line feed ends one."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])

"""The unified diff of one file, in bytes, so that a patch made of it fits any encoding."""

from __future__ import annotations

import difflib

_NO_NEWLINE = b"\n\\ No newline at end of file\n"


def unified(path: str, old: bytes, new: bytes) -> list[bytes]:
    """The diff's lines, each with its newline, as ``git apply`` and ``patch -p1`` take them."""
    name = path.encode().lstrip(b"/")
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(old), _lines(new), b"a/" + name, b"b/" + name, lineterm=b"\n"
    )
    return [line if line.endswith(b"\n") else line + _NO_NEWLINE for line in lines]


def _lines(data: bytes) -> list[bytes]:
    """Lines as diff tools count them: only a line feed ends one."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])

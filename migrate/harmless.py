"""What may be printed: names and sources of others must not steer a terminal or forge a line."""

from __future__ import annotations

_CONTROLS = {code: f"^{chr(code ^ 0x40)}" for code in (*range(32), 127)}
# The second set of controls, marks that turn the direction of text, and line ends only some programs know.
_HIDDEN = (*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
_LINE = _CONTROLS | {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _HIDDEN}
_CODE = {code: shown for code, shown in _LINE.items() if code != 9}
_TEXT = {code: shown for code, shown in _CODE.items() if code != 10}


def line(text: str) -> str:
    """A name or a sentence: one line, whatever it holds."""
    return text.translate(_LINE)


def code(text: str) -> str:
    """A line of a source: tabs stay."""
    return text.translate(_CODE)


def paragraphs(text: str) -> str:
    """Several lines: tabs and line feeds stay."""
    return text.translate(_TEXT)

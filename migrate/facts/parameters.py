"""The parameters of a function by the text between its parentheses, where no syntax tree is made."""

from __future__ import annotations

import re

_STRING = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_INNER = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}")  # of an annotation or a default: `Union[Dict, str]`
_PARAMETER = re.compile(r"(?:^|,)\s*\**(\w+)")


def parameters_of(text: str) -> list[str]:
    """Their names, in order."""
    if any(one in text for one in "[({\"'"):
        text, count = _INNER.subn("", _STRING.sub("", text))
        while count:
            text, count = _INNER.subn("", text)
    return _PARAMETER.findall(text)

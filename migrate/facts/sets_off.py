"""Which settings a function of another file switches off, of what it is handed, by its text: ``args.fp16 = False``."""

from __future__ import annotations

import re
from collections.abc import Collection

_OFF = r"(?:False|None|0|[\"']O0[\"'])"
_ATTRIBUTE = re.compile(rf"(?<![\w.])(\w+)(?:\.\w+)*(?:\.|\[[\"'])(\w+)(?:[\"']\])?[ \t]*=[ \t]*{_OFF}(?![\w.])")
_BY_NAME = re.compile(rf"\bsetattr\([ \t]*(\w+)[\w.]*,[ \t]*[\"'](\w+)[\"'],[ \t]*{_OFF}[ \t]*\)")


def sets_off(body: str, parameters: Collection[str]) -> frozenset[str]:
    """The attributes, or items, of its parameters, or of parts of these."""
    found = (*_ATTRIBUTE.findall(body), *_BY_NAME.findall(body)) if "." in body or "[" in body else ()
    return frozenset(attr for name, attr in found if name in parameters)

"""What a function of another file hands to another thread, by its text: ``pool.submit(net, x)``,
``pool.apply(fn, (x,))``, ``Thread(target=work, args=(net,))``."""

from __future__ import annotations

import re

from ..knowledge.host import POOL_METHODS, STARTS_THREADS

_STARTS, _METHODS = ("|".join(sorted(names)) for names in (STARTS_THREADS, POOL_METHODS))
_HANDS = re.compile(
    rf"(?:\b(?:{_STARTS})\(|(?<!\bitertools)\.(?:{_METHODS})\(|\.apply\((?=[\w.]+,[ \t]*(?:args=)?[(\[]))"
    r"((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*)"
)
_NAME = re.compile(r"(?<![\w.])(?:self\.)?(\w+)(?![\w.(]|[ \t]*=)")


def handed_to_threads(body: str) -> frozenset[str]:
    """The names and own attributes that a function hands, as they are, to what another thread runs."""
    return frozenset(name for given in _HANDS.findall(body) for name in _NAME.findall(given))

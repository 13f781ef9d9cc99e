"""Names by pattern: plain words in which ``*`` stands for any text and ``?`` for any character."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

_REMEMBERED = 4096  # names of which is known what one set of patterns says

# The names between double underscores that Python and torch give a meaning.
_PYTHONS = frozenset(
    f"__{name}__"
    for name in "abs add aenter aexit aiter all and anext annotations array array_wrap await bases bool bytes call "
    "cause ceil class class_getitem closure code complex contains context copy deepcopy defaults del delattr delete "
    "delitem dict dir divmod doc enter eq exit file float floor floordiv format func future ge get getattr "
    "getattribute getinitargs getitem getnewargs getnewargs_ex getstate globals gt hash iadd iand idiv "
    "ifloordiv ilshift imatmul imod import imul index init init_subclass instancecheck int invert ior ipow "
    "irshift isub iter itruediv ixor kwdefaults le len length_hint loader lshift lt main matmul missing mod "
    "module mro mul name ne neg new next nonzero or package path pos post_init pow prepare qualname radd rand "
    "rdiv rdivmod reduce reduce_ex repr reversed rfloordiv rlshift rmatmul rmod rmul ror round rpow rrshift "
    "rshift rsub rtruediv rxor self set set_name setattr setitem setstate sizeof slots spec str sub "
    "subclasscheck subclasses subclasshook suppress_context torch_dispatch torch_function traceback truediv "
    "trunc version warningregistry weakref wrapped xor".split()
)


class Patterns:
    """A set of patterns, separated by blanks. Upper and lower case are the same unless ``exact``.

    What one of ``but`` fits, the set does not."""

    def __init__(self, *patterns: str, but: str = "", exact: bool = False) -> None:
        self.patterns = tuple(word for text in patterns for word in text.split())
        self._but = Patterns(but, exact=exact) if but else None
        self._exact = exact
        plain = self.patterns if exact else tuple(map(str.lower, self.patterns))
        self._words = frozenset(one for one in plain if one.isidentifier())
        self._begin = tuple(one[:-1] for one in plain if one[-1:] == "*" and one[:-1].isidentifier())
        self._end = tuple(one[1:] for one in plain if one[:1] == "*" and one[1:].isidentifier())
        self._within = tuple(one[1:-1] for one in plain if one[:1] == one[-1:] == "*" and one[1:-1].isidentifier())
        self._other = tuple(one for one in plain if not one.strip("*").isidentifier())
        self.fit = lru_cache(_REMEMBERED)(self._fits)  # a program asks of the same names again and again

    @cached_property
    def _found(self) -> re.Pattern[str]:
        """The patterns that are more than a word with open ends."""
        return re.compile("|".join(map(_regex, self._other)), re.S if self._exact else re.S | re.I)

    def _fits(self, name: str) -> bool:
        """Whether one of the patterns is all of ``name``, or of its word where somebody decorated that: ``__net__``."""
        if name[:2] == "__" and name not in _PYTHONS:
            name = _undecorated(name)
        return self._has(name) and not (self._but is not None and self._but.fit(name))

    def _has(self, name: str) -> bool:
        plain = name if self._exact else name.lower()
        return (
            plain in self._words
            or plain.startswith(self._begin)
            or plain.endswith(self._end)
            or any(one in plain for one in self._within)
            or (bool(self._other) and self._found.search(name) is not None)
        )


def _undecorated(name: str) -> str:
    """``net`` of ``__net__``, which means nothing to Python; other names as they are."""
    inner = name[2:-2]
    return inner if name.endswith("__") and inner.strip("_") == inner and inner else name


def _regex(pattern: str) -> str:
    """One pattern; a ``*`` at an end leaves that end open, which is faster than to look for any text there."""
    start = "" if pattern.startswith("*") else r"\A"
    end = "" if pattern.endswith("*") else r"\Z"
    inner = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern.strip("*"))
    return start + inner + end


def parts(name: str) -> frozenset[str]:
    """The words of a name that underscores separate."""
    return frozenset(name.split("_"))

"""Files with base classes of those that use amp, where the base alone says something of their objects.

It keeps the options of a run (``self.opt = opt`` in ``BaseModel.__init__``): by itself a file that asks ``self.opt``
would leave it open whether ``self.opt.fp16`` is the ``opt.fp16`` that amp was initialized under. Or it says what an
object takes, hands on or shows of what is set (``__setattr__``, ``__slots__``, ``__getstate__``): a scaler is set, too.
Or it hands the object to others (``callback.on_epoch_end(self)``), which may run its model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .imports.tree import Imports
from .knowledge.models import OPTIONS

_KEPT = "|".join(sorted(OPTIONS))
_SETS = re.compile(rf"\bself\.({_KEPT})[ \t]*=[^=]".encode())
_OF_WHAT_IS_SET = re.compile(
    rb"\b__(?:setattr|slots|getstate|reduce|reduce_ex)__|\bNamedTuple\b|\b(?:frozen|slots)[ \t]*="
    rb"|\bself\.__dict__\b(?!\.update\b|\.setdefault\b|\[|[ \t]*=[^=])|\b(?:vars|dir|getmembers)\([ \t]*self[ \t]*[,)]"
)
# A base that hands its object on: whoever gets it may run the model that it keeps.
_HANDS_ITSELF_ON = re.compile(
    rb"^(?![ \t]*(?:async[ \t]+)?def\b)[^\n]*(?<!\bsuper)\((?:[\w.\"']+,[ \t]*){0,3}self[ \t]*[,)]", re.M
)
_ASKS = re.compile(rf"\bself\.({_KEPT})\b(?![ \t]*=[^=])".encode())


def keepers_of_options(amp: Iterable[str], imports: Imports) -> Iterator[str]:
    """Files, imported by users of amp, whose classes these derive from and that set options which only these ask."""
    for at in amp:
        asked = imports.words(_ASKS, at) - imports.words(_SETS, at)
        bases = {base for cls in imports.outline(at).classes for base in cls.bases} if asked else set()
        for one in sorted({*imports.imported(at), *imports.through(at)}) if bases else ():
            kept = asked & imports.words(_SETS, one)
            classes = [cls for cls in imports.outline(one).classes if cls.name in bases] if kept else []
            # the config of a network says how it is built
            if any(kept - ({"config"} if cls.bases and cls.bases[0].endswith("Module") else set()) for cls in classes):
                yield one


def telling_bases(amp: Iterable[str], imports: Imports) -> set[str]:
    """Files with base classes, of users of amp or of such bases, that say what becomes of what is set on an object or
    hand the object on, and those between; and such with classes that derive from theirs."""
    found: set[str] = set()
    for at in amp:
        own = {cls.name for cls in imports.outline(at).classes}
        for one in imports.takers(at) if own else ():
            derived = any(not own.isdisjoint(cls.bases) for cls in imports.outline(one).classes)
            if derived and imports.words(_OF_WHAT_IS_SET, one):
                found.add(one)
    todo = [(at, frozenset[str]()) for at in amp]
    seen: set[str] = set()
    while todo:
        at, between = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        bases = {base for cls in imports.outline(at).classes for base in cls.bases}
        for one in sorted({*imports.imported(at), *imports.through(at)}) if bases else ():
            if any(cls.name in bases for cls in imports.outline(one).classes):
                if imports.words(_OF_WHAT_IS_SET, one) or imports.words(_HANDS_ITSELF_ON, one):
                    found |= {*between, one}
                todo.append((one, between | {one}))
    return found

"""Files with base classes that keep the options of a run: ``self.opt = opt`` in ``BaseModel.__init__``.

Where a class that uses amp derives from one and asks ``self.opt``, what that is says the base alone: by itself the file
would leave it open whether ``self.opt.fp16`` is the ``opt.fp16`` that amp was initialized under.

And those with bases that list their own attributes (``dict(self.__dict__)``): the scaler is among these from now on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .imports.tree import Imports
from .knowledge.models import OPTIONS

_KEPT = "|".join(sorted(OPTIONS))
_SETS = re.compile(rf"\bself\.({_KEPT})[ \t]*=[^=]".encode())
_ASKS = re.compile(rf"\bself\.({_KEPT})\b(?![ \t]*=[^=])".encode())
_LISTS = re.compile(
    rb"\bself\.__dict__\b(?!\.update\b|\.setdefault\b|\[|[ \t]*=[^=])|\b(?:vars|dir|getmembers)\([ \t]*self[ \t]*[,)]"
)


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


def listing_themselves(amp: Iterable[str], imports: Imports) -> Iterator[str]:
    """Files with classes that the classes of users of amp derive from, also by way of others, and that list what their
    own objects have; with those on the way."""
    todo: list[tuple[str, set[str], list[str]]] = []
    todo += [(at, {base for cls in imports.outline(at).classes for base in cls.bases}, []) for at in amp]
    seen = set(amp)
    while todo:
        at, bases, way = todo.pop()
        for one in sorted({*imports.imported(at), *imports.through(at)} - seen) if bases else ():
            meant = [cls for cls in imports.outline(one).classes if cls.name in bases]
            if meant:
                seen.add(one)
                todo.append((one, {base for cls in meant for base in cls.bases}, [*way, one]))
                if imports.words(_LISTS, one):
                    yield from (*way, one)

"""Files with base classes that keep the options of a run: ``self.opt = opt`` in ``BaseModel.__init__``.

Where a class that uses amp derives from one and asks ``self.opt``, what that is says the base alone: by itself the file
would leave it open whether ``self.opt.fp16`` is the ``opt.fp16`` that amp was initialized under.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .imports.tree import Imports
from .knowledge.models import OPTIONS

_KEPT = "|".join(sorted(OPTIONS))
_SETS = re.compile(rf"\bself\.({_KEPT})[ \t]*=[^=]".encode())
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

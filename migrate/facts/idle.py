"""Methods of other files that run nothing of what they hold or are handed, by their text: a callback that saves, a
meter that logs. Whatever else is called may run a network that it is handed."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from ..knowledge.host import HOST_MODULES
from ..knowledge.models import NOT_RUN_BY_FUNCTION, NOT_RUN_BY_METHOD

_RUNS_TEXT = frozenset({"eval", "exec", "getattr", "map", "filter"})
_LIBRARIES = frozenset(
    "torch.save torch.load torch.no_grad torch.cuda.synchronize torch.cuda.empty_cache copy.copy copy.deepcopy".split()
)


class Function(Protocol):
    """What is asked of a function's outline."""

    @property
    def called(self) -> frozenset[str]: ...


class Class(Protocol):
    """What is asked of a class's outline."""

    @property
    def name(self) -> str: ...

    @property
    def methods(self) -> Mapping[str, Function]: ...


def idle(classes: Sequence[Class], plain: Collection[str]) -> frozenset[str]:
    """The methods, as ``Class.method``, of classes that derive from nothing but each other (``plain``); two of one name
    are not told apart."""
    once = {name for name, number in Counter(cls.name for cls in classes).items() if number == 1}
    return frozenset(f"{cls.name}.{name}" for cls in classes if cls.name in once & {*plain} for name in _of(cls))


def _of(cls: Class) -> Collection[str]:
    """The methods of one class: all, less those that may run something, and those that call these."""
    left = set(cls.methods)
    while True:
        gone = {name for name in left if not all(_harmless(one, cls, left) for one in cls.methods[name].called)}
        if not gone:
            return left
        left -= gone


def _harmless(called: str, cls: Class, left: Collection[str]) -> bool:
    owner, _, last = called.rpartition(".")
    if not owner:
        python = hasattr(builtins, last) and last not in _RUNS_TEXT
        return python or (NOT_RUN_BY_FUNCTION.fit(last) and last not in _RUNS_TEXT)
    if owner == "self" and last in cls.methods:
        return last in left
    if called.partition(".")[0] in HOST_MODULES or called in _LIBRARIES:
        return True
    return NOT_RUN_BY_METHOD.fit(last)

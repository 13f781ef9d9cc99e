"""Something to do once a module has been imported, and modules that cannot be."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from typing import Any


class _After(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self.waiting: dict[str, Callable[[Any], None]] = {}

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname not in self.waiting:
            return None
        then = self.waiting.pop(fullname)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None else None
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader, then)
                return spec
        return None


class _Loader(importlib.abc.Loader):
    """Loads as the real one does, and then tells."""

    def __init__(self, real: Any, then: Callable[[Any], None]) -> None:
        self._real = real
        self._then = then

    def create_module(self, spec: Any) -> Any:
        return self._real.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._real.exec_module(module)
        # Whoever asks the module for its loader later (pkgutil, inspect) gets the real one.
        module.__spec__.loader = module.__loader__ = self._real
        self._then(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _Refused(importlib.abc.MetaPathFinder):
    def __init__(self, names: Sequence[str]) -> None:
        self.names: list[str] = list(names)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if any(fullname == name or fullname.startswith(name + ".") for name in self.names):
            raise ModuleNotFoundError(f"No module named {fullname!r} (current Apex has none)", name=fullname)


_after = _After()


def after(name: str, then: Callable[[Any], None]) -> None:
    """Call ``then`` with the module as soon as it has been imported."""
    if name in sys.modules:
        then(sys.modules[name])
        return
    if _after not in sys.meta_path:
        sys.meta_path.insert(0, _after)
    _after.waiting[name] = then


def refuse(names: Sequence[str]) -> None:
    """Importing these modules, or parts of them, fails."""
    if names:
        sys.meta_path.insert(0, _Refused(names))

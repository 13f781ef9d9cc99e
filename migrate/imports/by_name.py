"""Modules that a file takes from without an import of them: by a name or a path that it computes, or that stands in a
string. What is said here is for who may not change what any file takes, so it says too much rather than too little."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from .spelled import Spelled, module_name, spelled

_COMPUTED = re.compile(rb"\bgetattr\(\s*([\w.]+)\s*,\s*(?![\"'])")
# Modules that are run or replaced by a name or path that stands in a string; not one that says it is a library's.
_LIBRARY = rb"(?!\s*f?[\"'](?:torch|torchvision|timm|transformers|mmcv)\.)"
_BY_PATH = re.compile(
    rb"\brun_path\(|\brun_module\(|\bimport_module\(" + _LIBRARY + rb"|\b__import__\(|\bspec_from_file_location\("
    rb"|(?<!\.)(?<!def )\bexec\(|\bsys\.modules\[(?!\s*(?:__name__\s*\]|[\"']))"
)
# One that is always of a package, whatever its name: `import_module("models." + name)`.
_OF_PACKAGE = re.compile(rb"import_module\(\s*f?[\"'](?:\w+\.)*(\w+)\.\w*[{%\"']")
_REPLACED = re.compile(rb"\bsys\.modules\[\s*[\"']([\w.]+)[\"']")  # a module that is read or replaced by its name
_WAYS = (b"run_path(", b"run_module(", b"import_module(", b"__import__(", b"_from_file_location(", b"exec(", b"sys.")
_SPELLED = re.compile(rb"(?<!\w)(\w+)(?:\.py)?[\"']")
_DEVICE = re.compile(rb"[\"'](?:cuda|cpu|mps)[\"']")  # as a whole string no module of that name is meant


def takes_by_name(data: bytes) -> bool:
    """Whether a file may take from others what it does not spell as an import."""
    return (
        (b"getattr(" in data and _COMPUTED.search(data) is not None)
        or _by_path(data)
        or (b"sys.modules" in data and _REPLACED.search(data) is not None)
    )


def _by_path(data: bytes) -> bool:
    return any(word in data for word in _WAYS) and _BY_PATH.search(data) is not None


@dataclass(frozen=True)
class Computed:
    """The modules of which a file may take any name, as it computes names or paths: ``anywhere``, or ``within`` the
    folders of ``packages``, whatever their names."""

    anywhere: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()

    def holds(self, location: str, folders: Collection[str]) -> bool:
        """Whether a file may be one of them; ``folders`` are the names of all there are: a package that is none of them
        may be any."""
        name = module_name(location)
        inside = not self.packages.isdisjoint(Path(location).parts[:-1])
        return name in self.anywhere or (name in self.within and (inside or not self.packages.issubset(folders)))


def computed(data: bytes) -> Computed:
    """The modules of which a file may take any name."""
    packages = _packages(data)
    named = _named(data, held(spelled(data)))
    if packages is None:
        return Computed(named | (_spelled(data) if _by_path(data) else frozenset()))
    return Computed(named, _spelled(data), packages)


def _packages(data: bytes) -> frozenset[str] | None:
    """The packages that a file imports from by names it computes; None where it may import from anywhere so."""
    found = [_OF_PACKAGE.match(data, way.start()) for way in _BY_PATH.finditer(data)] if _by_path(data) else []
    names = frozenset(one[1].decode() for one in found if one is not None)
    return names if found and None not in found else None


def held(imports: Spelled) -> dict[str, set[str]]:
    """What a file calls the modules that it imports, with their dotted names."""
    modules: dict[str, set[str]] = {}
    for one in imports.froms:  # `from package import module`
        for name, alias in one.names:
            modules.setdefault(alias or name, set()).add(one.dotted(name))
    for dotted, local in imports.whole:
        modules.setdefault(local, set()).add(dotted)
    return modules


def any_of(data: bytes, modules: Mapping[str, set[str]]) -> set[str]:
    """The modules that a file imports and computes names of: ``getattr(module, name)``."""
    found: set[str] = set()
    for one in _COMPUTED.findall(data) if b"getattr(" in data else ():
        found |= modules.get(one.decode(errors="replace"), set())
    return found


def _named(data: bytes, modules: Mapping[str, set[str]]) -> frozenset[str]:
    """Those, and those that it reads by their names, by the last word of each."""
    found = any_of(data, modules) | {dotted.decode() for dotted in _REPLACED.findall(data)}
    return frozenset(dotted.rpartition(".")[2] for dotted in found)


def _spelled(data: bytes) -> frozenset[str]:
    """Words in strings that may be modules' names."""
    return frozenset(word.decode() for word in _SPELLED.findall(_DEVICE.sub(b"", data)))

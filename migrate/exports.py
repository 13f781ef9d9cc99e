"""Which names files take from modules that they import.

A function that other files call cannot get one more parameter, and a name that they import cannot
go; ``*`` stands for every name, ``class X`` for an X that classes of theirs derive from and train by
themselves. Modules are told apart by their last name alone, so this says too much rather than too little.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .reading import windows

# Names in parentheses go up to the next parenthesis outside of a comment, so that a file is read once.
FROM = re.compile(
    rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|[^\n#;]+)", re.M
)
IMPORT = re.compile(rb"^[ \t]*import[ \t]+([^\n#;]+)", re.M)
_NAME = re.compile(rb"(\w+|\*)(?:\s+as\s+(\w+))?")
_CLASS = re.compile(
    rb"^([ \t]*)class[ \t]+\w+[ \t]*\(([^()]*)\)[^\n]*\n((?:\1[ \t]+[^\n]*\n?|[ \t\r]*\n)*)", re.M
)
# What takes part in training, in the text of a class: steps of a scheduler are none.
_TRAINS = re.compile(rb"(?<!scheduler)(?<!sched)\.step\(|\.backward\(|\bclip_grad|\.grad\b")
_MADE, _DERIVED = re.compile(rb"\bdef[ \t]+__init__\b"), re.compile(rb"\bsuper\(|\.__init__\(")
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
_DOTTED = re.compile(rb"(?<!\w)\w+(?:\.\w+)+")


def module_name(location: str) -> str:
    """The name other files import a file by: its stem, or its folder's for a package."""
    path = Path(location)
    return path.parent.name if path.stem == "__init__" else path.stem


def imports(data: bytes) -> list[tuple[bytes, bytes]]:
    """Where a file takes names from other modules, and which: what `FROM` finds, by way of the word, as going through
    all lines takes several times as long."""
    found, at, end = [], data.find(b"from"), 0
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        one = FROM.match(data, begin) if begin >= end and not data[begin:at].strip(b" \t") else None
        if one is not None:
            found.append((one[1], one[2]))
        end = end if one is None else one.end()
        at = data.find(b"from", max(at + 1, end))
    return found


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
    if packages is None:
        return Computed(_computed(data, _modules(data)))
    return Computed(_named(data, _modules(data)), _spelled(data), packages)


def _packages(data: bytes) -> frozenset[str] | None:
    """The packages that a file imports from by names it computes; None where it may import from anywhere so."""
    found = [_OF_PACKAGE.match(data, way.start()) for way in _BY_PATH.finditer(data)] if _by_path(data) else []
    names = frozenset(one[1].decode() for one in found if one is not None)
    return names if found and None not in found else None


def mentions(location: str, module: str) -> bool:
    """Whether a file that is too large to be looked at as a whole, and so may take every name, mentions a module."""
    with suppress(OSError):
        return any(module.encode(errors="surrogateescape") in window for window in windows(location))
    return False


def takings(data: bytes, wanted: Collection[str], *, vendored: bool) -> dict[str, frozenset[str]]:
    """What a file takes from modules that are called like those ``wanted``, by these names; ``vendored``: also from
    Apex's own."""
    if b"import" not in data:
        return {}
    taken: dict[str, set[str]] = defaultdict(set)
    bases = trained_bases(data)
    for source, names in imports(data):
        if source.startswith(b"apex.") and not vendored:
            continue  # Apex's own module, whatever it is called
        stem = source.rsplit(b".", 1)[-1].decode(errors="replace")
        if stem not in wanted:
            continue
        found = _NAME.findall(names)
        taken[stem].update(name.decode(errors="replace") for name, _ in found)
        derived = {name for name, alias in found if (alias or name) in bases}
        derived |= bases if b"*" in {name for name, _ in found} else set()
        taken[stem].update(f"class {name.decode(errors='replace')}" for name in derived)
    modules = {spelled: stems for spelled, stems in _modules(data).items() if not stems.isdisjoint(wanted)}
    _attributes(data, modules, taken)
    for stem in _computed(data, modules):
        taken[stem].add("*")
    for stem in {stem for stems in modules.values() for stem in stems} & taken.keys():
        taken[stem].update(f"class {one}" for base in bases if (one := base.decode(errors="replace")) in taken[stem])
    return {stem: frozenset(names) for stem, names in taken.items() if stem in wanted}


def within_apex(location: str) -> bool:
    """Whether a file lies in a copy of Apex's package."""
    return "apex" in Path(location).parts


def trained_bases(data: bytes) -> frozenset[bytes]:
    """Names of classes, as a file spells them, of which it derives others that train by themselves, or that are made
    without what the constructor they derive sets."""
    bases = [base for _, bases, body in _CLASS.findall(data) if _by_itself(body) for base in bases.split(b",")]
    return frozenset(base.strip().rsplit(b".", 1)[-1] for base in bases)


def _by_itself(body: bytes) -> bool:
    return _TRAINS.search(body) is not None or (_MADE.search(body) is not None and _DERIVED.search(body) is None)


def _modules(data: bytes) -> dict[bytes, set[str]]:
    """What a file calls the modules that it imports, with what these are called themselves."""
    modules: dict[bytes, set[str]] = defaultdict(set)
    for _, names in imports(data):  # `from package import module`
        for name, alias in _NAME.findall(names):
            modules[alias or name].add(name.decode(errors="replace"))
    for names in IMPORT.findall(data):
        for part in names.split(b","):
            words = part.split()
            if words:
                stem = words[0].rsplit(b".", 1)[-1].decode(errors="replace")
                modules[words[-1] if len(words) == 3 else words[0]].add(stem)
    return modules


def _computed(data: bytes, modules: Mapping[bytes, set[str]]) -> frozenset[str]:
    """The modules of which a file may take any name, as it computes names or paths."""
    return _named(data, modules) | (_spelled(data) if _by_path(data) else frozenset())


def _named(data: bytes, modules: Mapping[bytes, set[str]]) -> frozenset[str]:
    """Those that it imports, or reads by their names, and computes names of."""
    found: set[str] = set()
    for spelled in _COMPUTED.findall(data) if b"getattr(" in data else ():  # getattr(module, name): any of its names
        found |= modules.get(spelled, set())
    return frozenset(found | {dotted.rsplit(b".", 1)[-1].decode() for dotted in _REPLACED.findall(data)})


def _spelled(data: bytes) -> frozenset[str]:
    """Words in strings that may be modules' names."""
    return frozenset(word.decode() for word in _SPELLED.findall(_DEVICE.sub(b"", data)))


def _attributes(data: bytes, modules: Mapping[bytes, set[str]], taken: dict[str, set[str]]) -> None:
    """Attributes that a file reads of modules it imported."""
    lengths = {spelled.count(b".") + 1 for spelled in modules}
    if not lengths:
        return
    for dotted in set(_DOTTED.findall(data)):
        words = dotted.split(b".")
        for length in lengths:
            for at in range(len(words) - length):
                for stem in modules.get(b".".join(words[at : at + length]), ()):
                    taken[stem].add(words[at + length].decode(errors="replace"))

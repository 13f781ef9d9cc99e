"""Which names of the files to migrate other files of the tree import from them.

A function that other files call cannot get one more parameter, and a name that they import cannot
go; ``*`` stands for every name, ``class X`` for an X that classes of theirs derive from and train by
themselves. Modules are told apart by their last name alone, so this says too much rather than too little.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from .reading import TooLarge, read, windows

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
_REPLACED = re.compile(rb"\bsys\.modules\[\s*[\"']([\w.]+)[\"']")  # a module that is read or replaced by its name
_SPELLED = re.compile(rb"(\w+)(?:\.py)?[\"']")
_DEVICE = re.compile(rb"[\"'](?:cuda|cpu|mps)[\"']")  # as a whole string no module of that name is meant
_DOTTED = re.compile(rb"\w+(?:\.\w+)+")


def module_name(location: str) -> str:
    """The name other files import a file by: its stem, or its folder's for a package."""
    path = Path(location)
    return path.parent.name if path.stem == "__init__" else path.stem


def takes_by_name(location: str) -> bool:
    """Whether a file may take from others what it does not spell as an import."""
    with suppress(OSError):
        ways = (_COMPUTED, _BY_PATH, _REPLACED)
        return any(way.search(window) for window in windows(location) for way in ways)
    return False


def takes_any(location: str, module: str) -> bool:
    """Whether a file may take any name of a module called like this, by one that it computes."""
    with suppress(OSError):
        try:
            data = read(location)
        except TooLarge:
            return any(module.encode(errors="surrogateescape") in window for window in windows(location))
        return module in _computed(data, _modules(data, (module,)), (module,))
    return False


def exported(python_files: Iterable[str], wanted: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """For each file of ``wanted`` the names that ``python_files`` take from a module called like it."""
    locations = {location: module_name(location) for location in wanted}
    names = set(locations.values())
    if not names:
        return {}
    words = [re.escape(name.encode(errors="surrogateescape")) for name in sorted(names)]
    mention = re.compile(rb"\b(?:" + b"|".join(words) + rb")\b")
    taken: dict[str, set[str]] = {name: set() for name in names}
    vendored = any(map(_within_apex, locations))
    for location in python_files:
        try:
            data = read(location)
        except TooLarge:
            _note_all(location, mention, taken)
            continue
        except OSError:
            continue  # the walk has said so already
        if b"import" in data and mention.search(data):
            _note(data, taken, vendored=vendored)
    return {location: frozenset(taken[name]) for location, name in locations.items()}


def taken_by(texts: Iterable[str], location: str) -> frozenset[str]:
    """The names that other texts take from modules called like one file."""
    name = module_name(location)
    taken: dict[str, set[str]] = {name: set()}
    for text in texts:
        if name in text:
            _note(text.encode("utf-8", "replace"), taken, vendored=_within_apex(location))
    return frozenset(taken[name])


def trained_bases(data: bytes) -> frozenset[bytes]:
    """Names of classes, as a file spells them, of which it derives others that train by themselves, or that are made
    without what the constructor they derive sets."""
    bases = [base for _, bases, body in _CLASS.findall(data) if _by_itself(body) for base in bases.split(b",")]
    return frozenset(base.strip().rsplit(b".", 1)[-1] for base in bases)


def _by_itself(body: bytes) -> bool:
    return _TRAINS.search(body) is not None or (_MADE.search(body) is not None and _DERIVED.search(body) is None)


def _within_apex(location: str) -> bool:
    """Whether a file lies in a copy of Apex's package."""
    return "apex" in Path(location).parts


def _note(data: bytes, taken: dict[str, set[str]], *, vendored: bool) -> None:
    bases = trained_bases(data)
    for source, names in FROM.findall(data):
        if source.startswith(b"apex.") and not vendored:
            continue  # Apex's own module, whatever it is called
        stem = source.rsplit(b".", 1)[-1].decode(errors="replace")
        if stem in taken:
            found = _NAME.findall(names)
            taken[stem].update(name.decode(errors="replace") for name, _ in found)
            derived = {name for name, alias in found if (alias or name) in bases}
            derived |= bases if b"*" in {name for name, _ in found} else set()
            taken[stem].update(f"class {name.decode(errors='replace')}" for name in derived)
    wanted = _modules(data, taken)
    _attributes(data, wanted, taken)
    for stem in _computed(data, wanted, taken):
        taken[stem].add("*")
    for stem in {stem for stems in wanted.values() for stem in stems} & taken.keys():
        taken[stem].update(f"class {one}" for base in bases if (one := base.decode(errors="replace")) in taken[stem])


def _modules(data: bytes, wanted: Collection[str]) -> dict[bytes, set[str]]:
    """What a file calls the modules of ``wanted`` that it imports, with what these are called themselves."""
    modules: dict[bytes, set[str]] = defaultdict(set)
    for _, names in FROM.findall(data):  # `from package import module`
        for name, alias in _NAME.findall(names):
            modules[alias or name].add(name.decode(errors="replace"))
    for names in IMPORT.findall(data):
        for part in names.split(b","):
            words = part.split()
            if words:
                stem = words[0].rsplit(b".", 1)[-1].decode(errors="replace")
                modules[words[-1] if len(words) == 3 else words[0]].add(stem)
    return {spelled: stems for spelled, stems in modules.items() if any(stem in wanted for stem in stems)}


def _computed(data: bytes, modules: Mapping[bytes, set[str]], wanted: Collection[str]) -> set[str]:
    """The modules of ``wanted`` of which a file may take any name, as it computes names or paths."""
    found: set[str] = set()
    for spelled in _COMPUTED.findall(data):  # getattr(module, name): any of its names
        found |= modules.get(spelled, set())
    if _BY_PATH.search(data):
        found |= {word.decode() for word in _SPELLED.findall(_DEVICE.sub(b"", data))}
    found |= {dotted.rsplit(b".", 1)[-1].decode() for dotted in _REPLACED.findall(data)}
    return found.intersection(wanted)


def _note_all(location: str, mention: re.Pattern[bytes], taken: dict[str, set[str]]) -> None:
    """A file too large to be looked at as a whole takes every name of the modules it mentions."""
    with suppress(OSError):
        for window in windows(location):
            for name in mention.findall(window):
                taken[name.decode(errors="surrogateescape")].add("*")


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
                    if stem in taken:
                        taken[stem].add(words[at + length].decode(errors="replace"))

"""Which names a file takes from the modules that it imports, by the dotted names of these.

A function that other files call cannot get one more parameter, and a name that they import cannot
go; ``*`` stands for every name, ``class X`` for an X that classes of theirs derive from and train by
themselves. Which file a dotted name means is the search path's to say.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import suppress

from ..reading import windows
from .by_name import any_of, held
from .spelled import spelled

_CLASS = re.compile(
    rb"^([ \t]*)class[ \t]+\w+[ \t]*\(([^()]*)\)[^\n]*\n((?:\1[ \t]+[^\n]*\n?|[ \t\r]*\n)*)", re.M
)
# What takes part in training, in the text of a class: steps of a scheduler are none.
_TRAINS = re.compile(rb"(?<!scheduler)(?<!sched)\.step\(|\.backward\(|\bclip_grad|\.grad\b")
_MADE, _DERIVED = re.compile(rb"\bdef[ \t]+__init__\b"), re.compile(rb"\bsuper\(|\.__init__\(")
_DOTTED = re.compile(rb"(?<!\w)\w+(?:\.\w+)+")


def takings(data: bytes, names: Collection[str]) -> dict[str, frozenset[str]]:
    """What a file takes from modules that have one of some last names."""
    if b"import" not in data:
        return {}
    taken: defaultdict[str, set[str]] = defaultdict(set)
    bases = trained_bases(data)
    imports = spelled(data)
    for one in imports.froms:
        if one.module.rpartition(".")[2] in names or not one.module.strip("."):
            taken[one.module].update(name for name, _ in one.names)
            derived = {name for name, alias in one.names if (alias or name) in bases}
            derived |= bases if "*" in taken[one.module] else set()
            taken[one.module].update(f"class {name}" for name in derived)
    modules = {local: wanted for local, all_ in held(imports).items() if (wanted := _called(all_, names))}
    _attributes(data, modules, taken)
    for dotted in any_of(data, modules):
        taken[dotted].add("*")
    for dotted in {dotted for all_ in modules.values() for dotted in all_} & taken.keys():
        taken[dotted].update(f"class {base}" for base in bases if base in taken[dotted])
    return {dotted: frozenset(found) for dotted, found in taken.items()}


def _called(modules: Collection[str], names: Collection[str]) -> set[str]:
    return {dotted for dotted in modules if dotted.rpartition(".")[2] in names}


def trained_bases(data: bytes) -> frozenset[str]:
    """Names of classes, as a file spells them, of which it derives others that train by themselves, or that are made
    without what the constructor they derive sets."""
    bases = [base for _, bases, body in _CLASS.findall(data) if _by_itself(body) for base in bases.split(b",")]
    return frozenset(base.strip().rsplit(b".", 1)[-1].decode(errors="replace") for base in bases)


def _by_itself(body: bytes) -> bool:
    return _TRAINS.search(body) is not None or (_MADE.search(body) is not None and _DERIVED.search(body) is None)


def _attributes(data: bytes, modules: Mapping[str, set[str]], taken: dict[str, set[str]]) -> None:
    """Attributes that a file reads of modules it imported."""
    lengths = {local.count(".") + 1 for local in modules}
    if not lengths:
        return
    for chain in set(_DOTTED.findall(data)):
        words = chain.decode(errors="replace").split(".")
        for length in lengths:
            for at in range(len(words) - length):
                for dotted in modules.get(".".join(words[at : at + length]), ()):
                    first, *rest = words[at + length :]
                    taken[dotted].add(first)
                    if rest:  # of a module that a package holds: ``package.engine.train``
                        taken[f"{dotted}.{first}"].add(rest[0])


def mentions(location: str, module: str) -> bool:
    """Whether a file that is too large to be looked at as a whole, and so may take every name, mentions a module."""
    with suppress(OSError):
        return any(module.encode(errors="surrogateescape") in window for window in windows(location))
    return False

"""Files whose code runs networks that users of amp hand it, though nothing that they are called there says so.

A function that runs what it is handed is known by its name where it is called; where it is handed on itself
(``collate_fn=partial(collate, net.encoder)``, ``{"test": lib.test}``) who calls it is not here, and the region has to
stand in it, also where it makes its network itself, or its own file hands it on. And an object may keep the network
that it is made with as a ``scorer``, which is what criteria are called.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from .facts.elsewhere import Outline, applied_by, runs_what_it_makes
from .imports.tree import Imports
from .knowledge.models import FORWARDING, NETWORK_MADE

_ARGUMENT = re.compile(rb"[(,=:\[{]\s{0,80}(?:\w+\.)*(\w+)\s{0,80}(?=[,)\]}])")
_MADE = re.compile(rb"\b[A-Z]\w*\((?:[^()]|\([^()]*\)){0,400}")
_KEYWORD = re.compile(r"(\w+)[ \t]*=(?!=)")


def running_handed(amp: Iterable[str], near: Iterable[str], imports: Imports) -> Iterator[str]:
    """Those of some files, by what users of amp hand on and make objects with."""
    users = list(amp)
    handed_on, made = set[str](), list[tuple[str, frozenset[int | str]]]()
    for at in users:
        called = dict(imports.outline(at).imported)  # by another name here
        handed_on |= {called.get(name, name) for name in imports.words(_ARGUMENT, at)}
        said = (_networks_for(text) for text in sorted(imports.words(_MADE, at)))
        made += ((called.get(name, name), given) for name, given in said if given)
    for one in near:
        file = imports.outline(one)
        handed = runs_what_it_makes(file, handed_on) or applied_by(file, handed_on | imports.words(_ARGUMENT, one))
        if handed or any(_runs_kept(file, name, given) for name, given in made):
            yield one


def _networks_for(text: str) -> tuple[str, frozenset[int | str]]:
    """Which class a text makes an object of, and which of the arguments, by number or name, are called networks."""
    name, _, rest = text.partition("(")
    found = set[int | str]()
    for number, argument in enumerate(_arguments(rest)):
        keyword = _KEYWORD.match(argument.strip())
        value = argument.partition("=")[2] if keyword else argument
        if any(NETWORK_MADE.fit(word) for word in re.findall(r"[\w]+", value.partition("(")[0])):
            found.add(keyword[1] if keyword else number)
    return name, frozenset(found)


def _arguments(text: str) -> list[str]:
    """What stands between commas, but for those of calls within."""
    found, depth = [""], 0
    for part in re.split(r"([(),])", text):
        depth += (part == "(") - (part == ")")
        if part == "," and not depth:
            found.append("")
        else:
            found[-1] += part
    return found


def _runs_kept(file: Outline, name: str, given: Collection[int | str]) -> bool:
    """Whether objects of a class run what they were made with, whatever they call it."""
    for cls in file.classes:
        if cls.name != name or (init := cls.methods.get("__init__")) is None:
            continue
        parameters = [one for one in init.parameters if one != "self"]
        mine = {one for number, one in enumerate(parameters) if number in given or one in given}
        kept = {name for name, held in init.given if held.partition(".")[0] in mine}
        calls = {one.rpartition(".") for method in cls.methods.values() for one in method.called}
        if any(f"{owner}.{last}" in kept or (owner in kept and FORWARDING.fit(last)) for owner, _, last in calls):
            return True
    return False

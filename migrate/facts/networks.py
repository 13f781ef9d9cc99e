"""Which objects are networks, whoever made them: O1 casts inside of all of them, handed to Apex or not."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from migrate.facts.names import last_name
from migrate.flow.values import Obj, Values
from migrate.knowledge.models import FORWARDING, NETWORK_MADE, NO_NETWORK


def is_network(v: Values, obj: Obj, elsewhere: Collection[str]) -> bool:
    """Whether an object is a network by the class or the function that made it, or a part of one that is run as such.
    ``elsewhere`` are the networks' classes of other files."""
    match obj.kind, obj.key:
        case "instance", ast.ClassDef() as cls:
            bases = (last_name(base) for one in v.order(cls) for base in one.bases)
            return not NO_NETWORK.fit(cls.name) and any(b.endswith("Module") or b in elsewhere for b in bases)
        case "call", ast.Call(func=func) if _from_elsewhere(v, func):
            owner = last_name(func.value) if isinstance(func, ast.Attribute) else ""
            made = obj.label in elsewhere or NETWORK_MADE.fit(obj.label)
            return made and not NO_NETWORK.fit(obj.label) and not NO_NETWORK.fit(owner)
        case "path", (Obj() as owner, str(name)):
            return FORWARDING.fit(name) and is_network(v, owner, elsewhere)
        case _:
            return False


def _from_elsewhere(v: Values, func: ast.expr) -> bool:
    """Whether what is called is a function or class of another file: not an object that was made, or handed over."""
    root = func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or v.of(func) or v.of(root):
        return False
    home = v.m.binding_scope(root.id, v.m.scope(root))
    return home is None or root.id not in home.params


def network_classes(headers: Iterable[str]) -> frozenset[str]:
    """The names of classes that are networks by their bases, of ``Name(bases)`` as a text has it."""
    bases = {name.strip(): rest for name, _, rest in (header.partition("(") for header in headers)}
    found: set[str] = set()
    while True:
        more = {
            name
            for name, rest in bases.items()
            if name not in found
            and any(base.strip().split(".")[-1] in found or base.strip().endswith("Module") for base in rest.split(","))
        }
        if not more:
            return frozenset(name for name in found if not NO_NETWORK.fit(name))
        found |= more

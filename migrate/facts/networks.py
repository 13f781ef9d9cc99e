"""Which objects are networks, whoever made them: O1 casts inside of all of them, handed to Apex or not."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from migrate.facts.names import last_name
from migrate.flow.values import Obj, Values
from migrate.knowledge.models import FORWARDING, NETWORK_MADE, NO_NETWORK, RUN_AS_OTHER


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


def may_be_network(v: Values, call: ast.Call) -> frozenset[Obj]:
    """What a call runs, where that is an object that code of another file made and nothing says that it is no network:
    neither the name of its maker nor its own."""
    func = call.func
    name = last_name(func.value if isinstance(func, ast.Subscript) else func)
    if not call.args or RUN_AS_OTHER.fit(name) or NO_NETWORK.fit(name):
        return frozenset()
    held = v.of(func)
    if isinstance(func, ast.Attribute) and FORWARDING.fit(func.attr):
        held |= v.of(func.value)
    parts = not isinstance(func, ast.Attribute)  # of what was made: `_, teacher = pair()`
    return frozenset(o for o in held if (parts or o.kind == "call") and _made_elsewhere(v, o))


def _made_elsewhere(v: Values, obj: Obj) -> bool:
    """Whether code of another file made an object, or what it is a part of."""
    while obj.kind == "path" and isinstance(obj.key, tuple) and isinstance(obj.key[0], Obj):
        obj = obj.key[0]
    if obj.kind != "call" or not isinstance(obj.key, ast.Call) or not _from_elsewhere(v, obj.key.func):
        return False
    return not RUN_AS_OTHER.fit(obj.label) and not NO_NETWORK.fit(obj.label)


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

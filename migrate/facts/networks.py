"""Which objects are networks, whoever made them: O1 casts inside of all of them, handed to Apex or not."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Mapping

from ..flow.objects import Obj, whole_of
from ..flow.values import Values
from ..knowledge.host import GIVES_VALUES, HOST_MODULES, NO_NETWORK_LIBRARIES
from ..knowledge.models import (
    BY_NAME,
    FORWARDING,
    HANDS_ON,
    NETWORK_MADE,
    NO_NETWORK,
    NOT_RUN_BY_METHOD,
    RUN_AS_OTHER,
)
from ..knowledge.results import loss
from .elsewhere import Elsewhere, Handed
from .names import last_name
from .once import once
from .sites import opened

# Modules whose functions make no network; what these hand on is another's.
_STANDARD = sys.stdlib_module_names - {"copy", "functools", "types", "importlib"}
_LIBRARIES = NO_NETWORK_LIBRARIES | {"torch", "numpy"}  # no files of the tree are called so
_UNKNOWN = frozenset({"call", "param", "path", "instance"})  # what may have a method that is not seen: `__getattr__`
_NO_NETWORKS = HOST_MODULES | NO_NETWORK_LIBRARIES | _STANDARD | {"torch"}


def is_network(v: Values, obj: Obj, elsewhere: Elsewhere) -> bool:
    """Whether an object is a network by the class or function that made it, or a part of one that is run as such."""
    match obj.kind, obj.key:
        case "instance", ast.ClassDef() as cls:
            bases = (last_name(base) for one in v.order(cls) for base in one.bases)
            return not NO_NETWORK.fit(cls.name) and any(b.endswith("Module") or b in elsewhere.networks for b in bases)
        case "call", ast.Call(func=func) if comes_from_elsewhere(v, func):
            owner = last_name(func.value) if isinstance(func, ast.Attribute) else ""
            name = name_elsewhere(v, func)
            made = _network_of(v, func, elsewhere) or (NETWORK_MADE.fit(name) and name not in elsewhere.plain)
            return made and not NO_NETWORK.fit(obj.label) and not NO_NETWORK.fit(owner)
        case "path", (Obj() as owner, str(name)):
            return FORWARDING.fit(name) and is_network(v, owner, elsewhere)
        case _:
            return False


def kept_elsewhere(v: Values, obj: Obj, elsewhere: Elsewhere) -> frozenset[Obj]:
    """With what was made of which an object is what one of another file's class holds, or gives back: the model of
    ``Holder(model).model``."""
    owners, name = frozenset[Obj](), ""
    if not elsewhere.keeping:
        return owners
    match obj.kind, obj.key:
        case "path", (Obj() as owner, str(name)):
            owners = frozenset({owner})
        case "call", ast.Call(func=ast.Attribute(value=base, attr=name)):
            owners = v.of(base)
    makers = [one.key for one in owners if one.kind == "call" and isinstance(one.key, ast.Call)]
    return frozenset(
        o
        for made in makers
        if comes_from_elsewhere(v, made.func) and name in elsewhere.keeping.get(name_elsewhere(v, made.func), ())
        for arg in (*made.args, *(k.value for k in made.keywords))
        for o in opened(v, _of_copied(v, arg))
    )


def _of_copied(v: Values, expr: ast.expr) -> frozenset[Obj]:
    """What an expression may hold; of a copy what was copied, as it is the same network: ``EMA(deepcopy(model))``."""
    held = v.of(expr)
    copies = [o.key for o in held if o.kind == "call" and isinstance(o.key, ast.Call)]
    copied = [call.args[0] for call in copies if call.args and last_name(call.func) in ("copy", "deepcopy")]
    return held.union(*(v.of(one) for one in copied))


def made_elsewhere(v: Values, obj: Obj, elsewhere: Elsewhere) -> bool:
    """Whether a class or function of another file made an object that is a network for sure."""
    match obj.kind, obj.key:
        case "call", ast.Call(func=func):
            return comes_from_elsewhere(v, func) and _network_of(v, func, elsewhere)
        case _:
            return False


def _network_of(v: Values, func: ast.expr, elsewhere: Elsewhere) -> bool:
    """Whether what is called by the name of a network of another file is that one: ``torch.Generator()`` is none of a
    GAN's."""
    return name_elsewhere(v, func) in elsewhere.networks and library(v, func) not in _LIBRARIES


def may_be_network(v: Values, call: ast.Call, elsewhere: Elsewhere) -> frozenset[Obj]:
    """What a call runs, where that is an object that code of another file made and nothing says that it is no network:
    neither the name of its maker nor its own."""
    func = call.func
    name = last_name(func.value if isinstance(func, ast.Subscript) else func)
    if not call.args or ((RUN_AS_OTHER.fit(name) or NO_NETWORK.fit(name)) and not _called_as(name, elsewhere.networks)):
        return frozenset()
    if isinstance(func, ast.Subscript) and name.isupper():
        return frozenset()  # `LAYERS[kind](width)`: a table of classes, which makes one
    if isinstance(func, ast.Attribute) and NO_NETWORK.fit(last_name(func.value)):
        return frozenset()  # `tokenizer.encode(text)`
    if isinstance(func, ast.Attribute) and NOT_RUN_BY_METHOD.fit(func.attr):
        return frozenset()  # `batch.to(device)`, which hands on what it is asked of, runs nothing
    held = v.of(func)
    if isinstance(func, ast.Attribute) and FORWARDING.fit(func.attr):
        held |= v.of(func.value)
    parts = not isinstance(func, ast.Attribute)  # of what was made: `_, teacher = pair()`
    return frozenset(o for o in held if (parts or o.kind == "call") and _made_elsewhere(v, o, elsewhere))


def _called_as(name: str, networks: Collection[str]) -> bool:
    """Whether something is called as a network of another file is, where its name alone would say that it is none:
    ``postprocessor``, ``post_process`` beside a class PostProcess. Criteria are asked for as losses."""
    own = name.lower().replace("_", "")
    return any(own.startswith(one.lower()) for one in networks if len(one) > 6) and not loss(own)


def runs_elsewhere(v: Values, call: ast.Call, elsewhere: Elsewhere, models: Collection[Obj] = ()) -> bool:
    """Whether a call runs code of another file that runs a network: one that it holds, or that it is handed.
    ``models`` are what Apex was handed."""
    if elsewhere.running and not elsewhere.running.isdisjoint(names_elsewhere(v, call)):
        return True
    objects = applied_elsewhere(v, call, elsewhere)
    return any(o in models or is_network(v, o, elsewhere) or _made_elsewhere(v, o, elsewhere) for o in objects)


def applied_elsewhere(v: Values, call: ast.Call, elsewhere: Elsewhere) -> frozenset[Obj]:
    """What a call hands to code of another file that runs it, if it is a network."""
    if not comes_from_elsewhere(v, call.func):
        return frozenset()
    name = name_elsewhere(v, call.func)
    run = elsewhere.applying.get(name, frozenset())
    handed = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)]
    given = [arg for at, arg in handed if any(at in parameter for parameter in run)]
    return frozenset(o for arg in given for o in opened(v, v.of(arg)))


def handed_called(v: Values, call: ast.Call, method: str, elsewhere: Elsewhere) -> list[ast.expr]:
    """The arguments of a call of another file's function of which it calls a method."""
    if not isinstance(call.func, ast.Name) or not comes_from_elsewhere(v, call.func):
        return []
    places = {at for at, called in elsewhere.methods.get(name_elsewhere(v, call.func), ()) if called == method}
    handed = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)]
    return [arg for at, arg in handed if at in places]


def idles_elsewhere(v: Values, call: ast.Call, elsewhere: Elsewhere) -> bool:
    """Whether all that a call may run are methods of other files that run nothing of what they hold or are handed."""
    func = call.func
    held = [(o, "__call__") for o in v.of(func)]
    if isinstance(func, ast.Attribute):
        held = [(o, func.attr) for o in v.of(func.value)]
    named = {
        f"{name_elsewhere(v, o.key.func)}.{method}"
        if o.kind == "call" and isinstance(o.key, ast.Call) and comes_from_elsewhere(v, o.key.func)
        else ""
        for o, method in held
        if o.kind != "seq"  # none calls a list
    }
    return bool(held) and named <= elsewhere.idle


def only_asked(v: Values, call: ast.Call, elsewhere: Elsewhere) -> frozenset[ast.expr]:
    """The arguments of a call of another file's function that it only asks for their state."""
    if not elsewhere.asking or not isinstance(call.func, ast.Name) or not comes_from_elsewhere(v, call.func):
        return frozenset()
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return frozenset()
    asked = elsewhere.asking.get(name_elsewhere(v, call.func), frozenset())
    handed = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)]
    return frozenset(arg for at, arg in handed if any(at in parameter for parameter in asked))


def widens_elsewhere(v: Values, call: ast.Call, elsewhere: Elsewhere) -> bool:
    """Whether a call runs code of another file that computes what O1 ran in float32; any of a table may."""
    if not elsewhere.widening:
        return False
    if not elsewhere.widening.isdisjoint(names_elsewhere(v, call)):
        return True
    if not isinstance(call.func, ast.Subscript):
        return False
    return comes_from_elsewhere(v, call.func) and library(v, call.func.value) not in _NO_NETWORKS


def sober_elsewhere(v: Values, call: ast.Call, elsewhere: Elsewhere) -> bool:
    """Whether a call runs a function of another file that computes nothing where O1's casts would have reached it."""
    return (
        isinstance(call.func, ast.Name)
        and comes_from_elsewhere(v, call.func)
        and elsewhere.sober.get(name_elsewhere(v, call.func), False)
    )


def gives_several(v: Values, obj: Obj, elsewhere: Elsewhere) -> bool:
    """Whether an object is a network of another file, whose forward gives back a list, dictionary or tuple."""
    if obj.kind != "call" or not isinstance(obj.key, ast.Call) or not comes_from_elsewhere(v, obj.key.func):
        return False
    return name_elsewhere(v, obj.key.func) in elsewhere.several


def handed_elsewhere(v: Values, call: ast.Call, parameters: Mapping[str, Handed]) -> list[ast.expr]:
    """What a call hands to certain parameters of code of other files."""
    if not parameters:
        return []
    wanted = frozenset[tuple[int, str]]().union(*(parameters.get(one, ()) for one in names_elsewhere(v, call)))
    given = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)]
    return [arg for at, arg in given if any(at in one for one in wanted)]


def names_elsewhere(v: Values, call: ast.Call) -> frozenset[str]:
    """What a call may run of other files: functions by name, methods as ``Class.method``."""
    known = _named_elsewhere(v)
    if call not in known:
        known[call] = _names_elsewhere(v, call)
    return known[call]


def looks_elsewhere(v: Values, call: ast.Call, gradients: Collection[str]) -> bool:
    """Whether a call may run what looks at gradients in another file: a function that it imports, or a method of this
    name of an object of which nothing better is known (``probe.measure()``)."""
    if not gradients or v.callees(call):
        return False
    if not names_elsewhere(v, call).isdisjoint(gradients):
        return True
    match call.func:
        case ast.Attribute(value=owner, attr=name) if f".{name}" in gradients:
            return any(o.kind in _UNKNOWN for o in v.of(owner))
        case _:
            return False


@once
def _named_elsewhere(v: Values) -> dict[ast.Call, frozenset[str]]:
    return {}


def _names_elsewhere(v: Values, call: ast.Call) -> frozenset[str]:
    func = call.func
    held = {(o, "__call__") for o in v.of(func)}
    if isinstance(func, ast.Attribute):
        held |= {(o, func.attr) for o in v.of(func.value)}
    made = [(o.key.func, method) for o, method in held if o.kind == "call" and isinstance(o.key, ast.Call)]
    found = {f"{name_elsewhere(v, maker)}.{method}" for maker, method in made if comes_from_elsewhere(v, maker)}
    if isinstance(func, ast.Attribute) and comes_from_elsewhere(v, func):
        found.add(f"{name_elsewhere(v, func.value)}.{func.attr}")  # of an object that the other file keeps
    if not v.callees(call):  # of a class here whose base is of another file
        own = [(o.key, method) for o, method in held if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
        found |= {f"{last_name(base)}.{method}" for cls, method in own for one in v.order(cls) for base in one.bases}
    return frozenset(found | ({name_elsewhere(v, func)} if comes_from_elsewhere(v, func) else set()))


def name_elsewhere(v: Values, func: ast.expr) -> str:
    """What a function is called in the file that it is imported from."""
    name = last_name(func)
    if isinstance(func, ast.Name):
        for alias in v.m.declared(name):
            if isinstance(alias, ast.alias) and alias.asname == name:
                return alias.name.split(".")[-1]
    return name


def _made_elsewhere(v: Values, obj: Obj, elsewhere: Elsewhere) -> bool:
    """Whether code of another file, of which nothing better is known, made an object, or what it is a part of."""
    obj = whole_of(obj)
    if obj.kind != "call" or not isinstance(obj.key, ast.Call) or not comes_from_elsewhere(v, obj.key.func):
        return False
    func = obj.key.func
    if _gives_value(v, obj.key):
        return False
    if isinstance(func, ast.Subscript) and name_elsewhere(v, func.value) in elsewhere.plain:
        return False  # of a table of classes
    name = name_elsewhere(v, func)
    owner = last_name(func.value) if isinstance(func, ast.Attribute) else ""
    if name in elsewhere.plain or any(RUN_AS_OTHER.fit(one) or NO_NETWORK.fit(one) for one in (name, owner)):
        return False
    return HANDS_ON.fit(name) or library(v, func) not in _NO_NETWORKS


def _gives_value(v: Values, call: ast.Call) -> bool:
    """Whether a call is one of Python's own functions, whose result is a number, a text, a class to make another of
    (``type(batch)(parts)``, ``eval(name)(3)``), or the least of several: no network can be compared."""
    match call:
        case ast.Call(func=ast.Name(id=name) as func) if v.m.binding_scope(name, v.m.scope(func)) is None:
            least = name in ("min", "max") and not any(k.arg == "key" for k in call.keywords)
            return least or name in ("type", "eval") or name in GIVES_VALUES
        case _:
            return False


def library(v: Values, func: ast.expr) -> str:
    """The first word of the module that a function comes from, as the file says it."""
    while isinstance(func, ast.Attribute):
        func = func.value
    for alias in v.m.declared(func.id) if isinstance(func, ast.Name) else ():
        source = v.m.parent[alias]
        if isinstance(source, ast.ImportFrom) and not source.level and source.module:
            return source.module.split(".")[0]
        if isinstance(alias, ast.alias):
            return alias.name.split(".")[0]
    return ""


def comes_from_elsewhere(v: Values, func: ast.expr) -> bool:
    """Whether what is called is a function or class of another file, or one that is known by its name alone: not an
    object that was made, or handed over."""
    if _by_name(v, func):
        return True
    root = func
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name) or v.of(func) or v.of(root):
        return False
    home = v.m.binding_scope(root.id, v.m.scope(root))
    return home is None or root.id not in home.params


def _by_name(v: Values, func: ast.expr) -> bool:
    """Whether what is called is one of all that a module has: ``globals()[name]``, ``getattr(models, name)``."""
    while isinstance(func, (ast.Attribute, ast.Subscript)):
        func = func.value
    if not isinstance(func, ast.Call):
        return False
    name = last_name(func.func)
    return name in BY_NAME or (name == "getattr" and len(func.args) > 1 and not v.of(func.args[0]))

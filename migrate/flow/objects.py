"""The things that a points-to analysis speaks of: objects by the place that made them, names of Apex, and what torch
and Python hand back as it is."""

from __future__ import annotations

import ast
from collections.abc import MutableMapping
from weakref import WeakValueDictionary

from ..facts.names import called_name

Var = tuple[object, ...]

# Calls that hand back their first argument, wrapped or not: what holds for the model holds for these.
WRAPPERS = frozenset(
    "DistributedDataParallel DDP DataParallel DataParallelModel convert_syncbn_model convert_sync_batchnorm "
    "wrap_optimizer BalancedDataParallel MMDataParallel MMDistributedDataParallel compile script unwrap_model "
    "enumerate reversed iter list tuple sorted next cast tqdm trange proxy".split()
)
UNKNOWN = ("call", "param", "path")  # kinds of what code that is not here gives back
# Methods and attributes that give the receiver back.
SELF_METHODS = frozenset(
    "cuda to cpu half float double train eval module requires_grad_ share_memory apply values copy".split()
)
FORWARD_HOOK = "register_forward_hook"
NAMESPACES = frozenset("SimpleNamespace Namespace".split())
ELEMENT_KEY = "*"
# What `*args` was handed, by number, and what came by way of another star, of which no number is known.
NUMBERED, UNNUMBERED = "#", "#*"
ITEM_KEY = "[]"  # what an object holds that is a container itself
MODULE_LISTS = frozenset("ModuleList ModuleDict Sequential".split())  # torch's, which hold networks
MODULES = "modules"  # the variable of what one holds
CONTAINERS = frozenset("list tuple UserList deque".split())
MAX_APEX = 8  # parts of a dotted name of Apex; the longest that is in use has five


class Obj:
    """An abstract object. ``kind`` is one of call, instance, class, function, method, seq, dict,
    partial, apex, param, path, module; ``label`` is what a reader would call it.

    There is one for each kind and key, kept with what the key is or begins with: two are compared millions of times,
    which is to ask whether they are the same."""

    __slots__ = ("__weakref__", "_made", "key", "kind", "label")
    kind: str
    key: object
    label: str
    _made: dict[object, Obj]  # of this one: its attributes, items and methods

    def __new__(cls, kind: str, key: object, label: str = "") -> Obj:
        name: object = kind
        made: MutableMapping[object, Obj]
        if isinstance(key, tuple):
            owner, name = key[0], (kind, *key[1:])
            made = owner._made if isinstance(owner, Obj) else owner.__dict__.setdefault(_MADE, {})
        elif isinstance(key, ast.AST):
            made = key.__dict__.setdefault(_MADE, {})
        else:
            name, made = (kind, key), _NAMED
        found = made.get(name)
        if found is None:
            found = made[name] = super().__new__(cls)
            found.kind, found.key, found.label, found._made = kind, key, label, {}
        return found

    def __repr__(self) -> str:
        return f"Obj({self.kind!r}, {self.key!r}, {self.label!r})"


_MADE = "apex2native objects"  # no field of a node is called so
_NAMED: WeakValueDictionary[object, Obj] = WeakValueDictionary()  # those whose key is a name


def by_name(call: ast.Call) -> str | None:
    """What of Apex a call imports by name: ``importlib.import_module("apex.amp")``."""
    match call.args[:1]:
        case [ast.Constant(value=str() as dotted)] if called_name(call) in ("import_module", "__import__"):
            package = dotted.split(".")[0]
            whole = called_name(call) == "import_module" or len(call.args) > 3 or bool(call.keywords)  # `fromlist`
            return None if package != "apex" else dotted if whole else package
        case _:
            return None


def apex(dotted: str) -> Obj:
    """The object that a dotted name of Apex stands for."""
    return Obj("apex", dotted, dotted)


def part(whole: Obj, part: str) -> Obj:
    """What an attribute or item of a name of Apex stands for; so deep that Apex has no such name, the same again
    (``apex.amp.amp`` is a module, and nothing in it is called amp)."""
    deep = whole.label.count(".") + whole.label.count("[") >= MAX_APEX or whole.label.endswith(part * 2)
    return whole if deep else apex(whole.label + part)


def whole_of(obj: Obj) -> Obj:
    """What an object is a part or an item of, however deep: ``net`` of ``net.encoder.layers``."""
    while obj.kind == "path" and isinstance(obj.key, tuple) and isinstance(obj.key[0], Obj):
        obj = obj.key[0]
    return obj


def referred(obj: Obj) -> ast.expr | None:
    """What a weak reference is one to, and gives back when it is called."""
    if obj.label != "ref" or not isinstance(obj.key, ast.Call):
        return None
    match obj.key:
        case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name(id="weakref")), args=[one, *_]):
            return None if isinstance(one, ast.Starred) else one
        case _:
            return None


def tuple_fields(obj: Obj) -> list[str] | None:
    """The fields of a class that ``namedtuple`` made; None of another object."""
    if obj.label != "namedtuple" or not isinstance(obj.key, ast.Call):
        return None
    match obj.key.args:
        case [_, ast.Constant(value=str() as listed)]:
            return listed.replace(",", " ").split()
        case [_, ast.List(elts=elts) | ast.Tuple(elts=elts)]:
            return [e.value for e in elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        case _:
            return None


def unbound(obj: Obj) -> bool:
    """Whether a method was taken from its class: ``Base.__init__(self, x)``."""
    return obj.kind == "method" and obj.key[0].kind == "class"  # type: ignore[index]

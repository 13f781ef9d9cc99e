"""Parts of a network that go by a name which code makes: ``getattr(model, f"layer{i}")``, ``model._modules[name]``,
``dict(model.named_children())["fc"]``. Where the text does not say the name, the part may be any: it is as good as the
whole.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import takewhile

from ..facts.names import called_name, last_name
from ..facts.sites import opened
from ..flow.objects import ELEMENT_KEY, Obj
from ..flow.spelled import attribute_name, meet
from ..flow.values import Values
from .program.naming import Naming
from .state import Key

MAX_DEPTH = 8  # of what is made of what
_ANY = (ELEMENT_KEY,)
_LISTS = frozenset("children named_children modules named_modules values items __getitem__".split())
_NAMED = frozenset("named_children named_modules items".split())
# What makes tables and rows of what it is handed.
_TABLES = frozenset({"dict", "OrderedDict", "ModuleDict"})
_ROWS = frozenset("list tuple next iter reversed filter islice chain zip enumerate ModuleList Sequential".split())
_NO_PARTS = frozenset({"_modules", "module", "__dict__"})  # names on the way to a part that stand for none
_Way = tuple[Obj, tuple[str, ...]]  # a network, and the names on the way to its part


class NamedParts:
    """Those of one program's networks."""

    def __init__(self, v: Values, naming: Naming, networks: Callable[[Obj], bool]) -> None:
        self.v, self.naming, self.networks = v, naming, networks
        self._ways: dict[Obj, frozenset[_Way]] = {}

    def keys(self, obj: Obj) -> frozenset[Key]:
        """The networks that an object is by its name in one of them: parts, or the whole where any may be meant; none
        of an object that is no part by a name."""
        return frozenset(key for whole, names in self._reached(obj, 0) for key in self._below(whole, names))

    def _below(self, whole: Obj, names: tuple[str, ...]) -> Iterator[Key]:
        known = [*takewhile(lambda n: n != ELEMENT_KEY, names)]
        at = [whole]
        for number, name in enumerate(known):
            held = [o for one in at for o in self._held(one, name)]
            if not held:
                for one in at:
                    key = self.naming.key(one)
                    for rest in takewhile(lambda n: ELEMENT_KEY not in n, known[number:]):
                        key = ("path", key, rest)
                    yield key
                return
            at = held
        yield from map(self.naming.key, at)

    def _held(self, obj: Obj, name: str) -> Iterator[Obj]:
        """What an object has under a name, of which not all has to be written: ``layer*``."""
        fields = [one for one in self.v.attributes(obj) if meet(name, one)] if ELEMENT_KEY in name else [name]
        held = (o for field in fields for o in opened(self.v, self.v.field(obj, field)))
        yield from (o for o in held if ELEMENT_KEY not in name or self.networks(o))

    def _reached(self, obj: Obj, depth: int) -> frozenset[_Way]:
        if obj not in self._ways:
            self._ways[obj] = frozenset()  # of what is made of itself
            if obj.kind in ("path", "call") and depth < MAX_DEPTH:
                self._ways[obj] = frozenset(self._found(obj, depth))
        return self._ways[obj]

    def _found(self, obj: Obj, depth: int) -> Iterator[_Way]:
        names: list[str] = []
        while obj.kind == "path" and isinstance(obj.key, tuple):
            names.insert(0, obj.key[1])
            obj = obj.key[0]
        if names and self.networks(obj):
            yield obj, tuple(n for n in names if n not in _NO_PARTS)
        elif obj.kind == "call" and isinstance(obj.key, ast.Call):
            for whole, ahead in self._given(obj.key, tuple(names), depth + 1):
                yield whole, tuple(n for n in ahead if n not in _NO_PARTS)

    def _given(self, call: ast.Call, names: tuple[str, ...], depth: int) -> Iterator[_Way]:
        """What a call gives of a network that it is handed, or a method of it."""
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[whole, name, *_]):
                yield from self._of(whole, (attribute_name(name), *names), depth)
            case ast.Call(func=ast.Name(id="vars"), args=[whole]):
                yield from self._of(whole, names, depth)
            case ast.Call(func=ast.Attribute(value=whole, attr="get_submodule" | "__getattr__"), args=[name]):
                yield from self._of(whole, (*attribute_name(name).split("."), *names), depth)
            case ast.Call(func=ast.Attribute(value=whole, attr=attr)) if attr in _LISTS:
                yield from self._of(whole, _ANY, depth)
            case ast.Call(func=ast.Call(func=getter, args=[name]), args=[whole]) if last_name(getter) == "attrgetter":
                yield from self._of(whole, (*attribute_name(name).split("."), *names), depth)
            case ast.Call(func=ast.Call(func=getter), args=[whole]) if last_name(getter) == "attrgetter":
                yield from self._of(whole, _ANY, depth)
            case ast.Call(args=args) if called_name(call) in _TABLES:
                for source in args:
                    named = _names_parts(source)
                    ahead = _first(names) if named else _ANY
                    yield from self._of(named or source, ahead, depth, bool(named) or _plain(call))
            case ast.Call(args=args) if called_name(call) in _ROWS:
                for source in args:
                    yield from self._of(source, _ANY, depth, _plain(call))

    def _of(self, expr: ast.expr, names: tuple[str, ...], depth: int, whole_too: bool = True) -> Iterator[_Way]:
        """The same in what an expression holds: a network, or what is one by its name. What a container of torch's is
        made of are networks of their own."""
        if isinstance(expr, ast.Starred):
            expr = expr.value
        for obj in opened(self.v, self.v.of(expr)):
            if whole_too and self.networks(obj):
                yield obj, names
            for whole, ahead in self._reached(obj, depth):
                yield whole, (*ahead, *names)


def _plain(call: ast.Call) -> bool:
    """Whether what makes a table or a row is Python's, and no container of torch's."""
    return not called_name(call)[:1].isupper() or called_name(call) == "OrderedDict"


def _names_parts(source: ast.expr) -> ast.expr | None:
    """The network whose parts a table has by their names: ``model`` of ``dict(model.named_children())``."""
    match source:
        case ast.Call(func=ast.Attribute(value=whole, attr=attr), args=[]) if attr in _NAMED:
            return whole
        case ast.Attribute(value=whole, attr="_modules"):
            return whole
        case _:
            return None


def _first(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names on the way to a part of a network, of which the first may say several at once: ``layer1.0.conv``."""
    return (*names[0].split("."), *names[1:]) if names else _ANY

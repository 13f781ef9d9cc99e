"""What outlives the function that computed it: attributes, containers, names of outer functions and of files.

A result that is left there and computed with somewhere else is followed from place to place: a hook that fills a
dictionary, `self.features = h` in a network's `forward`, a list of a module. Whatever is put in a place may be found
there, whenever it was (flow-insensitive); the objects are those of the values (flow/objects.py).
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..facts.names import last_name
from ..facts.scopes import Scope
from ..flow.objects import Obj
from .halves import NOTHING, Value, join, joined, many
from .unit import Context

_Place = tuple[object, str]

_ANY = "[]"  # an item, whichever
_CONTAINERS = frozenset("list dict set deque defaultdict OrderedDict UserList UserDict".split())


class Kept:
    """The places of one program, and the facts of what they may hold. A place is looked after from the moment on at
    which one of the facts in ``tracked`` comes there. ``told`` says what an expression holds wherever it stands,
    nothing where it is None or an empty container; ``told(None)`` is said of what is not at hand."""

    def __init__(self, ctx: Context, tracked: frozenset[str], told: Callable[[ast.expr | None], Value]) -> None:
        self.m, self.v = ctx.m, ctx.v
        self._tracked, self._tell = tracked, told
        self._held: dict[_Place, Value] = {}
        self._items: dict[Obj, dict[_Place, None]] = {}
        self.grew = False  # since it was last set to False: readers that ran before did not see all

    @property
    def anything(self) -> bool:
        """Whether anything is kept."""
        return bool(self._held)

    # ------------------------------------------------------------ writing

    def put(self, target: ast.expr, value: Value) -> None:
        """``target = …``"""
        match target:
            case ast.Name(id=name):
                home = self.m.binding_scope(name, self.m.scope(target))
                if (home, name) in self.m.used_inside:
                    self._put((home, name), value, NOTHING)
            case ast.Attribute(value=base, attr=attr):
                for obj in self.v.of(base):
                    self.set(obj, attr, value)
            case ast.Subscript(value=base, slice=index):
                self.add(base, value, _key(index))
            case _:
                pass

    def set(self, obj: Obj, attr: str, value: Value) -> None:
        """An attribute of an object is set."""
        self._put((obj, attr), value, self._made_as(obj, attr))

    def made(self, obj: Obj, attr: str, value: Value) -> None:
        """An object is made of its fields."""
        self._put((obj, attr), value, self._made_as(obj, attr) if obj.kind == "instance" else NOTHING)

    def add(self, container: ast.expr, value: Value, key: str = _ANY) -> None:
        """``container.append(…)``, ``container[key] = …``; what is put into an item lies in the whole as well."""
        while isinstance(container, ast.Subscript):
            key, container, value = _key(container.slice), container.value, many(value)
        for obj in self.v.of(container):
            if _contains(obj):
                place = (obj, key)
                self._put(place, value, self._made_with(obj, key), known=key != _ANY and obj in self._items)
                if place in self._held:
                    self._items.setdefault(obj, {})[place] = None

    def _put(self, place: _Place, value: Value, first: Value, known: bool = False) -> None:
        before = self._held.get(place)
        if before is None and not known and not value.flat & self._tracked:
            return
        after = join(first if before is None else before, value)
        if after != before:
            self._held[place] = after
            self.grew = True

    def _made_with(self, obj: Obj, at: str) -> Value:
        """What a container holds when it is made, by a key where it is known."""
        match obj.key:
            case ast.Dict(keys=keys, values=values) if at != _ANY and None not in keys:
                said = {_key(k): v for k, v in zip(keys, values, strict=True) if k is not None}
                return joined(self._tell(said[k]) for k in (at, _ANY) if k in said)
            case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values) | ast.Dict(values=values):
                return joined(map(self._tell, values))
            case ast.ListComp(elt=value) | ast.DictComp(value=value):
                return self._tell(value)
            case ast.Call(args=args, keywords=keywords):
                by_factory = "defaultdict" in (obj.label, last_name(obj.key.func))
                filled = any(k.arg != "maxlen" for k in keywords) or (len(args) > by_factory)
                return self._tell(None) if filled else NOTHING
            case ast.Name(id=name) if name in _CONTAINERS:  # what the factory of a `defaultdict` makes
                return NOTHING
            case _:
                return self._tell(None)

    def _made_as(self, obj: Obj, attr: str) -> Value:
        """What an attribute of an object is before it is set: its class may say so, or `SimpleNamespace(attr=…)`."""
        said: list[ast.expr] = []
        match obj.key:
            case ast.ClassDef() as cls if obj.kind == "instance":
                bodies = [stmt for one in self.v.order(cls) for stmt in one.body]
                said = [value for stmt in bodies if (value := _given(stmt, attr)) is not None]
            case ast.Call(keywords=keywords):
                said = [k.value for k in keywords if k.arg == attr]
        return joined(map(self._tell, said))

    # ------------------------------------------------------------ reading

    def of(self, node: ast.Name | ast.Attribute) -> Value:
        """What another function left in a name or an attribute."""
        if not self._held:
            return NOTHING
        if isinstance(node, ast.Name):
            scope = self.m.scope(node)
            home = self.m.binding_scope(node.id, scope)
            mine = home is scope and (home, node.id) not in self.m.set_inside
            return NOTHING if mine else self._held.get((home, node.id), NOTHING)
        return joined(self._held.get((obj, node.attr), NOTHING) for obj in self.v.in_order(self.v.of(node.value)))

    def inside(self, node: ast.expr) -> Value:
        """What a container may hold."""
        if not self._items:
            return NOTHING
        found = self.v.in_order(obj for obj in self.v.of(node) if obj in self._items)
        return joined(self._held[place] for obj in found for place in self._items[obj])

    def item(self, node: ast.Subscript) -> Value:
        """What an item may hold, where its key is written out; none where it is not."""
        key = _key(node.slice)
        if not self._items or key == _ANY:
            return NOTHING
        objects = self.v.in_order(obj for obj in self.v.of(node.value) if obj in self._items)
        return joined(self._held.get((obj, key), NOTHING) for obj in objects)

    def readers(self) -> list[ast.AST]:
        """The functions, and bodies of files, that read a place, in order."""
        names = {key for owner, key in self._held if not isinstance(owner, Scope)}
        found: list[ast.Name | ast.Attribute] = [n for name in sorted(names) for n in self.m.attributes(name)]
        found += [n for owner, name in self._held if isinstance(owner, Scope) for n in self.m.named(name)]
        found = [n for n in found if isinstance(n.ctx, ast.Load) and self.of(n).flat]
        if self._items:
            loads: list[ast.Name | ast.Attribute] = [*self.m.all(ast.Name), *self.m.all(ast.Attribute)]
            found += [n for n in loads if isinstance(n.ctx, ast.Load) and self.inside(n).flat]
        return self.m.in_order({self.m.function(node).node for node in found})


def _contains(obj: Obj) -> bool:
    return obj.kind in ("seq", "dict") or (obj.kind == "call" and obj.label in _CONTAINERS)


def _key(index: ast.expr) -> str:
    return f"[{index.value!r}]" if isinstance(index, ast.Constant) and isinstance(index.value, str) else _ANY


def _given(stmt: ast.stmt, name: str) -> ast.expr | None:
    """What a statement of a class's body assigns to a name."""
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target] if isinstance(stmt, ast.AnnAssign) else []
    if not any(isinstance(target, ast.Name) and target.id == name for target in targets):
        return None
    assert isinstance(stmt, (ast.Assign, ast.AnnAssign))
    return stmt.value

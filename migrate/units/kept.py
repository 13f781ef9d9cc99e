"""What outlives the function that computed it: attributes, containers, names of outer functions and of files.

A result that is left there and computed with somewhere else is followed from place to place: a hook that fills a
dictionary, `self.features = h` in a network's `forward`, a list of a module. Whatever is put in a place may be found
there, whenever it was (flow-insensitive); the objects are those of the values (flow/values.py).
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..facts.module import Scope
from ..flow.values import Obj
from .unit import Context

Facts = frozenset[str]
_Place = tuple[object, str]

_ANY = "[]"  # an item, whichever
_CONTAINERS = frozenset("list dict set deque defaultdict OrderedDict UserList UserDict".split())


class Kept:
    """The places of one program, and the facts of what they may hold. A place is looked after from the moment on at
    which one of the facts in ``tracked`` comes there. ``told`` says what an expression holds wherever it stands,
    nothing where it is None or an empty container; ``told(None)`` is said of what is not at hand."""

    def __init__(self, ctx: Context, tracked: Facts, told: Callable[[ast.expr | None], Facts]) -> None:
        self.m, self.v = ctx.m, ctx.v
        self._tracked, self._tell = tracked, told
        self._held: dict[_Place, Facts] = {}
        self._items: dict[Obj, set[_Place]] = {}
        self.grew = False  # since it was last set to False: readers that ran before did not see all

    # ------------------------------------------------------------ writing

    def put(self, target: ast.expr, facts: Facts) -> None:
        """``target = …``"""
        match target:
            case ast.Name(id=name):
                home = self.m.binding_scope(name, self.m.scope(target))
                if (home, name) in self.m.used_inside:
                    self._put((home, name), facts, frozenset())
            case ast.Attribute(value=base, attr=attr):
                for obj in self.v.of(base):
                    self._put((obj, attr), facts, self._made_as(obj, attr))
            case ast.Subscript(value=base, slice=index):
                self.add(base, facts, _key(index))
            case _:
                pass

    def add(self, container: ast.expr, facts: Facts, key: str = _ANY) -> None:
        """``container.append(…)``, ``container[key] = …``; what is put into an item lies in the whole as well."""
        while isinstance(container, ast.Subscript):
            key, container = _key(container.slice), container.value
        for obj in self.v.of(container):
            if _contains(obj):
                place = (obj, key)
                self._put(place, facts, self._made_with(obj), known=key != _ANY and obj in self._items)
                if place in self._held:
                    self._items.setdefault(obj, set()).add(place)

    def _put(self, place: _Place, facts: Facts, first: Facts, known: bool = False) -> None:
        before = self._held.get(place)
        if before is None and not known and not facts & self._tracked:
            return
        after = (first if before is None else before) | facts
        if after != before:
            self._held[place] = after
            self.grew = True

    def _made_with(self, obj: Obj) -> Facts:
        """What a container holds when it is made."""
        match obj.key:
            case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values) | ast.Dict(values=values):
                return frozenset().union(*map(self._tell, values))
            case ast.ListComp(elt=value) | ast.DictComp(value=value):
                return self._tell(value)
            case ast.Call(args=args, keywords=keywords):
                filled = any(k.arg != "maxlen" for k in keywords) or (args and obj.label != "defaultdict")
                return self._tell(None) if filled else frozenset()
            case _:
                return self._tell(None)

    def _made_as(self, obj: Obj, attr: str) -> Facts:
        """What an attribute of an object is before it is set: its class may say so, or `SimpleNamespace(attr=…)`."""
        said: list[ast.expr] = []
        match obj.key:
            case ast.ClassDef() as cls if obj.kind == "instance":
                bodies = [stmt for one in self.v.order(cls) for stmt in one.body]
                said = [value for stmt in bodies if (value := _given(stmt, attr)) is not None]
            case ast.Call(keywords=keywords):
                said = [k.value for k in keywords if k.arg == attr]
        return frozenset().union(*map(self._tell, said))

    # ------------------------------------------------------------ reading

    def of(self, node: ast.Name | ast.Attribute) -> Facts:
        """What another function left in a name or an attribute."""
        if not self._held:
            return frozenset()
        if isinstance(node, ast.Name):
            scope = self.m.scope(node)
            home = self.m.binding_scope(node.id, scope)
            mine = home is scope and (home, node.id) not in self.m.set_inside
            return frozenset() if mine else self._held.get((home, node.id), frozenset())
        return frozenset().union(*(self._held.get((obj, node.attr), ()) for obj in self.v.of(node.value)))

    def inside(self, node: ast.expr) -> Facts:
        """What a container may hold."""
        if not self._items:
            return frozenset()
        places = (place for obj in self.v.of(node) for place in self._items.get(obj, ()))
        return frozenset().union(*(self._held[place] for place in places))

    def item(self, node: ast.Subscript) -> Facts:
        """What an item may hold, where its key is written out; none where it is not."""
        key = _key(node.slice)
        if not self._items or key == _ANY:
            return frozenset()
        held = (self._held.get((obj, key), frozenset()) for obj in self.v.of(node.value) if obj in self._items)
        return frozenset().union(*held)

    def readers(self) -> list[ast.AST]:
        """The functions, and bodies of files, that read a place, in order."""
        names = {key for owner, key in self._held if not isinstance(owner, Scope)}
        found: list[ast.Name | ast.Attribute] = [n for name in sorted(names) for n in self.m.attributes(name)]
        found += [n for owner, name in self._held if isinstance(owner, Scope) for n in self.m.named(name)]
        found = [n for n in found if isinstance(n.ctx, ast.Load) and self.of(n)]
        if self._items:
            loads: list[ast.Name | ast.Attribute] = [*self.m.all(ast.Name), *self.m.all(ast.Attribute)]
            found += [n for n in loads if isinstance(n.ctx, ast.Load) and self.inside(n)]
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

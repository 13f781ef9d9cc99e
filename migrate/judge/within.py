"""Networks that are parts of others: `initialize` may be handed the whole alone, and optimizers made of its parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from ..facts.names import last_name
from ..facts.sites import opened
from ..flow.arguments import argument
from ..flow.objects import Obj, whole_of
from ..knowledge.models import COPIES, LISTS_PARTS, NO_PART, NOT_RUN_BY_METHOD, PARAMETERS
from ..nodes import children
from .assigned import Assigned
from .named_parts import NamedParts
from .program.objects import is_cast_network
from .program.program import Program
from .state import Key

_GIVES_PARTS = (*LISTS_PARTS, "get_submodule")
_ALTERS = ("append", "extend", "insert", "pop", "add_module", "register_module", "__setitem__", "__delitem__")
_NONE_MADE = frozenset({"apex", "function", "method", "class", "module", "param"})  # kinds of objects


class Within:
    """Answers about the networks of one program."""

    def __init__(self, program: Program, assigned: Assigned) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.assigned = assigned
        self.named = NamedParts(self.v, self.naming, lambda obj: self.naming.key(obj) in self._held_in_models)
        self._parts: dict[Key, frozenset[Key]] = {}
        self._inner: dict[Key, frozenset[Key]] = {}
        self._by_name: dict[ast.AST, tuple[frozenset[Key], frozenset[Key]]] = {}

    @cached_property
    def networks(self) -> frozenset[Key]:
        """Those that Apex was handed, and all parts of them that are networks."""
        return self._held_in_models | self._named

    @cached_property
    def _held_in_models(self) -> frozenset[Key]:
        models = self.program.objects.models
        return models.union(*map(self._held_in, models))

    @cached_property
    def _named(self) -> frozenset[Key]:
        """The parts that go by a name, and are asked for their parameters, with those that they lie in."""
        found = frozenset(key for obj in self._listed for key in self.named.keys(obj))
        return found.union(*map(around, found)) - self.program.objects.optimizers

    def parts(self, network: Key) -> frozenset[Key]:
        """The networks that lie in a network, however deep."""
        if network not in self._inner:
            held = self._held_in(network)
            inner = {network, *held}
            self._inner[network] = held | {key for key in self._named - inner if not inner.isdisjoint(around(key))}
        return self._inner[network]

    def _held_in(self, network: Key) -> frozenset[Key]:
        """The same, of those that objects hold."""
        if network not in self._parts:
            met, todo = set[Obj](), [*self._objects.get(network, ())]
            while todo:
                obj = todo.pop()
                if obj not in met:
                    met.add(obj)
                    todo += self._held(obj)
            found = frozenset(self.naming.key(obj) for obj in met if self._network(obj))
            self._parts[network] = found - {network} - self.program.objects.optimizers
        return self._parts[network]

    def run(self, func: ast.expr) -> frozenset[Key]:
        """The networks that a call runs: what it calls, or whose method that is, where nothing more is known of it. A
        list of parameters is as good as a call: a penalty is made of them."""
        if found := self.of(func):
            return found
        if not isinstance(func, ast.Attribute):
            return self.nearest(func) or self._given_back(func)
        if self.v.callees(self.m.parent[func]):  # type: ignore[arg-type]
            return frozenset()
        if NOT_RUN_BY_METHOD.fit(func.attr) and func.attr not in PARAMETERS:
            return frozenset()
        return self.of(func.value) or self.nearest(func.value) or self._given_back(func.value)

    def of(self, expr: ast.AST) -> frozenset[Key]:
        """The networks that an expression may be; of one that a wrapper has that one."""
        if child := self._child(expr):
            return child
        named, others = self._by_its_name(expr)
        found = named | (self.meant(expr, self.networks) - others)
        wrapped = not found and isinstance(expr, ast.Attribute) and expr.attr == "module"
        return self.of(expr.value) if wrapped else found  # type: ignore[attr-defined]

    def _given_back(self, expr: ast.AST) -> frozenset[Key]:
        """The networks that a function of another file was handed which gave this: it may be one of them, or a part."""
        found: set[Key] = set()
        for obj in opened(self.v, self.v.of(expr)):
            call = obj.key
            if obj.kind != "call" or not isinstance(call, ast.Call) or self.v.callees(call):
                continue
            name = last_name(call.func)
            if not name[:1].isupper() and not COPIES.fit(name) and name not in _GIVES_PARTS:
                handed = (*call.args, *(k.value for k in call.keywords))
                found |= {key for one in handed for key in self.naming.keys(one) & self.networks}
        return frozenset(found)

    def given(self, expr: ast.AST) -> frozenset[Key]:
        """The networks of which an expression may be a part that they give: which of a sequence's children it is, where
        the text shows that, and whichever else."""
        if child := self._child(expr):
            return child
        found: set[Key] = set()
        for obj in opened(self.v, self.v.of(expr)):
            match whole_of(obj).key:
                case ast.Call(func=ast.Attribute(value=whole, attr=attr)) if attr in _GIVES_PARTS:
                    found |= self.naming.keys(whole) & self.networks
        return frozenset(found)

    def _child(self, expr: ast.AST) -> frozenset[Key]:
        root = _root(expr)
        return self.unpacked(root) if isinstance(root, ast.Name) else frozenset()

    def _by_its_name(self, expr: ast.AST) -> tuple[frozenset[Key], frozenset[Key]]:
        """The networks of which an expression may be a part by a name that code makes, or any of which it may be
        (``g, d = model.children()``), and how the values call these."""
        if expr not in self._by_name:
            keys = {obj: self.named.keys(obj) & self.networks for obj in opened(self.v, self.v.of(expr))}
            found = frozenset[Key]().union(*keys.values())
            self._by_name[expr] = found, frozenset(self.naming.key(obj) for obj, held in keys.items() if held) - found
        return self._by_name[expr]

    def nearest(self, expr: ast.AST) -> frozenset[Key]:
        """The smallest networks, of those that are known, that surely have what an expression is: ``model.blocks`` of
        ``model.blocks[0].attn``."""
        found: set[Key] = set()
        for obj in opened(self.v, self.v.of(expr)):
            for key in self.named.keys(obj):
                found |= set([one for one in (key, *around(key)) if one in self.networks][:1])
        return frozenset(found)

    def unpacked(self, name: ast.Name) -> frozenset[Key]:
        """Which of its children a network gives a name: ``body, head = model.children()``."""
        scope = self.m.binding_scope(name.id, self.m.scope(name))
        given = self.assigned.in_scope(name.id, scope) if scope is not None else []
        target, value = given[0] if len(given) == 1 else (name, name)
        match value:
            case ast.Call(func=ast.Attribute(value=whole, attr="children"), args=[]) | ast.Call(
                func=ast.Name(id="list" | "tuple"), args=[ast.Call(func=ast.Attribute(value=whole, attr="children"))]
            ):
                row, held = self.m.parent[target], self.v.of(whole)
            case _:
                return frozenset()
        number = self.assigned.row(name.id, value)
        if number is None or scope is None or not isinstance(row, ast.Tuple) or len(held) != 1:
            return frozenset()
        if {*self.m.stores(name.id, scope)} != {target} or name.id in scope.params:
            return frozenset()
        children = self._children(next(iter(held)))
        return children[number] if len(children) == len(row.elts) else frozenset()

    def _children(self, network: Obj) -> list[frozenset[Key]]:
        """The children of a network in order, of a sequence that is written out; none where it may have others."""
        call = network.key
        if network.kind != "call" or not isinstance(call, ast.Call) or last_name(call.func) != "Sequential":
            return []
        if call.keywords or not all(isinstance(one, (ast.Name, ast.Call)) for one in call.args):
            return []
        if any(network in self.v.of(owner) for owner in self._altered):
            return []
        children = [self.naming.keys(one) for one in call.args]
        every = frozenset[Key]().union(*children)
        apart = sum(map(len, children)) == len(every) and all(len(one) == 1 for one in children)
        return children if apart and every <= self.parts(self.naming.key(network)) else []

    @cached_property
    def _altered(self) -> list[ast.expr]:
        """What may be given another child, or lose one."""
        calls = (call.func for name in _ALTERS for call in self.m.calls(name))
        items = (t.value for stmt in self.m.all(ast.Assign) for t in stmt.targets if isinstance(t, ast.Subscript))
        gone = (t.value for stmt in self.m.all(ast.Delete) for t in stmt.targets if isinstance(t, ast.Subscript))
        return [*(func.value for func in calls if isinstance(func, ast.Attribute)), *items, *gone]

    def meant(self, expr: ast.AST, networks: frozenset[Key]) -> frozenset[Key]:
        """Those of some networks that an expression may be. Where several go through one `initialize`, it may be any of
        them as far as the values say: then it is what it was before."""
        held = self.naming.keys(expr) & networks
        if len(held) < 2:
            return held
        match expr:
            case ast.Name(id=name):
                values = [value for _, value in self.assigned.to(name, expr)]
            case ast.Attribute(value=owner, attr=attr):
                stored, keys = self.assigned.stored(attr), self.naming.keys
                values = [v for one, v in stored if keys(one.value) & keys(owner)]
            case _:
                return held
        before = [self.naming.keys(v) & held for v in values if self.program.marks.kind.get(v) != "initialize"]
        return frozenset[Key]().union(*before) or held

    # ------------------------------------------------------------ what has what

    @cached_property
    def _objects(self) -> dict[Key, list[Obj]]:
        found: dict[Key, list[Obj]] = {}
        for obj in {o for node in self.m.nodes for o in opened(self.v, self.v.of(node))}:
            found.setdefault(self.naming.key(obj), []).append(obj)
        return found

    def _held(self, obj: Obj) -> list[Obj]:
        """What an object has as attributes and items, and what it was made with where a library's class made it."""
        if obj.kind in _NONE_MADE and obj.kind != "param":
            return []
        held = [o for name in self.v.attributes(obj) for o in opened(self.v, self.v.field(obj, name))]
        held += self._added.get(obj, [])
        call = obj.key
        if obj.kind == "call" and isinstance(call, ast.Call) and last_name(call.func)[:1].isupper():
            if not COPIES.fit(last_name(call.func)):
                handed = [n for a in (*call.args, *(k.value for k in call.keywords)) for n in _networks_in(a)]
                held += [o for n in handed for o in opened(self.v, self.v.of(n)) if self._network(o)]
        return held

    @cached_property
    def _added(self) -> dict[Obj, list[Obj]]:
        """The networks that are added to others by a method: ``model.add_module("head", head)``."""
        found: dict[Obj, list[Obj]] = {}
        for call in (*self.m.calls("add_module"), *self.m.calls("register_module")):
            part = argument(call, 1, "module")
            if isinstance(call.func, ast.Attribute) and part is not None:
                for obj in self.v.of(call.func.value):
                    found.setdefault(obj, []).extend(opened(self.v, self.v.of(part)))
        return found

    def _network(self, obj: Obj) -> bool:
        if obj.kind in _NONE_MADE:
            return False
        elsewhere = self.program.objects.elsewhere
        return obj in self._listed or (obj.kind != "path" and is_cast_network(self.naming, obj, elsewhere))

    @cached_property
    def _listed(self) -> frozenset[Obj]:
        """What is asked for its parameters: a network, whoever made it."""
        calls = (call for name in PARAMETERS for call in self.m.calls(name))
        owners = (call.func.value for call in calls if isinstance(call.func, ast.Attribute))
        return frozenset(obj for owner in owners for obj in opened(self.v, self.v.of(owner)))


def _root(expr: ast.AST) -> ast.AST:
    """What an expression is a part of: ``body`` of ``body[0].parameters()``, not of ``body(x)``."""
    while True:
        match expr:
            case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr in (*PARAMETERS, *_GIVES_PARTS):
                expr = inner
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                expr = inner
            case _:
                return expr


def _networks_in(expr: ast.expr) -> Iterator[ast.AST]:
    """All that an argument is made of; of ``encoder.out_dim``, which is a number, nothing."""
    todo: list[ast.AST] = [expr]
    while todo:
        node = todo.pop()
        if not isinstance(node, ast.Attribute) or not NO_PART.fit(node.attr):
            yield node
            todo += children(node)


def around(key: Key) -> list[Key]:
    """The networks that a part lies in by its name, from within."""
    found: list[Key] = []
    while key[0] == "path":
        key = key[1]  # type: ignore[assignment]
        found.append(key)
    return found

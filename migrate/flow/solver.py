"""The points-to solver: which objects each variable holds; they flow along edges until nothing moves."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from ..errors import Tangled
from ..facts.module import Module
from ..facts.scopes import Scope
from .objects import Obj, Var

MAX_FACTS = 1_000_000  # "this may hold that"; a file of a thousand lines has ten thousand, seldom sixty


class Solver(ABC):
    """Sets of objects for variables, edges between them, and what waits for an object or an attribute to turn up."""

    def __init__(self, module: Module) -> None:
        self.m = module
        self._pts: dict[Var, set[Obj]] = defaultdict(set)
        self._edges: dict[Var, set[Var]] = defaultdict(set)
        self._watch: dict[Var, list[Callable[[Obj], None]]] = defaultdict(list)
        self._queue: deque[Var] = deque()  # those that hold something new,
        self._new: dict[Var, list[Obj]] = {}  # and what that is
        self._loads: list[tuple[Var, str, Var, str]] = []
        self._handed_over: set[Var] = set()  # attributes that Apex is handed
        self._fields: dict[Obj, set[str]] = defaultdict(set)
        self._field_watch: dict[Obj, list[Callable[[str], None]]] = defaultdict(list)
        self._in_lists: dict[Obj, Var] = {}  # items of torch's lists of networks, and what each may be
        self._ranks: dict[Obj, tuple[str, ...]] = {}
        self._orders: dict[ast.ClassDef, list[ast.ClassDef]] = {}  # what classes inherit, as long as
        self._bases_held: set[Var] = set()  # nothing new is held by these
        self._facts = 0

    @abstractmethod
    def _expr(self, node: ast.expr) -> Var:
        """The variable of an expression, whose constraints are there from now on."""

    @abstractmethod
    def _assign(self, target: ast.expr, src: Var) -> None:
        """What a variable holds flows to a target."""

    # ------------------------------------------------------------ questions

    def field(self, obj: Obj, name: str) -> frozenset[Obj]:
        """What attribute or key ``name`` of ``obj`` may hold."""
        return frozenset(self._pts.get(("f", obj, name), ()))

    def attributes(self, obj: Obj) -> set[str]:
        """Attributes and keys that are stored on ``obj`` somewhere in the module."""
        return set(self._fields[obj])

    def holding(self) -> list[Obj]:
        """The objects on which something is stored somewhere in the module."""
        return [obj for obj, names in self._fields.items() if names]

    # ------------------------------------------------------------ solving

    def _add(self, var: Var, obj: Obj) -> None:
        held = self._pts[var]
        if obj not in held:
            self._take(var, held, [obj])

    def _take(self, var: Var, held: set[Obj], fresh: list[Obj]) -> None:
        """A variable holds what it did not hold before, besides what it did."""
        held.update(fresh)
        if var in self._bases_held:
            self._orders.clear()
        if var in self._new:
            self._new[var] += fresh
        else:
            self._new[var] = fresh
            self._queue.append(var)
        self._facts += len(fresh)
        if self._facts > MAX_FACTS:
            raise Tangled("what its names and attributes may hold has no end in sight")

    def _flow(self, src: Var, dst: Var) -> None:
        if src != dst and dst not in self._edges[src]:
            self._edges[src].add(dst)
            if there := self._pts.get(src):
                held = self._pts[dst]
                if fresh := there - held:  # all at once: an item of a large dictionary flows to many places
                    self._take(dst, held, [*fresh])

    def _each(self, var: Var, do: Callable[[Obj], None]) -> None:
        self._watch[var].append(do)
        for obj in tuple(self._pts.get(var, ())):
            do(obj)

    def _solve(self) -> None:
        """Of most variables there is nothing to do: for them no empty set or list is made."""
        while self._queue:
            var = self._queue.popleft()
            new = self._new.pop(var)
            for dst in self._edges.get(var, ()):
                held = self._pts[dst]
                fresh = [obj for obj in new if obj not in held]
                if fresh:
                    self._take(dst, held, fresh)
            for do in tuple(self._watch.get(var, ())):
                for obj in new:
                    do(obj)

    def _forget_how(self) -> None:
        """All objects are where they flow to: how they came there is not asked any more, and takes much memory."""
        self._edges.clear()
        self._watch.clear()

    # ------------------------------------------------------------ variables

    def _name(self, name: str, scope: Scope) -> Var:
        return ("n", self.m.binding_scope(name, scope) or self.m.root(scope), name)

    def _field(self, obj: Obj, name: str) -> Var:
        if name not in self._fields[obj]:
            self._fields[obj].add(name)
            for do in tuple(self._field_watch[obj]):
                do(name)
        return ("f", obj, name)

    def _slot(self, obj: Obj, name: str) -> Var:
        """An attribute of an object, or a name of a file."""
        return self._global(obj, name) if obj.kind == "module" else self._field(obj, name)

    def _global(self, module: Obj, name: str) -> Var:
        assert isinstance(module.key, ast.Module)
        return self._name(name, self.m.scope_of[module.key])

    def _each_field(self, obj: Obj, do: Callable[[str], None]) -> None:
        self._field_watch[obj].append(do)
        for name in tuple(self._fields[obj]):
            do(name)

    # ------------------------------------------------------------ order

    def in_order(self, objects: Iterable[Obj]) -> list[Obj]:
        """Objects in an order that the text alone decides, for where one of several is taken: that of a set hangs on
        where in memory their nodes lie."""
        found = [*objects]
        return found if len(found) < 2 else sorted(found, key=self._rank)

    def _rank(self, obj: Obj) -> tuple[str, ...]:
        """Where an object comes from, as words that can be compared."""
        if obj not in self._ranks:
            self._ranks[obj] = (*self._words(obj.key), obj.kind, obj.label)
        return self._ranks[obj]

    def _words(self, part: object) -> tuple[str, ...]:
        match part:
            case Obj():
                return self._rank(part)
            case Scope():
                return self._words(part.node)
            case ast.AST() if hasattr(part, "lineno"):
                return (f"{self.m.start(part):09}", f"{self.m.end(part):09}")
            case ast.Module():
                return (f"{self.m.file(part).number:09}",)
            case tuple():
                return tuple(word for one in part for word in self._words(one))
            case _:
                return (str(part),)

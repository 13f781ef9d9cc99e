"""Classes of the program and what they inherit: Python's order of bases, members, and what calling an object runs."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from ..errors import Tangled
from ..facts.names import is_property, last_name
from ..nodes import positional_parameters, walk
from .dispatched import dispatched
from .objects import Obj, Var
from .solver import Solver

MAX_CLASSES = 200  # above one: what each of a line hands up goes through all above it; in real code a dozen


class Classes(Solver):
    """Points-to sets with what is known of the program's classes."""

    # ------------------------------------------------------------ bases

    @cached_property
    def class_names(self) -> frozenset[str]:
        """What the program's own classes are called."""
        return frozenset(cls.name for cls in self.m.all(ast.ClassDef))

    def order(self, cls: ast.ClassDef) -> list[ast.ClassDef]:
        """A class and its bases in this module, each behind all that inherit from it. Each is gone into once, from the
        last base on: there are many ways to one behind diamonds, and two classes of one name may seem to inherit from
        each other. It is told anew where a base turns out to be one more class: each object asks, for each ``super()``.
        """
        known = self._orders.get(cls)
        if known is None:
            known = self._orders[cls] = self._ordered(cls)
        return known

    def _ordered(self, cls: ast.ClassDef) -> list[ast.ClassDef]:
        found: list[ast.ClassDef] = []
        seen = {cls}
        todo = [(cls, self._bases(cls))]
        while todo:
            one, bases = todo[-1]
            base = bases.pop() if bases else None
            if base is None:
                found.append(one)
                todo.pop()
            elif base not in seen:
                seen.add(base)
                todo.append((base, self._bases(base)))
                if len(seen) > MAX_CLASSES:
                    raise Tangled(f"{cls.name} stands below more than {MAX_CLASSES} classes")
        return found[::-1]

    def _bases(self, cls: ast.ClassDef) -> list[ast.ClassDef]:
        names = [self._expr(base) for base in cls.bases]
        self._bases_held.update(names)
        held = (one for name in names for one in tuple(self._pts[name]))
        return [one.key for one in held if one.kind == "class" and isinstance(one.key, ast.ClassDef)]

    def _line(self, cls: ast.ClassDef) -> list[ast.ClassDef] | None:
        """A class and those of this module that it inherits from, in order; None where a base may be one of several."""
        line = self.order(cls)
        return None if any(map(self._of_several, line)) else line

    def _of_several(self, cls: ast.ClassDef) -> bool:
        """Whether a base of a class may be one of several."""
        for base in cls.bases:
            own = self._name(base.id, self.m.scope(cls)) if isinstance(base, ast.Name) else self._expr(base)
            if len(held := self._pts[own]) > 1 and sum(one.kind == "class" for one in held) > 1:
                return True
        return False

    def _owns(self, cls: ast.ClassDef, attr: str) -> bool:
        return self.m.method(cls, attr) is not None or attr in self.m.scope_of[cls].names

    def _defines(self, cls: ast.ClassDef, attr: str) -> bool:
        return attr in self.m.scope_of[cls].names

    def _subclasses(self, base: ast.ClassDef) -> list[ast.ClassDef]:
        """The classes of this module that have a base of that name, or inherit from one that has."""
        found: list[ast.ClassDef] = []
        todo = [base]
        while todo:
            for node in self._by_base.get(todo.pop().name, ()):
                if node is not base and node not in found:
                    found.append(node)
                    todo.append(node)
        return found

    @cached_property
    def _by_base(self) -> dict[str, list[ast.ClassDef]]:
        """Classes by the names of their bases."""
        found: dict[str, list[ast.ClassDef]] = defaultdict(list)
        for node in self.m.scope_of:
            if isinstance(node, ast.ClassDef):
                for name in {name for b in node.bases if (name := self._base_name(b, node)) is not None}:
                    found[name].append(node)
        return found

    def _base_name(self, base: ast.expr, node: ast.ClassDef) -> str | None:
        """What a base is called where it is defined."""
        scope = self.m.scope(node)
        match base:
            case ast.Name(id=name):
                home = self.m.binding_scope(name, scope)
                copies = (c.original for c in self.m.copied if c.name == name and c.scope is home)
                return next(copies, name)
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                home = self.m.binding_scope(name, scope)
                names = ((self.m.scope(stmt), one) for stmt, one in self.m.modules)
                return attr if home is not None and (home, name) in names else None
            case _:
                return None

    # ------------------------------------------------------------ members

    def _member(
        self, obj: Obj, owner: ast.ClassDef, attr: str, dst: Var, seen: set[ast.ClassDef] | None = None
    ) -> None:
        """A method or class attribute, looked up through the bases that stand in this module: that of the first class
        in Python's order which has it, where each base can be only one; else that of each, once (``seen``)."""
        line = None if seen is not None or self._owns(owner, attr) else self._line(owner)
        if line is not None:
            first = next((cls for cls in line if self._owns(cls, attr)), None)
            if first is not None:
                self._member(obj, first, attr, dst)
            return
        node = self.m.method(owner, attr)
        if node is not None:
            if is_property(node):
                self._flow(("r", node), dst)
            else:
                self._add(dst, Obj("method", (obj, node), attr))
            return
        scope = self.m.scope_of[owner]
        if attr in scope.names:
            self._flow(("n", scope, attr), dst)
        seen = set() if seen is None else seen
        seen.add(owner)
        for base in owner.bases:
            if isinstance(base, (ast.Name, ast.Attribute)):
                own = self._name(base.id, self.m.scope(owner)) if isinstance(base, ast.Name) else self._expr(base)
                for held in tuple(self._pts[own]):
                    if held.kind == "class" and isinstance(held.key, ast.ClassDef):
                        if held.key not in seen:
                            self._member(obj, held.key, attr, dst, seen)

    def _methods(
        self, owner: ast.ClassDef, *names: str, known: dict[ast.ClassDef, list[ast.AST]] | None = None
    ) -> list[ast.AST]:
        """The methods of a class, or of its bases in this module, that a name may mean; of several names what comes
        first in a class. Where a base may be one of several classes, it is that of any of them; what stands behind a
        base that has the method, whichever class it is, is not meant."""
        known = {} if known is None else known
        if owner in known:
            return known[owner]
        own = [node for name in names if (node := self.m.method(owner, name)) is not None]
        if own:
            return [min(own, key=self.m.index)]
        known[owner] = found = list[ast.AST]()  # two classes of one name may seem to inherit from each other
        for base in owner.bases:
            classes = [o.key for o in self.in_order(self._pts.get(("e", base), ())) if o.kind == "class"]
            each = [self._methods(one, *names, known=known) for one in classes if isinstance(one, ast.ClassDef)]
            found += dict.fromkeys(node for here in each for node in here if node not in found)
            if each and all(each):
                break
        return found

    def inherited(self, owner: ast.ClassDef, name: str) -> ast.AST | None:
        """The method of a class, or of the first base in this module that has one, in Python's order."""
        return next((found for one in self.order(owner) if (found := self.m.method(one, name)) is not None), None)

    def property_of(self, owner: ast.ClassDef, name: str) -> ast.AST | None:
        """The function that reading an attribute of an instance runs, where a property of that name stands here."""
        found = next(iter(self._methods(owner, name)), None)
        return found if found is not None and is_property(found) else None

    def stood_for(self, objects: Iterable[Obj]) -> list[Obj]:
        """Objects, and those that they ask for what they lack themselves, see `asks_for_others`."""
        found = dict.fromkeys(objects)
        todo = [*found]
        while todo:
            one = todo.pop()
            cls = one.key if one.kind == "instance" and isinstance(one.key, ast.ClassDef) else None
            names = self.asks_for_others(cls) if cls is not None else []
            for behind in (more for name in names for more in self._pts.get(("f", one, name), ())):
                if behind not in found:
                    found[behind] = None
                    todo.append(behind)
        return [*found]

    def asks_for_others(self, cls: ast.ClassDef) -> list[str]:
        """The attributes of an object whose objects it asks for what it lacks itself: its ``__getattr__`` gives back
        ``getattr(self.inner, name)``."""
        return [name for one in self.order(cls) for name in self._asking.get(one, ())] if self._asking else []

    @cached_property
    def _asking(self) -> dict[ast.ClassDef, list[str]]:
        found: dict[ast.ClassDef, list[str]] = {}
        for method in self.m.all(ast.FunctionDef):
            cls = self.m.class_of(self.m.scope_of[method]) if method.name == "__getattr__" else None
            if cls is not None and len(names := positional_parameters(method)) == 2:
                found[cls] = [*dict.fromkeys(_inner_asked(method, *names))]
        return found

    def declared(self, cls: ast.ClassDef) -> list[str]:
        """The fields that a dataclass or a NamedTuple declares, in order."""
        return [n.target.id for n in cls.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]

    def fields_by_number(self, obj: Obj) -> list[str]:
        """The fields of a NamedTuple's object, each of which is an item as well; nothing of another object."""
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            return []
        return self.declared(obj.key) if any(last_name(b) == "NamedTuple" for b in obj.key.bases) else []

    # ------------------------------------------------------------ what a call runs

    @cached_property
    def dispatched(self) -> dict[ast.AST, list[ast.AST]]:
        """For each function that chooses by the class of its argument, those that it may choose."""
        return dispatched(self.m)

    def callee(self, obj: Obj) -> ast.AST | None:
        """The first of the `functions` that calling ``obj`` may run; None if none is here."""
        return next(iter(self.functions(obj)), None)

    def functions(self, obj: Obj) -> list[ast.AST]:
        """The functions of this program that calling ``obj`` may run: itself, constructors, a ``forward``. It is more
        than one where several classes may be a base of its class."""
        match obj.kind:
            case "function":
                return [obj.key, *self.dispatched.get(obj.key, ())] if isinstance(obj.key, ast.AST) else []
            case "method":
                method: ast.AST = obj.key[1]  # type: ignore[index]
                return [method, *self.dispatched.get(method, ())]
            case "class":
                assert isinstance(obj.key, ast.ClassDef)
                return self._methods(obj.key, "__init__") or self._methods(obj.key, "__post_init__")
            case "instance":
                assert isinstance(obj.key, ast.ClassDef)
                return self._methods(obj.key, "forward", "__call__")
            case "partial":
                filled = {node for o in self._filled(obj) if o.kind != "partial" for node in self.functions(o)}
                return self.m.in_order(filled)[:1]
            case "path" if obj in self._in_lists:
                held = self.in_order(self._pts.get(self._in_lists[obj], ()))
                return [*dict.fromkeys(node for one in held for node in self.functions(one))]
            case _:
                return []

    def _filled(self, partial: Obj) -> list[Obj]:
        """What a partial fills, and what those of these fill that are partials: ``f = partial(f, x)`` is its own."""
        found, todo = [partial], [partial]
        while todo:
            obj = todo.pop()
            if obj.kind == "partial":
                assert isinstance(obj.key, ast.Call)
                more = [o for o in self._pts[("e", obj.key.args[0])] if o not in found]
                found += more
                todo += more
        return found


def _inner_asked(method: ast.AST, own: str, name: str) -> Iterator[str]:
    """The attributes of whose objects a ``__getattr__`` asks for the name that it is handed."""
    for node in walk(method):
        match node:
            case ast.Call(
                func=ast.Name(id="getattr"),
                args=[ast.Attribute(value=ast.Name(id=owner), attr=inner), ast.Name(id=asked), *_],
            ) if owner == own and asked == name:
                yield inner
            case _:
                pass

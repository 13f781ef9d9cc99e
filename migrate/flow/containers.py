"""Containers: lists, dictionaries, records, and what goes through them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from ..facts.names import called_name, last_name
from ..facts.scopes import Scope
from ..nodes import walk
from .found_by_name import TABLE, FoundByName
from .objects import (
    CONTAINERS,
    ELEMENT_KEY,
    ITEM_KEY,
    MODULE_LISTS,
    MODULES,
    NUMBERED,
    UNKNOWN,
    UNNUMBERED,
    Obj,
    Var,
    part,
)
from .overwritten import overwritten

_RUN = frozenset("function method partial".split())


class Containers(FoundByName):
    """Points-to sets with what containers hold, item by item where that is written."""

    # ------------------------------------------------------------ items

    def is_container(self, obj: Obj) -> bool:
        """Whether an object is of a class of this file that is a list or a tuple."""
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            return False
        return any(last_name(base) in CONTAINERS for cls in self.order(obj.key) for base in cls.bases)

    def _item(self, obj: Obj, key: str = ELEMENT_KEY) -> str:
        names = self.fields_by_number(obj) if key.isdigit() else []
        if names:
            return names[int(key)] if int(key) < len(names) else key
        return ITEM_KEY if self.is_container(obj) else key

    def _key(self, index: ast.expr) -> str:
        """The name of an item: its number, or its key (a text of digits is another one than the number)."""
        if isinstance(index, ast.Name):
            home = self.m.binding_scope(index.id, self.m.scope(index))
            index = self._constants.get((home, index.id), index)
        if isinstance(index, ast.Constant) and isinstance(index.value, (int, str)):
            text = str(index.value)
            return f"'{text}'" if isinstance(index.value, str) and text.isdigit() else text
        return ELEMENT_KEY

    @cached_property
    def _constants(self) -> dict[tuple[Scope | None, str], ast.Constant]:
        """Names that are given one number or text, once, and nothing else."""

        def bound(name: str, node: ast.AST) -> tuple[Scope | None, str]:
            return self.m.binding_scope(name, self.m.scope(node)), name

        found = {
            bound(target.id, target): value
            for stmt in self.m.all(ast.Assign)
            if isinstance(value := stmt.value, ast.Constant) and isinstance(value.value, (int, str))
            for target in stmt.targets
            if isinstance(target, ast.Name)
        }
        names = {name for _, name in found}
        stored = Counter(
            bound(n.id, n) for n in self.m.all(ast.Name) if n.id in names and not isinstance(n.ctx, ast.Load)
        )
        others = {
            bound(name, alias)
            for alias in self.m.all(ast.alias)
            if (name := alias.asname or alias.name) in names and name not in self.m.scope(alias).linked
        }
        once = {key for key, times in stored.items() if times == 1 and key not in others}
        return {
            key: value
            for key, value in found.items()
            if key in once and key[0] is not None and key[1] not in (*key[0].params, *key[0].globals)
        }

    def _elements(self, src: Var, dst: Var) -> None:
        """Everything a container may hold flows to ``dst``."""

        def of_obj(obj: Obj) -> None:
            if obj.kind == "apex":
                self._add(dst, part(obj, "[]"))
            elif self.is_container(obj):
                self._flow(("f", obj, ITEM_KEY), dst)
            elif obj.kind in ("seq", "dict", *UNKNOWN):
                self._each_field(obj, lambda name: self._flow(("f", obj, name), dst))
                if obj.kind in UNKNOWN:
                    self._listed(obj, ELEMENT_KEY)
                    self._loads.append((src, ELEMENT_KEY, dst, "[]"))
            elif obj.kind == "instance" and isinstance(obj.key, ast.ClassDef):
                for begin in self._methods(obj.key, "__iter__"):
                    self._each(("r", begin), of_iterator)

        def of_iterator(obj: Obj) -> None:
            if obj.kind in ("seq", "dict"):
                self._each_field(obj, lambda name: self._flow(("f", obj, name), dst))
            elif obj.kind == "instance" and isinstance(obj.key, ast.ClassDef):
                for following in self._methods(obj.key, "__next__"):
                    self._flow(("r", following), dst)

        self._each(src, of_obj)

    def _load(self, base: Var, key: str, dst: Var) -> None:
        """``dst`` takes item ``key`` of what ``base`` holds."""

        def of_obj(obj: Obj) -> None:
            if obj.kind == "apex":
                self._add(dst, part(obj, "[]"))
            elif self.is_container(obj):
                self._flow(("f", obj, ITEM_KEY), dst)
            elif key == ELEMENT_KEY:
                self._listed(obj, key)
                self._each_field(obj, lambda name: self._flow(("f", obj, name), dst))
            elif obj.kind == "seq" and isinstance(obj.key, (ast.Tuple, ast.List)):
                self._flow(self._field(obj, key), dst)
                self._flow(self._field(obj, ELEMENT_KEY), dst)
            else:
                self._listed(obj, key)
                self._flow(("f", obj, self._item(obj, key)), dst)
                self._flow(("f", obj, ELEMENT_KEY), dst)

        self._each(base, of_obj)
        self._loads.append((base, key, dst, ""))

    def _made_item(self, obj: Obj, dst: Var) -> None:
        """A function that ``__getitem__`` of an object's class makes: ``hooks["backward"]()``."""
        if not self._item_makers or obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            return
        for method in self._item_makers.intersection(self._methods(obj.key, "__getitem__")):
            scope = self.m.scope_of[method]
            if (own := self.m.self_name(scope)) is not None:
                self._add(("n", scope, own), obj)
                self._each(("r", method), lambda o: self._add(dst, o) if o.kind in _RUN else None)

    @cached_property
    def _item_makers(self) -> frozenset[ast.AST]:
        """The ``__getitem__`` in which functions are made."""
        every = (f for f in self.m.all(ast.FunctionDef) if f.name == "__getitem__")
        return frozenset(f for f in every if any(_makes_function(node) for node in walk(f) if node is not f))

    def _slice(self, node: ast.Subscript, obj: Obj, cut: ast.Slice, dst: Var) -> None:
        """A part of a list that is written out is another list; of anything else it is as good as the whole."""
        if obj.kind != "seq" or not isinstance(obj.key, (ast.List, ast.Tuple)):
            self._add(dst, obj)
            return
        part = Obj("seq", (node, obj), "list")
        first, end = _bound(cut.lower, 0), _bound(cut.upper, len(obj.key.elts))

        def of_item(name: str) -> None:
            if not name.isdigit() or first is None or end is None or cut.step is not None:
                self._flow(("f", obj, name), self._field(part, ELEMENT_KEY))
            elif first <= int(name) < end:
                self._flow(("f", obj, name), self._field(part, str(int(name) - first)))

        self._each_field(obj, of_item)
        self._add(dst, part)

    # ------------------------------------------------------------ going through

    def _iterate(self, target: ast.expr, source: ast.expr) -> None:
        src = self._expr(source)
        name = called_name(source) if isinstance(source, ast.Call) else ""
        if isinstance(source, ast.Call) and isinstance(target, (ast.Tuple, ast.List)):
            if name == "enumerate" and source.args and len(target.elts) == 2:
                self._iterate(target.elts[1], source.args[0])
                return
            if name == "zip":
                for elt, arg in zip(target.elts, source.args, strict=False):
                    self._into(elt, self._expr(arg))
                return
            if name == "items" and isinstance(source.func, ast.Attribute) and len(target.elts) == 2:
                self._into(target.elts[1], self._expr(source.func.value))
                self._each(src, lambda o: self._into(target, src) if o.label == TABLE else None)
                return
        self._into(target, src)

    def _into(self, target: ast.expr, container: Var) -> None:
        element: Var = ("i", target)
        self._elements(container, element)
        self._assign(target, element)

    def _zip(self, node: ast.Call, var: Var) -> None:
        """``zip(a, b)``: tuples of an element of each."""
        every, one = Obj("seq", node, "zip"), Obj("seq", node.func, "tuple")
        for number, arg in enumerate(node.args):
            if isinstance(arg, ast.Starred):
                self._elements(self._expr(arg.value), ("z", node, number))
                self._elements(("z", node, number), self._field(one, ELEMENT_KEY))
            else:
                self._elements(self._expr(arg), self._field(one, str(number)))
        self._add(self._field(every, ELEMENT_KEY), one)
        self._add(var, every)

    # ------------------------------------------------------------ filling

    def _record(self, node: ast.Call, var: Var) -> bool:
        """``dict(d, a=x, **more)`` is ``{**d, "a": x, **more}``; False where it may be made of something else."""
        whole = Obj("dict", node, "dict")
        give = self._giving(whole)

        def copied(obj: Obj) -> None:
            if obj.kind == "dict":
                self._spread(obj, give)
                self._add(var, whole)

        for arg in node.args:
            self._each(self._expr(arg), copied)
        self._put(node, whole, [], None)
        if node.keywords:
            self._add(var, whole)
        return bool(node.keywords) and not node.args

    def _with_default(self, node: ast.Call, var: Var) -> None:
        """``defaultdict(list)`` holds under any key what its factory makes, and what it was filled with."""
        whole, factory = Obj("dict", node, "dict"), node.args[0]
        item = self._field(whole, ELEMENT_KEY)

        def makes(obj: Obj) -> None:
            if obj.kind == "function":
                self._flow(("r", obj.key), item)
            elif obj.kind == "class":
                self._add(item, Obj("instance", obj.key, obj.label))

        match last_name(factory):
            case "list" | "set" | "deque":
                self._add(item, Obj("seq", factory, "list"))
            case "dict" | "OrderedDict":
                self._add(item, Obj("dict", factory, "dict"))
            case _:
                self._each(self._expr(factory), makes)
        for arg in node.args[1:]:
            self._each(self._expr(arg), lambda obj: self._spread(obj, self._giving(whole)))
        for keyword in node.keywords:
            self._flow(self._expr(keyword.value), self._field(whole, keyword.arg or ELEMENT_KEY))
        self._add(var, whole)

    def _giving(self, whole: Obj) -> Callable[[str, Var], None]:
        return lambda name, value: self._flow(value, self._field(whole, name))

    def _display(self, node: ast.Dict, var: Var) -> None:
        """``{"a": x, **more}``."""
        whole = Obj("dict", node, "dict")
        give = self._giving(whole)

        def spread(obj: Obj) -> None:
            if obj.kind == "dict":
                self._spread(obj, give)
            else:
                self._add(self._field(whole, ELEMENT_KEY), obj)

        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self._each(self._expr(value), spread)
            else:
                self._put_in(self._expr(value), self._field(whole, self._key(key)), value)
        self._add(var, whole)

    def _put_in(self, src: Var, item: Var, value: ast.expr) -> None:
        """A value stands in a display, and is what its item holds, where nothing takes its place at once."""
        if value not in self._overwritten:
            self._flow(src, item)

    @cached_property
    def _overwritten(self) -> frozenset[ast.expr]:
        return overwritten(self.m)

    def _comprehended(self, node: ast.DictComp, var: Var) -> None:
        """``{k: f(v) for k, v in d.items()}``; of ``{k: v for k, v in d.items() if …}`` it is known what is where."""
        for gen in node.generators:
            self._iterate(gen.target, gen.iter)
        whole = Obj("dict", node, "dict")
        of = _copied(node)
        if of is None:
            self._flow(self._expr(node.value), self._field(whole, ELEMENT_KEY))
        else:
            give = self._giving(whole)
            self._each(self._expr(of), lambda obj: self._spread(obj, give))
        self._add(var, whole)

    def _spread(self, obj: Obj, give: Callable[[str, Var], None]) -> None:
        """The items of a dictionary that a call is handed by ``**``."""
        if obj.kind == "dict":
            self._each_field(obj, lambda name: give(name, ("f", obj, name)))

    def _updated(self, target: Var, node: ast.Call) -> None:
        """``d.update({"a": x}, b=y)``: what a dictionary takes over from another."""

        def of_obj(obj: Obj) -> None:
            if obj.kind == "dict":
                for arg in node.args[:1]:
                    self._each(self._expr(arg), lambda held: self._spread(held, self._giving(obj)))
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        self._giving(obj)(keyword.arg, self._expr(keyword.value))

        self._each(target, of_obj)

    def _update(self, target: ast.expr, source: ast.expr) -> None:
        """``self.__dict__.update(kwargs)``, ``vars(self).update(locals())``: attributes by a dictionary's names."""
        match target:
            case ast.Attribute(value=one, attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[one]):
                owner = self._expr(one)
            case _:
                return
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "locals":
            self._each(owner, lambda obj: self._take_variables(self.m.function(source), obj))
            return
        given = self._expr(source)

        def give(obj: Obj, held: Obj) -> None:
            self._spread(held, lambda name, var: self._flow(var, self._field(obj, name)))

        self._each(owner, lambda obj: self._each(given, lambda held: give(obj, held)))

    def _variables(self, node: ast.Call, var: Var) -> None:
        """``locals()``: a dictionary of a function's variables, each under its name."""
        scope, whole = self.m.function(node), Obj("dict", node, "locals")
        self._take_variables(scope, whole)
        self._add(var, whole)

    def _set_attributes(self, base: Var, tables: Var, value: Var) -> None:
        """``for k, v in table.items(): setattr(obj, k, v)``: of a dictionary each attribute takes what stands under its
        name, of anything else any may take any."""

        def give(obj: Obj, table: Obj) -> None:
            if table.kind == "dict":
                self._spread(table, lambda name, item: self._flow(item, self._field(obj, name)))
            else:
                self._flow(value, self._field(obj, ELEMENT_KEY))

        self._each(base, lambda obj: self._each(tables, lambda table: give(obj, table)))

    def _take_variables(self, scope: Scope, obj: Obj) -> None:
        """An object takes over the variables of a function: ``self.__dict__.update(locals())``."""
        for name in sorted(scope.names) if scope.is_function else ():
            self._flow(("n", scope, name), self._field(obj, name))

    def _with_fields(self, node: ast.Call, var: Var, names: Sequence[str]) -> None:
        """An object that is made of its fields: ``SimpleNamespace(net=net)``, ``Pair(net, x)`` of a ``namedtuple``."""
        made = Obj("call", node, called_name(node))
        self._put(node, made, names, None)
        self._add(var, made)

    def _with_items(self, node: ast.Call, var: Var, name: str) -> None:
        """A dictionary whose items are attributes is made of those of another, and of what it is handed by name:
        ``Munch(dict(net=net))``, ``edict({"net": net})``."""
        whole = Obj("dict", node, name)
        for arg in node.args:
            self._each(self._expr(arg), lambda obj: self._spread(obj, self._giving(whole)))
        self._put(node, whole, [], None)
        self._add(var, whole)

    def _of_modules(self, node: ast.Call, made: Obj, var: Var) -> None:
        """The networks of the program that ``nn.ModuleList([Cell(c) for c in widths])`` was made of. Its items keep
        names of their own, as two of one class are two; but what calling them runs is known."""
        held: Var = (MODULES, made)

        def take(src: Var) -> None:
            self._each(src, lambda obj: self._add(held, obj) if obj.kind == "instance" else None)

        def of_obj(obj: Obj) -> None:
            if obj.kind in ("seq", "dict"):
                self._each_field(obj, lambda name: take(("f", obj, name)))

        for arg in node.args:
            given = self._expr(arg.value if isinstance(arg, ast.Starred) else arg)
            self._each(given, of_obj)
            if made.label == "Sequential":
                take(given)
        self._add(var, made)

    def _listed(self, obj: Obj, key: str) -> None:
        """An item of such a list has a name of its own."""
        if obj.label in MODULE_LISTS and obj.kind == "call":
            item, held = Obj("path", (obj, key), f"{obj.label}.{key}"), (MODULES, obj)
            self._in_lists[item] = held
            self._each(held, lambda _: self._add(self._field(obj, key), item))

    def _put(self, call: ast.Call, made: Obj, names: Sequence[str], declared: Sequence[str] | None) -> None:
        """Arguments fill fields, in order or by their names; None: by any name."""
        fields = [self._field(made, name) for name in names]
        for number, arg in enumerate(call.args):
            if isinstance(arg, ast.Starred):
                self._in_a_row(call.args[number:], fields[number:])
                break
            if number < len(fields):
                self._flow(self._expr(arg), fields[number])

        def give(name: str, value: Var) -> None:
            if declared is None or name in declared:
                self._flow(value, self._field(made, name))

        for keyword in call.keywords:
            if keyword.arg is not None:
                give(keyword.arg, self._expr(keyword.value))
            else:
                self._each(self._expr(keyword.value), lambda obj: self._spread(obj, give))

    def _in_a_row(
        self,
        args: Sequence[ast.expr],
        names: Sequence[Var],
        taken: int = 0,
        rest: ast.arg | None = None,
        least: int = 0,
    ) -> None:
        """Arguments from the first with a star on: of a tuple that is written out, and of what a function's own
        ``*args`` was handed, each item is the next one's, of anything else any may be. What stands behind it fills the
        last of the names, of which ``least`` have to be filled. ``rest`` takes what is left over, and has ``taken``
        some before."""
        first, *others = args
        assert isinstance(first, ast.Starred)
        unknown: Var = ("*", first)
        unnumbered = [] if rest is None else [self._more(rest, None)]

        def hand(number: int, item: Var) -> None:
            if number < len(names):
                self._flow(item, names[number])
            elif rest is not None:
                self._flow(item, self._more(rest, taken + number - len(names)))

        def of_field(obj: Obj, name: str) -> None:
            if name == UNNUMBERED:
                for target in (*names, *unnumbered):
                    self._flow(("f", obj, name), target)
            elif name.startswith(NUMBERED):
                hand(int(name.removeprefix(NUMBERED)), ("f", obj, name))

        def of_obj(obj: Obj) -> None:
            if self._handed_on(first.value, obj):
                self._each_field(obj, lambda name: of_field(obj, name))
                return
            row = obj.key.elts if obj.kind == "seq" and isinstance(obj.key, ast.Tuple) else [first]
            if any(isinstance(one, ast.Starred) for one in row):
                self._add(unknown, obj)
                return
            for number in range(len(row)):
                hand(number, self._field(obj, str(number)))

        self._each(self._expr(first.value), of_obj)
        for name in (*names, *unnumbered):
            self._elements(unknown, name)
        known = not any(isinstance(arg, ast.Starred) for arg in others)
        for number, arg in enumerate(others):
            begin = max(least - len(others), 0) + number if known else 0
            end = len(names) - (len(others) - number - 1) if known and rest is None else len(names)
            for name in (*names[begin:end], *unnumbered):
                if isinstance(arg, ast.Starred):
                    self._elements(self._expr(arg.value), name)
                else:
                    self._flow(self._expr(arg), name)

    def _more(self, rest: ast.arg, number: int | None) -> Var:
        """What ``*rest`` takes as its item of that number, or of none that is known."""
        whole = Obj("seq", rest, rest.arg)
        item = self._field(whole, UNNUMBERED if number is None else f"{NUMBERED}{number}")
        self._flow(item, self._field(whole, ELEMENT_KEY))
        return item

    def _handed_on(self, given: ast.expr, obj: Obj) -> bool:
        """Whether ``*args`` hands on what its own function was handed, in that order: ``args`` is never another row."""
        if not isinstance(given, ast.Name) or not isinstance(obj.key, ast.arg) or obj.key.arg != given.id:
            return False
        function = self.m.function(given).node
        own = getattr(function, "args", None)
        return own is not None and own.vararg is obj.key and not any(
            isinstance(node, ast.Name) and node.id == given.id and not isinstance(node.ctx, ast.Load)
            for node in walk(function)
        )

    def _fill(self, call: ast.Call, made: Obj) -> None:
        """A class without constructor here (a dataclass, a NamedTuple): arguments fill the fields it declares; or a
        list of the file's own, which takes its items."""
        assert isinstance(made.key, ast.ClassDef)
        if self.is_container(made):
            for arg in call.args[:1]:
                self._elements(self._expr(arg), self._field(made, ITEM_KEY))
            return
        declared = self.declared(made.key)
        self._put(call, made, declared, declared)

    def _filled_by_base(self, call: ast.Call) -> None:
        """``super().__init__(items)`` in the constructor of a list of the file's own."""
        scope = self.m.function(call)
        own = self.m.self_name(scope)
        if own is None:
            return

        def of_obj(obj: Obj) -> None:
            if self.is_container(obj):
                self._elements(self._expr(call.args[-1]), self._field(obj, ITEM_KEY))

        self._each(("n", scope, own), of_obj)


def _copied(node: ast.DictComp) -> ast.expr | None:
    """The dictionary of which a comprehension takes over items as they are."""
    if len(node.generators) != 1 or not isinstance(node.key, ast.Name):
        return None
    target, source, key = node.generators[0].target, node.generators[0].iter, node.key.id
    match target, source, node.value:
        case (
            ast.Tuple(elts=[ast.Name(id=k), ast.Name(id=v)]),
            ast.Call(func=ast.Attribute(value=of, attr="items"), args=[]),
            ast.Name(id=value),
        ):
            return of if (k, v) == (key, value) else None
        case ast.Name(id=k), of, ast.Subscript(value=read, slice=ast.Name(id=at)) if k == at == key:
            match of:
                case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[]):
                    of = inner
            return of if ast.dump(read) == ast.dump(of) else None
        case _:
            return None


def _bound(bound: ast.expr | None, default: int) -> int | None:
    """Where a slice begins or ends, counted from the beginning; None where that is not written."""
    if bound is None:
        return default
    known = isinstance(bound, ast.Constant) and isinstance(bound.value, int)
    return bound.value if known else None  # type: ignore[attr-defined]


def _makes_function(node: ast.AST) -> bool:
    made = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    return made or (isinstance(node, ast.Call) and called_name(node) == "partial")

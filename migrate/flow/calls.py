"""Calls: arguments flow into parameters, results back, and what torch, Apex and Python's own functions do."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cached_property

from ..facts.module import Module
from ..facts.names import called_name
from ..knowledge.models import ATTRIBUTE_DICTS
from ..nodes import positional_parameters, walk
from .arguments import argument, fits
from .attribute_dicts import has_items_alone, items_are_attributes
from .found_by_name import ASKS_BY_NAME, LOCATES, is_found
from .makers import MADE_ROW, Maker, makers
from .objects import (
    ELEMENT_KEY,
    MODULE_LISTS,
    NAMESPACES,
    SELF_METHODS,
    WRAPPERS,
    Obj,
    Var,
    apex,
    by_name,
    referred,
    tuple_fields,
    unbound,
)
from .registering import gives_back
from .rows import Rows
from .set_by_items import set_by_items
from .spelled import listed_names


class Calls(Rows):
    """Points-to sets with what calls bind and give back."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.calls: dict[ast.AST, list[ast.Call]] = defaultdict(list)  # function node -> its call sites
        self._mapped: set[ast.AST] = set()  # functions that `map` calls
        self._opaque: list[tuple[ast.Call, Var]] = []
        self._bound: set[tuple[int, Obj]] = set()

    def _call(self, node: ast.Call, var: Var) -> None:
        func = self._expr(node.func)
        for arg in node.args:
            self._expr(arg.value if isinstance(arg, ast.Starred) else arg)
        for keyword in node.keywords:
            self._expr(keyword.value)
        name = called_name(node)
        self._each(func, lambda obj: self._apply(node, var, obj))
        if name == "super" and isinstance(node.func, ast.Name):
            scope = self.m.function(node)
            first = self.m.self_name(scope)
            if first is not None:
                self._flow(("n", scope, first), var)
            return
        if name in ASKS_BY_NAME | LOCATES and self._asks_by_name(node, var):
            return
        if name == "zip" and isinstance(node.func, ast.Name):
            self._zip(node, var)
            return
        if name == "map" and isinstance(node.func, ast.Name):
            self._map(node, var)
            return
        if (dotted := by_name(node)) is not None:
            self._add(var, apex(dotted))
            return
        if name in ("locals", "vars") and isinstance(node.func, ast.Name) and not node.args and not node.keywords:
            self._variables(node, var)
            return
        if name in ("dict", "OrderedDict"):
            zipped = node.args[0] if len(node.args) == 1 and not node.keywords else None
            if (zipped is not None and self._zipped(node, zipped, var)) or self._record(node, var):
                return
        if name == "defaultdict" and node.args:
            self._with_default(node, var)
            return
        if name in NAMESPACES and node.keywords and not node.args:
            self._with_fields(node, var, [])
            return
        if name in ATTRIBUTE_DICTS and name not in self.class_names:
            self._with_items(node, var, name)
            return
        if name == "partial" and node.args:
            self._add(var, Obj("partial", node, "partial"))
            return
        if name in MODULE_LISTS and name not in self.class_names:
            self._of_modules(node, Obj("call", node, name), var)
        if self._has_partials:
            for handed in (*node.args, *(k.value for k in node.keywords)):
                self._each(self._expr(handed), self._hand_over)
        if name in ("append", "add", "insert", "setdefault") and isinstance(node.func, ast.Attribute) and node.args:
            value = self._expr(node.args[-1])
            self._each(self._expr(node.func.value), lambda o: self._flow(value, self._field(o, self._item(o))))
            if name == "setdefault":  # gives the item back
                key = self._key(node.args[0])
                tables = self._expr(node.func.value)
                self._each(tables, lambda o: self._at_key(o, key, lambda held: self._flow(held, var)))
        if name == "__subclasses__" and isinstance(node.func, ast.Attribute):
            self._each(self._expr(node.func.value), lambda o: self._derived_from(o, node, var))
        if name == "type" and isinstance(node.func, ast.Name) and len(node.args) == 1:
            self._each(self._expr(node.args[0]), lambda o: self._class_of(o, var))
        if name == "extend" and isinstance(node.func, ast.Attribute) and node.args:
            more = self._expr(node.args[0])
            self._each(self._expr(node.func.value), lambda o: self._elements(more, self._field(o, self._item(o))))
        if name == "update" and isinstance(node.func, ast.Attribute):
            self._updated(self._expr(node.func.value), node)
            if node.args:
                self._update(node.func.value, node.args[0])
        if name == "__init__" and node.args:
            self._filled_by_base(node)
        if name == "setattr" and len(node.args) == 3:
            if (table := set_by_items(self.m, node)) is not None:
                self._set_attributes(self._expr(node.args[0]), self._expr(table), self._expr(node.args[2]))
            else:
                for key in listed_names(self.m, node.args[1]):
                    self._set_attribute(self._expr(node.args[0]), key, self._expr(node.args[2]))
        if name == "getattr" and len(node.args) >= 2:
            for key in listed_names(self.m, node.args[1]):
                self._get_attribute(self._expr(node.args[0]), key, var)
            for otherwise in node.args[2:]:
                self._each(self._expr(otherwise), lambda o: self._add(var, o) if o.kind == "method" else None)
        if name in ("get", "pop") and isinstance(node.func, ast.Attribute) and node.args:
            asked = self._key(node.args[0])
            tables = self._expr(node.func.value)
            self._each(tables, lambda o: self._at_key(o, asked, lambda held: self._chosen(held, var)))
        if name in WRAPPERS and node.args and not isinstance(node.args[0], ast.Starred):
            if name in ("reversed", "sorted"):
                self._each(self._expr(node.args[0]), lambda o: self._reordered(node, o, var))
            else:
                self._flow(self._expr(node.args[0]), var)
            if name in ("next",):
                self._elements(self._expr(node.args[0]), var)
        if name in SELF_METHODS and isinstance(node.func, ast.Attribute):
            of_base = called_name(node.func.value) == "super"
            self._each(self._expr(node.func.value), lambda obj: self._given_back(obj, "" if of_base else name, var))
        self._opaque.append((node, var))

    @cached_property
    def makers(self) -> Mapping[ast.AST, Maker]:
        """The functions each call of which gives an optimizer of its own."""
        return makers(self.m)

    def _class_of(self, obj: Obj, var: Var) -> None:
        if obj.kind == "instance":
            assert isinstance(obj.key, ast.ClassDef)
            self._add(var, Obj("class", obj.key, obj.key.name))

    def _derived_from(self, obj: Obj, node: ast.Call, var: Var) -> None:
        """``Callback.__subclasses__()``: those of the program, and theirs, of which one may ask in turn."""
        if obj.kind == "class":
            assert isinstance(obj.key, ast.ClassDef)
            whole = Obj("seq", node, "__subclasses__")
            for one in self._subclasses(obj.key):
                self._add(self._field(whole, ELEMENT_KEY), Obj("class", one, one.name))
            self._add(var, whole)

    def _at_key(self, table: Obj, key: str, then: Callable[[Var], None]) -> None:
        """What a dictionary holds under a key, where either may be any."""

        def of_field(name: str) -> None:
            if key == name or ELEMENT_KEY in (key, name):
                then(("f", table, name))

        if table.kind == "dict":
            self._each_field(table, of_field)

    def _chosen(self, held: Var, var: Var) -> None:
        """``TABLE.get(key)``: a function that a dictionary holds. What else it holds goes by other names."""
        self._each(held, lambda o: self._add(var, o) if o.kind in ("function", "method") else None)

    def _given_back(self, obj: Obj, name: str, var: Var) -> None:
        """A method that gives its object back: torch's; the program's own, such as ``trainer.train``, say what."""
        own: list[ast.AST] = []
        if obj.kind == "instance":
            assert isinstance(obj.key, ast.ClassDef)
            own = self._methods(obj.key, name)
        if not own or any(getattr(one, "decorator_list", []) for one in own):
            self._add(var, obj)

    def _decorate(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A decorator is handed the class, or function: one of a registry keeps it. What it runs around a function is
        another matter (`decorated.py`)."""
        is_class = isinstance(node, ast.ClassDef)
        made = Obj("class" if is_class else "function", node, node.name)

        def of_obj(obj: Obj) -> None:
            callee = self.callee(obj) if obj.kind in ("function", "method") else None
            if not isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return
            receiver = self._has_receiver(obj, callee)
            if not is_class and not gives_back(callee, receiver):
                self._of_wrapped(node, callee)
                return
            scope = self.m.scope_of[callee]
            names = positional_parameters(callee)
            names = names[1 if receiver else 0 :]
            if names:
                self._add(("n", scope, names[0]), made)

        for decorator in node.decorator_list:
            self._each(self._expr(decorator), of_obj)
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                self._each(self._expr(base), lambda o: self._told_of(o, made))

    def _of_wrapped(self, method: ast.AST, decorator: ast.AST) -> None:
        """What a decorator runs around a method is handed its object first."""
        cls = self.m.class_of(self.m.scope_of[method])
        if cls is None or self.m.self_name(self.m.scope_of[method]) is None:
            return
        for inner in walk(decorator):
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner is not decorator:
                for name in positional_parameters(inner)[:1]:
                    for one in (cls, *self._subclasses(cls)):
                        self._add(("n", self.m.scope_of[inner], name), Obj("instance", one, one.name))

    def _told_of(self, base: Obj, made: Obj) -> None:
        """``__init_subclass__(cls)`` of a base is handed each class that is derived from it."""
        if base.kind == "class" and isinstance(base.key, ast.ClassDef):
            for method in self._methods(base.key, "__init_subclass__"):
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    for name in positional_parameters(method)[:1]:
                        self._add(("n", self.m.scope_of[method], name), made)

    @cached_property
    def _has_partials(self) -> bool:
        return bool(self.m.calls("partial"))

    def _map(self, node: ast.Call, var: Var) -> None:
        """``map(f, a, b)``: what ``f`` makes of an element of each."""
        whole = Obj("seq", node, "map")
        met: set[Obj] = set()  # `f = partial(f)` is made of itself

        def of_obj(obj: Obj, ahead: int = 0) -> None:
            if obj.kind == "partial" and isinstance(obj.key, ast.Call) and not ahead and obj not in met:
                filled = len(obj.key.args) - 1
                met.add(obj)
                self._hand_over(obj)
                self._each(self._expr(obj.key.args[0]), lambda one: of_obj(one, filled))
            callee = self.callee(obj) if obj.kind in ("function", "method") else None
            if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                self._mapped.add(callee)
                scope = self.m.scope_of[callee]
                names = positional_parameters(callee)[ahead + (1 if self._has_receiver(obj, callee) else 0) :]
                for name, arg in zip(names, node.args[1:], strict=False):
                    self._elements(self._expr(arg), ("n", scope, name))
                self._flow(("r", callee), self._field(whole, ELEMENT_KEY))

        for arg in node.args:
            self._each(self._expr(arg), of_obj)
        self._add(var, whole)

    # ------------------------------------------------------------ what is called

    def _apply(self, node: ast.Call, var: Var, obj: Obj) -> None:
        if (id(node), obj) in self._bound:
            return
        self._bound.add((id(node), obj))
        match obj.kind:
            case "apex":
                self._apply_apex(node, var, obj.label)
            case "class":
                assert isinstance(obj.key, ast.ClassDef)
                if items_are_attributes(obj.key):
                    self._with_items(node, var, obj.key.name)
                    if has_items_alone(obj.key):
                        return
                made = Obj("instance", obj.key, obj.key.name)
                self._add(var, made)
                init = ("init", obj.key)
                self._member(made, obj.key, "__init__", init)
                self._each(init, lambda m: self._apply(node, ("void",), m))
                if not self._methods(obj.key, "__init__"):
                    self._fill(node, made)
                    behind = ("init", obj.key, "")
                    self._member(made, obj.key, "__post_init__", behind)
                    self._each(behind, lambda m: self._apply(node, ("void",), m))
            case "instance":
                assert isinstance(obj.key, ast.ClassDef)
                for method in ("forward", "__call__"):
                    called: Var = ("called", node, obj.key, method)
                    self._member(obj, obj.key, method, called)
                    self._each(called, lambda m: self._apply(node, var, m))
                self._add(var, Obj("call", node, called_name(node) or "call"))
            case "function" | "method":
                for function in self.functions(obj):
                    self._run_function(node, var, obj, function)
            case "partial":
                assert isinstance(obj.key, ast.Call)
                self._fill_part((obj.key,), node, var)
            case "path" if obj in self._in_lists:
                self._each(self._in_lists[obj], lambda one: self._apply(node, var, one))
            case "path" if is_found(obj):
                self._add(var, Obj("call", node, called_name(node) or "call"))
            case "call" if (one := referred(obj)) is not None:
                self._flow(self._expr(one), var)
            case "call" if (names := tuple_fields(obj)) is not None:
                self._with_fields(node, var, names)
            case _:
                pass

    def _fill_part(self, parts: tuple[ast.Call, ...], node: ast.Call | None, var: Var) -> None:
        """What a partial fills is handed what it holds, as soon as it is known what that is, and what the call hands
        over; ``parts`` are it and the partials that it is one of, without a call where somebody else makes that."""
        self._each(self._expr(parts[0].args[0]), lambda obj: self._run_part(parts, node, var, obj))

    def _run_part(self, parts: tuple[ast.Call, ...], node: ast.Call | None, var: Var, obj: Obj) -> None:
        match obj.kind:
            case "partial" if isinstance(obj.key, ast.Call) and obj.key not in parts:
                self._fill_part((obj.key, *parts), node, var)
            case "instance" if isinstance(obj.key, ast.ClassDef):
                for method in ("forward", "__call__"):
                    called: Var = ("called", parts[0], obj.key, method)
                    self._member(obj, obj.key, method, called)
                    self._each(called, lambda one: self._run_part(parts, node, var, one))
            case "class" if isinstance(obj.key, ast.ClassDef) and node is not None:
                self._add(var, Obj("instance", obj.key, obj.key.name))
                for init in self._methods(obj.key, "__init__"):
                    self.calls[init].append(node)
                    self._bind_parts(parts, node, init, 1)
            case "function" | "method":
                for callee in self.functions(obj):
                    skip = 1 if self._has_receiver(obj, callee) else 0
                    self._bind_parts(parts, node, callee, skip)
                    if skip and not unbound(obj) and (own := self.m.self_name(self.m.scope_of[callee])) is not None:
                        self._add(("n", self.m.scope_of[callee], own), obj.key[0])  # type: ignore[index]
                    if node is not None:
                        self.calls[callee].append(node)
                        self._flow(("r", callee), var)

    def _bind_parts(self, parts: tuple[ast.Call, ...], node: ast.Call | None, callee: ast.AST, skip: int) -> None:
        """``partial(Evaluator, task)(model)``: ``task`` comes first."""
        for part in parts:
            self._bind(part, callee, skip, drop=1)
            skip += len(part.args) - 1
        if node is not None:
            self._bind(node, callee, skip)

    def _run_function(self, node: ast.Call, var: Var, obj: Obj, callee: ast.AST) -> None:
        assert isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        skip = 1 if self._has_receiver(obj, callee) else 0
        by_dataclass = getattr(callee, "name", "") == "__post_init__"  # which keeps the arguments
        # else it would raise: never run, or not this
        if by_dataclass or fits(node, callee.args, positional_parameters(callee)[skip:]):
            self.calls[callee].append(node)
        self._bind(node, callee, skip)
        if obj.kind == "method":
            first = self.m.self_name(self.m.scope_of[callee])
            if first is not None and not unbound(obj):
                self._add(("n", self.m.scope_of[callee], first), obj.key[0])  # type: ignore[index]
        maker = self.makers.get(callee)
        if maker is None:
            self._flow(("r", callee), var)
            return
        made, given = Obj("call", node, maker.label), var
        if maker.rows:
            row = Obj("seq", node, MADE_ROW)
            given = self._field(row, str(maker.at))
            for number, item in ((n, item) for items in maker.rows for n, item in enumerate(items) if n != maker.at):
                self._flow(self._expr(item), self._field(row, str(number)))
            self._add(var, row)
        for one in (given, *map(self._expr, maker.inside)):
            self._add(one, made)

    def _apply_apex(self, node: ast.Call, var: Var, name: str) -> None:
        tail = name.split(".")[-1]
        if tail == "initialize" and name.startswith("apex.amp"):
            models, optimizers = argument(node, 0, "models"), argument(node, 1, "optimizers")
            if models is None:
                return
            if isinstance(models, ast.Attribute):
                self._handed_over.add(self._expr(models))
            if optimizers is None or (isinstance(optimizers, ast.Constant) and optimizers.value is None):
                self._flow(self._expr(models), var)
                return
            pair = Obj("seq", node, "initialized")
            self._flow(self._expr(models), self._field(pair, "0"))
            self._flow(self._expr(optimizers), self._field(pair, "1"))
            self._add(var, pair)
        elif tail in ("DistributedDataParallel", "convert_syncbn_model", "LARC") and node.args:
            self._flow(self._expr(node.args[0]), var)
        else:
            self._add(var, Obj("call", node, tail))

    def _hand_over(self, obj: Obj) -> None:
        """A partial that somebody else will call fills what it fills all the same."""
        if obj.kind == "partial" and isinstance(obj.key, ast.Call):
            self._fill_part((obj.key,), None, ("void",))

    def _has_receiver(self, obj: Obj, callee: ast.AST) -> bool:
        scope = self.m.scope_of[callee]
        if obj.kind != "method" or self.m.class_name(scope) is not None:
            return obj.kind == "method"
        return self.m.self_name(scope) is not None and not unbound(obj)

    def _bind(self, call: ast.Call, callee: ast.AST, skip: int, drop: int = 0) -> None:
        scope = self.m.scope_of[callee]
        assert isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        positional = positional_parameters(callee)[skip:]
        rest = callee.args.vararg
        if not drop and not fits(call, callee.args, positional):
            return  # would raise: a call of something else, or never run
        for number, arg in enumerate(call.args[drop:]):
            if isinstance(arg, ast.Starred):
                if rest is not None:
                    self._add(("n", scope, rest.arg), Obj("seq", rest, rest.arg))
                names: list[Var] = [("n", scope, name) for name in positional[number:]]
                asked = set(positional[number : len(positional) - len(callee.args.defaults)])
                least = 0 if any(k.arg is None for k in call.keywords) else len(asked - {k.arg for k in call.keywords})
                self._in_a_row(call.args[drop + number :], names, max(number - len(positional), 0), rest, least)
                break
            if number < len(positional):
                self._flow(self._expr(arg), ("n", scope, positional[number]))
            elif rest is not None:
                self._flow(self._expr(arg), self._more(rest, number - len(positional)))
                self._add(("n", scope, rest.arg), Obj("seq", rest, rest.arg))
        named = {p.arg for p in (*callee.args.args, *callee.args.kwonlyargs)}
        more = callee.args.kwarg
        if more is not None:
            self._add(("n", scope, more.arg), Obj("dict", more, more.arg))

        def give(name: str, value: Var) -> None:
            if name in named:
                self._flow(value, ("n", scope, name))
            elif more is not None:
                self._flow(value, self._field(Obj("dict", more, more.arg), name))

        for keyword in call.keywords:
            if keyword.arg is not None:
                give(keyword.arg, self._expr(keyword.value))
            else:
                self._each(self._expr(keyword.value), lambda obj: self._spread(obj, give))

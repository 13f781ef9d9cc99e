"""Which objects an expression may hold: a points-to analysis of one module.

Inclusion-based and flow-insensitive (Andersen): every assignment, call, return, attribute and
container lets objects flow from expression to variable. An object is the place that made it: an
unknown call, a class's instance, a function, a parameter nobody in the file fills, a name of Apex.
What two expressions share is what they may share at run time; what they do not share, they do not
(short of ``setattr`` and the like).

Source: L. O. Andersen, Program Analysis and Specialization for the C Programming Language, 1994.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import Any

from ..facts.bound_anew import bound_anew
from ..facts.module import Module
from ..facts.names import called_name, makes_context
from ..facts.scopes import Scope
from ..knowledge.apex import of_apex
from ..nodes import walk
from .absent import arms
from .calls import Calls
from .objects import ELEMENT_KEY, Obj, Var, apex
from .reaching import Reaching
from .replaced import replaced
from .rows import pairs_of
from .wrapped import taken_by_its_maker, unwraps, wraps

MAX_PATH = 3


class Values(Calls):
    """The points-to sets of one module; `of` asks for an expression's."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self._done: set[Var] = set()
        self._asked: dict[ast.AST, frozenset[Obj]] = {}
        self._apex: dict[ast.AST, frozenset[str]] = {}
        self._run: dict[ast.Call, list[ast.AST]] = {}
        self.kept: dict[object, Any] = {}  # what was found out with them, by the function that did, see `facts.once`
        self._settled = False
        self._reaching = Reaching(module)
        self._constrain()
        self._solve()
        self._invent()
        self._forget_how()
        self._settled = True
        for calls in self.calls.values():
            calls.sort(key=position)

    # ------------------------------------------------------------ questions

    def of(self, expr: ast.AST) -> frozenset[Obj]:
        """What ``expr`` may hold."""
        held = self._asked.get(expr)
        if held is None:
            held = frozenset(self._pts.get(("e", expr), ()))
            if self._settled:
                self._asked[expr] = held
        return held

    def variable(self, name: str, scope: Scope) -> frozenset[Obj]:
        """What a name read in ``scope`` may hold."""
        home = self.m.binding_scope(name, scope)
        return frozenset(self._pts.get(("n", home, name), ())) if home else frozenset()

    def apex_names(self, expr: ast.AST) -> frozenset[str]:
        """Dotted names of Apex that ``expr`` may stand for."""
        known = self._apex.get(expr)
        if known is None:
            known = frozenset([o.label for o in self.of(expr) if o.kind == "apex"])
            if self._settled:
                self._apex[expr] = known
        return known

    def callees(self, call: ast.Call) -> list[ast.AST]:
        """Functions of this module that ``call`` may run."""
        known = self._run.get(call)
        if known is None:
            held = self.of(call.func)
            known = sorted({node for obj in held for node in self.functions(obj)}, key=position) if held else []
            if self._settled:  # until then more may come
                self._run[call] = known
        return known

    def has_method(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether a class, or a base of it in this module, defines a method."""
        return bool(self._methods(owner, name))

    def run_by(self, node: ast.AST) -> list[ast.AST]:
        """Functions of this module that a node may run: a call, or what Python calls without one (decorators, the class
        of what is raised, what a loop goes through, what `map` is handed)."""
        match node:
            case ast.Call(func=ast.Name(id="map"), args=args):
                held = [obj for arg in args for obj in self.of(arg) if obj.kind in ("function", "method", "partial")]
            case ast.Call():
                return self.callees(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                held = [obj for decorator in node.decorator_list for obj in self.of(decorator)]
            case ast.Raise(exc=ast.Name() | ast.Attribute() as error):
                held = [obj for obj in self.of(error) if obj.kind == "class"]
            case ast.For(iter=source) | ast.AsyncFor(iter=source) | ast.comprehension(iter=source):
                return sorted({one for obj in self.of(source) for one in self._iterators(obj)}, key=position)
            case _:
                return []
        return sorted({one for obj in held if (one := self.callee(obj)) is not None}, key=position)

    def _iterators(self, obj: Obj) -> Iterator[ast.AST]:
        """``__iter__`` of an object, and ``__next__`` of what that gives back."""
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            return
        for begin in self._methods(obj.key, "__iter__"):
            yield begin
            for given in self._pts.get(("r", begin), ()):
                if given.kind == "instance" and isinstance(given.key, ast.ClassDef):
                    yield from self._methods(given.key, "__next__")

    @cached_property
    def callers(self) -> dict[ast.AST, list[ast.AST]]:
        """For each function of this module, those whose calls may run it (the module itself is one of them)."""
        found: dict[ast.AST, list[ast.AST]] = defaultdict(list)
        for call in self.m.all(ast.Call):
            for callee in self.callees(call):
                found[callee].append(self.m.function(call).node)
        return found

    # ------------------------------------------------------------ what comes from outside

    def _invent(self) -> None:
        """Give a name to what comes from outside: unfilled parameters, attributes nobody sets here."""
        for _ in range(4):
            for node, scope in self.m.scope_of.items():
                if scope.is_function:
                    for name in scope.params:
                        var: Var = ("n", scope, name)
                        if not self._pts[var] and not self.calls[node] and node not in self._mapped:
                            self._add(var, Obj("param", (scope, name), name))
            for call, var in self._opaque:
                if not self._pts[var] and not self.callees(call):
                    self._add(var, Obj("call", call, called_name(call) or "call"))
            grew = bool(self._queue)
            self._solve()
            for base, name, dst, _label in tuple(self._loads):
                if not self._pts[dst] or (dst in self._handed_over and self._only_tables(dst)):
                    for obj in tuple(self._pts[base]):
                        path = self._path(obj, name)
                        if path is not None:
                            self._add(self._field(obj, name), path)
            if not self._queue and not grew:
                return
            self._solve()

    def _only_tables(self, var: Var) -> bool:
        """Whether something holds dictionaries alone. One that Apex is handed as a network is a table to choose from: a
        base class that is not here has put the network in its place (``nn_module = {"resnet": Resnet}``, argus)."""
        return all(obj.kind == "dict" for obj in self._pts[var])

    def _path(self, obj: Obj, name: str) -> Obj | None:
        depth = obj.label.count(".")
        if obj.kind in ("apex", "function", "method", "class", "seq", "dict", "module") or depth >= MAX_PATH:
            return None
        return Obj("path", (obj, name), f"{obj.label}.{name}")

    # ------------------------------------------------------------ statements

    def _constrain(self) -> None:
        for (stmt, name), home in self.m.modules.items():
            self._add(self._name(name, self.m.scope(stmt)), Obj("module", home.node, name))
        for cls in self.m.all(ast.ClassDef):  # ahead of all else, as bases are looked up where methods are
            self._add(self._name(cls.name, self.m.scope(cls)), Obj("class", cls, cls.name))
        for one in self.m.copied:
            self._flow(self._name(one.original, one.source), self._name(one.name, one.scope))
        for node in self.m.nodes:
            if isinstance(node, ast.stmt):
                self._statement(node)
            elif isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
                self._expr(node)

    def _statement(self, node: ast.stmt) -> None:
        scope = self.m.scope(node)
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if bound_anew(self.m, node, alias.asname or alias.name.split(".")[0]):
                        continue
                    if (whole := of_apex(alias.name)) is not None:
                        local = alias.name.split(".")[0]
                        full = whole if alias.asname or local != "apex" else "apex"
                        self._add(self._name(alias.asname or local, scope), apex(full))
            case ast.ImportFrom(module=str() as source, names=names, level=0) if (whole := of_apex(source)) is not None:
                for alias in names:
                    if not bound_anew(self.m, node, alias.asname or alias.name):
                        self._add(self._name(alias.asname or alias.name, scope), apex(f"{whole}.{alias.name}"))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(node, scope)
            case ast.ClassDef():
                self._decorate(node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, self._expr(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._expr(value))
            case ast.AugAssign(target=target, value=value):
                self._assign(target, self._expr(value))
            case ast.For(target=target, iter=source) | ast.AsyncFor(target=target, iter=source):
                self._iterate(target, source)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, self._expr(item.context_expr))
                        self._enter(item.context_expr, item.optional_vars)
            case ast.Return(value=ast.expr() as value):
                self._flow(self._expr(value), ("r", self._owner(node)))
            case _:
                pass

    def _enter(self, context: ast.expr, target: ast.expr) -> None:
        """What a context manager of the program hands out: a generator by its `yield`, an object by `__enter__`."""

        def yielded(obj: Obj) -> None:
            function = self.callee(obj) if obj.kind in ("function", "method") else None
            if isinstance(function, ast.FunctionDef) and makes_context(function):
                for node in walk(function):
                    if isinstance(node, ast.Yield) and node.value is not None:
                        self._assign(target, self._expr(node.value))

        def entered(obj: Obj) -> None:
            owner = obj.key if obj.kind == "instance" else None
            for method in self._methods(owner, "__enter__") if isinstance(owner, ast.ClassDef) else ():
                first = self.m.self_name(self.m.scope_of[method])
                if first is not None:
                    self._add(("n", self.m.scope_of[method], first), obj)
                self._assign(target, ("r", method))

        if isinstance(context, ast.Call):
            self._each(self._expr(context.func), yielded)
        self._each(self._expr(context), entered)

    def _owner(self, node: ast.AST) -> ast.AST:
        scope = self.m.scope(node)
        return scope.node

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        if not replaced(self.m, node):
            self._add(self._name(node.name, scope), Obj("function", node, node.name))
        self._decorate(node)
        own = self.m.scope_of[node]
        first = self.m.self_name(own)
        if first is not None:
            owner = self.m.class_of(own)
            assert owner is not None
            self._add(("n", own, first), Obj("instance", owner, owner.name))
            for sub in self._subclasses(owner):
                self._add(("n", own, first), Obj("instance", sub, sub.name))
        made_by = self.m.class_name(own)
        if made_by is not None:
            owner = self.m.class_of(own)
            assert owner is not None
            for one in (owner, *self._subclasses(owner)):
                self._add(("n", own, made_by), Obj("class", one, one.name))
        for name, default in self._defaults(node.args):
            self._flow(self._expr(default), ("n", own, name))

    def _defaults(self, args: ast.arguments) -> Iterable[tuple[str, ast.expr]]:
        positional = [*args.posonlyargs, *args.args]
        if args.defaults:
            yield from ((p.arg, d) for p, d in zip(positional[-len(args.defaults) :], args.defaults, strict=True))
        yield from ((p.arg, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None)

    def _assign(self, target: ast.expr, src: Var) -> None:
        match target:
            case ast.Name(id=name):
                self._flow(src, self._name(name, self.m.scope(target)))
                self._flow(src, ("e", target))
            case ast.Attribute(value=base, attr=attr):
                self._flow(src, ("e", target))
                self._each(self._expr(base), lambda obj: self._flow(src, self._slot(obj, attr)))
            case ast.Subscript(value=base, slice=index):
                self._flow(src, ("e", target))
                key = self._key(index)
                self._each(self._expr(base), lambda obj: self._flow(src, self._at(obj, self._item(obj, key))))
            case ast.Starred(value=inner):
                self._assign(inner, src)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for number, elt in enumerate(elts):
                    if isinstance(elt, ast.Starred):
                        part: Var = ("u", target, number)
                        self._elements(src, part)
                        whole = Obj("seq", elt, "list")
                        self._flow(part, self._field(whole, ELEMENT_KEY))
                        self._add(("u*", target, number), whole)
                        self._assign(elt.value, ("u*", target, number))
                    else:
                        part = ("u", target, number)
                        self._load(src, str(number), part)
                        self._assign(elt, part)
            case _:
                pass

    # ------------------------------------------------------------ expressions

    def _expr(self, node: ast.expr) -> Var:
        var: Var = ("e", node)
        if var in self._done:
            return var
        self._done.add(var)
        scope = self.m.scope(node)
        match node:
            case ast.Name(id=name) if (given := self._reaching.given(node)) is not None:
                self._flow(("e", given), var)
                if self._reaching.made_of_itself(given):  # code that is not here may hand on what it is handed
                    every = self._name(name, scope)
                    anew = partial(self._reaching.made_anew, given)
                    self._each(("e", given), lambda o: self._flow(every, var) if anew(o) else None)
            case ast.Name(id=name) if made := taken_by_its_maker(self.m, node):
                self._each(self._name(name, scope), lambda o: None if _is_a(o, made) else self._add(var, o))
            case ast.Name(id=name):
                self._flow(self._name(name, scope), var)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[] | [_, _] as given) as base, attr=attr):
                self._expr(base)
                self._super(node, given[:1], attr, var)
            case ast.Attribute(value=base, attr=attr):
                if self.m.dotted and (file := self.m.file_called(node)) is not None:
                    self._add(var, Obj("module", file.node, self.m.src(node)))
                self._attribute(self._expr(base), attr, var)
            case ast.Subscript(value=base, slice=ast.Slice() as cut):
                self._each(self._expr(base), lambda obj: self._slice(node, obj, cut, var))
            case ast.Subscript(value=base, slice=index):  # `list(nets.values())[1]`: any of them
                self._file_as_table(node, var)
                self._found_in(base, index, var)
                self._each(self._expr(base), lambda obj: self._made_item(obj, var))
                self._load(self._expr(base), ELEMENT_KEY if _lists_values(base) else self._key(index), var)
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                whole = Obj("seq", node, "list")
                for number, elt in enumerate(elts):
                    if isinstance(elt, ast.Starred):
                        self._elements(self._expr(elt.value), self._field(whole, ELEMENT_KEY))
                    else:
                        self._put_in(self._expr(elt), self._field(whole, str(number)), elt)
                self._add(var, whole)
            case ast.Dict():
                self._display(node, var)
            case ast.ListComp() | ast.GeneratorExp():
                self._comprehended_row(node, var)
            case ast.DictComp():
                if (pairs := pairs_of(node)) is None or not self._zipped(node, pairs, var):
                    self._comprehended(node, var)
            case ast.IfExp(body=one, orelse=other):
                if unwraps(node):  # of an object that is no wrapper there is no such attribute, and one that is has it
                    self._each(self._expr(one), lambda o: self._add(var, o) if o.kind != "path" else None)
                    self._each(self._expr(other), lambda o: None if wraps(self.m, node, o) else self._add(var, o))
                else:
                    for arm in arms(node):
                        self._flow(self._expr(arm), var)
            case ast.BoolOp(values=values):
                for value in values:
                    self._flow(self._expr(value), var)
            case ast.BinOp(op=ast.Add()) if not isinstance(self.m.parent.get(node), ast.BinOp):
                self._any_list(_summed(node), var)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                self._any_list((left, right), var)
            case ast.NamedExpr(target=target, value=value):
                self._assign(target, self._expr(value))
                self._flow(self._expr(value), var)
            case ast.Await(value=value) | ast.Starred(value=value):
                self._flow(self._expr(value), var)
            case ast.Yield(value=ast.expr() as value):
                self._flow(self._expr(value), self._yielded(node))
            case ast.YieldFrom(value=value):
                self._elements(self._expr(value), self._yielded(node))
            case ast.Lambda(body=body):
                self._flow(self._expr(body), ("r", node))
                self._add(var, Obj("function", node, "lambda"))
            case ast.Call():
                self._call(node, var)
            case _:
                pass
        return var

    def _any_list(self, parts: Iterable[ast.expr], var: Var) -> None:
        """Of lists that are summed or repeated: what any holds."""
        for part in parts:
            self._each(self._expr(part), lambda o: self._add(var, o) if o.kind == "seq" else None)

    def _yielded(self, node: ast.Yield | ast.YieldFrom) -> Var:
        """What a generator gives, item by item: a call of it gives back something that holds them. What a context
        manager yields is what a `with` binds."""
        function = self._owner(node)
        whole = Obj("seq", function, "generator")
        if not makes_context(function):
            self._add(("r", function), whole)
        return self._field(whole, ELEMENT_KEY)


def _lists_values(expr: ast.expr) -> bool:
    """Whether an expression makes a list of what a dictionary holds."""
    match expr:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[ast.Call(func=ast.Attribute(attr="values"), args=[])]):
            return True
        case _:
            return False


def _summed(node: ast.expr) -> list[ast.expr]:
    """The parts of a sum, however many they are."""
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts.append(node.right)
        node = node.left
    return [node, *parts]


def _is_a(obj: Obj, cls: str) -> bool:
    return obj.kind == "instance" and obj.label == cls


def position(node: ast.AST) -> tuple[int, int, int, int]:
    """Where a node stands: calls of one chain begin together."""
    end = (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return (node.lineno, node.col_offset, *end)  # type: ignore[attr-defined]

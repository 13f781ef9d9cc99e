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
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..errors import Tangled
from ..facts.module import Module, Scope
from ..facts.names import called_name, last_name
from ..knowledge.apex import of_apex
from ..nodes import positional_parameters, walk
from .replaced import replaced

Var = tuple[object, ...]

# Calls that hand back their first argument, wrapped or not: what holds for the model holds for these.
WRAPPERS = frozenset(
    "DistributedDataParallel DDP DataParallel DataParallelModel convert_syncbn_model convert_sync_batchnorm "
    "wrap_optimizer BalancedDataParallel MMDataParallel MMDistributedDataParallel compile script unwrap_model "
    "enumerate reversed iter list tuple sorted next cast tqdm trange".split()
)
# Methods and attributes that give the receiver back.
SELF_METHODS = frozenset(
    "cuda to cpu half float double train eval module requires_grad_ share_memory apply values copy".split()
)
FORWARD_HOOK = "register_forward_hook"
NAMESPACES = frozenset("SimpleNamespace Namespace".split())
ELEMENT_KEY = "*"
ITEM_KEY = "[]"  # what an object holds that is a container itself
CONTAINERS = frozenset("list tuple UserList deque".split())
MAX_PATH = 3
MAX_FACTS = 1_000_000  # "this may hold that"; a file of a thousand lines has ten thousand, seldom sixty
MAX_APEX = 8  # parts of a dotted name of Apex; the longest that is in use has five


@dataclass(frozen=True)
class Obj:
    """An abstract object. ``kind`` is one of call, instance, class, function, method, seq, dict,
    partial, apex, param, path, module; ``label`` is what a reader would call it."""

    kind: str
    key: object
    label: str = ""
    _hash: int = field(init=False, repr=False)  # worked out once: keys hold other objects

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.kind, self.key)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Obj) or other._hash != self._hash or other.kind != self.kind:
            return False
        if isinstance(self.key, ast.AST) or isinstance(other.key, ast.AST):
            return self.key is other.key
        return self.key == other.key


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


def _part(whole: Obj, part: str) -> Obj:
    """What an attribute or item of a name of Apex stands for; so deep that Apex has no such name, the same again."""
    return apex(whole.label + part) if whole.label.count(".") + whole.label.count("[") < MAX_APEX else whole


class Values:
    """The points-to sets of one module; `of` asks for an expression's."""

    def __init__(self, module: Module) -> None:
        self.m = module
        self._pts: dict[Var, set[Obj]] = defaultdict(set)
        self._edges: dict[Var, set[Var]] = defaultdict(set)
        self._watch: dict[Var, list[Callable[[Obj], None]]] = defaultdict(list)
        self._queue: deque[tuple[Var, Obj]] = deque()
        self._loads: list[tuple[Var, str, Var, str]] = []
        self._fields: dict[Obj, set[str]] = defaultdict(set)
        self._field_watch: dict[Obj, list[Callable[[str], None]]] = defaultdict(list)
        self._done: set[Var] = set()
        self._bound: set[tuple[int, Obj]] = set()
        self.calls: dict[ast.AST, list[ast.Call]] = defaultdict(list)  # function node -> its call sites
        self._mapped: set[ast.AST] = set()  # functions that `map` calls
        self._opaque: list[tuple[ast.Call, Var]] = []
        self._asked: dict[ast.AST, frozenset[Obj]] = {}
        self._ranks: dict[Obj, tuple[str, ...]] = {}
        self._run: dict[ast.Call, list[ast.AST]] = {}
        self._settled = False
        self._facts = 0
        self._constrain()
        self._solve()
        self._invent()
        self._settled = True
        for calls in self.calls.values():
            calls.sort(key=_position)

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
        return frozenset(o.label for o in self._pts.get(("e", expr), ()) if o.kind == "apex")

    def callees(self, call: ast.Call) -> list[ast.AST]:
        """Functions of this module that ``call`` may run."""
        if call not in self._run or not self._settled:
            found = {node for obj in self.of(call.func) for node in self.functions(obj)}
            self._run[call] = sorted(found, key=_position)
        return self._run[call]

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
                return sorted({one for obj in self.of(source) for one in self._iterators(obj)}, key=_position)
            case _:
                return []
        return sorted({one for obj in held if (one := self.callee(obj)) is not None}, key=_position)

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

    def field(self, obj: Obj, name: str) -> frozenset[Obj]:
        """What attribute or key ``name`` of ``obj`` may hold."""
        return frozenset(self._pts.get(("f", obj, name), ()))

    def attributes(self, obj: Obj) -> set[str]:
        """Attributes and keys that are stored on ``obj`` somewhere in the module."""
        return set(self._fields[obj])

    def is_container(self, obj: Obj) -> bool:
        """Whether an object is of a class of this file that is a list or a tuple."""
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            return False
        return any(last_name(base) in CONTAINERS for cls in self.order(obj.key) for base in cls.bases)

    # ------------------------------------------------------------ solver

    def _add(self, var: Var, obj: Obj) -> None:
        if obj not in self._pts[var]:
            self._pts[var].add(obj)
            self._queue.append((var, obj))
            self._facts += 1
            if self._facts > MAX_FACTS:
                raise Tangled("what its names and attributes may hold has no end in sight")

    def _flow(self, src: Var, dst: Var) -> None:
        if src != dst and dst not in self._edges[src]:
            self._edges[src].add(dst)
            for obj in tuple(self._pts[src]):
                self._add(dst, obj)

    def _each(self, var: Var, do: Callable[[Obj], None]) -> None:
        self._watch[var].append(do)
        for obj in tuple(self._pts[var]):
            do(obj)

    def _solve(self) -> None:
        while self._queue:
            var, obj = self._queue.popleft()
            for dst in tuple(self._edges[var]):
                self._add(dst, obj)
            for do in tuple(self._watch[var]):
                do(obj)

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
                if not self._pts[dst]:
                    for obj in tuple(self._pts[base]):
                        path = self._path(obj, name)
                        if path is not None:
                            self._add(self._field(obj, name), path)
            if not self._queue and not grew:
                return
            self._solve()

    def _path(self, obj: Obj, name: str) -> Obj | None:
        depth = obj.label.count(".")
        if obj.kind in ("apex", "function", "method", "class", "seq", "dict", "module") or depth >= MAX_PATH:
            return None
        return Obj("path", (obj, name), f"{obj.label}.{name}")

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

    def _elements(self, src: Var, dst: Var) -> None:
        """Everything a container may hold flows to ``dst``."""

        def of_obj(obj: Obj) -> None:
            if obj.kind == "apex":
                self._add(dst, _part(obj, "[]"))
            elif self.is_container(obj):
                self._flow(("f", obj, ITEM_KEY), dst)
            elif obj.kind in ("seq", "dict", "call", "param", "path"):
                self._each_field(obj, lambda name: self._flow(("f", obj, name), dst))
                if obj.kind in ("call", "param", "path"):
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

    # ------------------------------------------------------------ constraints

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
                    if (whole := of_apex(alias.name)) is not None:
                        local = alias.name.split(".")[0]
                        full = whole if alias.asname or local != "apex" else "apex"
                        self._add(self._name(alias.asname or local, scope), apex(full))
            case ast.ImportFrom(module=str() as source, names=names, level=0) if (whole := of_apex(source)) is not None:
                for alias in names:
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
            if isinstance(function, ast.FunctionDef) and any(map(_makes_context, function.decorator_list)):
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
                self._each(self._expr(base), lambda obj: self._flow(src, self._field(obj, self._item(obj, key))))
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

    def _load(self, base: Var, key: str, dst: Var) -> None:
        """``dst`` takes item ``key`` of what ``base`` holds."""

        def of_obj(obj: Obj) -> None:
            if obj.kind == "apex":
                self._add(dst, _part(obj, "[]"))
            elif self.is_container(obj):
                self._flow(("f", obj, ITEM_KEY), dst)
            elif key == ELEMENT_KEY:
                self._each_field(obj, lambda name: self._flow(("f", obj, name), dst))
            elif obj.kind == "seq" and isinstance(obj.key, (ast.Tuple, ast.List)):
                self._flow(self._field(obj, key), dst)
                self._flow(self._field(obj, ELEMENT_KEY), dst)
            else:
                self._flow(("f", obj, key), dst)
                self._flow(("f", obj, ELEMENT_KEY), dst)

        self._each(base, of_obj)
        self._loads.append((base, key, dst, ""))

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
                return
        self._into(target, src)

    def _into(self, target: ast.expr, container: Var) -> None:
        element: Var = ("i", target)
        self._elements(container, element)
        self._assign(target, element)

    # ------------------------------------------------------------ expressions

    def _expr(self, node: ast.expr) -> Var:
        var: Var = ("e", node)
        if var in self._done:
            return var
        self._done.add(var)
        scope = self.m.scope(node)
        match node:
            case ast.Name(id=name):
                self._flow(self._name(name, scope), var)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[] | [_, _] as given) as base, attr=attr):
                self._expr(base)
                self._super(node, given[:1], attr, var)
            case ast.Attribute(value=base, attr=attr):
                self._attribute(self._expr(base), attr, var)
            case ast.Subscript(value=base, slice=ast.Slice() as cut):
                self._each(self._expr(base), lambda obj: self._slice(node, obj, cut, var))
            case ast.Subscript(value=base, slice=index):
                self._load(self._expr(base), self._key(index), var)
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                whole = Obj("seq", node, "list")
                for number, elt in enumerate(elts):
                    if isinstance(elt, ast.Starred):
                        self._elements(self._expr(elt.value), self._field(whole, ELEMENT_KEY))
                    else:
                        self._flow(self._expr(elt), self._field(whole, str(number)))
                self._add(var, whole)
            case ast.Dict(keys=keys, values=values):
                whole = Obj("dict", node, "dict")
                for key, value in zip(keys, values, strict=True):
                    name = self._key(key) if key is not None else ELEMENT_KEY
                    self._flow(self._expr(value), self._field(whole, name))
                self._add(var, whole)
            case ast.ListComp(elt=elt, generators=gens) | ast.GeneratorExp(elt=elt, generators=gens):
                for gen in gens:
                    self._iterate(gen.target, gen.iter)
                whole = Obj("seq", node, "list")
                self._flow(self._expr(elt), self._field(whole, ELEMENT_KEY))
                self._add(var, whole)
            case ast.DictComp(value=value, generators=gens):
                for gen in gens:
                    self._iterate(gen.target, gen.iter)
                whole = Obj("dict", node, "dict")
                self._flow(self._expr(value), self._field(whole, ELEMENT_KEY))
                self._add(var, whole)
            case ast.IfExp(body=one, orelse=other):
                self._flow(self._expr(one), var)
                self._flow(self._expr(other), var)
            case ast.BoolOp(values=values):
                for value in values:
                    self._flow(self._expr(value), var)
            case ast.BinOp(op=ast.Add()) if not isinstance(self.m.parent.get(node), ast.BinOp):
                for part in _summed(node):  # of lists: what any holds
                    self._each(self._expr(part), lambda o: self._add(var, o) if o.kind == "seq" else None)
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

    def _yielded(self, node: ast.Yield | ast.YieldFrom) -> Var:
        """What a generator gives, item by item: a call of it gives back something that holds them. What a context
        manager yields is what a `with` binds."""
        function = self._owner(node)
        whole = Obj("seq", function, "generator")
        if not any(map(_makes_context, getattr(function, "decorator_list", ()))):
            self._add(("r", function), whole)
        return self._field(whole, ELEMENT_KEY)

    def _attribute(self, base: Var, attr: str, dst: Var) -> None:
        def of_obj(obj: Obj) -> None:
            match obj.kind:
                case "apex":
                    self._add(dst, _part(obj, f".{attr}"))
                case "module":
                    self._flow(self._global(obj, attr), dst)
                case "instance" | "class":
                    assert isinstance(obj.key, ast.ClassDef)
                    self._flow(("f", obj, attr), dst)
                    for name in self._patterns:
                        if _meet(name, attr):
                            self._flow(("f", obj, name), dst)
                    self._member(obj, obj.key, attr, dst)
                case _:
                    if attr in SELF_METHODS and obj.kind in ("call", "param", "path"):
                        self._add(dst, obj)  # `model.cuda` called gives the model; `ddp.module` is it
                    self._flow(("f", obj, attr), dst)

        self._each(base, of_obj)
        self._loads.append((base, attr, dst, ""))

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

    @cached_property
    def _patterns(self) -> list[str]:
        """Names of attributes of which only a part is written: ``setattr(self, "net" + name, …)``."""
        calls = [n for n in self.m.all(ast.Call) if called_name(n) == "setattr" and len(n.args) == 3]
        names = {key for call in calls for key in listed_names(self.m, call.args[1])}
        return [ELEMENT_KEY, *sorted(name for name in names if ELEMENT_KEY in name and name != ELEMENT_KEY)]

    def _super(self, node: ast.AST, given: Sequence[ast.expr], attr: str, dst: Var) -> None:
        """What ``super().attr`` is: the next class behind this one, in the order of each instance's own class; of
        ``super(Base, self).attr``, which names the class, behind that one."""
        scope = self.m.function(node)
        cls, first = self.m.class_of(scope), self.m.self_name(scope)
        if cls is None or first is None:
            return
        named = {one.id for one in given if isinstance(one, ast.Name)}

        def of_obj(obj: Obj) -> None:
            if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
                return
            self._flow(("f", obj, attr), dst)
            order = self.order(obj.key)
            begin = next((c for c in order if c.name in named), cls) if cls.name not in named else cls
            for after in order[order.index(begin) + 1 :] if begin in order else []:
                if self._defines(after, attr):
                    self._member(obj, after, attr, dst)
                    return

        self._each(("n", scope, first), of_obj)

    def order(self, cls: ast.ClassDef, below: tuple[ast.ClassDef, ...] = ()) -> list[ast.ClassDef]:
        """A class and its bases in this module, each behind all that inherit from it; ``below`` are those that a base
        is looked up for: two classes of one name may seem to inherit from each other."""
        found = [cls]
        for base in cls.bases:
            for held in tuple(self._pts[self._expr(base)]):
                if held.kind == "class" and isinstance(held.key, ast.ClassDef) and held.key not in (cls, *below):
                    inner = self.order(held.key, (cls, *below))
                    found = [c for c in found if c not in inner] + inner
        return found

    def _defines(self, cls: ast.ClassDef, attr: str) -> bool:
        return attr in self.m.scope_of[cls].names

    def _member(self, obj: Obj, owner: ast.ClassDef, attr: str, dst: Var, below: tuple[ast.ClassDef, ...] = ()) -> None:
        """A method or class attribute, looked up through the bases that stand in this module: that of the first class
        in Python's order which has it, where each base can be only one."""
        line = None if below or self._owns(owner, attr) else self._line(owner)
        if line is not None:
            first = next((cls for cls in line if self._owns(cls, attr)), None)
            if first is not None:
                self._member(obj, first, attr, dst)
            return
        node = self.m.method(owner, attr)
        if node is not None:
            if any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list):
                self._flow(("r", node), dst)
            else:
                self._add(dst, Obj("method", (obj, node), attr))
            return
        scope = self.m.scope_of[owner]
        if attr in scope.names:
            self._flow(("n", scope, attr), dst)
        for base in owner.bases:
            if isinstance(base, (ast.Name, ast.Attribute)):
                own = self._name(base.id, self.m.scope(owner)) if isinstance(base, ast.Name) else self._expr(base)
                for held in tuple(self._pts[own]):
                    if held.kind == "class" and isinstance(held.key, ast.ClassDef):
                        if held.key not in (owner, *below):
                            self._member(obj, held.key, attr, dst, (owner, *below))

    def _owns(self, cls: ast.ClassDef, attr: str) -> bool:
        return self.m.method(cls, attr) is not None or attr in self.m.scope_of[cls].names

    def _line(self, cls: ast.ClassDef) -> list[ast.ClassDef] | None:
        """A class and those of this module that it inherits from, in order; None where a base may be one of several."""
        line = self.order(cls)
        for one in line:
            for base in one.bases:
                own = self._name(base.id, self.m.scope(one)) if isinstance(base, ast.Name) else self._expr(base)
                if sum(held.kind == "class" for held in self._pts[own]) > 1:
                    return None
        return line

    # ------------------------------------------------------------ calls

    def callee(self, obj: Obj) -> ast.AST | None:
        """The first of the `functions` that calling ``obj`` may run; None if none is here."""
        return next(iter(self.functions(obj)), None)

    def functions(self, obj: Obj) -> list[ast.AST]:
        """The functions of this program that calling ``obj`` may run: itself, constructors, a ``forward``. It is more
        than one where several classes may be a base of its class."""
        match obj.kind:
            case "function":
                return [obj.key] if isinstance(obj.key, ast.AST) else []
            case "method":
                return [obj.key[1]]  # type: ignore[index]
            case "class":
                assert isinstance(obj.key, ast.ClassDef)
                return self._methods(obj.key, "__init__")
            case "instance":
                assert isinstance(obj.key, ast.ClassDef)
                return self._methods(obj.key, "forward", "__call__")
            case "partial":
                filled = {node for o in self._filled(obj) if o.kind != "partial" for node in self.functions(o)}
                return self.m.in_order(filled)[:1]
            case _:
                return []

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

    def property_of(self, owner: ast.ClassDef, name: str) -> ast.AST | None:
        """The function that reading an attribute of an instance runs, where a property of that name stands here."""
        found = next(iter(self._methods(owner, name)), None)
        decorators = getattr(found, "decorator_list", [])
        return found if any(isinstance(d, ast.Name) and d.id == "property" for d in decorators) else None

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
        if name == "zip" and isinstance(node.func, ast.Name):
            self._zip(node, var)
            return
        if name == "map" and isinstance(node.func, ast.Name):
            self._map(node, var)
            return
        if (dotted := by_name(node)) is not None:
            self._add(var, apex(dotted))
            return
        if name in ("dict", "OrderedDict") and node.keywords and not node.args:
            self._record(node, var)
            return
        if name in NAMESPACES and node.keywords and not node.args:
            self._with_fields(node, var, [])
            return
        if name == "partial" and node.args:
            self._add(var, Obj("partial", node, "partial"))
            return
        if self._has_partials:
            for handed in (*node.args, *(k.value for k in node.keywords)):
                self._each(self._expr(handed), self._hand_over)
        if name in ("append", "add", "insert", "setdefault") and isinstance(node.func, ast.Attribute) and node.args:
            value = self._expr(node.args[-1])
            self._each(self._expr(node.func.value), lambda o: self._flow(value, self._field(o, self._item(o))))
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
            for key in listed_names(self.m, node.args[1]):
                self._set_attribute(self._expr(node.args[0]), key, self._expr(node.args[2]))
        if name == "getattr" and len(node.args) >= 2:
            for key in listed_names(self.m, node.args[1]):
                self._get_attribute(self._expr(node.args[0]), key, var)
        if name in WRAPPERS and node.args and not isinstance(node.args[0], ast.Starred):
            self._flow(self._expr(node.args[0]), var)
            if name in ("next",):
                self._elements(self._expr(node.args[0]), var)
        if name in SELF_METHODS and isinstance(node.func, ast.Attribute):
            of_base = called_name(node.func.value) == "super"
            self._each(self._expr(node.func.value), lambda obj: self._given_back(obj, "" if of_base else name, var))
        self._opaque.append((node, var))

    def _given_back(self, obj: Obj, name: str, var: Var) -> None:
        """A method that gives its object back: torch's; the program's own, such as ``trainer.train``, say what."""
        own: list[ast.AST] = []
        if obj.kind == "instance":
            assert isinstance(obj.key, ast.ClassDef)
            own = self._methods(obj.key, name)
        if not own or any(getattr(one, "decorator_list", []) for one in own):
            self._add(var, obj)

    def _updated(self, target: Var, node: ast.Call) -> None:
        """``d.update({"a": x}, b=y)``: what a dictionary takes over from another."""

        def of_obj(obj: Obj) -> None:
            if obj.kind == "dict":
                for arg in node.args[:1]:
                    self._each(self._expr(arg), lambda held: self._spread(held, give(obj)))
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        give(obj)(keyword.arg, self._expr(keyword.value))

        def give(obj: Obj) -> Callable[[str, Var], None]:
            return lambda name, value: self._flow(value, self._field(obj, name))

        self._each(target, of_obj)

    def _update(self, target: ast.expr, source: ast.expr) -> None:
        """``self.__dict__.update(kwargs)``: attributes by the names of a dictionary."""
        if not isinstance(target, ast.Attribute) or target.attr != "__dict__":
            return
        given, owner = self._expr(source), self._expr(target.value)

        def give(obj: Obj, held: Obj) -> None:
            self._spread(held, lambda name, var: self._flow(var, self._field(obj, name)))

        self._each(owner, lambda obj: self._each(given, lambda held: give(obj, held)))

    def _set_attribute(self, base: Var, key: str, value: Var) -> None:
        """``setattr`` with a name, or with a pattern of names."""
        self._each(base, lambda o: self._flow(value, self._field(o, key)))

    def _get_attribute(self, base: Var, key: str, dst: Var) -> None:
        """``getattr`` with a name, or with a pattern of names."""
        if ELEMENT_KEY not in key:
            self._attribute(base, key, dst)
        else:
            self._each(base, lambda o: self._some_attribute(o, key, dst))

    def _some_attribute(self, obj: Obj, pattern: str, dst: Var) -> None:
        """``getattr(obj, "net" + name)``: an attribute that may be meant, or a method by a name that this file spells.

        A method that it does not spell is called by others, if by anyone."""
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            return
        self._each_field(obj, lambda name: self._flow(("f", obj, name), dst) if _meet(name, pattern) else None)
        before, _, after = pattern.partition(ELEMENT_KEY)
        for owner in self.order(obj.key):
            for stmt in owner.body:
                if not isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                name = stmt.name
                inner = name[len(before) : len(name) - len(after)]
                spelled = name.startswith(before) and name.endswith(after) and inner in self._spelled
                if spelled and not (name.startswith("__") and name.endswith("__")):
                    self._member(obj, obj.key, name, dst)

    @cached_property
    def _spelled(self) -> set[str]:
        """All strings of the module that could be a part of a name."""
        return {n.value for n in self.m.all(ast.Constant) if isinstance(n.value, str) and f"_{n.value}".isidentifier()}

    def _decorate(self, node: ast.ClassDef) -> None:
        """A decorator is handed the class: one of a registry keeps it."""
        made = Obj("class", node, node.name)

        def of_obj(obj: Obj) -> None:
            callee = self.callee(obj) if obj.kind in ("function", "method") else None
            if not isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return
            scope = self.m.scope_of[callee]
            names = positional_parameters(callee)
            names = names[1 if self._has_receiver(obj, callee) else 0 :]
            if names:
                self._add(("n", scope, names[0]), made)

        for decorator in node.decorator_list:
            self._each(self._expr(decorator), of_obj)

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

    def _with_fields(self, node: ast.Call, var: Var, names: Sequence[str]) -> None:
        """An object that is made of its fields: ``SimpleNamespace(net=net)``, ``Pair(net, x)`` of a ``namedtuple``."""
        made = Obj("call", node, called_name(node))
        given = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords if k.arg is not None)]
        for name, value in given:
            self._flow(self._expr(value), self._field(made, name))
        self._add(var, made)

    @cached_property
    def _has_partials(self) -> bool:
        return bool(self.m.calls("partial"))

    def _map(self, node: ast.Call, var: Var) -> None:
        """``map(f, a, b)``: what ``f`` makes of an element of each."""
        whole = Obj("seq", node, "map")

        def of_obj(obj: Obj) -> None:
            callee = self.callee(obj) if obj.kind in ("function", "method") else None
            if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                self._mapped.add(callee)
                scope = self.m.scope_of[callee]
                names = positional_parameters(callee)
                for name, arg in zip(names[1 if self._has_receiver(obj, callee) else 0 :], node.args[1:], strict=False):
                    self._elements(self._expr(arg), ("n", scope, name))
                self._flow(("r", callee), self._field(whole, ELEMENT_KEY))

        for arg in node.args:
            self._each(self._expr(arg), of_obj)
        self._add(var, whole)

    def _record(self, node: ast.Call, var: Var) -> None:
        """``dict(a=x, **more)`` is ``{"a": x, **more}``."""
        whole = Obj("dict", node, "dict")

        def give(name: str, value: Var) -> None:
            self._flow(value, self._field(whole, name))

        for keyword in node.keywords:
            if keyword.arg is not None:
                give(keyword.arg, self._expr(keyword.value))
            else:
                self._each(self._expr(keyword.value), lambda obj: self._spread(obj, give))
        self._add(var, whole)

    def _apply(self, node: ast.Call, var: Var, obj: Obj) -> None:
        if (id(node), obj) in self._bound:
            return
        self._bound.add((id(node), obj))
        match obj.kind:
            case "apex":
                self._apply_apex(node, var, obj.label)
            case "class":
                assert isinstance(obj.key, ast.ClassDef)
                made = Obj("instance", obj.key, obj.key.name)
                self._add(var, made)
                init = ("init", obj.key)
                self._member(made, obj.key, "__init__", init)
                self._each(init, lambda m: self._apply(node, ("void",), m))
                if not self._methods(obj.key, "__init__"):
                    self._fill(node, made)
            case "instance":
                assert isinstance(obj.key, ast.ClassDef)
                for method in ("forward", "__call__"):
                    called: Var = ("called", node, obj.key, method)
                    self._member(obj, obj.key, method, called)
                    self._each(called, lambda m: self._apply(node, var, m))
                self._add(var, Obj("call", node, called_name(node) or "call"))
            case "function" | "method":
                callee = self.callee(obj)
                assert isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                skip = 1 if self._has_receiver(obj, callee) else 0
                # else it would raise: never run, or not this
                if _fits(node, callee.args, positional_parameters(callee)[skip:]):
                    self.calls[callee].append(node)
                self._bind(node, callee, skip)
                if obj.kind == "method":
                    first = self.m.self_name(self.m.scope_of[callee])
                    if first is not None and not unbound(obj):
                        self._add(("n", self.m.scope_of[callee], first), obj.key[0])  # type: ignore[index]
                self._flow(("r", callee), var)
            case "partial":
                assert isinstance(obj.key, ast.Call)
                part = obj.key
                callee = self.callee(obj)
                if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                    self.calls[callee].append(node)
                    self._bind(part, callee, skip=0, drop=1)
                    self._bind(node, callee, skip=len(part.args) - 1)
                    self._flow(("r", callee), var)
            case "call" if (names := tuple_fields(obj)) is not None:
                self._with_fields(node, var, names)
            case _:
                pass

    def _hand_over(self, obj: Obj) -> None:
        """A partial that somebody else will call fills what it fills all the same."""
        callee = self.callee(obj) if obj.kind == "partial" else None
        if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            assert isinstance(obj.key, ast.Call)
            self._bind(obj.key, callee, skip=0, drop=1)

    def _fill(self, call: ast.Call, made: Obj) -> None:
        """A class without constructor here (a dataclass, a NamedTuple): arguments fill the fields it declares; or a
        list of the file's own, which takes its items."""
        assert isinstance(made.key, ast.ClassDef)
        if self.is_container(made):
            for arg in call.args[:1]:
                self._elements(self._expr(arg), self._field(made, ITEM_KEY))
            return
        declared = self.declared(made.key)
        for name, arg in zip(declared, call.args, strict=False):
            self._flow(self._expr(arg), self._field(made, name))
        for keyword in call.keywords:
            if keyword.arg in declared:
                self._flow(self._expr(keyword.value), self._field(made, keyword.arg))

    def declared(self, cls: ast.ClassDef) -> list[str]:
        """The fields that a dataclass or a NamedTuple declares, in order."""
        return [n.target.id for n in cls.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]

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

    def _item(self, obj: Obj, key: str = ELEMENT_KEY) -> str:
        return ITEM_KEY if self.is_container(obj) else key

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
        if not drop and not _fits(call, callee.args, positional):
            return  # would raise: a call of something else, or never run
        for number, arg in enumerate(call.args[drop:]):
            if isinstance(arg, ast.Starred):
                for name in positional[number:]:
                    self._elements(self._expr(arg.value), ("n", scope, name))
                if rest is not None:
                    whole = Obj("seq", rest, rest.arg)
                    self._elements(self._expr(arg.value), self._field(whole, ELEMENT_KEY))
                    self._add(("n", scope, rest.arg), whole)
                break
            if number < len(positional):
                self._flow(self._expr(arg), ("n", scope, positional[number]))
            elif rest is not None:
                whole = Obj("seq", rest, rest.arg)
                self._flow(self._expr(arg), self._field(whole, ELEMENT_KEY))
                self._add(("n", scope, rest.arg), whole)
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

    def _spread(self, obj: Obj, give: Callable[[str, Var], None]) -> None:
        """The items of a dictionary that a call is handed by ``**``."""
        if obj.kind == "dict":
            self._each_field(obj, lambda name: give(name, ("f", obj, name)))

    def _apply_apex(self, node: ast.Call, var: Var, name: str) -> None:
        tail = name.split(".")[-1]
        if tail == "initialize" and name.startswith("apex.amp"):
            models, optimizers = argument(node, 0, "models"), argument(node, 1, "optimizers")
            if models is None:
                return
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


def _bound(bound: ast.expr | None, default: int) -> int | None:
    """Where a slice begins or ends, counted from the beginning; None where that is not written."""
    if bound is None:
        return default
    known = isinstance(bound, ast.Constant) and isinstance(bound.value, int)
    return bound.value if known else None  # type: ignore[attr-defined]


def _makes_context(decorator: ast.expr) -> bool:
    return last_name(decorator) in ("contextmanager", "asynccontextmanager")


def _summed(node: ast.expr) -> list[ast.expr]:
    """The parts of a sum, however many they are."""
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts.append(node.right)
        node = node.left
    return [node, *parts]


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """The argument a call gives for a parameter, by position or by name; None where it gives none."""
    if position < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return call.args[position]
    return next((k.value for k in call.keywords if k.arg == name), None)


def default_of(function: ast.AST, name: str) -> ast.expr | None:
    """What a parameter is where nobody hands it anything; None where it has to be handed."""
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(reversed(positional), reversed(args.defaults), strict=False)]
    pairs += [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    return next((default for parameter, default in pairs if parameter.arg == name), None)


def unbound(obj: Obj) -> bool:
    """Whether a method was taken from its class: ``Base.__init__(self, x)``."""
    return obj.kind == "method" and obj.key[0].kind == "class"  # type: ignore[index]


def _fits(call: ast.Call, args: ast.arguments, positional: list[str]) -> bool:
    """Whether a call's arguments fill a function's parameters."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return True
    if len(call.args) > len(positional) and args.vararg is None:
        return False
    filled = {*positional[: len(call.args)], *(k.arg for k in call.keywords)}
    required = positional[: len(positional) - len(args.defaults)] if args.defaults else positional
    return all(name in filled for name in required)


def _position(node: ast.AST) -> tuple[int, int, int, int]:
    """Where a node stands: calls of one chain begin together."""
    end = (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return (node.lineno, node.col_offset, *end)  # type: ignore[attr-defined]


def listed_names(m: Module, expr: ast.expr) -> list[str]:
    """The names that ``setattr`` or ``getattr`` may be handed, as far as they are written.

    ``for name in self.model_names`` goes through those of a list that stands in the file, and is nowhere changed;
    ``random.choice(names)`` is one of a list."""
    if (item := _item_of(m, expr)) is not None:
        made = _given_once(m, item)
        if isinstance(made, (ast.ListComp, ast.GeneratorExp)):
            return [attribute_name(made.elt)]
        return (_listed(m, made) if isinstance(made, (ast.List, ast.Tuple)) else None) or [ELEMENT_KEY]
    if isinstance(expr, ast.Name) and (source := _loop_over(m, expr)) is not None:
        if (listed := _listed(m, source)) is not None:
            return listed
    return [attribute_name(expr)]


def _item_of(m: Module, expr: ast.expr) -> ast.expr | None:
    """What an expression is one item of: ``random.choice(names)``, ``names[at]``, or a name for one."""
    match _given_once(m, expr):
        case ast.Call(func=ast.Attribute(attr="choice"), args=[whole], keywords=[]):
            return whole
        case ast.Subscript(value=ast.Name() as whole, slice=index) if not isinstance(index, (ast.Slice, ast.Constant)):
            return whole
        case _:
            return None


def _given_once(m: Module, expr: ast.expr) -> ast.expr:
    """The value of a local name that gets one, and that nothing but the place asked about reads; else what is asked."""
    scope = m.binding_scope(expr.id, m.scope(expr)) if isinstance(expr, ast.Name) else None
    if not isinstance(expr, ast.Name) or scope is None or not scope.is_function or expr.id in scope.params:
        return expr
    uses = [n for n in m.all(ast.Name) if n.id == expr.id and m.binding_scope(n.id, m.scope(n)) is scope]
    stored = [n for n in uses if isinstance(n.ctx, ast.Store)]
    above = m.parent[stored[0]] if len(stored) == 1 and len(uses) == 2 else None
    plain = isinstance(above, ast.Assign) and above.targets == stored
    return above.value if plain and isinstance(above, ast.Assign) else expr


def _loop_over(m: Module, name: ast.Name) -> ast.expr | None:
    """What the only loop, or the comprehension, goes over that gives ``name`` its value."""
    for outer in m.ancestors(name):
        for one in getattr(outer, "generators", ()):
            if isinstance(one.target, ast.Name) and one.target.id == name.id:
                return one.iter  # type: ignore[no-any-return]
        if isinstance(outer, ast.For) and isinstance(outer.target, ast.Name) and outer.target.id == name.id:
            stored = [n for n in walk(outer) if isinstance(n, ast.Name) and n.id == name.id]
            return outer.iter if sum(isinstance(n.ctx, ast.Store) for n in stored) == 1 else None
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
    return None


def _listed(m: Module, expr: ast.expr) -> list[str] | None:
    """The strings of a list: one that is written here, or an attribute that only ever holds lists that are."""
    if isinstance(expr, (ast.List, ast.Tuple)):
        texts = [e.value for e in expr.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        plain = len(texts) == len(expr.elts) and not any(ELEMENT_KEY in text for text in texts)
        return texts if plain else None
    if not isinstance(expr, ast.Attribute):
        return None
    found: list[str] = []
    for use in m.all(ast.Attribute):
        if use.attr != expr.attr:
            continue
        above = m.parent[use]
        if isinstance(use.ctx, ast.Load):
            if isinstance(above, (ast.For, ast.comprehension)) and above.iter is use:
                continue  # it is only gone through
            return None
        if not isinstance(above, ast.Assign) or len(above.targets) != 1 or isinstance(above.value, ast.Attribute):
            return None
        listed = _listed(m, above.value)
        if listed is None:
            return None
        found += listed
    return sorted(set(found)) or None


def attribute_name(expr: ast.expr) -> str:
    """The name of an attribute that ``setattr`` or ``getattr`` is handed: a ``*`` stands for what is not written."""
    parts = _written(expr)
    if None not in parts:
        return "".join(part or "" for part in parts)
    first, last = parts.index(None), parts[::-1].index(None)
    ahead, behind = parts[:first], parts[len(parts) - last :]
    return "".join(p or "" for p in ahead) + ELEMENT_KEY + "".join(p or "" for p in behind)


def _written(expr: ast.expr) -> list[str | None]:
    """The parts of a text, None for what is not known."""
    match expr:
        case ast.Constant(value=str(text)) if ELEMENT_KEY not in text:
            return [text]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_written(left), *_written(right)]
        case ast.JoinedStr(values=values):
            return [part for value in values for part in _written(value)]
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return _around(re.split(r"%[^a-zA-Z%]*[a-zA-Z%]", text))
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return _around(re.split(r"{[^}]*}", text))
        case _:
            return [None]


def _around(texts: list[str]) -> list[str | None]:
    """Texts with something that is not known between them."""
    return [part for text in texts for part in (text, None)][:-1]


def _meet(one: str, other: str) -> bool:
    """Whether two names, of which a ``*`` may stand for a part, may be the same."""
    (start, star, end), (begin, also, rest) = one.partition(ELEMENT_KEY), other.partition(ELEMENT_KEY)
    if star and also:
        return _either(str.startswith, start, begin) and _either(str.endswith, end, rest)
    if not star and not also:
        return one == other
    (ahead, behind), name = ((start, end), other) if star else ((begin, rest), one)
    return len(name) >= len(ahead) + len(behind) and name.startswith(ahead) and name.endswith(behind)


def _either(holds: Callable[[str, str], bool], one: str, other: str) -> bool:
    return holds(one, other) or holds(other, one)

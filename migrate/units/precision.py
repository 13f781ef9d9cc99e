"""Which tensors leave a unit's autocast regions in half precision: an abstract interpreter over names.

Every expression gets a set of facts about what it may hold (`halves.py`). Statements are run in order, branches
joined, loops run until nothing changes, functions of the module entered with their arguments, also those that
somebody else calls with what he is handed (`map(f, xs)`). A fact that is not proved makes a value OTHER or MAYBE, never
HALF alone.

Source: ATen/autocast_mode.h and apex/amp/lists at tag 25.05 for what is cast where; P. and R. Cousot,
Abstract Interpretation, 1977.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from ..facts.module import FunctionNode, Scope
from ..facts.names import called_name, last_name
from ..facts.networks import gives_several, handed_elsewhere
from ..flow.values import FORWARD_HOOK, NAMESPACES, Obj, Values, tuple_fields
from ..knowledge import operations
from ..knowledge.models import FORWARDING
from ..knowledge.results import loss
from ..nodes import children, positional_parameters, walk
from . import operands
from .compute import Compute
from .contents import arithmetic, converted, dictionary, facts_of, item_of, nested, part_of, with_item
from .doubles import made_double
from .halves import DOUBLE, FLOAT, HALF, MAYBE, NOTHING, OTHER, Value, join, joined, many, of, proved, record
from .kept import Kept
from .translate import partial_of, passed, receiver
from .unit import Context, Unit

MAX_DEPTH = 5
_EMPTY = frozenset("list dict set deque OrderedDict".split())  # what they make holds nothing yet
MAX_ROUNDS = 4  # in which what one function leaves behind reaches another


_Env = dict[str, Value]


def _merge(one: _Env | None, other: _Env | None) -> _Env | None:
    if one is None or other is None:
        return one if other is None else other
    return {k: join(one.get(k, NOTHING), other.get(k, NOTHING)) for k in {**one, **other}}


@dataclass
class _Frame:
    """One function being run: what it returns, where its loops are left, whether all of it is under autocast."""

    dynamic: bool
    depth: int
    returned: Value = NOTHING
    yielded: Value | None = None  # what a generator hands out
    leaves: list[list[_Env]] = field(default_factory=list)


class Casts(Protocol):
    """Where autocast is on: the plan of the unit knows."""

    def autocast(self, node: ast.AST) -> bool:
        """Whether ``node`` surely runs under autocast."""

    def covered(self, scope: Scope) -> bool:
        """Whether a function only ever runs under autocast."""

    def off(self, node: ast.AST) -> bool:
        """Whether a ``with`` around ``node`` switches casts off."""


class Precision:
    """Runs the functions of one unit that call its model, and remembers what was seen."""

    def __init__(self, ctx: Context, unit: Unit, compute: Compute, casts: Casts) -> None:
        self.ctx, self.unit, self.compute, self.casts = ctx, unit, compute, casts
        self.kept = Kept(ctx, frozenset({HALF, MAYBE, DOUBLE}), self._first)
        self._forget()

    def _forget(self) -> None:
        self.seen: dict[ast.AST, Value] = {}  # every expression that was run -> what it may hold
        self.entered: dict[ast.AST, set[ast.Call]] = defaultdict(set)
        self.widened: dict[ast.expr, ast.expr] = {}  # operand that O1 cast to float32, outside of regions -> its use
        self.mixed: dict[ast.expr, ast.expr] = {}  # half factor of a product with one that is not, likewise
        self.handed: dict[ast.expr, ast.Call] = {}  # operand that code of another file makes float32 -> the call
        self.doubles: dict[ast.expr, ast.Call] = {}  # float64 that a model or a loss is handed -> the call
        self.emptied: dict[ast.Call, str] = {}  # calls of such code that is handed a list of half results: what it does
        self._memo: dict[tuple[ast.AST, bool, tuple[tuple[str, Value], ...]], Value] = {}
        self._calls: dict[ast.Call, bool] = {}
        self._stack: list[ast.AST] = []

    def run(self) -> None:
        """Run every function in which the model is called under autocast, and those that read what these leave behind,
        until nothing more is left behind."""
        for _ in range(MAX_ROUNDS):
            self.kept.grew = False
            self._run()
            if not self.kept.grew:
                break
            self._forget()

    def _run(self) -> None:
        m = self.ctx.m
        roots: dict[ast.AST, bool] = {}
        for call in self.compute.candidates:
            if self.compute.strong(call) and self.casts.autocast(call):
                scope = m.function(call)
                roots[scope.node] = roots.get(scope.node, False) or not self.casts.covered(scope)
        self._add_callers(roots)
        readers = [node for node in self.kept.readers() if node not in roots]
        roots |= {node: not self.casts.covered(m.scope_of[node]) for node in readers if not self.ctx.v.calls[node]}
        done: set[ast.AST] = set(hooks := self._hooks())
        for hook in hooks:
            self._run_hook(hook)
            roots.pop(hook, None)
        for node in sorted(roots, key=lambda n: not roots[n]):
            if roots[node] or not self.complete(node):
                self._root(node, done)
        for node in readers:  # those that were not entered by all who call them
            if node not in done and node not in hooks and not self.complete(node):
                self._root(node, done)
        # what others may call with arguments that were not seen is run once more, with nothing known of them
        while left := [n for n in self.entered if n not in done and not self.complete(n)]:
            self._root(left[0], done)

    def _add_callers(self, roots: dict[ast.AST, bool]) -> None:
        """Those who call a function with a region may be handed a half result by it."""
        m, todo = self.ctx.m, list(roots)
        for _ in range(MAX_DEPTH - 2):
            above = dict.fromkeys(m.function(c) for n in todo for c in self.ctx.v.calls[n])
            todo = [s.node for s in above if s.node not in roots]
            for scope in above:
                roots.setdefault(scope.node, not self.casts.covered(scope))

    def _root(self, node: ast.AST, done: set[ast.AST]) -> None:
        done.add(node)
        if not isinstance(node, ast.Lambda):
            self._block(_Frame(False, 0), node.body, {})  # type: ignore[attr-defined]

    def _hooks(self) -> list[ast.AST]:
        """The functions that torch calls with what a part of a network gives, and under its casts."""
        v, m = self.ctx.v, self.ctx.m
        handed = [arg for call in m.calls(FORWARD_HOOK) for arg in call.args[:1]]
        found = {node for arg in handed for obj in v.of(arg) for node in v.functions(obj)}
        return m.in_order(found)

    def _run_hook(self, function: ast.AST) -> None:
        assert isinstance(function, FunctionNode)
        args = positional_parameters(function)
        env = {name: of(HALF, FLOAT) for name in args[-1:]}  # the result; which type it has depends on the part
        if isinstance(function, ast.Lambda):
            self._expr(_Frame(True, 0), function.body, env)
        else:
            self._block(_Frame(True, 0), function.body, env)

    def complete(self, function: ast.AST) -> bool:
        """Whether every call of a function in this module was followed into it."""
        calls = self.ctx.v.calls[function]
        return bool(calls) and self.entered[function] >= set(calls)

    def value(self, node: ast.AST) -> Value:
        """What an expression may hold, from all runs."""
        return self.seen.get(node, NOTHING)

    # ------------------------------------------------------------ statements

    def _block(self, frame: _Frame, body: Sequence[ast.stmt], env: _Env | None) -> _Env | None:
        for stmt in body:
            if env is None:
                return None
            env = self._statement(frame, stmt, env)
        return env

    def _statement(self, frame: _Frame, stmt: ast.stmt, env: _Env) -> _Env | None:
        match stmt:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return env
            case ast.Assign(targets=targets, value=value):
                held = self._expr(frame, value, env)
                for target in targets:
                    self._assign(frame, target, held, env)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(frame, target, self._expr(frame, value, env), env)
            case ast.AugAssign(target=target, op=op, value=value):
                old = self._read(target, env)
                held = arithmetic(old, self._expr(frame, value, env), op, self._cast(frame, stmt))
                self._assign(frame, target, held, env)
            case ast.Return(value=value):
                if value is not None:
                    frame.returned = join(frame.returned, self._expr(frame, value, env))
                return None
            case ast.Raise():
                self._children(frame, stmt, env)
                return None
            case ast.Break() | ast.Continue():
                if frame.leaves:
                    frame.leaves[-1].append(dict(env))
                return None
            case ast.If(test=test, body=body, orelse=orelse):
                self._expr(frame, test, env)
                return _merge(self._block(frame, body, dict(env)), self._block(frame, orelse, dict(env)))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(frame, stmt, env)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    held = self._expr(frame, item.context_expr, env)
                    if item.optional_vars is not None:
                        self._assign(frame, item.optional_vars, held if held.each is None else held.each, env)
                return self._block(frame, body, env)
            case ast.Try():
                return self._try(frame, stmt, env)
            case ast.Match(subject=subject, cases=cases):
                self._expr(frame, subject, env)
                out: _Env | None = dict(env)
                for case_ in cases:
                    out = _merge(out, self._block(frame, case_.body, dict(env)))
                return out
            case ast.Delete():
                return env
            case _:
                self._children(frame, stmt, env)
        return env

    def _loop(self, frame: _Frame, stmt: ast.For | ast.AsyncFor | ast.While, env: _Env) -> _Env | None:
        for _ in range(4):
            before = dict(env)
            frame.leaves.append([])
            if isinstance(stmt, ast.While):
                self._expr(frame, stmt.test, env)
            else:
                self._iterate(frame, stmt.target, stmt.iter, env)
            after = self._block(frame, stmt.body, dict(env))
            merged: _Env | None = _merge(before, after)
            for left in frame.leaves.pop():
                merged = _merge(merged, left)
            env = merged or before
            if env == before:
                break
        return self._block(frame, stmt.orelse, env)

    def _try(self, frame: _Frame, stmt: ast.Try, env: _Env) -> _Env | None:
        done = self._block(frame, stmt.body, dict(env))
        out = self._block(frame, stmt.orelse, done) if done is not None else None
        for handler in stmt.handlers:
            out = _merge(out, self._block(frame, handler.body, _merge(dict(env), done) or dict(env)))
        if stmt.finalbody:
            out = self._block(frame, stmt.finalbody, out if out is not None else dict(env))
        return out

    # ------------------------------------------------------------ targets

    def _read(self, target: ast.expr, env: _Env) -> Value:
        return env.get(_key(target), NOTHING)

    def _assign(self, frame: _Frame, target: ast.expr, held: Value, env: _Env) -> None:
        self.kept.put(target, held)
        match target:
            case ast.Name(id=name):
                env[name] = held
            case ast.Attribute():
                env[ast.unparse(target)] = held
            case ast.Subscript(value=base):
                self._expr(frame, target.slice, env)
                key = _key(base)
                at = target.slice if key == ast.unparse(base) else None
                env[key] = with_item(env.get(key), at, nested(base, held))
            case ast.Starred(value=inner):
                self._assign(frame, inner, held, env)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                exact = held.items if held.items is not None and len(held.items) == len(elts) else None
                for number, elt in enumerate(elts):
                    if exact is not None and not any(isinstance(e, ast.Starred) for e in elts):
                        self._assign(frame, elt, exact[number], env)
                    else:
                        part = held.element if held.holds else part_of(Value(held.flat), _key(elt), unpacked=True)
                        self._assign(frame, elt, many(part) if isinstance(elt, ast.Starred) else part, env)
            case _:
                pass

    def _iterate(self, frame: _Frame, target: ast.expr, source: ast.expr, env: _Env) -> None:
        held = self._expr(frame, source, env)
        own = None if held.holds else self._by_method(frame, source, "__iter__")
        self._assign(frame, target, (own or held).element, env)

    def _listed(self, frame: _Frame, node: ast.Call, name: str, owner: Value, args: list[Value]) -> Value | None:
        """What `zip`, `enumerate`, and `items` and `values` of a dictionary go over."""
        match node.func:
            case ast.Name(id="enumerate") if args:
                return many(Value(items=(of(OTHER), args[0].element)))
            case ast.Name(id="zip") if args and isinstance(node.args[0], ast.Starred):
                rows = args[0].element
                parts = rows.items if rows.items is not None else None
                return many(many(rows.element)) if parts is None else Value(items=tuple(map(many, parts)))
            case ast.Name(id="zip"):
                return many(Value(items=tuple(a.element for a in args)))
            case ast.Attribute(value=base, attr="items" | "values") if not args:
                member = self._member(base, owner)
                return many(Value(items=(of(OTHER), member)) if name == "items" else member)
            case ast.Name(id="sorted" | "set") if args and args[0].holds:
                return many(args[0].element)
            case ast.Name(id="next") if args and args[0].holds:
                return args[0].element
            case ast.Name(id="TensorDataset") | ast.Attribute(attr="TensorDataset"):
                return many(Value(items=tuple(args)))
            case ast.Name(id="DataLoader") | ast.Attribute(attr="DataLoader") if node.args:
                item = None if args[0].holds else self._by_method(frame, node.args[0], "__getitem__")
                return args[0] if item is None else many(item)
            case ast.Attribute(attr="get" | "pop" | "setdefault") if owner.holds and node.args:
                return joined([item_of(owner, node.args[0]), *args[1:2]])
            case _:
                return None

    def _by_method(self, frame: _Frame, expr: ast.expr, name: str, *given: Value) -> Value | None:
        """What a special method of an object of the program gives; None where it has none."""
        if name not in self._specials:
            return None
        m, found = self.ctx.m, list[Value]()
        for obj in self.ctx.v.in_order(self.ctx.v.of(expr)):
            if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
                continue
            methods = (method for cls in self.ctx.v.order(obj.key) if (method := m.method(cls, name)) is not None)
            if isinstance(method := next(methods, None), FunctionNode):
                names = [a.arg for a in method.args.args][1:]
                inner = dict(zip(names, given, strict=False))
                found.append(self._run_with(frame, method, self._cast(frame, expr), inner))
        return joined(found) if found else None

    @cached_property
    def _specials(self) -> frozenset[str]:
        return frozenset(f.name for f in self.ctx.m.all(ast.FunctionDef) if f.name.startswith("__"))

    def _member(self, base: ast.expr, held: Value) -> Value:
        """Any value of a dictionary: a model's may hold integers (a detector's labels), of others it is known."""
        if held.holds:
            return held.element
        return of(MAYBE) if HALF in held.known and not self.kept.inside(base).flat else Value(held.flat)

    # ------------------------------------------------------------ expressions

    def _children(self, frame: _Frame, node: ast.AST, env: _Env) -> None:
        for child in children(node):
            if isinstance(child, ast.expr):
                self._expr(frame, child, env)
            elif isinstance(child, (ast.keyword, ast.FormattedValue)):
                self._expr(frame, child.value, env)

    def _expr(self, frame: _Frame, node: ast.expr, env: _Env) -> Value:
        held = self._compute(frame, node, env)
        if held.flat or node in self.seen:
            self.seen[node] = join(self.seen.get(node, NOTHING), held)
        return held

    def _compute(self, frame: _Frame, node: ast.expr, env: _Env) -> Value:
        match node:
            case ast.Constant(value=value):
                return NOTHING if value is None else of(OTHER)
            case ast.Name(id=name):
                held, kept = env.get(name), self._kept(node)
                return self._with_items(node, join(held, kept) if held and kept else held or kept)
            case ast.Attribute(value=base, attr=attr):
                if (known := env.get(ast.unparse(node))) is not None:
                    self._expr(frame, base, env)
                    return self._with_items(node, known)
                held, kept = self._expr(frame, base, env), self._kept(node)
                if (field := held.field(attr)) is not None:
                    return self._with_items(node, join(field, kept) if kept else field)
                if kept or self.kept.inside(node).flat:
                    part = part_of(held, attr) if HALF in held.known else None
                    return self._with_items(node, join(kept, part) if kept and part else kept or part)
                if attr in self._properties and (got := self._property(frame, base, attr)) is not None:
                    return got
                if held.items is not None and attr in ("values", "indices") and len(held.items) == 2:
                    return held.items[attr == "indices"]
                return of(OTHER) if attr in operations.ATTRIBUTES else part_of(held, attr)
            case ast.Subscript(value=base, slice=index):
                held = self._expr(frame, base, env)
                at = self._expr(frame, index, env)
                if not held.holds and (got := self._by_method(frame, base, "__getitem__", at)) is not None:
                    return got
                if (item := self.kept.item(node)).flat:
                    return item
                return item_of(held, index)
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                items = tuple(self._expr(frame, e, env) for e in elts)
                if not elts:
                    return NOTHING
                if any(isinstance(e, ast.Starred) for e in elts):
                    starred = [isinstance(e, ast.Starred) for e in elts]
                    return many(joined(i.element if s else i for i, s in zip(items, starred, strict=True)))
                return Value(frozenset(), items)
            case ast.Dict(keys=keys, values=values):
                self._children_of(frame, [k for k in keys if k is not None], env)
                return dictionary(keys, [self._expr(frame, v, env) for v in values])
            case ast.ListComp(elt=elt, generators=gens) | ast.SetComp(elt=elt, generators=gens):
                return self._comprehension(frame, elt, gens, env)
            case ast.GeneratorExp(elt=elt, generators=gens) | ast.DictComp(value=elt, generators=gens):
                return self._comprehension(frame, elt, gens, env)
            case ast.BinOp(left=left, op=op, right=right):
                one, other = self._expr(frame, left, env), self._expr(frame, right, env)
                return self._binary(frame, node, one, other, op)
            case ast.UnaryOp(op=op, operand=operand):
                held = self._expr(frame, operand, env)
                return of(OTHER) if isinstance(op, ast.Not) else held
            case ast.BoolOp(values=values):
                return joined([self._expr(frame, v, env) for v in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._expr(frame, test, env)
                return join(self._expr(frame, body, env), self._expr(frame, orelse, env))
            case ast.NamedExpr(target=target, value=value):
                held = self._expr(frame, value, env)
                self._assign(frame, target, held, env)
                return held
            case ast.Await(value=value) | ast.Starred(value=value):
                return self._expr(frame, value, env)
            case ast.Yield(value=ast.expr() as value) | ast.YieldFrom(value=value):
                held = self._expr(frame, value, env)
                held = held.element if isinstance(node, ast.YieldFrom) else held
                frame.yielded = join(frame.yielded or NOTHING, held)
                return of(OTHER)
            case ast.Lambda():
                return of(OTHER)
            case ast.Call():
                return self._call(frame, node, env)
            case _:
                self._children(frame, node, env)
                return of(OTHER)

    @cached_property
    def _properties(self) -> frozenset[str]:
        """The names of all properties of the program."""
        methods = self.ctx.m.all(ast.FunctionDef)
        return frozenset(f.name for f in methods if any(last_name(d) == "property" for d in f.decorator_list))

    def _property(self, frame: _Frame, base: ast.expr, name: str) -> Value | None:
        """What a property of an object of the program gives; None where it is none."""
        v, found = self.ctx.v, list[Value]()
        for obj in v.in_order(v.of(base)):
            function = v.property_of(obj.key, name) if isinstance(obj.key, ast.ClassDef) else None
            if obj.kind == "instance" and isinstance(function, FunctionNode):
                found.append(self._run_with(frame, function, self._cast(frame, base), {}))
        return joined(found) if found else None

    def _first(self, value: ast.expr | None) -> Value:
        """What a place holds that is made with a value: nothing, a new tensor, or what is not known."""
        match value:
            case ast.Constant(value=None) | ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Tuple(elts=[]):
                return NOTHING
            case ast.Call(func=ast.Name(id="list" | "dict" | "set" | "deque"), args=[], keywords=[]):
                return NOTHING
        return of(FLOAT if isinstance(value, ast.Call) and self._creates(value) else OTHER)

    def _creates(self, call: ast.Call) -> bool:
        """Whether a call makes a new tensor of the default type."""
        made = called_name(call) in operations.CREATE and self._of_torch(call.func)
        return made and not any(k.arg == "dtype" for k in call.keywords)

    def _kept(self, node: ast.Name | ast.Attribute) -> Value | None:
        """What another function left there, if one did."""
        held = self.kept.of(node)
        return held if held.flat else None

    def _with_items(self, node: ast.expr, held: Value | None) -> Value:
        """What a name holds, and what was put into the container that it may be."""
        inside = self.kept.inside(node)
        if held is None:
            return many(inside) if inside.flat else of(OTHER)
        return held if inside.flat <= held.flat else join(held, many(inside))

    def _children_of(self, frame: _Frame, nodes: Iterable[ast.expr], env: _Env) -> None:
        for node in nodes:
            self._expr(frame, node, env)

    def _comprehension(self, frame: _Frame, elt: ast.expr, gens: list[ast.comprehension], env: _Env) -> Value:
        inner = dict(env)
        for gen in gens:
            self._iterate(frame, gen.target, gen.iter, inner)
            self._children_of(frame, gen.ifs, inner)
        return many(self._expr(frame, elt, inner))

    # ------------------------------------------------------------ calls

    def _cast(self, frame: _Frame, node: ast.AST) -> bool:
        """Whether ``node`` runs under autocast."""
        if self.casts.off(node):
            return False
        return frame.dynamic or self.casts.autocast(node)

    def _call(self, frame: _Frame, node: ast.Call, env: _Env) -> Value:
        func = node.func
        owner = self._expr(frame, func.value, env) if isinstance(func, ast.Attribute) else NOTHING
        if not isinstance(func, (ast.Attribute, ast.Name)):
            self._expr(frame, func, env)
        args = [self._expr(frame, a, env) for a in node.args]
        named = [self._expr(frame, k.value, env) for k in node.keywords]
        given = [*args, *named]
        name = self._label(func) or last_name(func)
        if name in _EMPTY and not args and isinstance(func, (ast.Name, ast.Attribute)) and not owner.flat & {HALF}:
            if not any(k.arg != "maxlen" for k in node.keywords):
                return NOTHING
        if name == "defaultdict" and len(args) == 1:
            return NOTHING
        tensor = name == "add" and HALF in owner.known
        own = isinstance(func, ast.Attribute) and bool(self.ctx.v.callees(node))  # a method of the program
        if name in operations.CONTAINER_WRITES and isinstance(func, ast.Attribute) and args and not tensor and not own:
            key = _key(func.value)
            item = args[-1].element if name == "extend" else args[-1]
            match func.value:
                case ast.Call(func=ast.Attribute(value=base, attr="setdefault"), args=[at, *_]):
                    env[_key(base)] = with_item(env.get(_key(base)), at, many(item))
                    self.kept.add(ast.Subscript(base, at, ast.Load()), item)
                case _:
                    env[key] = join(env.get(key, NOTHING), many(nested(func.value, item)))
                    self.kept.add(func.value, item)
            return of(OTHER)
        if name == "update" and isinstance(func, ast.Attribute) and not own and (owner.holds or not owner.flat):
            more = joined([*args[:1], record({k.arg or "": v for k, v in zip(node.keywords, named, strict=True)})])
            env[_key(func.value)] = join(env.get(_key(func.value), NOTHING), more)
            self.kept.add(func.value, more.element)
            return of(OTHER)
        runs = self._runs(node)
        if runs or self._takes_types(node, name):
            self._widen_doubles(frame, node, args, named, runs)
        if runs:
            return self._model(frame, node, name, env)
        if (said := made_double(self.ctx.v, node, [g.known == {DOUBLE} for g in (owner, *given)])) is not None:
            if said:
                return of(DOUBLE)
            if name not in ("float", "half", "bfloat16") and not (owner.known | facts_of(given)) & {HALF, MAYBE, FLOAT}:
                return of(FLOAT) if self._creates(node) else of(OTHER)
        if (listed := self._listed(frame, node, name, owner, args)) is not None:
            return listed
        called = self._called(frame, node, name, args)
        objects = self.ctx.v.of(func)
        callees = self.ctx.v.callees(node)
        if any(o.kind == "class" for o in objects):
            for callee in callees:
                self._enter(frame, callee, node, env)
        elif callees:
            return joined([self._enter(frame, c, node, env) for c in callees])
        if (made := called or self._made(frame, node, env)) is not None:
            return made
        self._hands_on(frame, node)
        receiver = owner.known - {OTHER}
        first = owner if receiver or not args else args[0]
        if not (owner.known | facts_of(given)) & {HALF, MAYBE, FLOAT, DOUBLE}:
            return self._unknown(frame, node, name)
        rest = args if receiver else args[1:]
        return self._known(frame, node, name, first, rest, given)

    def _takes_types(self, node: ast.Call, name: str) -> bool:
        """Whether a call is one of O1's float32 functions, or of a loss of torch."""
        of_losses = loss(name) and not self.ctx.v.callees(node)
        return self._by_level and (of_losses or name in operations.O1_FLOAT_FUNCTIONAL)

    @cached_property
    def _by_level(self) -> bool:
        """Whether functions were cast, as O1 did; O2 and O3 cast what their models were handed."""
        return any("O1" in o.levels for o in self.unit.options.values())

    def _widen_doubles(self, frame: _Frame, node: ast.Call, args: list[Value], named: list[Value], runs: bool) -> None:
        """Remember the float64 that a model or a loss is handed under casts."""
        if not self._cast(frame, node) or (runs and self.compute.inner(node)):
            return
        given = zip((*node.args, *(k.value for k in node.keywords)), (*args, *named), strict=True)
        self.doubles |= {a: node for a, held in given if held.known == {DOUBLE}}

    def _called(self, frame: _Frame, node: ast.Call, name: str, args: list[Value]) -> Value | None:
        """What comes of a function of the file that is handed to somebody who calls it, `map(f, xs)`, `max(xs, key=f)`;
        None where that is not what the function gives."""
        function = node.args[0] if node.args else None
        match name:
            case "map" | "imap" | "starmap" | "submit" | "reduce" | "filter" if function is not None:
                rows = [a.element for a in args[1:]]
                pairs = [*(rows[0].items or ())] if rows else []
                given = {"submit": args[1:], "starmap": pairs, "reduce": rows[:1] * 2}.get(name, rows)
                results = self._each_call(frame, function, given)
                return many(joined(results)) if results and name not in ("submit", "filter", "reduce") else None
            case "sorted" | "max" | "min" | "sort" | "nlargest" | "nsmallest":
                for key in (k.value for k in node.keywords if k.arg == "key"):
                    self._each_call(frame, key, [a.element for a in args[-1:]])
        return None

    def _each_call(self, frame: _Frame, function: ast.expr, given: list[Value]) -> list[Value]:
        """The results of the functions that an expression may stand for, with these arguments in order."""
        v, found = self.ctx.v, list[Value]()
        for obj in v.in_order(v.of(function)):
            callee = v.callee(obj) if obj.kind in ("function", "method", "instance", "partial") else None
            if not isinstance(callee, FunctionNode):
                continue
            names = positional_parameters(callee)
            names = names[1:] if self.ctx.m.self_name(self.ctx.m.scope_of[callee]) in names[:1] else names
            filled, inner = list[Value](), _Env()
            if obj.kind == "partial":
                assert isinstance(obj.key, ast.Call)
                filled = [self.value(a) for a in obj.key.args[1:]]
                inner = {k.arg: self.value(k.value) for k in obj.key.keywords if k.arg is not None}
            inner |= dict(zip(names, (*filled, *given), strict=False))
            found.append(self._run_with(frame, callee, self._cast(frame, function), inner))
        return found

    def _made(self, frame: _Frame, node: ast.Call, env: _Env) -> Value | None:
        """An object that is made of its fields: a dataclass or NamedTuple of the file, a `namedtuple`, a namespace."""
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        fields = _fields(self.ctx.v, node)
        if fields is None:
            return None
        given = dict(zip(fields, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
        held = {name: self._expr(frame, value, env) for name, value in given.items()}
        for obj in self.ctx.v.of(node):
            for name, value in held.items():
                self.kept.made(obj, name, value)
        return record(held)

    def _binary(self, frame: _Frame, node: ast.BinOp, one: Value, other: Value, op: ast.operator) -> Value:
        cast = self._cast(frame, node)
        if not cast and isinstance(op, ast.Pow) and proved(one):
            self.widened[node.left] = node
            return of(FLOAT)
        if not cast and isinstance(op, ast.MatMult) and self._mixes(node):
            return of(FLOAT)
        if not cast and (proved(one) or proved(other)):
            operand = operands.beside_number(self.ctx.v, node)
            if operand is not None and proved(self.value(operand)):
                self.widened[operand] = node
                return of(FLOAT)
        return arithmetic(one, other, op, cast)

    def halves(self, operand: ast.expr, node: ast.expr) -> bool:
        """Whether an operand is half at times and floating whenever ``node`` runs: what is not is no operand of it, or
        gives float32 either way."""
        held = self.value(operand)
        return proved(held) or (HALF in held.known and not held.holds and operands.takes_floats(node))

    def _widens(self, frame: _Frame, node: ast.Call, receiver: bool) -> bool:
        """Whether O1 cast an operand of a call to float32 that nothing casts natively; it is remembered."""
        found = [a for a in operands.in_place(node) if proved(self.value(a))]
        if not self._cast(frame, node):
            cast = operands.to_float(node, receiver, self._label(node.func))
            found += [a for a in cast if self.halves(a, node) and not _a_loss(a)]
            if self._mixes(node):
                return True
        self.widened |= dict.fromkeys(found, node)
        return bool(found)

    def _hands_on(self, frame: _Frame, node: ast.Call) -> None:
        """Remember what code of another file takes from the GPU, or computes with outside of every region."""
        v, elsewhere = self.ctx.v, self.ctx.facts.elsewhere
        found = handed_elsewhere(v, node, elsewhere.leaving)
        if not self._cast(frame, node):
            found += (computing := handed_elsewhere(v, node, elsewhere.computing))
            if any(HALF in self.value(a).known and self.value(a).holds for a in computing):
                self.emptied[node] = "computes with results that lie in what it is handed"
        self.handed |= {a: node for a in found if proved(self.value(a)) and not _a_loss(a)}
        emptied = [*handed_elsewhere(v, node, elsewhere.emptying), *(a for a in found if self.value(a).holds)]
        if any(HALF in self.value(a).known for a in emptied):
            self.emptied.setdefault(node, "takes results from the GPU")

    def _mixes(self, node: ast.expr) -> bool:
        """Whether a product outside of regions has a factor in half and one in float32."""
        factors = operands.multiplied(node)
        half = [f for f in factors if proved(self.value(f)) and FLOAT not in self.value(f).known]
        if len(half) != 1 or not all(self.value(f).known == {FLOAT} for f in factors if f is not half[0]):
            return False
        self.mixed[half[0]] = node
        return True

    def _runs(self, node: ast.Call) -> bool:
        if node not in self._calls:
            layer = bool(self._label(node.func) or loss(called_name(node)))
            own = bool(self.ctx.v.of(node.func) & self.unit.model_objects)
            self._calls[node] = (own or not layer) and self.compute.runs_model(node)
        return self._calls[node]

    def _known(
        self, frame: _Frame, node: ast.Call, name: str, first: Value, rest: list[Value], given: list[Value]
    ) -> Value:
        """What a function of torch makes of a tensor of known precision."""
        method = isinstance(node.func, ast.Attribute)
        receiver = method and bool(self.value(node.func.value).known & {HALF, FLOAT, MAYBE})  # type: ignore[attr-defined]
        if self._widens(frame, node, receiver):
            return of(FLOAT)
        if name == "float":
            return of(FLOAT) if method else of(OTHER)
        if first.known == {DOUBLE}:
            same = name in operations.KEEP or name in operations.PROMOTE or name in operations.OF_ONE
            return of(DOUBLE) if same or name in ("to", "cpu", "numpy") else of(OTHER)
        if name == "cpu":
            return of(FLOAT) if proved(first) else first
        if name in ("to", "type"):
            return converted(node, first)
        if name in operations.INTEGER:
            return of(OTHER)
        if name in ("sigmoid", "Sigmoid"):
            return first.marked(f"sigmoid@{node.lineno}:{node.col_offset}")
        if name in operations.PAIR:
            dims = bool(rest) or any(k.arg in ("dim", "k", "axis") for k in node.keywords)
            if name in ("max", "min") and rest and rest[0].known & {HALF, FLOAT}:
                return arithmetic(first, rest[0], ast.Add(), False)
            if name in ("max", "min") and not dims:
                return Value(first.flat)
            return Value(frozenset(), (Value(first.flat), of(OTHER)))
        if name == "sum" and not method:
            return Value(first.flat)
        if name in operations.FLOAT_RESULTS or (loss(name) and not self.ctx.v.callees(node)):
            if self._cast(frame, node):
                return of(FLOAT)
            if name in operations.OF_ONE:
                return Value(first.flat)
            return Value(frozenset().union(*(g.flat for g in (first, *given))))
        if name in operations.JOIN:
            items = (*(first.items or ()), *((first.each,) if first.each is not None else ()))
            if items and any(proved(i) for i in items):
                return Value(frozenset({HALF}) | {f for f in first.flat if "@" in f})
            return Value(first.flat)
        if name in operations.KEEP:
            same = name in ("list", "tuple", "chunk", "split", "reversed", "iter", "copy", "deepcopy")
            return first if same else Value(first.flat)
        if name in operations.PROMOTE:
            pair = given[1:] if name == "where" and len(given) == 3 else [first, *rest]
            result = pair[0]
            for other in pair[1:]:
                result = arithmetic(result, other, ast.Add(), False)
            return result
        if name in operations.HALF_RESULTS:
            return of(HALF) if self._cast(frame, node) and any(proved(g) for g in (first, *given)) else of(MAYBE)
        if name == "dict":
            keys = [k.arg for k in node.keywords]
            if not node.args and None not in keys:
                return record({k or "": v for k, v in zip(keys, given, strict=True)})
            return many(joined(g.element for g in given))
        return self._unknown(frame, node, name, frozenset().union(first.flat, *(g.flat for g in given)))

    def _unknown(self, frame: _Frame, node: ast.Call, name: str, flat: frozenset[str] = frozenset()) -> Value:
        marks = frozenset(f for f in flat if "@" in f)
        if name in ("sigmoid", "Sigmoid"):
            return of(OTHER, f"sigmoid@{node.lineno}:{node.col_offset}")
        if flat & {HALF, MAYBE}:
            return Value(marks | {MAYBE})
        if name == "float" and isinstance(node.func, ast.Attribute):
            return of(FLOAT)
        if self._creates(node):
            return of(FLOAT)
        if name in operations.INTEGER or name in operations.KEEP or name in operations.ATTRIBUTES:
            return of(OTHER)
        if self._layer(node) and self._cast(frame, node):
            return Value(marks | {HALF})
        return Value(marks | {OTHER})

    def _of_torch(self, func: ast.expr) -> bool:
        return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("torch", "th")

    def _layer(self, node: ast.Call) -> bool:
        """Whether, in a model's own method, a call is one of a layer: ``layer(x)``, ``self.layers[i](x)``."""
        scope = self.ctx.m.function(node)
        if not self.compute.own_method(scope) or not node.args:
            return False
        func = node.func
        if isinstance(func, ast.Name):
            return func.id in scope.names
        return isinstance(func, ast.Subscript)

    def _label(self, func: ast.expr) -> str:
        """What layer of torch an expression holds, where only one is possible: ``Sigmoid`` for ``self.act``."""
        held = self.ctx.v.of(func)
        label = next(iter(held)).label if len(held) == 1 else ""
        known = label in operations.KEEP or label in operations.FLOAT_RESULTS or loss(label)
        return label if label[:1].isupper() and known else ""

    def _model(self, frame: _Frame, node: ast.Call, name: str, env: _Env) -> Value:
        """The result of a model call: of its own ``forward``, where that is here."""
        cast = self._cast(frame, node)
        callees = self.ctx.v.callees(node)
        if callees:
            return joined([self._enter(frame, c, node, env) for c in callees])
        if not cast:
            return of(FLOAT)
        marks = self._sequential(node)
        held = self.ctx.v.of(node.func)
        direct = bool(held & self.compute.models) or (
            not isinstance(node.func, ast.Attribute) and self.compute.is_model(held)
        )
        if any(gives_several(self.ctx.v, o, self.ctx.facts.elsewhere) for o in held):
            return many(of(HALF, MAYBE, *marks))
        if direct or FORWARDING.fit(name):
            return of(HALF, *marks)
        if name in operations.FLOAT_RESULTS or loss(name):
            return of(FLOAT)
        func = node.func
        if isinstance(func, ast.Attribute) and self.compute.own_method(self.ctx.m.function(node)):
            if name in operations.INTEGER:
                return of(OTHER)
            if name in ("sigmoid", "Sigmoid"):
                return of(HALF, f"sigmoid@{node.lineno}:{node.col_offset}")
            return of(HALF)  # a layer: self.fc(x)
        return of(MAYBE, *marks)

    def _sequential(self, node: ast.Call) -> list[str]:
        """Marks of the sigmoids that stand in a ``Sequential`` which is called here."""
        found: list[str] = []
        for obj in self.ctx.v.in_order(self.ctx.v.of(node.func)):
            found += sigmoids_of(obj)
        return found

    def _enter(self, frame: _Frame, callee: ast.AST, call: ast.Call, env: _Env) -> Value:
        """What a function of this module returns, run with the arguments of a call."""
        assert isinstance(callee, FunctionNode)
        inner = self._bound(frame, callee, call, env)
        if frame.depth < MAX_DEPTH and callee not in self._stack:
            self.entered[callee].add(call)
        return self._run_with(frame, callee, self._cast(frame, call), inner)

    def _bound(self, frame: _Frame, callee: FunctionNode, call: ast.Call, env: _Env) -> _Env:
        """What the parameters of a function hold in a call."""
        scope, rest, more = self.ctx.m.scope_of[callee], callee.args.vararg, callee.args.kwarg
        found: _Env = {}
        for name in scope.params:
            arg = passed(self.ctx, call, scope, name)
            if arg is not None:
                found[name] = self._expr(frame, arg, env)
        spread = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
        if not (spread or rest or more) or partial_of(self.ctx, call) is not None:
            return found
        positional = positional_parameters(callee)[receiver(self.ctx, call, scope) :]
        given, others = self._in_order(frame, call.args, env)
        spare = given[len(positional) :]
        for name, held in zip(positional, given, strict=False):
            found.setdefault(name, held)
        if others is not None:
            found |= {name: others for name in positional[len(given) :] if name not in found}
        if rest is not None:
            exact = others is None
            several = Value(items=tuple(spare)) if spare else NOTHING
            found[rest.arg] = several if exact else many(joined([*spare, others or NOTHING]))
        named = {p.arg for p in (*callee.args.args, *callee.args.kwonlyargs)}
        left = {k.arg: self._expr(frame, k.value, env) for k in call.keywords if k.arg and k.arg not in named}
        for keyword in call.keywords:
            if keyword.arg is None:
                held = self._expr(frame, keyword.value, env)
                fields = dict(zip(held.names, held.items or (), strict=False)) or dict.fromkeys(named, held.element)
                found |= {name: value for name, value in fields.items() if name in named and name not in found}
                left |= {name: value for name, value in fields.items() if name not in named}
                left |= {} if held.names else {"**": held.element}
        if more is not None:
            named_ones = record(left) if left else NOTHING
            found[more.arg] = many(joined(left.values())) if "**" in left else named_ones
        return found

    def _in_order(self, frame: _Frame, args: list[ast.expr], env: _Env) -> tuple[list[Value], Value | None]:
        """The arguments by position, as far as it is known; and any of those behind ``*xs`` of unknown length."""
        given, others = list[Value](), None
        for arg in args:
            held = self._expr(frame, arg, env)
            starred = isinstance(arg, ast.Starred)
            if others is not None or (starred and held.items is None):
                others = join(others or NOTHING, held.element if starred else held)
            else:
                given += held.items or () if starred else (held,)
        return given, others

    def _run_with(self, frame: _Frame, callee: FunctionNode, dynamic: bool, inner: _Env) -> Value:
        if frame.depth >= MAX_DEPTH or callee in self._stack:
            return of(OTHER, MAYBE)
        key = (callee, dynamic, tuple(sorted(inner.items())))
        if key in self._memo:
            return self._memo[key]
        self._stack.append(callee)
        below = _Frame(dynamic, frame.depth + 1)
        if isinstance(callee, ast.Lambda):
            below.returned = self._expr(below, callee.body, inner)
        else:
            self._block(below, callee.body, inner)
        self._stack.pop()
        result = below.returned if below.yielded is None else many(below.yielded)
        result = result if result.flat else of(OTHER)
        self._memo[key] = result
        return result


def sigmoids_of(obj: Obj) -> list[str]:
    """Marks of the ``nn.Sigmoid()`` that an ``nn.Sequential(...)`` is made of."""
    if obj.kind != "call" or obj.label != "Sequential" or not isinstance(obj.key, ast.Call):
        return []
    return [
        f"sigmoid@{n.lineno}:{n.col_offset}"
        for n in walk(obj.key)
        if isinstance(n, ast.Call) and called_name(n) == "Sigmoid"
    ]


def _fields(v: Values, node: ast.Call) -> list[str] | None:
    """The fields of the object that a call makes of them, in order; None where it makes something else."""
    if called_name(node) in NAMESPACES:
        return []
    for obj in v.of(node.func):
        if obj.kind == "class" and isinstance(obj.key, ast.ClassDef) and v.callee(obj) is None:
            return v.declared(obj.key) or None
        if (names := tuple_fields(obj)) is not None:
            return names
    return None


def _key(node: ast.expr) -> str:
    """The name under which an assignment target is remembered."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id
    return ast.unparse(node) if isinstance(node, ast.Attribute) else ""


def _a_loss(node: ast.expr) -> bool:
    """Whether a value is called as a loss is: those a model hands back are float32 already."""
    names = [n.id for n in walk(node) if isinstance(n, ast.Name)]
    return any(loss(n) for n in [*names, *(n.attr for n in walk(node) if isinstance(n, ast.Attribute))])

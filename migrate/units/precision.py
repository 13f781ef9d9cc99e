"""Which tensors leave a unit's autocast regions in half precision: an abstract interpreter over names.

Every expression gets a set of facts about what it may hold: HALF (a floating result whose type autocast
decides), FLOAT (float32, whatever autocast does), OTHER (integers, inputs, no tensor), MAYBE (made of
such a result by a function that is not known). Statements are run in order, branches joined, loops run
until nothing changes, functions of the module entered with their arguments. A fact that is not proved
makes a value OTHER or MAYBE, never HALF alone.

Source: ATen/autocast_mode.h and apex/amp/lists at tag 25.05 for what is cast where; P. and R. Cousot,
Abstract Interpretation, 1977.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..facts.module import FunctionNode, Scope
from ..facts.names import called_name, last_name
from ..facts.networks import handed_elsewhere
from ..flow.values import FORWARD_HOOK, Obj
from ..knowledge import operations
from ..knowledge.models import FORWARDING
from ..knowledge.results import integers, loss, predicted
from ..nodes import children, walk
from . import operands
from .compute import Compute
from .kept import Kept
from .translate import passed
from .unit import Context, Unit

HALF, FLOAT, OTHER, MAYBE = "half", "float", "other", "maybe"
MAX_DEPTH = 5
MAX_ROUNDS = 4  # in which what one function leaves behind reaches another


@dataclass(frozen=True)
class Value:
    """What an expression may hold; ``items`` where it is a tuple of known length."""

    facts: frozenset[str] = frozenset()
    items: tuple[Value, ...] | None = None

    @property
    def flat(self) -> frozenset[str]:
        """The facts of a value and of all its items."""
        return self.facts.union(*(i.flat for i in self.items or ()))

    @property
    def known(self) -> frozenset[str]:
        """The facts without the marks of where it comes from."""
        return frozenset(f for f in self.flat if "@" not in f)

    def marked(self, *marks: str) -> Value:
        return Value(self.facts | frozenset(marks), self.items)


NOTHING = Value()
_Env = dict[str, Value]


def proved(value: Value) -> bool:
    """Whether a value surely is a floating tensor that autocast may have made half."""
    return HALF in value.known and value.known <= {HALF, FLOAT}


def doubtful(value: Value) -> bool:
    """Whether a value may be one, or something else."""
    return not proved(value) and bool(value.known & {HALF, MAYBE})


def of(*facts: str) -> Value:
    return Value(frozenset(facts))


def join(one: Value, other: Value) -> Value:
    """What holds for either of two values."""
    if one == other:
        return one
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        items = tuple(join(a, b) for a, b in zip(one.items, other.items, strict=True))
        return Value(one.facts | other.facts, items)
    if one.items is not None and not other.flat:
        return one
    if other.items is not None and not one.flat:
        return other
    return Value(one.flat | other.flat)


def _joined(values: Iterable[Value]) -> Value:
    result = NOTHING
    for value in values:
        result = join(result, value)
    return result


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
        self.kept = Kept(ctx, frozenset({HALF, MAYBE}), self._first)
        self._forget()

    def _forget(self) -> None:
        self.seen: dict[ast.AST, Value] = {}  # every expression that was run -> what it may hold
        self.entered: dict[ast.AST, set[ast.Call]] = defaultdict(set)
        self.widened: dict[ast.expr, ast.expr] = {}  # operand that O1 cast to float32, outside of regions -> its use
        self.mixed: dict[ast.expr, ast.expr] = {}  # half factor of a product with one that is not, likewise
        self.handed: dict[ast.expr, ast.Call] = {}  # operand that code of another file makes float32 -> the call
        self.emptied: dict[ast.Call, None] = {}  # calls of code that takes half results from the GPU, out of a list
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
        for node in self.kept.readers():
            roots.setdefault(node, not self.casts.covered(m.scope_of[node]))
        done: set[ast.AST] = set(hooks := self._hooks())
        for hook in hooks:
            self._run_hook(hook)
            roots.pop(hook, None)
        for node in sorted(roots, key=lambda n: not roots[n]):
            if roots[node] or not self.complete(node):
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
        args = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
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
                held = _arithmetic(old, self._expr(frame, value, env), op, self._cast(frame, stmt))
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
                        self._assign(frame, item.optional_vars, held, env)
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
        self.kept.put(target, held.flat)
        match target:
            case ast.Name(id=name):
                env[name] = held
            case ast.Attribute():
                env[ast.unparse(target)] = held
            case ast.Subscript(value=base):
                self._expr(frame, target.slice, env)
                key = _key(base)
                env[key] = join(env.get(key, NOTHING), Value(held.flat))
            case ast.Starred(value=inner):
                self._assign(frame, inner, held, env)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                exact = held.items if held.items is not None and len(held.items) == len(elts) else None
                for number, elt in enumerate(elts):
                    if exact is not None and not any(isinstance(e, ast.Starred) for e in elts):
                        self._assign(frame, elt, exact[number], env)
                    else:
                        self._assign(frame, elt, _part(Value(held.flat), _key(elt), unpacked=True), env)
            case _:
                pass

    def _iterate(self, frame: _Frame, target: ast.expr, source: ast.expr, env: _Env) -> None:
        held = self._expr(frame, source, env)
        name = called_name(source) if isinstance(source, ast.Call) else ""
        if isinstance(source, ast.Call) and isinstance(target, (ast.Tuple, ast.List)):
            if name == "enumerate" and source.args and len(target.elts) == 2:
                self._assign(frame, target.elts[0], of(OTHER), env)
                self._element(frame, target.elts[1], source.args[0], env)
                return
            if name == "zip" and len(source.args) == len(target.elts):
                for elt, arg in zip(target.elts, source.args, strict=True):
                    self._element(frame, elt, arg, env)
                return
            if name == "items" and len(target.elts) == 2:
                self._assign(frame, target.elts[0], of(OTHER), env)
                self._assign(frame, target.elts[1], self._member(source, held), env)
                return
        if isinstance(source, ast.Call) and name == "values":
            held = self._member(source, held)
        self._assign(frame, target, _joined(held.items) if held.items else Value(held.facts), env)

    def _member(self, call: ast.Call, held: Value) -> Value:
        """Any value of a dictionary: a model's may hold integers (a detector's labels), of others it is known."""
        filled = isinstance(call.func, ast.Attribute) and self.kept.inside(call.func.value)
        return of(MAYBE) if HALF in held.known and not filled else Value(held.flat)

    def _element(self, frame: _Frame, target: ast.expr, source: ast.expr, env: _Env) -> None:
        if isinstance(source, ast.Call) and called_name(source) in ("zip", "enumerate", "items", "values"):
            self._iterate(frame, target, source, env)
            return
        held = self._expr(frame, source, env)
        self._assign(frame, target, _joined(held.items) if held.items else Value(held.facts), env)

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
                if kept or self.kept.inside(node):
                    part = _part(held, attr) if HALF in held.known else None
                    return self._with_items(node, join(kept, part) if kept and part else kept or part)
                if held.items is not None and attr in ("values", "indices") and len(held.items) == 2:
                    return held.items[attr == "indices"]
                return of(OTHER) if attr in operations.ATTRIBUTES else _part(held, attr)
            case ast.Subscript(value=base, slice=index):
                held = self._expr(frame, base, env)
                self._expr(frame, index, env)
                if item := self.kept.item(node):
                    return Value(item)
                return _subscript(held, index)
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                items = tuple(self._expr(frame, e, env) for e in elts)
                if not elts or any(isinstance(e, ast.Starred) for e in elts):
                    return Value(frozenset().union(*(i.flat for i in items)))
                return Value(frozenset(), items)
            case ast.Dict(values=values):
                self._children_of(frame, [k for k in node.keys if k is not None], env)
                return Value(frozenset().union(*(self._expr(frame, v, env).flat for v in values)))
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
                return _joined([self._expr(frame, v, env) for v in values])
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
                frame.returned = join(frame.returned, self._expr(frame, value, env))
                return of(OTHER)
            case ast.Lambda():
                return of(OTHER)
            case ast.Call():
                return self._call(frame, node, env)
            case _:
                self._children(frame, node, env)
                return of(OTHER)

    def _first(self, value: ast.expr | None) -> frozenset[str]:
        """What a place holds that is made with a value: nothing, a new tensor, or what is not known."""
        match value:
            case ast.Constant(value=None) | ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Tuple(elts=[]):
                return frozenset()
            case ast.Call(func=ast.Name(id="list" | "dict" | "set" | "deque"), args=[], keywords=[]):
                return frozenset()
        return frozenset({FLOAT if isinstance(value, ast.Call) and self._creates(value) else OTHER})

    def _creates(self, call: ast.Call) -> bool:
        """Whether a call makes a new tensor of the default type."""
        made = called_name(call) in operations.CREATE and self._of_torch(call.func)
        return made and not any(k.arg == "dtype" for k in call.keywords)

    def _kept(self, node: ast.Name | ast.Attribute) -> Value | None:
        """What another function left there, if one did."""
        facts = self.kept.of(node)
        return Value(facts) if facts else None

    def _with_items(self, node: ast.expr, held: Value | None) -> Value:
        """What a name holds, and what was put into the container that it may be."""
        inside = self.kept.inside(node)
        if held is None:
            return Value(inside) if inside else of(OTHER)
        return join(held, Value(inside - held.flat)) if inside - held.flat else held

    def _children_of(self, frame: _Frame, nodes: Iterable[ast.expr], env: _Env) -> None:
        for node in nodes:
            self._expr(frame, node, env)

    def _comprehension(self, frame: _Frame, elt: ast.expr, gens: list[ast.comprehension], env: _Env) -> Value:
        inner = dict(env)
        for gen in gens:
            self._iterate(frame, gen.target, gen.iter, inner)
            self._children_of(frame, gen.ifs, inner)
        return Value(self._expr(frame, elt, inner).flat)

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
        named = {k.arg: self._expr(frame, k.value, env) for k in node.keywords}
        given = [*args, *named.values()]
        name = self._label(func) or last_name(func)
        tensor = name == "add" and HALF in owner.known
        if name in operations.CONTAINER_WRITES and isinstance(func, ast.Attribute) and args and not tensor:
            key = _key(func.value)
            env[key] = join(Value(env.get(key, NOTHING).flat), Value(args[-1].flat))
            self.kept.add(func.value, args[-1].flat)
            return of(OTHER)
        if self._runs(node):
            return self._model(frame, node, name, env)
        callees = self.ctx.v.callees(node)
        if callees and not any(o.kind == "class" for o in self.ctx.v.of(func)):
            return _joined([self._enter(frame, c, node, env) for c in callees])
        self._hands_on(frame, node)
        receiver = owner.known - {OTHER}
        first = owner if receiver or not args else args[0]
        if not (frozenset().union(owner.known, *(g.known for g in given)) & {HALF, MAYBE, FLOAT}):
            return self._unknown(frame, node, name)
        rest = args if receiver else args[1:]
        return self._known(frame, node, name, first, rest, given)

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
        return _arithmetic(one, other, op, cast)

    def _widens(self, frame: _Frame, node: ast.Call, receiver: bool) -> bool:
        """Whether O1 cast an operand of a call to float32 that nothing casts natively; it is remembered."""
        found = [a for a in operands.in_place(node) if proved(self.value(a))]
        if not self._cast(frame, node):
            found += [a for a in operands.to_float(node, receiver) if proved(self.value(a)) and not _a_loss(a)]
            if self._mixes(node):
                return True
        self.widened |= dict.fromkeys(found, node)
        return bool(found)

    def _hands_on(self, frame: _Frame, node: ast.Call) -> None:
        """Remember what code of another file takes from the GPU, or computes with outside of every region."""
        v, elsewhere = self.ctx.v, self.ctx.facts.elsewhere
        found = handed_elsewhere(v, node, elsewhere.leaving)
        if not self._cast(frame, node):
            found += handed_elsewhere(v, node, elsewhere.computing)
        self.handed |= {a: node for a in found if proved(self.value(a)) and not _a_loss(a)}
        if any(HALF in self.value(a).known for a in handed_elsewhere(v, node, elsewhere.emptying)):
            self.emptied[node] = None

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
        if name in ("float", "double"):
            return of(FLOAT) if method else of(OTHER)
        if name == "cpu":
            return of(FLOAT) if proved(first) else first
        if name in ("to", "type"):
            return _converted(node, first)
        if name in operations.INTEGER:
            return of(OTHER)
        if name in ("sigmoid", "Sigmoid"):
            return first.marked(f"sigmoid@{node.lineno}:{node.col_offset}")
        if name in operations.PAIR:
            dims = bool(rest) or any(k.arg in ("dim", "k", "axis") for k in node.keywords)
            if name in ("max", "min") and rest and rest[0].known & {HALF, FLOAT}:
                return _arithmetic(first, rest[0], ast.Add(), False)
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
            items = first.items or ()
            if items and any(proved(i) for i in items):
                return Value(frozenset({HALF}) | {f for f in first.flat if "@" in f})
            return Value(first.flat)
        if name in operations.KEEP:
            return Value(first.flat) if name not in ("list", "tuple", "chunk", "split") else first
        if name in operations.PROMOTE:
            pair = given[1:] if name == "where" and len(given) == 3 else [first, *rest]
            result = pair[0]
            for other in pair[1:]:
                result = _arithmetic(result, other, ast.Add(), False)
            return result
        if name in operations.HALF_RESULTS:
            return of(HALF) if self._cast(frame, node) and any(proved(g) for g in (first, *given)) else of(MAYBE)
        if name == "dict":
            return Value(frozenset().union(*(g.flat for g in given)))
        return self._unknown(frame, node, name, frozenset().union(first.flat, *(g.flat for g in given)))

    def _unknown(self, frame: _Frame, node: ast.Call, name: str, flat: frozenset[str] = frozenset()) -> Value:
        marks = frozenset(f for f in flat if "@" in f)
        if name in ("sigmoid", "Sigmoid"):
            return of(OTHER, f"sigmoid@{node.lineno}:{node.col_offset}")
        if flat & {HALF, MAYBE}:
            return Value(marks | {MAYBE})
        if name in ("float", "double") and isinstance(node.func, ast.Attribute):
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
            return _joined([self._enter(frame, c, node, env) for c in callees])
        if not cast:
            return of(FLOAT)
        marks = self._sequential(node)
        held = self.ctx.v.of(node.func)
        direct = bool(held & self.compute.models) or (
            not isinstance(node.func, ast.Attribute) and self.compute.is_model(held)
        )
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
        scope = self.ctx.m.scope_of[callee]
        dynamic = self._cast(frame, call)
        inner: _Env = {}
        for name in scope.params:
            arg = passed(self.ctx, call, scope, name)
            if arg is not None:
                inner[name] = self._expr(frame, arg, env)
        if frame.depth >= MAX_DEPTH or callee in self._stack:
            return of(OTHER, MAYBE)
        self.entered[callee].add(call)
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
        result = below.returned if below.returned.flat else of(OTHER)
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


# ---------------------------------------------------------------- values


def _part(held: Value, name: str, unpacked: bool = False) -> Value:
    """An item or attribute of a value that may be a model's output: a float, unless its name says otherwise."""
    if HALF not in held.known:
        return Value(held.flat)
    if integers(name) or (unpacked and predicted(name)):
        return of(MAYBE)
    return Value(held.flat)


def _subscript(held: Value, index: ast.expr) -> Value:
    if held.items is not None:
        match index:
            case ast.Constant(value=int() as at) if -len(held.items) <= at < len(held.items):
                return held.items[at]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as at)) if at <= len(held.items):
                return held.items[-at]
            case ast.Slice(lower=None | ast.Constant() as low, upper=None | ast.Constant() as high, step=None):
                first, last = low.value if low else None, high.value if high else None
                if isinstance(first, int | None) and isinstance(last, int | None):
                    return Value(held.facts, held.items[first:last])
                return Value(held.flat)
            case _:
                return Value(held.flat)
    if isinstance(index, ast.Constant) and isinstance(index.value, str):
        return _part(held, index.value)
    return Value(held.flat)


def _arithmetic(one: Value, other: Value, op: ast.operator, cast: bool) -> Value:
    """What ``one op other`` may hold; a float with anything gives a float."""
    if one.items is not None or other.items is not None:
        return Value(one.flat | other.flat)  # tuples and lists put together
    flat = one.flat | other.flat
    marks = frozenset(f for f in flat if "@" in f)
    if cast and isinstance(op, ast.Pow) and flat & {HALF}:
        return Value(marks | {FLOAT})
    if one.known == {FLOAT} or other.known == {FLOAT}:
        return Value(marks | {FLOAT})
    if one.known == {HALF} or other.known == {HALF}:
        return Value(marks | {HALF})
    if proved(one) or proved(other):
        return Value(marks | {HALF, FLOAT})
    return Value(flat)


def _converted(node: ast.Call, held: Value) -> Value:
    """``x.to(...)`` and ``x.type(...)``."""
    given = [*node.args, *(k.value for k in node.keywords if k.arg in ("dtype", "device", "other"))]
    if not given:
        return of(OTHER) if called_name(node) == "type" else held
    for arg in given:
        text = ast.unparse(arg)
        if re.search(r"float32|float64|torch\.(float|double)$|FloatTensor|DoubleTensor|\.(float|double)$", text):
            return of(FLOAT) if "Half" not in text else held
        if re.search(r"\.(u?int\d*|long|bool|short)$|LongTensor|IntTensor|ByteTensor|BoolTensor", text):
            return of(OTHER)
        if "dtype" in text or text.endswith((".type()", "_type")):
            return of(MAYBE) if held.known & {HALF, MAYBE} else held
    return Value(held.flat)


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

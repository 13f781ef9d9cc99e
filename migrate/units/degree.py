"""Readers of gradients to which their size is all one: what they compute of them has degree 0, or goes back.

Every value has a degree in the loss scale, as a quantity has a dimension: a gradient has 1, its norm has 1,
a gradient divided by its norm has 0. A step along ``g / |g|`` (FGM, PGD) is the same with scaled gradients,
and so is a copy that is put back later. Nothing of another degree may leave: by a comparison with a number,
an unknown call, a ``return``. What a function that gives a norm returns has degree 1.
"""

from __future__ import annotations

import ast
from fractions import Fraction

from ..facts.names import called_name
from ..facts.once import once_each
from ..flow.values import Values
from ..knowledge.gradients import CLIP, LINEAR, SCALE_FREE
from ..nodes import children, walk
from .translate import paired
from .unit import Context

_NONE, _ONE = Fraction(0), Fraction(1)
_TINY = 1e-5  # an epsilon that keeps a norm from being zero


class _Depends(Exception):
    """The size of a gradient matters."""


@once_each
def scale_free_reader(ctx: Context, stmt: ast.stmt) -> list[ast.stmt]:
    """The statements with which a reader, all in functions of this file, reads gradients whose size is all one to
    it; empty where it may not be."""
    callees = _looking(ctx, stmt)
    functions = [f for f in callees if isinstance(f, ast.FunctionDef)]
    if len(functions) < len(callees):
        return []
    owners = {ctx.m.class_of(ctx.m.scope_of[f]) for f in functions}
    kept = _kept(ctx, owners)
    try:
        for function in functions:
            _Degrees(ctx.v, kept, _tiny_names(function)).body(function.body)
    except _Depends:
        return []
    return [n for f in functions for n in walk(f) if isinstance(n, ast.stmt)]


def _looking(ctx: Context, stmt: ast.stmt) -> list[ast.AST]:
    """The functions that a statement calls, and what looks at gradients of those that these call."""
    found: dict[ast.AST, None] = {}
    todo: list[ast.AST] = [stmt]
    while todo:
        at = todo.pop()
        called = [f for n in walk(at) if isinstance(n, ast.Call) for f in ctx.v.callees(n)]
        new = [f for f in called if f not in found and (at is stmt or f in ctx.unnamed.looking)]
        found |= dict.fromkeys(new)
        todo += new
    return list(found)


def _kept(ctx: Context, owners: set[ast.ClassDef | None]) -> frozenset[str]:
    """Attributes in which a class keeps gradients: ``self.backup[name] = p.grad.clone()``."""
    found: set[str] = set()
    for owner in owners - {None}:
        assert owner is not None
        for node in walk(owner):
            if isinstance(node, ast.Assign) and _of_gradient(node.value):
                target = node.targets[0]
                target = target.value if isinstance(target, ast.Subscript) else target
                if isinstance(target, ast.Attribute) and target.attr not in ("grad", "data"):
                    found.add(target.attr)
    elsewhere = {
        n.attr
        for attr in found
        for n in ctx.m.attributes(attr)
        if ctx.m.class_of(ctx.m.function(n)) not in owners
    }
    return frozenset(found - elsewhere)


def _tiny_names(function: ast.FunctionDef) -> frozenset[str]:
    """Names that a function gives an epsilon, once and for good."""
    nodes = list(walk(function))
    stores = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    params = {n.arg for n in nodes if isinstance(n, ast.arg)}
    given = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1 and _tiny(n.value)]
    names = {n.targets[0].id for n in given if isinstance(n.targets[0], ast.Name)}
    return frozenset(name for name in names - params if stores.count(name) == 1)


def _tiny(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and isinstance(expr.value, float) and 0 < expr.value < _TINY


def _of_gradient(expr: ast.expr) -> bool:
    """A gradient, or a copy of one."""
    while True:
        match expr:
            case ast.Attribute(attr="grad"):
                return True
            case ast.Attribute(value=base, attr="data"):
                expr = base
            case ast.Call(func=ast.Attribute(value=base, attr="clone" | "detach"), args=[]):
                expr = base
            case _:
                return False


class _Degrees:
    """The degrees of one function's values; raises `_Depends` where one leaves."""

    def __init__(self, v: Values, kept: frozenset[str], tiny: frozenset[str] = frozenset()) -> None:
        self.v, self.kept, self.tiny = v, kept, tiny
        self.names: dict[str, Fraction] = {}

    # ------------------------------------------------------------ statements

    def body(self, body: list[ast.stmt]) -> None:
        """A block, in order. A name has one degree for good."""
        for stmt in body:
            self._statement(stmt)

    def _statement(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    for one, given in paired(target, value):
                        self._store(one, given)
            case ast.AugAssign(target=target, op=ast.Mult() | ast.Div(), value=value):
                self._free(value)
            case ast.AugAssign(target=target, value=value):
                self._same(self._degree(target), self._degree(value))
            case ast.Expr(value=value):
                self._expression(value)
            case ast.If(test=test, body=body, orelse=orelse) | ast.While(test=test, body=body, orelse=orelse):
                self._free(test)
                self.body(body)
                self.body(orelse)
            case ast.For(target=target, iter=source, body=body, orelse=orelse):
                self._bind(target, self._degree(source))
                self.body(body)
                self.body(orelse)
            case ast.With(items=items, body=body):
                for item in items:
                    self._free(item.context_expr)
                self.body(body)
            case ast.Return(value=value):
                if value is not None:
                    self._free(value)
            case ast.Assert(test=test):
                self._free(test)
            case ast.Pass() | ast.Continue() | ast.Break():
                pass
            case _:
                raise _Depends

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        none = isinstance(value, ast.Constant) and value.value is None
        if isinstance(target, ast.Attribute) and target.attr == "grad":
            if not none and self._degree(value) != 1:
                raise _Depends
            return
        base = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(base, ast.Attribute) and base.attr in self.kept:
            if not (_of_gradient(value) or none or isinstance(value, (ast.Dict, ast.List)) or _empty(value)):
                raise _Depends  # made of what was kept before: it would live on into another scale
            return
        degree = self._degree(value)
        if isinstance(target, ast.Name):
            self._bind(target, degree)
        elif degree:
            raise _Depends

    def _bind(self, target: ast.expr, degree: Fraction) -> None:
        for node in walk(target):
            if isinstance(node, ast.Name):
                if self.names.setdefault(node.id, degree) != degree:
                    raise _Depends

    def _expression(self, expr: ast.expr) -> None:
        """A statement of its own: a change in place has to fit what it changes."""
        if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr.endswith("_"):
            owner, name = self._degree(expr.func.value), expr.func.attr
            given = [self._degree(a) for a in expr.args]
            if name in ("mul_", "div_") and not any(given):
                return
            if name in ("add_", "sub_", "copy_") and all(d == owner for d in given[:1]) and not any(given[1:]):
                return
            if name == "zero_" or not (owner or any(given)):
                return
            raise _Depends
        self._free(expr)

    # ------------------------------------------------------------ expressions

    def _free(self, expr: ast.expr) -> None:
        if self._degree(expr):
            raise _Depends

    def _same(self, one: Fraction, other: Fraction) -> Fraction:
        if one != other:
            raise _Depends
        return one

    def _degree(self, expr: ast.expr) -> Fraction:
        match expr:
            case ast.Constant():
                return _NONE
            case ast.Name(id=name):
                return self.names.get(name, _NONE)
            case ast.Attribute(attr="grad"):
                return _ONE
            case ast.Attribute(attr=attr) if attr in self.kept:
                return _ONE
            case ast.Attribute(value=base, attr=attr):
                degree = self._degree(base)
                return degree if attr in ("data", "T") else _NONE
            case ast.Subscript(value=base):
                return self._degree(base)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                self._free(inner)
                return _NONE
            case ast.UnaryOp(operand=inner):
                return self._degree(inner)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self._degree(left) + self._degree(right)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._degree(left) - self._degree(right)
            case ast.BinOp(left=left, op=ast.Add(), right=right) if self._is_tiny(right):
                return self._degree(left)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                return self._same(self._degree(left), self._degree(right))
            case ast.Compare(left=left, ops=ops, comparators=[right]):
                return self._compare(left, ops[0], right)
            case ast.Call():
                return self._call(expr)
            case _:
                for node in children(expr):
                    if isinstance(node, ast.expr):
                        self._free(node)
                return _NONE

    def _is_tiny(self, expr: ast.expr) -> bool:
        return _tiny(expr) or (isinstance(expr, ast.Name) and expr.id in self.tiny)

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Fraction:
        zero = isinstance(right, ast.Constant) and right.value in (0, None)
        if not zero and not isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)):
            self._same(self._degree(left), self._degree(right))
        return _NONE

    def _call(self, call: ast.Call) -> Fraction:
        name = called_name(call)
        owner = self._degree(call.func.value) if isinstance(call.func, ast.Attribute) else _NONE
        given = [owner, *(self._degree(a) for a in call.args), *(self._degree(k.value) for k in call.keywords)]
        if CLIP.fit(name) and not self.v.callees(call) and not any(given):
            raise _Depends  # it is handed parameters, and goes by the size of their gradients
        if not any(given) or name in SCALE_FREE:
            return _NONE
        if name in ("items", "values", "get", "pop") and owner:
            return owner
        if name in LINEAR and sum(d != 0 for d in given) == 1:
            return sum(given, _NONE)
        raise _Depends


class _Norm(_Degrees):
    """The degrees of a function that gives a norm of gradients and leaves them as they are."""

    def __init__(self, v: Values, function: ast.FunctionDef) -> None:
        super().__init__(v, frozenset())
        self.function = function
        self.zeros: set[str] = set()  # names that are 0, which is of any degree, so far
        self.returned = False

    def _statement(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _zero(value) and name not in self.names:
                self.zeros.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if stmt in self.function.body:
                self.names[name] = self._degree(value)  # in no loop, under no condition: it may change
                self.zeros.discard(name)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if name in self.zeros:
                self.zeros.discard(name)
                self._bind(stmt.target, self._degree(value))
            case ast.Return(value=ast.expr() as value):
                self.returned = True
                if not _zero(value):
                    self._same(self._degree(value), _ONE)
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr():
                raise _Depends  # what is called for its effect changes something
            case _:
                super()._statement(stmt)

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            raise _Depends
        super()._store(target, value)

    def _degree(self, expr: ast.expr) -> Fraction:
        match expr:
            case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
                self._free(exponent)
                degree = self._degree(base)
                return degree * self._exponent(exponent) if degree else _NONE
            case ast.Call(func=ast.Attribute(attr="sqrt"), args=[inner]):
                return self._degree(inner) / 2
            case ast.Call(func=ast.Attribute(value=inner, attr="sqrt"), args=[]):
                return self._degree(inner) / 2
            case ast.Call(func=ast.Attribute(attr=name)) if name.endswith("_"):
                raise _Depends
            case ast.ListComp(elt=elt, generators=loops) | ast.GeneratorExp(elt=elt, generators=loops):
                for loop in loops:
                    self._bind(loop.target, self._degree(loop.iter))
                    for test in loop.ifs:
                        self._free(test)
                return self._degree(elt)
            case _:
                return super()._degree(expr)

    def _exponent(self, expr: ast.expr) -> Fraction:
        """An exponent as a number; a parameter's is some number that no other expression has."""
        match expr:
            case ast.Constant(value=int() | float() as value) if value:
                return Fraction(value)
            case ast.Call(func=ast.Name(id="float"), args=[inner]):
                return self._exponent(inner)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._exponent(left) / self._exponent(right)
            case ast.Name(id=name) if self._constant(name):
                return Fraction(1_000_003 + 2 * sorted(p.arg for p in self.function.args.args).index(name))
            case _:
                raise _Depends

    def _constant(self, name: str) -> bool:
        """Whether a parameter keeps its value: ``norm_type = float(norm_type)``."""
        nodes = list(walk(self.function))
        names = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
        kept = [n for n in nodes if isinstance(n, ast.Assign) and ast.unparse(n) == f"{name} = float({name})"]
        same = len(kept) == len(names)
        return same and any(p.arg == name for p in self.function.args.args)


def gives_norm(ctx: Context, function: ast.AST) -> bool:
    """Whether a function of the file returns a norm of gradients, or something else that grows with them, and does
    nothing else."""
    if not isinstance(function, ast.FunctionDef):
        return False
    if any(f in ctx.unnamed.looking for n in walk(function) if isinstance(n, ast.Call) for f in ctx.v.callees(n)):
        return False
    reading = _Norm(ctx.v, function)
    try:
        reading.body(function.body)
    except _Depends:
        return False
    return reading.returned


def _zero(value: ast.expr) -> bool:
    """0, or a tensor of it."""
    if isinstance(value, ast.Call) and len(value.args) == 1:
        return getattr(value.func, "attr", "") in ("tensor", "zeros") and _zero(value.args[0])
    return isinstance(value, ast.Constant) and value.value in (0, 0.0)


def _empty(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and not value.args and not value.keywords

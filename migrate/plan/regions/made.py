"""Is the object there yet that the condition of a region is read from?

``enabled=self.gan.scaler.is_enabled()`` raises where ``self.gan`` is None so far: before the method that makes it has
run, or in the very statements that make it. An object that may be missing has to be used or made for certain before the
region, or by what the region begins with; then the old program would have failed there as well.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from ...facts.once import once
from ...facts.scopes import Scope
from ...nodes import children, walk
from ...units.compute import walk_now
from ...units.translate import passed
from ...units.unit import Context
from .marks import Region

_DEPTH = 3  # functions that are gone into, and callers that are asked
_LATER = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.GeneratorExp)


def not_made(ctx: Context, region: Region, text: str) -> str | None:
    """What ``text`` is read from and may not be there where a region begins; None where all of it is."""
    body = region.block.body
    inside = body[region.first : region.last + 1]
    scope = ctx.m.function(inside[0])
    for owner in _owners(ctx, text, scope):
        if not made_in(ctx, region, owner) and not _may_be_none(ctx, owner, scope):
            continue
        if not _used_first(ctx, body[region.first :], owner) and not _there(ctx, inside[0], owner, _DEPTH):
            return owner
    return None


def made_in(ctx: Context, region: Region, owner: str) -> bool:
    """Whether the statements of a region may make an object."""
    inside = region.block.body[region.first : region.last + 1]
    return any(_makes(ctx, stmt, owner, _DEPTH) for stmt in inside)


def leave_out_makers(ctx: Context, region: Region, text: str, forwards: Callable[[ast.AST], bool]) -> bool:
    """Let a region begin behind the statements that make what its condition is read from; False where that cannot be.

    ``forwards`` says of a statement whether it runs a model."""
    body = region.block.body
    for first in range(region.first, region.last):
        if forwards(body[first]):
            return False
        if not_made(ctx, Region(region.block, first + 1, region.last, region.why), text) is None:
            region.first = first + 1
            return True
    return False


def _owners(ctx: Context, text: str, scope: Scope) -> list[str]:
    """The names and attributes of which a condition reads another attribute, outermost first."""
    found: list[str] = []
    for node in walk(ast.parse(text or "True", mode="eval")):
        if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
            owner = ast.unparse(node.value)
            if owner != ctx.m.self_name(scope):
                found.append(owner)
    return found[::-1]


# ---------------------------------------------------------------- may it be missing?


def _may_be_none(ctx: Context, owner: str, scope: Scope) -> bool:
    """Whether something in the file gives an attribute of this name, or this variable, the value None."""
    m = ctx.m
    base, _, name = owner.rpartition(".")
    home = None if base else m.binding_scope(name, scope)
    if home is not None and name in home.params and _default_is_none(home, name):
        return True
    for one in _given_none(ctx).get(name, ()):
        if isinstance(one, ast.Attribute):
            if base:
                return True
        elif isinstance(one.ctx, ast.Store):
            held = m.scope(m.statement(one))
            if (base and isinstance(held.node, ast.ClassDef)) or (not base and held is home):
                return True
    return False


@once
def _given_none(ctx: Context) -> dict[str, list[ast.Name | ast.Attribute]]:
    """What may be given the value None, by its name, and what else stands on the left of such an assignment."""
    found: dict[str, list[ast.Name | ast.Attribute]] = defaultdict(list)
    assigned: list[ast.Assign | ast.AnnAssign] = [*ctx.m.all(ast.Assign), *ctx.m.all(ast.AnnAssign)]
    for stmt in assigned:
        if stmt.value is not None and _none_among(ctx, stmt.value):
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            for one in (node for target in targets for node in walk(target)):
                if isinstance(one, (ast.Name, ast.Attribute)):
                    found[one.id if isinstance(one, ast.Name) else one.attr].append(one)
    return found


def _none_among(ctx: Context, value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=None):
            return True
        case ast.IfExp(test=test, body=body, orelse=other):
            first = not _holds(test, ast.unparse(body)) and _none_among(ctx, body)
            return first or (not _lacks(test, ast.unparse(other)) and _none_among(ctx, other))
        case ast.BoolOp(op=ast.Or(), values=[*_, last]):
            return _none_among(ctx, last)
        case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.BoolOp(values=elts):
            return any(_none_among(ctx, e) for e in elts)
        case ast.Name(id=name):
            home = ctx.m.binding_scope(name, ctx.m.scope(value))
            return home is not None and name in home.params and _default_is_none(home, name)
        case _:
            return False


def _default_is_none(scope: Scope, name: str) -> bool:
    node = scope.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return False
    plain = [*node.args.posonlyargs, *node.args.args]
    defaults: list[tuple[ast.arg, ast.expr | None]] = list(zip(plain[::-1], node.args.defaults[::-1], strict=False))
    defaults += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return any(p.arg == name and isinstance(d, ast.Constant) and d.value is None for p, d in defaults)


def _makes(ctx: Context, stmt: ast.AST, owner: str, depth: int) -> bool:
    """Whether a statement may give ``owner`` a value, itself or through functions of the file."""
    base, _, name = owner.rpartition(".")
    for node in walk_now(stmt):
        if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store):
            if ast.unparse(node) == owner:
                return True
        if base and depth and isinstance(node, ast.Call):
            for callee in ctx.v.callees(node):
                if any(_stores(n, name) for n in walk(callee)):
                    return True
                if any(_makes(ctx, n, owner, depth - 1) for n in ctx.m.body_of(ctx.m.scope_of[callee])):
                    return True
    return False


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)


# ---------------------------------------------------------------- is it there?


def _used_first(ctx: Context, stmts: Sequence[ast.stmt], owner: str) -> bool:
    """Whether statements use an object for certain, before they may make it.

    That may be behind the region, such as ``if args.fp16:`` around the backward: the old program failed there."""
    for stmt in stmts:
        if _makes(ctx, stmt, owner, _DEPTH):
            return False
        if _sure(ctx, stmt, owner, 1):
            return True
    return False


def _there(ctx: Context, stmt: ast.stmt, owner: str, depth: int) -> bool:
    """Whether an object was used or made for certain on each way to a statement."""
    m = ctx.m
    for at in m.spine(stmt):
        block, index = m.place[at]
        if any(_sure(ctx, before, owner, depth) for before in block.body[:index]):
            return True
        holder = block.owner
        if isinstance(holder, (ast.If, ast.While)) and block.body is holder.body and _holds(holder.test, owner):
            return True
        if isinstance(holder, ast.If) and block.body is holder.orelse and _lacks(holder.test, owner):
            return True
        headers: list[ast.expr] = []
        match holder:
            case ast.If(test=test) | ast.While(test=test):
                headers = [test]
            case ast.For(iter=source):
                headers = [source]
            case ast.With(items=items):
                headers = [i.context_expr for i in items]
            case _:
                pass
        if any(_expr_sure(ctx, header, owner, depth) for header in headers):
            return True
    scope = m.function(stmt)
    if not depth or not scope.is_function:
        return False
    calls = ctx.v.calls[scope.node]
    return bool(calls) and all(_there_for(ctx, call, scope, owner, depth - 1) for call in calls)


def _there_for(ctx: Context, call: ast.Call, scope: Scope, owner: str, depth: int) -> bool:
    """The same at one call of the function, in the words of its caller."""
    root, dot, rest = owner.partition(".")
    if root == ctx.m.self_name(scope):
        if not isinstance(call.func, ast.Attribute):
            return False
        theirs = ast.unparse(call.func.value) + dot + rest
    elif root in scope.params:
        handed = passed(ctx, call, scope, root)
        if not isinstance(handed, (ast.Name, ast.Attribute)):
            return handed is not None and not dot and not isinstance(handed, ast.Constant)
        theirs = ast.unparse(handed) + dot + rest
    else:
        theirs = owner
    stmt = ctx.m.statement(call)
    if "." not in theirs and not _may_be_none(ctx, theirs, ctx.m.function(call)):
        return True
    return _there(ctx, stmt, theirs, depth)


def _sure(ctx: Context, stmt: ast.stmt, owner: str, depth: int) -> bool:
    """Whether a statement that has run used or made an object for certain."""
    match stmt:
        case ast.If(test=test, body=body, orelse=other):
            if _expr_sure(ctx, test, owner, depth):
                return True
            if _lacks(test, owner) and (any(_makes(ctx, s, owner, depth) for s in body) or _leaves(body)):
                return True
            return bool(other) and all(any(_sure(ctx, s, owner, depth) for s in arm) for arm in (body, other))
        case ast.For(iter=header) | ast.While(test=header):
            return _expr_sure(ctx, header, owner, depth)
        case ast.With(items=items, body=body):
            headers = any(_expr_sure(ctx, i.context_expr, owner, depth) for i in items)
            return headers or any(_sure(ctx, s, owner, depth) for s in body)
        case ast.Assert(test=test):
            return _holds(test, owner) or _expr_sure(ctx, test, owner, depth)
        case ast.Assign(targets=targets, value=value):
            if any(ast.unparse(t) == owner for t in targets) and not _none_among(ctx, value):
                return True
            return any(_expr_sure(ctx, e, owner, depth) for e in (value, *targets))
        case ast.Expr() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Delete():
            return _expr_sure(ctx, stmt, owner, depth)
        case _:
            return False


def _expr_sure(ctx: Context, expr: ast.AST, owner: str, depth: int) -> bool:
    """Whether an expression uses an object for certain: its attribute, its item, the object called."""
    for node in _certain(expr):
        match node:
            case ast.Attribute(value=used) | ast.Subscript(value=used) | ast.Call(func=used):
                if isinstance(used, (ast.Name, ast.Attribute)) and ast.unparse(used) == owner:
                    return True
            case _:
                pass
        if isinstance(node, ast.Call) and depth and _callee_sure(ctx, node, owner, depth - 1):
            return True
    return False


def _callee_sure(ctx: Context, call: ast.Call, owner: str, depth: int) -> bool:
    """Whether a method of the same object uses or makes for certain what the object holds."""
    root, dot, rest = owner.partition(".")
    if not dot or not isinstance(call.func, ast.Attribute) or ast.unparse(call.func.value) != root:
        return False
    callees = ctx.v.callees(call)
    names = [ctx.m.self_name(ctx.m.scope_of[c]) for c in callees]
    return bool(callees) and all(
        name is not None and any(_sure(ctx, s, f"{name}.{rest}", depth) for s in ctx.m.body_of(ctx.m.scope_of[c]))
        for c, name in zip(callees, names, strict=True)
    )


def _certain(expr: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that are computed whenever it is."""
    yield expr
    match expr:
        case ast.IfExp(test=test):
            yield from _certain(test)
        case ast.BoolOp(values=[first, *_]):
            yield from _certain(first)
        case ast.ListComp(generators=generators) | ast.SetComp(generators=generators) | ast.DictComp(
            generators=generators
        ):
            yield from _certain(generators[0].iter)
        case _ if isinstance(expr, _LATER):
            pass
        case _:
            for child in children(expr):
                yield from _certain(child)


def _holds(test: ast.expr, owner: str) -> bool:
    """Whether a condition says that an object is there."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_holds(v, owner) for v in values)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _lacks(inner, owner)
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return ast.unparse(left) == owner
        case ast.Call(func=ast.Name(id="exists"), args=[arg]):
            return ast.unparse(arg) == owner
        case _:
            return ast.unparse(test) == owner


def _lacks(test: ast.expr, owner: str) -> bool:
    """Whether a condition holds wherever an object is missing."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_lacks(v, owner) for v in values)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _holds(inner, owner)
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return ast.unparse(left) == owner
        case _:
            return False


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))

"""Who hears whether Apex is there: what becomes of a flag that an import which may fail sets, or of what its ``try``
returns. It can be another answer only where every reader is known and asks it for truth."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.names import called_name
from ..flow.objects import WRAPPERS
from ..model import Importable
from ..nodes import walk
from ..plan.carried import kept_unseen
from ..units.available import Key
from ..units.public import handed_on, listed, public
from ..units.translate import receiver
from ..units.unit import Context
from .apex_told import known_as


def told(ctx: Context, holder: ast.Try) -> set[Key]:
    """The names that a ``try`` sets, its handlers as well, and those that its imports of Apex bind."""
    m = ctx.m
    names = (n for s in _inner(holder) for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {(m.binding_scope(n.id, m.scope(n)), n.id) for n in names} | _bound(ctx, holder)


def _inner(holder: ast.Try) -> list[ast.stmt]:
    return [*holder.body, *holder.orelse, *(x for h in holder.handlers for x in h.body)]


def _bound(ctx: Context, holder: ast.Try) -> set[Key]:
    """The names that the imports of Apex in a ``try`` bind."""
    found: set[Key] = set()
    for stmt in holder.body:
        for alias in stmt.names if stmt in ctx.facts.imports else ():  # type: ignore[attr-defined]
            name = alias.asname or alias.name.split(".")[0]
            found.add((ctx.m.binding_scope(name, ctx.m.scope(stmt)), name))
    return found


def _loads(ctx: Context, key: Key) -> list[ast.Name]:
    return [n for scope, called in known_as(ctx, *key) for n in ctx.m.loads(called, scope)]


def _questions(ctx: Context, key: Key) -> list[ast.Name]:
    """Where a name of Apex is only asked whether it is there: ``amp is not None``."""
    found = []
    for node in _loads(ctx, key):
        match ctx.m.parent[node]:
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]) | ast.UnaryOp() | ast.Call(func=ast.Name(id="bool")):
                found.append(node)
            case ast.If(test=test) | ast.IfExp(test=test) if test is node:
                found.append(node)
            case _:
                pass
    return found


def tells(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether an import only asks if Apex is there, and its ``try`` keeps, returns or does something by the answer, or
    what it binds is asked no more than that."""
    holder = ctx.m.parent[stmt]
    if not isinstance(holder, ast.Try) or stmt not in holder.body or not _only_asked(ctx, holder):
        return False
    inner = [n for s in (*holder.body, *holder.orelse) for n in walk(s)]
    does = any(isinstance(n, (ast.Return, ast.Call)) for n in inner)
    return does or asked_by_name(ctx, stmt) or bool(told(ctx, holder) - _bound(ctx, holder))


def _only_asked(ctx: Context, holder: ast.Try) -> bool:
    return all(len(_questions(ctx, key)) == len(_loads(ctx, key)) for key in _bound(ctx, holder))


def questions(ctx: Context, stmt: ast.stmt) -> list[ast.Name]:
    """Where what such an import binds is asked."""
    holder = ctx.m.parent[stmt]
    return [n for key in _bound(ctx, holder) for n in _questions(ctx, key)] if isinstance(holder, ast.Try) else []


def asked_by_name(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether what an import of Apex binds is asked whether it is there, and for nothing else."""
    holder = ctx.m.parent[stmt]
    if not isinstance(holder, ast.Try) or not _only_asked(ctx, holder):
        return False
    return any(_questions(ctx, key) for key in _bound(ctx, holder))


def probes(ctx: Context, stmt: ast.stmt) -> bool:
    """The same, where others may hear of it: the ``try`` returns, does more, or sets what is read elsewhere, or what is
    handed on to other files."""
    m = ctx.m
    if not tells(ctx, stmt):
        return False
    holder = m.parent[stmt]
    assert isinstance(holder, ast.Try)
    if any(isinstance(n, (ast.Return, ast.Call)) for s in (*holder.body, *holder.orelse) for n in walk(s)):
        return True
    keys = told(ctx, holder) - _bound(ctx, holder)
    names = {name for _, name in keys}
    read = any(n.id in names and isinstance(n.ctx, ast.Load) for n in m.all(ast.Name))
    return read or asked_by_name(ctx, stmt) or any(handed_out(ctx, key) for key in keys)


def heard_by_others(ctx: Context, holder: ast.Try) -> str | None:
    """Why it is not known who hears what a ``try`` around an import of Apex tells."""
    returned = [n for s in _inner(holder) for n in walk(s) if isinstance(n, ast.Return)]
    if any(isinstance(n, ast.Call) for s in (*holder.body, *holder.orelse) for n in walk(s)):
        return "its try does more than to keep the answer"
    seen: set[object] = set()
    bound = _bound(ctx, holder)
    for key in sorted(told(ctx, holder), key=lambda one: one[1]):
        why = _first(ctx, iter(_questions(ctx, key)), seen) if key in bound else _name(ctx, key, seen)
        if why is not None:
            return why
    return _given_back(ctx, returned[0], seen) if returned else None


def heard(ctx: Context, key: Key, flag: bool = True) -> str | None:
    """Why it is not known who hears what a flag says, or what an imported name is asked."""
    return _name(ctx, key, set()) if flag else _first(ctx, iter(_questions(ctx, key)), set())


def handed_out(ctx: Context, key: Key) -> bool:
    """Whether a package, or the ``__all__`` of its file, hands a name on to whoever has it."""
    home, name = key
    if home is None or home.parent is not None:
        return False
    if listed(ctx, home, name) or handed_on(ctx, home, name):
        return True
    number = ctx.m.file(home.node).number
    known = ctx.importable[number] if ctx.importable else Importable.NOWHERE
    if known is Importable.ALL and not name.startswith("_"):
        return True  # whoever has it imports the module itself
    return known is not Importable.NOWHERE and bool(ctx.packaged[number] & {name, "*"})


def _name(ctx: Context, key: Key, seen: set[object]) -> str | None:
    if key in seen:
        return None
    seen.add(key)
    home, name = key
    if home is not None and isinstance(home.node, ast.ClassDef):
        reads = [n for n in ctx.m.attributes(name) if isinstance(n.ctx, ast.Load)]
        return _first(ctx, iter(reads), seen) if reads else f"the answer is kept in {home.node.name}.{name}"
    if handed_out(ctx, key) or (not ctx.answered and _taken(ctx, key)):
        return f"other files may take {name}"
    return _first(ctx, iter(_loads(ctx, key)), seen)


def _taken(ctx: Context, key: Key) -> bool:
    home, name = key
    return home is not None and home.parent is None and bool(ctx.exported(home.node) & {name, "*"})


def _first(ctx: Context, readers: Iterator[ast.expr], seen: set[object]) -> str | None:
    return next((why for reader in readers if (why := _reader(ctx, reader, seen)) is not None), None)


def _reader(ctx: Context, node: ast.expr, seen: set[object]) -> str | None:
    """Why it is not known what becomes of an expression that says whether Apex is there."""
    m = ctx.m
    above = m.parent[node]
    match above:
        case ast.If(body=[ast.Return(value=ast.Constant() as said)]) if _says(said):
            return _given_back(ctx, above, seen)  # `if has_apex: return True`
        case ast.If() | ast.While() | ast.Assert() | ast.Expr() | ast.comprehension():
            return None
        case ast.IfExp(test=test, body=one) if test is node and not _says(one):
            return None
        case ast.BoolOp() | ast.UnaryOp() | ast.Compare() | ast.IfExp():
            return _reader(ctx, above, seen)
        case ast.NamedExpr(target=target):
            return _kept(ctx, target, seen) or _reader(ctx, above, seen)
        case ast.Assign(targets=targets):
            return next((why for one in targets if (why := _kept(ctx, one, seen)) is not None), None)
        case ast.AnnAssign(target=target):
            return _kept(ctx, target, seen)
        case ast.Return() | ast.Lambda():
            return _given_back(ctx, above, seen)
        case ast.Call(func=ast.Name(id="bool"), args=[_]):
            return _reader(ctx, above, seen)
        case ast.Call() | ast.keyword():
            return _handed(ctx, node, seen)
        case ast.arguments():
            return _default(ctx, above, node, seen)
        case _:
            return f"{m.src(node)} is used in a way that is not followed"


def _says(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


def _kept(ctx: Context, target: ast.expr, seen: set[object]) -> str | None:
    m = ctx.m
    match target:
        case ast.Name(id=name):
            return _name(ctx, (m.binding_scope(name, m.scope(target)), name), seen)
        case ast.Attribute() if kept_unseen(ctx, target) is None and m.reads(target):
            if target.attr in seen:
                return None
            seen.add(target.attr)
            return _first(ctx, iter(m.reads(target)), seen)
        case _:
            return f"the answer is kept in {m.src(target)}"


def _given_back(ctx: Context, node: ast.AST, seen: set[object]) -> str | None:
    """The same of what a function gives back: its calls are readers, or its reads where it is a property."""
    m = ctx.m
    scope = m.scope_of[node] if isinstance(node, ast.Lambda) else m.function(node)
    function = scope.node
    if function in seen:
        return None
    seen.add(function)
    name = getattr(function, "name", "a lambda")
    called = f"{name}()" if name != "a lambda" else name
    unknown = f"{called} gives the answer back, and not all who ask for it are known"
    if isinstance(function, ast.Lambda):
        return _first(ctx, iter(ctx.v.calls[function]), seen) if ctx.v.calls[function] else unknown
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or public(ctx, scope):
        return unknown
    owner = m.class_of(scope)
    if handed_out(ctx, (m.scope(owner or function), (owner or function).name)):
        return unknown
    if any(isinstance(one, ast.Name) and one.id == "property" for one in function.decorator_list):
        reads = [n for n in m.attributes(name) if isinstance(n.ctx, ast.Load)]
        return _first(ctx, iter(reads), seen) if reads else unknown
    taken = owner is None and _taken(ctx, (m.scope(function), name))
    if (taken and not ctx.answered) or not (taken or ctx.v.calls[function]):
        return unknown
    return _first(ctx, iter(ctx.v.calls[function]), seen)


def _handed(ctx: Context, node: ast.expr, seen: set[object]) -> str | None:
    """The same of an argument: functions of the program read it as their parameter."""
    m = ctx.m
    above = m.parent[node]
    call = m.parent[above] if isinstance(above, ast.keyword) else above
    if not isinstance(call, ast.Call) or not (callees := ctx.v.callees(call)):
        name = called_name(call) if isinstance(call, ast.Call) else "a class"
        return f"the answer is handed to {name}(), which is not read here"
    for callee in callees:
        scope = m.scope_of[callee]
        taken = above.arg if isinstance(above, ast.keyword) else None
        args = getattr(callee, "args", None)
        if taken is None and isinstance(above, ast.Call) and isinstance(args, ast.arguments):
            positional = [p.arg for p in (*args.posonlyargs, *args.args)]
            index = above.args.index(node) + receiver(ctx, above, scope)
            taken = positional[index] if index < len(positional) else None
        if taken is None or taken not in scope.params or called_name(call) in WRAPPERS:
            return f"the answer is handed to {called_name(call)}(), and is not followed there"
        if (why := _name(ctx, (scope, taken), seen)) is not None:
            return why
    return None


def _default(ctx: Context, header: ast.arguments, node: ast.expr, seen: set[object]) -> str | None:
    """The same of what stands for a parameter that nobody fills."""
    positional = [*header.posonlyargs, *header.args]
    first = len(positional) - len(header.defaults)
    scope = ctx.m.scope_of[ctx.m.parent[header]]
    pairs = [*zip(positional[first:], header.defaults, strict=True)]
    pairs += [(p, value) for p, value in zip(header.kwonlyargs, header.kw_defaults, strict=True) if value is not None]
    return next((_name(ctx, (scope, p.arg), seen) for p, value in pairs if value is node), None)

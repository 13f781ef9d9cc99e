"""Amp as a value: where it is stored, returned and handed on, and who reads it there.

Once every reader is known, and asks no more than whether amp is there, what held amp can hold ``True``.
Where one is not known (a caller in another file, an argument of unknown code), amp stays what it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..facts.names import called_name, is_none, last_name
from ..facts.once import once
from ..facts.scopes import Scope
from ..flow.objects import NAMESPACES, Obj, by_name
from ..knowledge.host import CHECKPOINTS
from ..knowledge.models import ATTRIBUTE_DICTS
from ..nodes import walk
from ..units.translate import receiver
from ..units.unit import Context

OLD_STATE = (
    "a checkpoint written by the legacy code holds Apex's state and will not load (KeyError: 'scale'): "
    "`apex2native convert-checkpoint OLD NEW` converts it"
)
AMP = frozenset({"apex", "apex.amp"})
_KEEPERS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.IfExp, ast.BoolOp, ast.NamedExpr)
_SAME = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
# Calls that look at what they are handed and keep nothing of it.
_LOOKS = frozenset("vars print len str repr isinstance hasattr getattr setattr delattr type id bool info debug".split())
# What asks for truth, and what a module would make fail: so it is never amp.
_FAILS = frozenset("bool isinstance float int len round sum max min abs".split())
FILLS = frozenset("append add insert setdefault".split())
MADE_BY_NAME = NAMESPACES | ATTRIBUTE_DICTS | {"dict", "OrderedDict"}  # made of what they are handed by name

_ASKS = frozenset("hasattr getattr vars dir".split())
_Holder = Scope | frozenset[Obj] | None  # whose a variable is, or an attribute


def holders(ctx: Context, labels: frozenset[str] = AMP) -> Iterator[ast.expr]:
    """Every expression that may stand for amp itself (or for another object of Apex)."""
    for node in ctx.m.of(*_KEEPERS):
        assert isinstance(node, ast.expr)
        if labels & ctx.v.apex_names(node) and isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
            yield node


def unknown_reader(ctx: Context, node: ast.expr) -> str | None:
    """Why it is not known who reads what ``node`` holds; None where this reader is known."""
    m = ctx.m
    above = m.parent[node]
    match above:
        case ast.Attribute() | ast.BoolOp() | ast.IfExp() | ast.NamedExpr() | ast.Expr() | ast.arguments():
            return None  # a use of its own, or an expression that holds it in turn
        case ast.If() | ast.While() | ast.Assert() | ast.UnaryOp(op=ast.Not()):
            return None
        case ast.Compare(ops=[op], comparators=[right]) if isinstance(op, _SAME):
            none = [x for x in (above.left, right) if is_none(x)]
            return None if none else "is compared with something else"
        case ast.Assign(targets=targets):
            return next((why for t in targets if (why := kept_unseen(ctx, t) or _mixed(ctx, t)) is not None), None)
        case ast.AnnAssign(target=target):
            return kept_unseen(ctx, target)
        case ast.Return():
            return _returned(ctx, above)
        case ast.keyword():
            call = m.parent[above]
            return _handed(ctx, call, node) if isinstance(call, ast.Call) else "is part of a class definition"
        case ast.Call() if above.func is not node:
            return _handed(ctx, above, node)
        case ast.Dict() | ast.List() | ast.Tuple() | ast.Set():
            made = ctx.v.in_order(ctx.v.of(above))
            return _open(ctx, made[0]) if made else None
        case _:
            return "is used in a way that is not followed"


def kept_unseen(ctx: Context, target: ast.expr) -> str | None:
    """Why what is stored may be read by unknown code."""
    m = ctx.m
    match target:
        case ast.Name(id=name):
            home = m.binding_scope(name, m.scope(target))
            shared = home is not None and home.parent is None and bool(ctx.exported(home.node) & {name, "*"})
            return f"is kept as {name}, which other files import" if shared else None
        case ast.Attribute(attr="amp") if not ctx.spelled:
            return None  # whoever gets to see the object, nobody else reads that of it
        case ast.Attribute(value=base) | ast.Subscript(value=base):
            held = ctx.v.of(base)
            if not held:
                return f"is stored in {m.src(target)}; who reads it there is not known"
            return next((why for o in ctx.v.in_order(held) if (why := _open(ctx, o)) is not None), None)
        case ast.Tuple() | ast.List():
            return None
        case _:
            return f"is stored in {m.src(target)}"


def _mixed(ctx: Context, target: ast.expr) -> str | None:
    """Why what holds amp may hold something else than amp or a constant."""
    match target:
        case ast.Name(id=name):
            holder: _Holder = ctx.m.binding_scope(name, ctx.m.scope(target))
        case ast.Attribute(value=owner, attr=name):
            holder = ctx.v.of(owner)
        case _:
            return None
    known = _known_to_mix(ctx)
    if (name, holder) not in known:
        known[name, holder] = _mixes(ctx, name, holder)
    return known[name, holder]


@once
def _known_to_mix(ctx: Context) -> dict[tuple[str, _Holder], str | None]:
    """What was found out for a name or an attribute: it may be given something in many places."""
    return {}


def _mixes(ctx: Context, name: str, holder: _Holder) -> str | None:
    m, v = ctx.m, ctx.v
    places: Sequence[ast.expr]
    if isinstance(holder, frozenset):
        places = [n for n in m.attributes(name) if isinstance(n.ctx, ast.Store) and v.of(n.value) & holder]
    else:
        places = m.stores(name, holder)
    for node in places:
        above = m.parent[node]
        value = above.value if isinstance(above, (ast.Assign, ast.AnnAssign)) else None
        if value is None or not _amp_or_constant(ctx, value):
            return f"is kept in {m.src(node)}, which may hold something else too"
    return None


def _amp_or_constant(ctx: Context, value: ast.expr) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.IfExp(body=one, orelse=other):
            return _amp_or_constant(ctx, one) and _amp_or_constant(ctx, other)
        case ast.BoolOp(values=values):
            return any(ctx.v.apex_names(x) for x in values)
        case _:
            return bool(ctx.v.of(value)) and all(o.kind == "apex" for o in ctx.v.of(value))


def _returned(ctx: Context, stmt: ast.AST) -> str | None:
    scope = ctx.m.scope(stmt)
    return None if _callers_known(ctx, scope) else f"is returned by {_called(scope)}(), whose callers are not known"


def _called(scope: Scope) -> str:
    return getattr(scope.node, "name", "a lambda")


def _callers_known(ctx: Context, scope: Scope) -> bool:
    """Whether all calls of a function stand in this file."""
    node = scope.node
    marks = {getattr(d, "id", "") for d in getattr(node, "decorator_list", [])}
    if "property" in marks:
        return True
    name = _called(scope)
    owner = ctx.m.class_of(scope)
    exported = ctx.exported(node)
    public = owner is not None and owner.name in exported and not name.startswith("_")
    return bool(ctx.v.calls[node]) and not public and not exported & {name, "*"}


def _handed(ctx: Context, call: ast.Call, node: ast.expr) -> str | None:
    """Why it is not known what becomes of an argument."""
    name = called_name(call)
    if name in _FAILS and isinstance(call.func, ast.Name):
        return None
    if name in _ASKS and isinstance(call.func, ast.Name) and ctx.conditions.settled(call):
        return None
    if handed_for_state(ctx, node) is not None:
        return None
    if name in FILLS and isinstance(call.func, ast.Attribute) and ctx.v.of(call.func.value):
        held = ctx.v.in_order(ctx.v.of(call.func.value))
        return next((why for o in held if (why := _open(ctx, o)) is not None), None)
    if name in MADE_BY_NAME and any(keyword.value is node for keyword in call.keywords):
        made = next((o for o in ctx.v.in_order(ctx.v.of(call)) if o.key is call), None)
        if made is not None:
            return _open(ctx, made)
    return None if _known_call(ctx, call) else f"is handed to {ctx.m.src(call.func)}(), which is not in this file"


def _known_call(ctx: Context, call: ast.Call) -> bool:
    """Whether everything that a call may run stands in this file."""
    held = ctx.v.of(call.func)
    return bool(held) and all(ctx.v.callee(o) is not None or _record(o) for o in held)


def _record(obj: Obj) -> bool:
    """A class without a constructor, whose fields are declared."""
    return obj.kind == "class" and isinstance(obj.key, ast.ClassDef) and any(
        isinstance(n, ast.AnnAssign) for n in obj.key.body
    )


def _open(ctx: Context, obj: Obj, seen: frozenset[Obj] = frozenset()) -> str | None:
    """Why unknown code may read what an object holds."""
    if obj.kind in ("instance", "class", "apex") or obj in seen:
        return None
    root = obj
    while root.kind == "path":
        root = root.key[0]  # type: ignore[index]
    if root.kind == "param":
        scope: Scope = root.key[0]  # type: ignore[index]
        return f"is stored in what {_called(scope)}() was handed by callers that are not known"
    for node in ctx.m.nodes:
        if isinstance(node, (*_KEEPERS, ast.Dict, ast.List, ast.Tuple)) and obj in ctx.v.of(node):
            why = _given(ctx, node, seen | {obj})
            if why is not None:
                return why
    return None


def _given(ctx: Context, node: ast.expr, seen: frozenset[Obj]) -> str | None:
    """Whether unknown code gets an object at ``node``."""
    above = ctx.m.parent[node]
    call = ctx.m.parent[above] if isinstance(above, (ast.keyword, ast.Starred)) else above
    match call:
        case ast.Call(func=func) if func is not node:
            if isinstance(above, ast.keyword) and above.arg is None:
                return None  # taken apart
            if last_name(func) in _LOOKS or _known_call(ctx, call):
                return None
            return f"is stored in {ctx.m.src(node)}, which {ctx.m.src(func)}() gets to see"
        case ast.Return() if not _callers_known(ctx, ctx.m.scope(call)):
            return f"is stored in {ctx.m.src(node)}, which goes to callers that are not known"
        case ast.Assign(targets=targets):
            for target in targets:
                if isinstance(target, (ast.Attribute, ast.Subscript)):
                    for obj in ctx.v.in_order(ctx.v.of(target.value)):
                        why = _open(ctx, obj, seen)
                        if why is not None:
                            return why
            return None
        case ast.Dict() | ast.List() | ast.Tuple() | ast.Set():
            within = (_open(ctx, obj, seen) for obj in ctx.v.in_order(ctx.v.of(call)))
            return next((why for why in within if why is not None), None)
        case _:
            return None


# ---------------------------------------------------------------- what becomes a flag


def imported_here(ctx: Context, name: ast.Name) -> bool:
    """Whether an import of Apex binds a name, and nothing else but what stands in for a failed import."""
    return (ctx.m.binding_scope(name.id, ctx.m.scope(name)), name.id) in ctx.conditions.imported


def sometimes_imported(ctx: Context, scope: Scope | None, name: str) -> bool:
    """Whether an import of Apex is one of several ways to bind a name: it becomes ``name = True``."""
    return (scope, name) not in ctx.conditions.imported and bool(ctx.m.stores(name, scope))


def becomes_true(ctx: Context, use: ast.expr) -> bool:
    """Whether an expression that stands for amp is stored or handed on, so that ``True`` has to stand there."""
    root = use
    while isinstance(root, ast.Attribute):
        root = root.value
    named = isinstance(root, ast.Name) and imported_here(ctx, root)
    if not named and not (isinstance(root, ast.Call) and by_name(root) is not None):
        return False
    if any(ctx.v.apex_names(n) & AMP and not isinstance(n, ast.Name) for n in _bases(use)):
        return False
    above = ctx.m.parent[use]
    return not isinstance(above, (ast.If, ast.While, ast.Assert, ast.UnaryOp, ast.Compare, ast.Expr)) and not (
        isinstance(above, ast.IfExp) and above.test is use
    )


def asks_a_flag(ctx: Context, use: ast.expr) -> bool:
    """Whether ``.amp`` is asked of what stands for Apex and will be a flag: ``apex.amp`` behind ``apex = apex.amp``."""
    if not isinstance(use, ast.Attribute) or not ctx.v.apex_names(use.value) & AMP:
        return False
    return not (isinstance(use.value, ast.Name) and imported_here(ctx, use.value))


def may_be_another(ctx: Context, use: ast.expr) -> bool:
    """Whether an attribute may be asked of something else than Apex: not where all assignments are seen to give it."""
    base = use.value if isinstance(use, ast.Attribute) else use
    match base:
        case ast.Name(id=name):
            home = ctx.m.binding_scope(name, ctx.m.scope(base))
            return home is None or name in home.params or _mixed(ctx, base) is not None
        case ast.Attribute():
            return _mixed(ctx, base) is not None
        case _:
            return True


def _bases(use: ast.expr) -> Iterator[ast.expr]:
    while isinstance(use, ast.Attribute):
        use = use.value
        yield use


# ---------------------------------------------------------------- amp handed on for its state


def handed_for_state(ctx: Context, use: ast.expr) -> ast.Call | None:
    """The call that hands amp to a function which only asks for its state."""
    m = ctx.m
    at: ast.AST = use
    above = m.parent[at]
    if isinstance(above, ast.IfExp) and above.test is not use:
        at, above = above, m.parent[above]
    name: str | None = None
    if isinstance(above, ast.keyword):
        name, above = above.arg, m.parent[above]
    if not isinstance(above, ast.Call) or above.func is at:
        return None
    callees = ctx.v.callees(above)
    if not callees:
        return above if saves(above) else None
    for callee in callees:
        scope = m.scope_of[callee]
        if not isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        positional = [p.arg for p in (*callee.args.posonlyargs, *callee.args.args)]
        taken = name
        if at in above.args:
            index = above.args.index(at) + receiver(ctx, above, scope)
            taken = positional[index] if index < len(positional) else None
        if taken is None or not only_state(ctx, callee, taken):
            return None
    return above


def may_be_nothing(ctx: Context, use: ast.expr) -> bool:
    """Whether what holds amp and is handed on holds ``None`` where mixed precision is off, as its assignments say:
    ``self.amp = None`` in the other arm. Then a function that asks for it is not to find a scaler that is off."""
    m = ctx.m
    match use:
        case ast.Attribute(attr=attr, value=owner):
            held = ctx.v.of(owner)
            every = [n for n in m.attributes(attr) if isinstance(n.ctx, ast.Store)]
            stores: list[ast.AST] = [n for n in every if ctx.v.of(n.value) & held]
        case ast.Name(id=name) if not imported_here(ctx, use):
            stores = list(m.stores(name, m.binding_scope(name, m.scope(use))))
        case _:
            return False
    given = [m.parent[node] for node in stores]
    return any(isinstance(one, ast.Assign) and is_none(one.value) for one in given)


def saves(call: ast.Call) -> bool:
    """Whether a call of another file's function, by its name, saves or restores a state."""
    return CHECKPOINTS.fit(called_name(call))


def only_state(ctx: Context, function: ast.AST, name: str) -> bool:
    """Whether a parameter is asked for its state, and for nothing else but whether it is there."""
    m = ctx.m
    asked = False
    for node in walk(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            above = m.parent[node]
            if isinstance(above, ast.Attribute) and above.attr in ("state_dict", "load_state_dict"):
                asked = True
            elif not is_test(ctx, node):
                return False
    return asked


def is_test(ctx: Context, expr: ast.expr) -> bool:
    """Whether an expression is a condition, or a part of one."""
    above = ctx.m.parent[expr]
    if isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return above.test is expr
    return isinstance(above, (ast.BoolOp, ast.UnaryOp, ast.Compare))


def through_parameter(ctx: Context, use: ast.expr) -> bool:
    """Whether a use reads a parameter that only serves amp's state: the callers fill it with the scaler."""
    root = use
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    scope = ctx.m.binding_scope(root.id, ctx.m.scope(root))
    if scope is None or not scope.is_function or root.id not in scope.params:
        return False
    return only_state(ctx, scope.node, root.id)

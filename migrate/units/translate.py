"""Say a condition of one function in another: the same objects under the names they have there."""

from __future__ import annotations

import ast

from ..facts.once import once_each
from ..facts.scopes import Scope
from ..flow.objects import Obj, unbound
from ..nodes import children, walk
from .unit import Context


def translate_open(ctx: Context, expr: ast.expr, text: str, there: Scope) -> str | None:
    """The same where callers that are not known call ``there``: only what it hands on itself says the same."""
    said: dict[str, str] = {}
    here = ctx.m.scope(expr)
    for node in walk(expr):
        if isinstance(node, ast.Name):
            home = ctx.m.binding_scope(node.id, here)
            handed = home is not None and home.is_function and node.id in home.params and home is not there
            found = _argument(ctx, node.id, home, there) if handed and home is not None else None
            if found is None or (home is not None and ctx.m.stores(node.id, home)):
                return None
            said[node.id] = found
    return _substitute(text, said)


def translate(ctx: Context, expr: ast.expr, text: str, there: Scope) -> str | None:
    """``text`` (what is left of ``expr``) as it reads in scope ``there``; None where a name has no counterpart."""
    said: dict[str, str] = {}
    if not _say(ctx, expr, ctx.m.scope(expr), there, said):
        return None
    if all(old == new for old, new in said.items()):
        return text
    return _substitute(text, said)


def _say(ctx: Context, expr: ast.AST, here: Scope, there: Scope, said: dict[str, str]) -> bool:
    """Find what to say for each name in ``expr``, or for what it is read from; False where there is nothing."""
    if isinstance(expr, ast.Name):
        found = _name(ctx, expr, here, there) or _handed(ctx, expr, there) or _given(ctx, expr, here, there)
        if found is not None:
            said[ast.unparse(expr)] = found
        return found is not None
    inner: dict[str, str] = {}
    if all(_say(ctx, child, here, there, inner) for child in children(expr)):
        said.update(inner)
        return True
    if isinstance(expr, (ast.Attribute, ast.Subscript)):
        found = _handed(ctx, expr, there) or _given_to_constructor(ctx, expr, there)
        if found is not None:
            said[ast.unparse(expr)] = found
            return True
    return False


def _given(ctx: Context, name: ast.Name, here: Scope, there: Scope) -> str | None:
    """What a local variable is given, once: ``half = cfg.DTYPE == "float16"``. Said in its own file alone: scripts that
    share another one have to say the same there."""
    m = ctx.m
    home = m.binding_scope(name.id, here)
    if home is None or not home.is_function or name.id in home.params or name.id in home.outer:
        return None
    if m.file(home.node) is not m.file(there.node):
        return None
    match [m.parent[n] for n in m.stores(name.id, home)]:
        case [ast.Assign(targets=[ast.Name()], value=ast.Compare() | ast.Attribute() as value)] if plain(value):
            said: dict[str, str] = {}
            return _substitute(ast.unparse(value), said) if _say(ctx, value, home, there, said) else None
        case _:
            return None


def plain(value: ast.expr) -> bool:
    """Whether a value is made of names, attributes, constants and comparisons alone."""
    parts = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.expr_context, ast.cmpop)
    return all(isinstance(n, parts) for n in walk(value))


def _handed(ctx: Context, expr: ast.expr, there: Scope, depth: int = 0) -> str | None:
    """The parameter of ``there`` that every call fills with ``expr``, which nothing assigns anew; or the attribute of
    its instance that the constructor takes from such a parameter."""
    m = ctx.m
    text, home = ast.unparse(expr), m.function(expr)
    if depth > 3 or not there.is_function or _assigned(ctx, text, home) > 1:
        return None
    calls = ctx.v.calls[there.node]
    for name in there.params if calls and not isinstance(there.node, ast.Lambda) else ():
        if _assigned(ctx, name, there):
            continue
        args = [passed(ctx, call, there, name) for call in calls]
        if all(a is not None and _is_same(ctx, a, expr, text, home, depth) for a in args):
            return name
    return _kept(ctx, expr, there, depth)


def _is_same(ctx: Context, arg: ast.expr, expr: ast.expr, text: str, home: Scope, depth: int) -> bool:
    """Whether an argument is ``expr``, in its own function or handed through another one."""
    function = ctx.m.function(arg)
    if function is home:
        return ast.unparse(arg) == text
    return isinstance(arg, ast.Name) and _handed(ctx, expr, function, depth + 1) == arg.id


def _kept(ctx: Context, expr: ast.expr, there: Scope, depth: int) -> str | None:
    """``self.fp16`` in a method, where ``__init__`` keeps a parameter under that name."""
    m = ctx.m
    cls, own = m.class_of(there), m.self_name(there)
    init = next((s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None) if cls else None
    if init is None or own is None or init is there.node:
        return None
    scope = m.scope_of[init]
    name = _handed(ctx, expr, scope, depth + 1)
    if name is None:
        return None
    for stmt in init.body:
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
        if not isinstance(stmt, ast.Assign) or target is None:
            continue
        for one, value in paired(target, stmt.value):
            if isinstance(one, ast.Attribute) and isinstance(value, ast.Name) and value.id == name:
                if sum(isinstance(n.ctx, ast.Store) for n in m.attributes(one.attr)) == 1:
                    return f"{own}.{one.attr}"
    return None


def _given_to_constructor(ctx: Context, expr: ast.expr, there: Scope) -> str | None:
    """``args``, for the ``self.args`` of another class whose constructor keeps it under that name and nothing else."""
    m = ctx.m
    function = m.function(expr)
    cls, own = m.class_of(function), m.self_name(function)
    if not isinstance(expr, ast.Attribute) or cls is None or own is None or m.class_of(there) is cls:
        return None
    stores = [n for n in m.attributes(expr.attr) if isinstance(n.ctx, ast.Store)]
    if len(stores) != 1 or m.src(expr.value) != own:
        return None
    scope, stmt = m.function(stores[0]), m.statement(stores[0])
    constructor = m.class_of(scope) is cls and getattr(scope.node, "name", "") == "__init__"
    if not constructor or not isinstance(stmt, ast.Assign):
        return None
    pairs = [pair for target in stmt.targets for pair in paired(target, stmt.value)]
    value = next((value for target, value in pairs if target is stores[0]), None)
    if not isinstance(value, ast.Name) or value.id not in scope.params or m.bindings(value.id, scope):
        return None
    return _name(ctx, value, scope, there)


def paired(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment with what each is given, a tuple's one by one."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _assigned(ctx: Context, text: str, scope: Scope) -> int:
    """How often a function assigns what ``text`` names."""
    return ctx.assigned[scope][text]


def _substitute(text: str, said: dict[str, str]) -> str | None:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None

    class Rename(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            new = said.get(ast.unparse(node)) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else None
            return ast.parse(new, mode="eval").body if new is not None else self.generic_visit(node)

    return ast.unparse(Rename().visit(tree)).replace("'", '"')


def _name(ctx: Context, node: ast.Name, here: Scope, there: Scope) -> str | None:
    m, v = ctx.m, ctx.v
    home, other = m.binding_scope(node.id, here), m.binding_scope(node.id, there)
    if home is other:
        return node.id if home is None or _always_there(ctx, node.id, home, there) else None
    held = v.variable(node.id, here)
    reachable = other is not None and _always_there(ctx, node.id, other, there)
    if held and _only(ctx, node.id, here, held):
        if reachable and _only(ctx, node.id, there, held) and _can_be_asked(ctx, node, node.id, there, held):
            return node.id
        for name in _likeliest_first(ctx, home, there):
            if name != "self" and _only(ctx, name, there, held) and _can_be_asked(ctx, node, name, there, held):
                return name
    if home is not None and home.is_function and node.id in home.params:
        return _argument(ctx, node.id, home, there)
    return _of_module(ctx, node.id, home, there) if home is not None else None


def _of_module(ctx: Context, name: str, home: Scope, there: Scope) -> str | None:
    """``config.FP16`` or ``config.is_half()``, where the file of ``there`` imports the one whose global it is."""
    m = ctx.m
    given = [*m.stores(name, home), *(n for n in m.declared(name) if m.binding_scope(name, m.scope(n)) is home)]
    plain_name = bool(given) and all(isinstance(n, ast.Name) for n in given)
    one_thing = len(given) == 1 and not isinstance(given[0], ast.alias)
    if not isinstance(home.node, ast.Module) or not (plain_name or one_thing):
        return None
    for (stmt, module), scope in m.modules.items():
        seen = m.binding_scope(module, there)
        if scope is home and seen is not None and m.scope(stmt) is seen and isinstance(seen.node, ast.Module):
            return f"{module}.{name}"
    return None


def _only(ctx: Context, name: str, scope: Scope, held: frozenset[Obj]) -> bool:
    """Whether a name in ``scope`` holds something of ``held``, and is never given anything else."""
    m, v = ctx.m, ctx.v
    home = m.binding_scope(name, scope)
    if home is None or not held & v.variable(name, scope):
        return False
    given = [
        _original(m.parent[n].value) if isinstance(m.parent[n], ast.Assign) else n  # type: ignore[attr-defined]
        for n in m.stores(name, home)
    ]
    calls = v.calls[home.node] if name in home.params and name != m.self_name(home) else []
    handed = [passed(ctx, call, home, name) for call in calls]
    return all(arg is not None and v.of(arg) & held for arg in (*given, *handed))


def _can_be_asked(ctx: Context, node: ast.Name, name: str, there: Scope, held: frozenset[Obj]) -> bool:
    """Whether what is read of ``node`` is there in whatever else a name may hold: of two classes that take each other's
    place (``FullPrecision``, ``ApexPrecision``) one may have no ``opt_level``."""
    above = ctx.m.parent.get(node)
    if not isinstance(above, ast.Attribute):
        return True
    others = [o for o in ctx.v.variable(name, there) - held if o.kind == "instance"]
    return all(has_attribute(ctx, one, above.attr) for one in others)


def has_attribute(ctx: Context, obj: Obj, attr: str) -> bool:
    """Whether an instance has an attribute, as far as its classes are here: of others it may be inherited."""
    m, v = ctx.m, ctx.v
    assert isinstance(obj.key, ast.ClassDef)
    line = v.order(obj.key)
    for cls in line:
        names = m.scope_of[cls].names
        known = {o.key for base in cls.bases for o in v.of(base) if o.kind == "class"} & {*line}
        bare = [base for base in cls.bases if not (isinstance(base, ast.Name) and base.id == "object")]
        if attr in names or "__getattr__" in names or m.method(cls, attr) is not None or len(known) < len(bare):
            return True
    stored = (n for n in m.attributes(attr) if isinstance(n.ctx, ast.Store))
    return attr in v.attributes(obj) or any(obj in v.of(n.value) for n in stored)


def _original(value: ast.expr) -> ast.expr:
    """What a copy is made of: it says the same."""
    match value:
        case ast.Call(func=ast.Name(id="copy" | "deepcopy") | ast.Attribute(attr="copy" | "deepcopy"), args=[source]):
            return source
        case _:
            return value


def _always_there(ctx: Context, name: str, home: Scope, there: Scope) -> bool:
    """Whether a global is bound when ``there`` runs: not only in the main block, unless it is read there already."""
    m = ctx.m
    if home.is_function:
        return True
    declared = [n for n in m.declared(name) if m.binding_scope(name, m.scope(n)) is home]
    bound = any(not _in_main_block(ctx, n) for n in (*m.stores(name, home), *declared))
    if bound and _imported_there(ctx, name, there):
        return True
    return any(isinstance(n.ctx, ast.Load) and m.function(n) is there for n in m.named(name))


def _imported_there(ctx: Context, name: str, there: Scope) -> bool:
    """Whether the file of ``there`` takes a name that is another's not only in its main block."""
    m, at = ctx.m, there
    while name not in at.linked and at.parent is not None:
        at = at.parent
    taken = [n for n in m.declared(name) if isinstance(n, ast.alias) and m.scope(n) is at] if name in at.linked else []
    return not taken or any(not _in_main_block(ctx, n) for n in taken)


def _in_main_block(ctx: Context, node: ast.AST) -> bool:
    return any(
        isinstance(a, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in walk(a.test))
        for a in ctx.m.ancestors(node)
    )


def _likeliest_first(ctx: Context, home: Scope | None, there: Scope) -> list[str]:
    """The names of a function: first those whose method of that name it runs, then those that are given something
    whichever way it goes (``best_trainer`` of an ``if`` may not be there yet)."""
    m = ctx.m
    calls = [call for call in ctx.v.calls[home.node] if m.function(call) is there] if home is not None else []
    owners = [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
    run = {owner.id for owner in owners if isinstance(owner, ast.Name)}
    body = getattr(there.node, "body", None)

    def rank(name: str) -> int:
        if name in run:
            return 0
        return 1 if any(m.parent.get(m.statement(n)) is there.node for n in m.stores(name, there)) else 2

    names = [*there.params, *sorted(there.names - set(there.params))]
    return sorted(names, key=rank) if isinstance(body, list) else names


def _argument(ctx: Context, name: str, home: Scope, there: Scope) -> str | None:
    """What ``there`` hands to parameter ``name`` of the function ``home`` that it calls."""
    texts: set[str] = set()
    for call in ctx.v.calls[home.node]:
        if ctx.m.function(call) is not there:
            if _of_another_script(ctx, call, there):
                continue
            return None
        arg = passed(ctx, call, home, name)
        said = isinstance(arg, (ast.Name, ast.Attribute, ast.Compare)) or (arg is not None and _entry(arg))
        if arg is None or not (said or (isinstance(arg, ast.Constant) and isinstance(arg.value, bool))):
            return None
        texts.add(ctx.m.src(arg))
    return texts.pop() if len(texts) == 1 else None


def _entry(arg: ast.expr) -> bool:
    """Whether an argument is an entry that is only read: ``cfg["amp"]``."""
    match arg:
        case ast.Subscript(value=owner, slice=ast.Constant()):
            return isinstance(owner, (ast.Name, ast.Attribute)) or _entry(owner)
        case _:
            return False


def _of_another_script(ctx: Context, call: ast.Call, there: Scope) -> bool:
    """Whether a call stands in a file that never runs in one process with that of ``there``: none imports the other,
    and nobody imports both."""
    m = ctx.m
    mine, other = m.file(there.node), m.file(call)
    return not any({mine, other} <= set(m.reached(file)) for file in m.files)


@once_each
def passed(ctx: Context, call: ast.Call, callee: Scope, name: str) -> ast.expr | None:
    """The argument that ``call`` hands to parameter ``name``; None where it hands none (or by splat)."""
    node = callee.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    positional = [p.arg for p in (*node.args.posonlyargs, *node.args.args)]
    if name not in positional:
        return None
    index = positional.index(name) - receiver(ctx, call, callee)
    part = partial_of(ctx, call)
    if part is not None:
        if any(obj.kind == "partial" for obj in ctx.v.of(part.args[0])):
            return None  # that has filled some before
        given = len(part.args) - 1
        if index < given:
            return part.args[index + 1]
        for keyword in part.keywords:
            if keyword.arg == name:
                return keyword.value
        index -= given
    if 0 <= index < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: index + 1]):
        return call.args[index]
    return None


def collected(ctx: Context, call: ast.Call, callee: Scope, name: str) -> list[ast.expr]:
    """All that ``call`` hands to parameter ``name``: to ``*losses`` and ``**losses`` what no other parameter takes, and
    what a splat may bring."""
    node = callee.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    one = passed(ctx, call, callee, name)
    if one is not None or partial_of(ctx, call) is not None:
        return [one] if one is not None else []
    positional = [p.arg for p in (*node.args.posonlyargs, *node.args.args)]
    rest, more = node.args.vararg, node.args.kwarg
    if rest is not None and rest.arg == name:
        count = len(positional) - receiver(ctx, call, callee)
        spread = next((i for i, a in enumerate(call.args) if isinstance(a, ast.Starred)), count)
        return [a.value if isinstance(a, ast.Starred) else a for a in call.args[min(count, spread) :]]
    if more is not None and more.arg == name:
        named = {*positional, *(p.arg for p in node.args.kwonlyargs)}
        return [k.value for k in call.keywords if k.arg not in named]
    return []


def unpacked(ctx: Context, call: ast.Call, callee: Scope, name: str) -> ast.expr | None:
    """What a call hands to a parameter by a tuple or a dictionary that is written out above it: ``common = (model,
    optimizer)``, ``fit(*common, **options)``. None where one may be another when the call is made."""
    node = callee.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    positional = [p.arg for p in (*node.args.posonlyargs, *node.args.args)]
    given: list[ast.expr] = []
    for arg in call.args:
        row = _written_out(ctx, arg.value) if isinstance(arg, ast.Starred) else None
        if isinstance(arg, ast.Starred) and not isinstance(row, (ast.Tuple, ast.List)):
            break
        given += row.elts if isinstance(row, (ast.Tuple, ast.List)) else [arg]
    index = positional.index(name) - receiver(ctx, call, callee) if name in positional else -1
    if 0 <= index < len(given) and partial_of(ctx, call) is None:
        return given[index]
    for keyword in call.keywords:
        match _written_out(ctx, keyword.value) if keyword.arg is None else None:
            case ast.Dict(keys=keys, values=values):
                named = [key.value if isinstance(key, ast.Constant) else None for key in keys]
                if name in named and None not in named:
                    return values[named.index(name)]
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words) if all(k.arg for k in words):
                if (found := next((k.value for k in words if k.arg == name), None)) is not None:
                    return found
            case _:
                pass
    return None


def _written_out(ctx: Context, expr: ast.expr) -> ast.expr | None:
    """The value of a name that is given one once, in the same function as it is read or in the file, and is not
    changed by an item or a method; an expression that is no name stands for itself."""
    if not isinstance(expr, ast.Name):
        return expr
    m = ctx.m
    home = m.binding_scope(expr.id, m.scope(expr))
    bound = m.bindings(expr.id, home) if home is not None and expr.id not in home.params else []
    above = m.parent[bound[0]] if len(bound) == 1 else None
    if not isinstance(above, ast.Assign) or m.start(above) > m.start(expr) or (home is not m.function(expr)):
        return None
    uses = [m.parent[n] for n in m.named(expr.id) if n is not bound[0] and m.binding_scope(n.id, m.scope(n)) is home]
    plain = all(isinstance(use, ast.Starred) or (isinstance(use, ast.keyword) and use.arg is None) for use in uses)
    return above.value if plain and above.targets == [bound[0]] else None


def receiver(ctx: Context, call: ast.Call, callee: Scope) -> int:
    """1 where the call's first parameter is filled by the object in front of the dot."""
    if ctx.m.class_name(callee) is not None:
        return 1
    if ctx.m.self_name(callee) is None:
        return 0
    held = ctx.v.of(call.func)
    return 0 if held and all(o.kind == "function" or unbound(o) for o in held) else 1


def partial_of(ctx: Context, call: ast.Call) -> ast.Call | None:
    """The ``functools.partial(...)`` that ``call`` goes through, if it does."""
    for obj in ctx.v.in_order(ctx.v.of(call.func)):
        if obj.kind == "partial":
            assert isinstance(obj.key, ast.Call)
            return obj.key
    return None

"""Values that options have where all that gives them stands in the program: the default of a parameter that no call
fills, an entry of a dictionary, a field of a record.

Where one thing on the way is not known (a parser, a file, unknown code that is handed the dictionary) nothing is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.names import called_name, last_name
from ..facts.scopes import Scope
from ..flow.arguments import default_of
from ..flow.objects import NAMESPACES, Obj
from ..nodes import walk
from .references import callers_known, escape
from .translate import passed
from .unit import Context

MAX_DEPTH = 6
Constants = frozenset[object]
_READS = frozenset("get items keys values copy".split())
_READERS = frozenset("print len str repr dict list sorted set tuple isinstance asdict dump dumps pformat".split())
_HANDS_ON = frozenset("staticmethod classmethod no_grad enable_grad inference_mode".split())  # decorators


class _Unknown(Exception):
    """Something may be given that is not seen."""


def in_sight(ctx: Context, expr: ast.expr) -> Constants | None:
    """Every value that an expression can have; None where others may be."""
    try:
        return _values(ctx, expr, 0)
    except _Unknown:
        return None


def _values(ctx: Context, expr: ast.expr, depth: int) -> Constants:
    found: set[object] = set()
    for origin in _origins(ctx, expr, depth):
        match origin:
            case ast.Constant(value=value):
                found.add(value)
            case ast.Subscript(value=table, slice=ast.Constant(value=str() as key)):
                found |= _items(ctx, table, key, None, depth)
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[ast.Constant(value=str() as key), *more]):
                otherwise: ast.expr = ast.Constant(value=None)
                found |= _items(ctx, table, key, more[0] if more else otherwise, depth)
            case ast.Attribute(value=owner, attr=name):
                found |= _attribute(ctx, owner, name, depth)
            case _:
                raise _Unknown
    return frozenset(found)


def _origins(ctx: Context, expr: ast.expr, depth: int) -> Iterator[ast.expr]:
    """What a name is given, where it is made: through names and parameters."""
    if depth > MAX_DEPTH:
        raise _Unknown
    match expr:
        case ast.Name():
            for value in _given(ctx, expr):
                yield from _origins(ctx, value, depth + 1)
        case ast.IfExp(body=one, orelse=other):
            yield from _origins(ctx, one, depth + 1)
            yield from _origins(ctx, other, depth + 1)
        case _:
            yield expr


def _given(ctx: Context, name: ast.Name) -> list[ast.expr]:
    m = ctx.m
    home = m.binding_scope(name.id, m.scope(name))
    if home is None or (home.parent is None and ctx.exported(home.node) & {name.id, "*"}):
        raise _Unknown
    bound = m.bindings(name.id, home)
    if any(m.scope(one) is home for one in m.declared(name.id)):
        raise _Unknown
    found: list[ast.expr] = []
    for target in bound:
        match m.parent[target]:
            case ast.Assign(targets=targets, value=value) if target in targets:
                found.append(value)
            case ast.AnnAssign(value=ast.expr() as value):
                found.append(value)
            case _:
                raise _Unknown
    if name.id in home.params:
        found += _handed(ctx, home, name.id)
    if not found:
        raise _Unknown
    return found


def _handed(ctx: Context, home: Scope, name: str) -> list[ast.expr]:
    """What all calls of a function hand over, or leave to the default."""
    function = home.node
    calls = ctx.v.calls[function]
    if not calls or not callers_known(ctx, home) or escape(ctx, function) is not None or not _only_called(ctx, home):
        raise _Unknown
    found: list[ast.expr] = []
    for call in calls:
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            raise _Unknown
        said = passed(ctx, call, home, name) or default_of(function, name)
        if said is None:
            raise _Unknown
        found.append(said)
    return found


def _only_called(ctx: Context, home: Scope) -> bool:
    """Whether a function, or the class that it constructs, is read for nothing but calls."""
    owner = ctx.m.class_of(home)
    name = getattr(home.node, "name", "")
    names = [owner.name] if owner is not None and name == "__init__" else [name]
    reads: list[ast.Name | ast.Attribute] = [n for name in names for n in ctx.m.named(name)]
    reads += [n for name in names for n in ctx.m.attributes(name)]
    decorators = [last_name(getattr(d, "func", d)) for d in getattr(home.node, "decorator_list", ())]
    plain = bool(names[0]) and _HANDS_ON.issuperset(decorators)  # `click.option` hands over what it likes
    return plain and all(_calls(ctx, n) for n in reads if isinstance(n.ctx, ast.Load))


def _calls(ctx: Context, read: ast.expr) -> bool:
    """Whether a function or class is called where it is read, or only named (as a base, a type, in ``super``)."""
    match ctx.m.parent[read]:
        case ast.Call(func=func) as call:
            return func is read or called_name(call) in ("super", "isinstance")
        case ast.arg() | ast.ClassDef() | ast.AnnAssign():
            return True
        case _:
            return False


# ---------------------------------------------------------------- dictionaries


def _items(ctx: Context, table: ast.expr, key: str, otherwise: ast.expr | None, depth: int) -> Constants:
    """What dictionaries hold under a key."""
    found: Constants = frozenset()
    for made in _sources(ctx, table, depth):
        match made:
            case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
                entries = {k.value: value for k, value in zip(keys, values, strict=True) if isinstance(k, ast.Constant)}
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words) if all(k.arg for k in words):
                entries = {k.arg: k.value for k in words}
            case _:
                raise _Unknown
        value = entries.get(key, otherwise)
        if value is None:
            raise _Unknown
        found |= _values(ctx, value, depth + 1) | _put(ctx, made, key, depth)
    return found


def _sources(ctx: Context, expr: ast.expr, depth: int) -> list[ast.expr]:
    """Where the objects were made that an expression may be: attributes are followed to what they are given."""
    found: list[ast.expr] = []
    for origin in _origins(ctx, expr, depth):
        if isinstance(origin, ast.Attribute):
            for value in _stored(ctx, origin.attr):
                found += _sources(ctx, value, depth + 1)
        else:
            found.append(origin)
    return found


def _put(ctx: Context, made: ast.expr, key: str, depth: int) -> Constants:
    """What a dictionary is given later under a key."""
    found: Constants = frozenset()
    for obj in [o for o in ctx.v.of(made) if o.key is made]:
        for node in _holders(ctx, obj):
            found |= _used(ctx, node, key, depth)
    return found


def _holders(ctx: Context, obj: Obj) -> Iterator[ast.expr]:
    return (node for node in ctx.m.nodes if isinstance(node, ast.expr) and obj in ctx.v.of(node))


def _used(ctx: Context, node: ast.expr, key: str, depth: int) -> Constants:
    """What a use of a dictionary puts under a key."""
    above = ctx.m.parent[node]
    match above:
        case ast.Subscript(value=value, ctx=ast.Load()) if value is node:
            pass
        case ast.Subscript(value=value, slice=ast.Constant(value=other), ctx=ast.Store()) if value is node:
            if other == key:
                return _assigned(ctx, above, depth)
        case ast.Attribute(value=value, attr=attr) if value is node:
            if attr not in _READS:
                raise _Unknown
        case ast.Call():
            _check_handed(ctx, above)
        case ast.keyword(arg=word):
            call = ctx.m.parent[above]
            if word is not None and isinstance(call, ast.Call):
                _check_handed(ctx, call)
        case ast.Assign() | ast.AnnAssign() | ast.Return() | ast.IfExp() | ast.Compare() | ast.FormattedValue():
            pass
        case ast.For(iter=source) | ast.comprehension(iter=source) if source is node:
            pass
        case _:
            raise _Unknown
    return frozenset()


def _check_handed(ctx: Context, call: ast.Call) -> None:
    """Raise where code that is not followed is handed a dictionary, and may change it."""
    known = bool(ctx.v.callees(call)) or any(o.kind == "class" for o in ctx.v.of(call.func))
    if not known and called_name(call) not in _READERS:
        raise _Unknown


# ---------------------------------------------------------------- attributes


def _attribute(ctx: Context, owner: ast.expr, name: str, depth: int) -> Constants:
    """What an attribute of a record, or of an object of this program, can be."""
    found: Constants = frozenset()
    m = ctx.m
    if isinstance(owner, ast.Name) and owner.id == m.self_name(m.function(owner)):
        _check_bases(ctx, m.class_of(m.function(owner)))
    else:
        for made in _sources(ctx, owner, depth):
            if not isinstance(made, ast.Call):
                raise _Unknown
            found |= _field(ctx, made, name, depth)
    for value in _stored(ctx, name, some=not found):
        found |= _values(ctx, value, depth + 1)
    return found


def _check_bases(ctx: Context, cls: ast.ClassDef | None) -> None:
    """Raise where a class derives from one that is not here, which may set what it has."""
    known = {one.name for one in ctx.m.all(ast.ClassDef)} | {"object", "ABC", "Module"}
    for one in ctx.v.order(cls) if cls is not None else ():
        if any(last_name(base) not in known for base in one.bases):
            raise _Unknown


def _field(ctx: Context, made: ast.Call, name: str, depth: int) -> Constants:
    """What a call that makes a record gives one of its fields; nothing where it is set elsewhere."""
    words = {k.arg: k.value for k in made.keywords}
    if None in words or any(isinstance(a, ast.Starred) for a in made.args):
        raise _Unknown
    if last_name(made.func) in NAMESPACES and not made.args and not ctx.v.callees(made):
        if name not in words:
            raise _Unknown
        return _values(ctx, words[name], depth + 1)
    classes = [o.key for o in ctx.v.of(made.func) if o.kind == "class" and isinstance(o.key, ast.ClassDef)]
    if len(classes) != 1 or len(ctx.v.of(made.func)) != 1:
        raise _Unknown
    cls = classes[0]
    methods = {s.name for s in cls.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))}
    if cls.bases or cls.keywords or methods & {"__getattr__", "__getattribute__", "__setattr__"}:
        raise _Unknown
    if not cls.decorator_list:
        return frozenset()  # its methods set what it has
    fields = [s for s in cls.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    names = [s.target.id for s in fields if isinstance(s.target, ast.Name)]
    if not all(_dataclass(d) for d in cls.decorator_list) or "__init__" in methods or name not in names:
        raise _Unknown
    at = names.index(name)
    value = words.get(name, made.args[at] if at < len(made.args) else _default(fields[at].value))
    if value is None:
        raise _Unknown
    return _values(ctx, value, depth + 1)


def _dataclass(decorator: ast.expr) -> bool:
    return last_name(decorator.func if isinstance(decorator, ast.Call) else decorator) == "dataclass"


def _default(value: ast.expr | None) -> ast.expr | None:
    match value:
        case ast.Call(func=func, keywords=words) if last_name(func) == "field":
            return next((k.value for k in words if k.arg == "default"), None)
        case _:
            return value


def _stored(ctx: Context, name: str, some: bool = True) -> list[ast.expr]:
    """All that attributes of a name are given in the program."""
    m = ctx.m
    for call in m.calls("setattr"):
        said = call.args[1] if len(call.args) == 3 else None
        if not isinstance(said, ast.Constant) or said.value == name:
            raise _Unknown
    if m.attributes("__dict__") or m.calls("vars"):
        raise _Unknown
    found: list[ast.expr] = []
    for node in m.attributes(name):
        if not isinstance(node.ctx, ast.Load):
            found.append(_value(ctx, node))
    classes = [stmt for cls in m.all(ast.ClassDef) for stmt in cls.body if isinstance(stmt, ast.Assign)]
    found += [s.value for s in classes for n in walk(s) if isinstance(n, ast.Name) and n.id == name and n in s.targets]
    if some and not found:
        raise _Unknown
    return found


def _assigned(ctx: Context, target: ast.expr, depth: int) -> Constants:
    return _values(ctx, _value(ctx, target), depth + 1)


def _value(ctx: Context, target: ast.expr) -> ast.expr:
    match ctx.m.parent[target]:
        case ast.Assign(targets=targets, value=value) if target in targets:
            return value
        case ast.AnnAssign(value=ast.expr() as value):
            return value
        case _:
            raise _Unknown

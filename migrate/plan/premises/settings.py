"""Where a setting changes: an attribute or item of ``args``, of ``cfg`` or of a part of it, by whoever is handed it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...facts.names import called_name, root_name
from ...facts.networks import name_elsewhere
from ...facts.once import once_each
from ...facts.scopes import Scope
from ...flow.spelled import listed_names, meet
from ...nodes import walk
from ...units.translate import passed, receiver
from ...units.unit import Context

# Methods of configurations that take over what a file or a list says.
_MERGES = frozenset("merge merge_from_dict merge_from_file merge_from_list merge_from_other_cfg override".split())
_MAX_DEPTH = 3  # functions that hand their settings on


def asked_of(ctx: Context, node: ast.expr) -> str:
    """The attributes, or items by their names, that are asked for, with dots: of ``cfg.AMP["ON"]`` it is ``AMP.ON``."""
    found: list[str] = []
    above = ctx.m.parent[node]
    while isinstance(above, (ast.Attribute, ast.Subscript)) and above.value is node and (part := _part(above)):
        beyond = ctx.m.parent[above]
        if isinstance(beyond, ast.Call) and beyond.func is above:
            break  # `args.opt_level.upper()`
        found.append(part)
        node, above = above, beyond
    return ".".join(found)


def set_on(ctx: Context, reader: ast.Name, asked: str) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Where what is asked of what a name holds is set, in the function where it stands, and to what: ``cfg.on = flag``,
    ``setattr(cfg, "amp", flag)``, ``vars(cfg).update(amp=flag)``, ``merge(cfg, amp=flag)``."""
    return _values(ctx, _set(ctx, ctx.m.function(reader), reader.id, asked, 0), tuple(ctx.m.ancestors(reader)))


@dataclass(frozen=True, eq=False)
class _Place:
    """Where a setting is set, and to what; ``call`` is the one that hands that on whole."""

    node: ast.AST
    value: ast.expr
    call: ast.Call | None = None


@once_each
def _set(ctx: Context, function: Scope, name: str, asked: str, depth: int) -> list[_Place]:
    """The same for a function and a name in it, so many calls below a reader."""
    m, found = ctx.m, list[_Place]()
    attr = asked.rpartition(".")[2]
    stored: list[ast.Attribute | ast.Subscript] = [*m.own(function, ast.Attribute), *m.own(function, ast.Subscript)]
    for one in stored:
        above = m.parent[one]
        if isinstance(one.ctx, ast.Store) and isinstance(above, ast.Assign) and root_name(one) == name:
            if f"{asked}.".startswith(f"{path_of(one)}."):
                found.append(_Place(above, above.value))
    for call in ctx.calls_in.get(function, ()):
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, key, value]) if root_name(owner) == name:
                if any(meet(attr, one) for one in listed_names(m, key)):
                    found.append(_Place(call, value, call))
            case ast.Call(func=ast.Attribute(value=owner, attr="update"), args=given, keywords=keywords) if (
                root_name(_of_attributes(owner)) == name
            ):
                found += [_Place(call, one.value) for one in keywords if one.arg in (attr, None)]
                found += [_Place(call, one, call) for one in given if not _says_without(one, attr)]
            case _:
                found += [_Place(call, value) for value in _by_others(ctx, call, name, asked, depth)]
    return found


def _values(
    ctx: Context, places: Sequence[_Place], around: tuple[ast.AST, ...] = ()
) -> Iterator[tuple[ast.AST, ast.expr]]:
    """The places, and to what is set there; ``around`` is what stands around the reader."""
    for one in places:
        yield one.node, _whole(ctx, one.call, around, one.value) if one.call is not None else one.value


def _by_others(ctx: Context, call: ast.Call, name: str, asked: str, depth: int) -> Iterator[ast.expr]:
    """What a call that is handed the settings makes of one: what the function does, where it is one of the program's,
    and what it is handed beside them, where that is not known: ``merge(args, fp16=False)``, ``args.set("fp16", 0)``."""
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    if not any(root_name(one) == name for one in (*owner, *call.args, *(one.value for one in call.keywords))):
        return
    off = ctx.facts.elsewhere.setting_off.get(name_elsewhere(ctx.v, call.func), ())
    if asked.rpartition(".")[2] in off:
        yield ast.Constant(False)
    followed = False
    for callee in sorted(ctx.v.callees(call), key=ctx.m.start):
        scope, followed = ctx.m.scope_of[callee], True
        handed = [one for one in scope.params if (value := passed(ctx, call, scope, one)) and root_name(value) == name]
        if owner and root_name(owner[0]) == name and receiver(ctx, call, scope):
            handed.append(scope.params[0])
        for parameter in handed if depth < _MAX_DEPTH else ():
            for _, value in _values(ctx, _set(ctx, scope, parameter, asked, depth + 1)):
                given = passed(ctx, call, scope, value.id) if isinstance(value, ast.Name) else None
                yield given or value
                followed = followed and isinstance(given or value, ast.Constant)
    if not followed:
        yield from spelled(call, asked.rpartition(".")[2])
        if owner and root_name(owner[0]) == name and called_name(call) in _MERGES:
            yield from call.args


def spelled(call: ast.Call, attr: str) -> Iterator[ast.expr]:
    """What a call is handed for a setting by its name."""
    yield from (one.value for one in call.keywords if one.arg == attr)
    for key, value in zip(call.args, call.args[1:], strict=False):
        if isinstance(key, ast.Constant) and key.value == attr:
            yield value
    for one in (*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is None)):
        match one:
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                yield from (value for key, value in pairs if isinstance(key, ast.Constant) and key.value == attr)
            case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
                yield from (each.value for each in keywords if each.arg == attr)


def _part(node: ast.AST) -> str:
    """The attribute, or the item by its name, that is asked for."""
    match node:
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case _:
            return ""


def path_of(node: ast.expr) -> str:
    """The attributes and items of a name, with dots."""
    found: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        found.append(_part(node))
        node = node.value
    return ".".join(reversed(found))


def _of_attributes(owner: ast.expr) -> ast.expr:
    """Whose attributes a dictionary holds: ``vars(cfg)``, ``cfg.__dict__``; else what it is."""
    match owner:
        case ast.Call(func=ast.Name(id="vars"), args=[one]) | ast.Attribute(value=one, attr="__dict__"):
            return one
        case _:
            return owner


def _says_without(given: ast.expr, attr: str) -> bool:
    """Whether a dictionary is written out, without that key."""
    match given:
        case ast.Dict(keys=keys):
            return all(isinstance(key, ast.Constant) and key.value != attr for key in keys)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            return all(one.arg not in (attr, None) for one in keywords)
        case _:
            return False


def _whole(ctx: Context, call: ast.Call, around: tuple[ast.AST, ...], value: ast.expr) -> ast.expr:
    """What a loop that is only about the settings goes through (``for key, value in changes.items()``), where the value
    is one item of it: all of it is set by the time they are read."""
    for loop in ctx.m.loops(call):
        if isinstance(loop, ast.For) and loop not in around and isinstance(value, ast.Name):
            if any(isinstance(n, ast.Name) and n.id == value.id for n in walk(loop.target)):
                return loop.iter
    return value

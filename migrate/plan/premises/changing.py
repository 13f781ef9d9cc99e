"""Whether what a condition asks may have another value the second time: by a loop around it, by what callers hand over,
by what is set in between."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...facts.module import Module
from ...facts.names import is_property, root_name
from ...facts.once import once_each
from ...facts.scopes import Scope
from ...flow.arguments import default_of
from ...nodes import chain, walk
from ...units.translate import passed
from ...units.unit import Context
from ..blocks import exclusive
from .environment import asked_of_environment, set_in_environment
from .said import given_once, made_with, off_before_on, off_first
from .settings import asked_of, path_of, set_on, spelled

MAX_DEPTH = 3


@once_each
def sites(ctx: Context, call: ast.Call) -> dict[Scope, list[ast.Call]]:
    """A call, and those that lead to it, by the functions that they stand in."""
    found = [call]
    for _ in range(MAX_DEPTH):
        above = [c for one in found for c in ctx.v.calls.get(ctx.m.function(one).node, ()) if not ctx.m.idle(c)]
        found += [c for c in dict.fromkeys(above) if isinstance(c, ast.Call) and c not in found]
    by_function = defaultdict[Scope, list[ast.Call]](list)
    for one in found:
        by_function[ctx.m.function(one)].append(one)
    return by_function


def changes(ctx: Context, expr: ast.expr, depth: int, attr: str = "") -> bool:
    """Whether an expression has another value in another round of a loop around it, or by another caller; ``attr``:
    the attribute of it that is asked for."""
    m = ctx.m
    loops = [x for x in m.ancestors(expr) if isinstance(x, (ast.For, ast.AsyncFor)) and not off_first(m, x.iter, attr)]
    turned = {n.id for loop in loops for n in walk(loop.target) if isinstance(n, ast.Name)}
    comprehended = _comprehended(m, m.ancestors(expr))
    if any(_changes_outside(ctx, key, depth) for key in asked_of_environment(expr)):
        return True
    for name in [n for n in walk(expr) if isinstance(n, ast.Name)]:
        home = m.binding_scope(name.id, m.scope(name))
        if name.id in comprehended or (name.id in turned and home is m.function(expr)):
            return True
        stores = m.stores(name.id, home) if home is not None else []
        if home is not None and not home.is_function and any(_of_a_loop(ctx, n, attr) for n in stores):
            return True  # a name of the file: `for USE_AMP in (True, False): run()`
        above = [m.parent[n] for n in stores if home is m.function(expr) and m.loops(n)]
        given = [one.value for one in above if isinstance(one, ast.Assign)]
        if home is not None and home is m.function(expr) and home.is_function and depth < MAX_DEPTH:
            made = [m.parent[n] for n in stores]
            if any(changes(ctx, one, depth + 1) for stmt in made for one in _handed_on(stmt, home)):
                return True
        asked = attr if name is expr else ".".join(filter(None, (asked_of(ctx, name), attr * (name in chain(expr)))))
        if asked:
            given += [value for _, value in set_on(ctx, name, asked)]
        if home is not None and isinstance(home.node, ast.Module):
            given += _set_anywhere(ctx, home, name.id, asked)
            if _turned_off(ctx, home, name.id, asked):
                return True
        if depth < MAX_DEPTH and any(changes(ctx, value, depth + 1) for value in given):
            return True
        if depth < MAX_DEPTH and asked and m.self_name(m.function(name)) == name.id:
            first, _, of_it = asked.partition(".")  # of `self.args.fp16`, what `args` is asked for
            if any(changes(ctx, value, depth + 1, of_it) for value in _of_the_object(ctx, name, first)):
                return True
        if home is not None and home.is_function and name.id in home.params and not m.stores(name.id, home):
            if depth < MAX_DEPTH and _differs(ctx, home, name.id, depth, asked or attr):
                return True
    return False


def _handed_on(stmt: ast.AST, home: Scope) -> list[ast.Name]:
    """The parameters of a function that it hands to what makes something: ``args = parser.parse_args(argv)``."""
    match stmt:
        case ast.Assign(value=ast.Call() as call):
            handed = (*call.args, *(k.value for k in call.keywords))
            return [one for one in handed if isinstance(one, ast.Name) and one.id in home.params]
        case _:
            return []


def _changes_outside(ctx: Context, key: str, depth: int) -> bool:
    """Whether the program gives a variable of the environment different values, or any between two runs."""
    places = set_in_environment(ctx).get(key, [])
    if len({"" if value is None else ast.dump(value) for _, value in places}) > 1:
        return True
    each = [sites(ctx, init.call) for init in ctx.facts.initializes]
    for at, value in places:
        runs = [ctx.m.start(call) for one in each for call in one.get(ctx.m.function(at), ())]
        if any(run < ctx.m.start(at) for run in runs) and any(run > ctx.m.start(at) for run in runs):
            return True
        if value is not None and depth < MAX_DEPTH and changes(ctx, value, depth + 1):
            return True
    return False


@once_each
def _set_anywhere(ctx: Context, home: Scope, name: str, asked: str) -> list[ast.expr]:
    """What functions give a name of a file, or what is asked of it: ``global USE_AMP``, ``State.amp = fp16``."""
    return [value for scope, _, value in _given_anywhere(ctx, home, name, asked) if scope.is_function]


@once_each
def _given_anywhere(ctx: Context, home: Scope, name: str, asked: str) -> list[tuple[Scope, ast.expr, ast.expr]]:
    """The same with the functions, or the file, that do, and the places."""
    m, found = ctx.m, list[tuple[Scope, ast.expr, ast.expr]]()
    stored: list[ast.expr] = [*m.stores(name, home)]
    if asked:
        stored = [one for one in (*m.all(ast.Attribute), *m.all(ast.Subscript)) if root_name(one) == name]
    for one in stored:
        above = m.parent[one]
        if isinstance(above, ast.Assign) and one in above.targets:
            if m.binding_scope(name, m.scope(one)) is home and f"{asked}.".startswith(f"{path_of(one)}."):
                found.append((m.function(one), one, above.value))
    return found


def _turned_off(ctx: Context, home: Scope, name: str, asked: str) -> bool:
    """Whether a function, or a file, says yes, runs ``initialize``, and says no further down: ``State.amp = False``
    above a second training."""
    said = defaultdict[Scope, list[tuple[int, bool]]](list)
    for scope, at, value in _given_anywhere(ctx, home, name, asked):
        if isinstance(value, ast.Constant):
            said[scope].append((ctx.m.start(at), bool(value.value) and value.value != "O0"))
    each = [sites(ctx, init.call) for init in ctx.facts.initializes]
    runs = {scope: [ctx.m.start(call) for one in each for call in one.get(scope, ())] for scope in said}
    return any(
        on and not off and any(above < at < below for at in runs[scope])
        for scope, flags in said.items()
        for above, on in flags
        for below, off in flags
    )


def _comprehended(m: Module, around: Iterable[ast.AST]) -> set[str]:
    """The names that comprehensions give another value in each round: ``[run(cfg) for cfg in RUNS]``."""
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    parts = [part for one in around if isinstance(one, kinds) for part in one.generators if not off_first(m, part.iter)]
    return {n.id for part in parts for n in walk(part.target) if isinstance(n, ast.Name)}


def _differs(ctx: Context, function: Scope, name: str, depth: int, attr: str) -> bool:
    """Whether the callers of a function hand it different values: constants, objects made with different ones, or what
    a loop changes; or, one behind the other, objects of which it is not known that they say the same."""
    said: list[tuple[ast.AST, int, bool]] = []
    handed: list[_Handed] = []
    calls = ctx.v.calls[function.node]
    for call in sorted([one for one in calls if not ctx.m.idle(one)] or calls, key=ctx.m.start):
        value = passed(ctx, call, function, name)
        if value is None and isinstance(call, ast.Call):
            value = next((k.value for k in call.keywords if k.arg is None), None)  # `run(**options)`
        value = value or default_of(function.node, name)
        if value is None:
            continue
        flag = None
        if not isinstance(value, ast.Constant):
            if changes(ctx, value, depth + 1, attr) or _set_between(ctx, function, value, attr):
                return True
            if (flag := made_with(ctx, value, attr or name)) is not None:
                said.append((ctx.m.function(call).node, ctx.m.start(call), flag))
        written = _written(ctx, call, value, MAX_DEPTH)
        said += written
        if not written:
            handed.append(_Handed(call, value, flag, (ctx.m.function(call), ast.dump(value))))
    ends = _ends(handed)
    if any(_may_turn_off(ctx, one, other, attr or name) for i, one in enumerate(ends) for other in ends[i + 1 :]):
        return True
    in_order = len({where for where, _, _ in said}) == 1 and off_before_on([(at, on) for _, at, on in said])
    return len({on for _, _, on in said}) > 1 and not in_order  # a run without it that comes first is as it was


@dataclass(frozen=True, eq=False)
class _Handed:
    """What a call hands over, and whether that says yes, where it is written."""

    call: ast.AST
    value: ast.expr
    on: bool | None
    written: tuple[Scope, str]  # the function, and what stands there


def _ends(handed: Sequence[_Handed]) -> list[_Handed]:
    """Of all that one function hands over by the same text the first and the last."""
    first = {one.written: one for one in reversed(handed)}
    last = {one.written: one for one in handed}
    return [one for one in handed if one is first[one.written] or one is last[one.written]]


def _may_turn_off(ctx: Context, one: _Handed, other: _Handed, attr: str) -> bool:
    """Whether a function hands over one thing, and another one further down, where the first may say yes and the second
    no: ``train(load(first))``, ``train(load(second))``."""
    m = ctx.m
    if one.written[1] == other.written[1] or _made_alike(ctx, one.value, other.value, attr):
        return False
    if m.function(one.call) is not m.function(other.call):  # in any order
        return m.file(one.call) is m.file(other.call) and (one.on is False) is not (other.on is False)
    if one.on is False or other.on is True or exclusive(ctx, one.call, other.call):
        return False
    anew = other.on is False or _made_anew(ctx, other.value)
    return anew or ctx.v.of(one.value).isdisjoint(ctx.v.of(other.value))


def _made_alike(ctx: Context, one: ast.expr, other: ast.expr, attr: str) -> bool:
    """Whether one function makes both, and is told nothing else of what is asked: ``get_config(epochs=2)`` and
    ``get_config(epochs=3)``."""
    match given_once(ctx, one), given_once(ctx, other):
        case ast.Call() as first, ast.Call() as second:
            pass
        case _:
            return False
    same = [ast.dump(part) for part in (first.func, *first.args)] == [ast.dump(x) for x in (second.func, *second.args)]
    mine, theirs = ({k.arg: ast.dump(k.value) for k in call.keywords} for call in (first, second))
    told = {name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name)}
    return same and None not in told and told.isdisjoint(attr.split("."))


def _made_anew(ctx: Context, value: ast.expr) -> bool:
    """Whether a value is a new object of a class of the program, or of a function of it that makes one: to the values
    all of these are one."""
    made = given_once(ctx, value)
    if not isinstance(made, ast.Call):
        return False
    if any(one.kind == "class" for one in ctx.v.of(made.func)):
        return True
    handed = [ctx.v.of(arg) for arg in (*made.args, *(k.value for k in made.keywords))]
    return bool(ctx.v.callees(made)) and all(ctx.v.of(made).isdisjoint(one) for one in handed)


def _written(ctx: Context, call: ast.Call, value: ast.expr, depth: int) -> list[tuple[ast.AST, int, bool]]:
    """The constants that a call hands over, or the callers around it that hand them on: where, and whether they say
    yes."""
    m, home = ctx.m, ctx.m.function(call)
    match value:
        case ast.Constant(value=one):
            return [(home.node, m.start(call), bool(one) and one != "O0")]
        case ast.Name(id=name) if depth and home.is_function and name in home.params and not m.stores(name, home):
            calls = [one for one in ctx.v.calls[home.node] if isinstance(one, ast.Call) and not m.idle(one)]
            handed = [(one, passed(ctx, one, home, name) or default_of(home.node, name)) for one in calls]
            return [each for one, given in handed if given is not None for each in _written(ctx, one, given, depth - 1)]
        case _:
            return []


def _of_a_loop(ctx: Context, name: ast.Name, attr: str) -> bool:
    loop = ctx.m.parent[name]
    return isinstance(loop, (ast.For, ast.AsyncFor)) and loop.target is name and not off_first(ctx.m, loop.iter, attr)


def _of_the_object(ctx: Context, own: ast.Name, attr: str) -> Iterator[ast.expr]:
    """What an attribute of an object is made of: what its constructor gives it, and what a property says."""
    m, cls = ctx.m, ctx.m.class_of(ctx.m.function(own))
    functions = [f for one in (ctx.v.order(cls) if cls is not None else ()) for f in one.body]
    for function in functions:
        if not isinstance(function, ast.FunctionDef):
            continue
        if function.name == attr and is_property(function):
            yield from (n.value for n in walk(function) if isinstance(n, ast.Return) and n.value is not None)
        if function.name == "__init__":
            for one in m.attributes(attr):
                above = m.parent[one]
                if m.function(one).node is function and isinstance(above, ast.Assign) and one in above.targets:
                    yield above.value


def _set_between(ctx: Context, function: Scope, value: ast.expr, attr: str) -> bool:
    """Whether `args.fp16 = False` stands between two calls of a function that are handed the same `args`."""
    m = ctx.m
    if not isinstance(value, ast.Name):
        return False
    here = m.function(value)
    calls = [m.start(call) for call in ctx.v.calls[function.node] if m.function(call) is here]
    given: list[tuple[ast.AST, ast.expr]] = [*set_on(ctx, value, attr)]
    for name in m.stores(value.id, here):  # `args = replace(args, fp16=False)`
        if isinstance(above := m.parent[name], ast.Assign):
            made = [one for one in walk(above.value) if isinstance(one, ast.Call)]
            given += [(above, one) for call in made for one in spelled(call, attr)]
    off = [at for at, said in given if isinstance(said, ast.Constant) and said.value in (False, None, 0, "O0")]
    return any(min(calls) < m.start(at) < max(calls) for at in off)

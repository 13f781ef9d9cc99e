"""A condition of ``initialize`` that changes between its calls: Apex's casts stayed on once they were, for all that ran
later in the process, also where a later call said no."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...facts.names import is_property, root_name
from ...facts.once import once, once_each
from ...facts.scopes import Scope
from ...facts.sites import Initialize
from ...flow.arguments import default_of
from ...nodes import chain, walk
from ...units.translate import passed
from ...units.unit import Context, Unit
from ..blocks import exclusive
from .environment import asked_of_environment, set_in_environment
from .settings import asked_of, path_of, set_on, spelled

MAX_DEPTH = 3


def review_runs_again(ctx: Context, unit: Unit) -> None:
    """Names the calls of ``initialize`` whose condition a loop changes, or callers that say different things."""
    m = ctx.m
    apart = any(isinstance(s, ast.If) for site in unit.scales for s in m.spine(m.statement(site.call))[1:])
    chosen = any(not isinstance(value, ast.Constant) for init in unit.initializes for value in _options(init.call))
    if unit.scales and not apart and not chosen:
        return  # whatever trains, trains in mixed precision
    for init in unit.initializes:
        for expr in _asked(ctx, init.call):
            if _changes(ctx, expr, 0):
                unit.review(
                    init.call,
                    "APX035",
                    f"`{ctx.m.src(expr)}` may change from one call to the next: once Apex was initialized, its casts "
                    "were on for all that ran later in the process; what says no ran under them all the same, and runs "
                    "in float32 now",
                )
                break
        else:
            if (other := _another_before(ctx, init)) is not None:
                unit.review(init.call, "APX035", initialized_before(other))


def initialized_before(other: ast.Call) -> str:
    """What is said where an ``initialize`` elsewhere may have run before."""
    return (
        f"line {other.lineno} may have initialized Apex before, under another condition: its casts were "
        "on then for all that ran later in the process; what says no here ran under them all the same, and "
        "runs in float32 now"
    )


def _another_before(ctx: Context, init: Initialize) -> ast.Call | None:
    """A call of ``initialize`` that may run ahead of another one and asks something else: a pretraining with a flag of
    its own."""
    asked = _all_asked(ctx)
    if not asked[init.call]:
        return None
    for other, words in asked.items():
        if ctx.m.function(other) is ctx.m.function(init.call) or asked[init.call] <= words:
            continue
        if _runs_ahead(ctx, other, init.call):
            return other
    return None


@once
def _all_asked(ctx: Context) -> dict[ast.Call, frozenset[str]]:
    """For each ``initialize`` what the conditions ask on which it hangs."""
    calls = [init.call for init in ctx.facts.initializes]
    words = {call: [_words(ctx, expr, MAX_DEPTH) for expr in _asked(ctx, call)] for call in calls}
    return {call: frozenset[str]().union(*asked) for call, asked in words.items()}


def _words(ctx: Context, expr: ast.expr, depth: int) -> frozenset[str]:
    """What a condition asks, by the last names: ``fp16`` of ``args.fp16``, and what callers hand to a parameter."""
    found: set[str] = set()
    for node in walk(expr):
        match node:
            case ast.Attribute(attr=name):
                found.add(name)
            case ast.Name(id=name) if not isinstance(ctx.m.parent[node], ast.Attribute):
                home = ctx.m.binding_scope(name, ctx.m.scope(node))
                handed = depth and home is not None and home.is_function and name in home.params
                calls = ctx.v.calls[home.node] if handed and home is not None else []
                values = [one for call in calls if home is not None and (one := passed(ctx, call, home, name))]
                given = [_words(ctx, one, depth - 1) for one in values if not isinstance(one, ast.Constant)]
                found |= frozenset[str]().union(*given) if given else {name}
            case _:
                pass
    inner = {n.value.attr for n in walk(expr) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Attribute)}
    return frozenset(found - inner)


def _runs_ahead(ctx: Context, one: ast.Call, other: ast.Call) -> bool:
    """Whether a function runs one call, itself or further down, above the other."""
    m, theirs = ctx.m, _sites(ctx, other)
    for scope, firsts in _sites(ctx, one).items():
        for second in theirs.get(scope, ()):
            for first in firsts:
                if m.start(first) < m.start(second) and not _at_another_word(ctx, first, second):
                    if not exclusive(ctx, first, second):
                        return True
    return False


def _at_another_word(ctx: Context, one: ast.AST, other: ast.AST) -> bool:
    """Whether two places of one function hang on one thing being this and that: ``if args.stage == "pretrain"``, and
    further down ``if args.stage == "finetune"``."""
    mine, theirs = _words_asked(ctx, one), _words_asked(ctx, other)
    return any(mine[text] != theirs[text] and not _set_anew(ctx, one, text) for text in mine.keys() & theirs.keys())


def _set_anew(ctx: Context, node: ast.AST, text: str) -> bool:
    """Whether what is asked may change: ``for args in runs:`` gives ``args.stage`` another value, too."""
    given = ctx.assigned[ctx.m.function(node)]
    _, dot, attr = text.rpartition(".")
    return (bool(dot) and attr in _stored(ctx)) or any(f"{text}.".startswith(f"{name}.") for name in given)


@once
def _stored(ctx: Context) -> frozenset[str]:
    """The attributes that are set anywhere in the program."""
    return frozenset(one.attr for one in ctx.m.all(ast.Attribute) if isinstance(one.ctx, ast.Store))


@once_each
def _words_asked(ctx: Context, node: ast.AST) -> dict[str, object]:
    """What has to be which constant where a node runs, by the conditions in whose first arms it stands."""
    found: dict[str, object] = {}
    for guard in ctx.m.spine(node):
        if isinstance(guard, ast.If) and any(ctx.m.inside(node, stmt) for stmt in guard.body):
            match guard.test:
                case ast.Compare(left=(ast.Name() | ast.Attribute()) as asked, ops=[ast.Eq()], comparators=[right]):
                    if isinstance(right, ast.Constant):
                        found[ast.unparse(asked)] = right.value
    return found


@once_each
def _sites(ctx: Context, call: ast.Call) -> dict[Scope, list[ast.Call]]:
    """A call, and those that lead to it, by the functions that they stand in."""
    found = [call]
    for _ in range(MAX_DEPTH):
        above = [c for one in found for c in ctx.v.calls.get(ctx.m.function(one).node, ()) if not ctx.m.idle(c)]
        found += [c for c in dict.fromkeys(above) if isinstance(c, ast.Call) and c not in found]
    sites = defaultdict[Scope, list[ast.Call]](list)
    for one in found:
        sites[ctx.m.function(one)].append(one)
    return sites


def _asked(ctx: Context, call: ast.Call) -> Iterator[ast.expr]:
    """What decides whether a call of ``initialize`` switches mixed precision on, in its own function."""
    for outer in ctx.m.spine(ctx.m.statement(call))[1:]:
        if isinstance(outer, ast.If):
            yield outer.test
    for stmt in ctx.m.spine(ctx.m.statement(call)):
        block, index = ctx.m.place[stmt]
        for before in block.body[:index]:  # `if not fp16: return model, optimizer`: it goes on without
            if isinstance(before, ast.If) and isinstance(end := before.body[-1], ast.Return) and end.value is not None:
                yield before.test
    yield from _options(call)


def _options(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of ``initialize`` that may say no."""
    yield from (keyword.value for keyword in call.keywords if keyword.arg in ("enabled", "opt_level"))


def _changes(ctx: Context, expr: ast.expr, depth: int, attr: str = "") -> bool:
    """Whether an expression has another value in another round of a loop around it, or by another caller; ``attr``:
    the attribute of it that is asked for."""
    m = ctx.m
    loops = [x for x in m.ancestors(expr) if isinstance(x, (ast.For, ast.AsyncFor)) and not _off_first(x.iter, attr)]
    turned = {n.id for loop in loops for n in walk(loop.target) if isinstance(n, ast.Name)}
    comprehended = _comprehended(m.ancestors(expr))
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
        asked = attr if name is expr else ".".join(filter(None, (asked_of(ctx, name), attr * (name in chain(expr)))))
        if asked:
            given += [value for _, value in set_on(ctx, name, asked)]
        if home is not None and isinstance(home.node, ast.Module):
            given += _set_anywhere(ctx, home, name.id, asked)
            if _turned_off(ctx, home, name.id, asked):
                return True
        if depth < MAX_DEPTH and any(_changes(ctx, value, depth + 1) for value in given):
            return True
        if depth < MAX_DEPTH and asked and m.self_name(m.function(name)) == name.id:
            first, _, of_it = asked.partition(".")  # of `self.args.fp16`, what `args` is asked for
            if any(_changes(ctx, value, depth + 1, of_it) for value in _of_the_object(ctx, name, first)):
                return True
        if home is not None and home.is_function and name.id in home.params and not m.stores(name.id, home):
            if depth < MAX_DEPTH and _differs(ctx, home, name.id, depth, asked or attr):
                return True
    return False


def _changes_outside(ctx: Context, key: str, depth: int) -> bool:
    """Whether the program gives a variable of the environment different values, or any between two runs."""
    places = set_in_environment(ctx).get(key, [])
    if len({"" if value is None else ast.dump(value) for _, value in places}) > 1:
        return True
    sites = [_sites(ctx, init.call) for init in ctx.facts.initializes]
    for at, value in places:
        runs = [ctx.m.start(call) for one in sites for call in one.get(ctx.m.function(at), ())]
        if any(run < ctx.m.start(at) for run in runs) and any(run > ctx.m.start(at) for run in runs):
            return True
        if value is not None and depth < MAX_DEPTH and _changes(ctx, value, depth + 1):
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
    sites = [_sites(ctx, init.call) for init in ctx.facts.initializes]
    runs = {scope: [ctx.m.start(call) for one in sites for call in one.get(scope, ())] for scope in said}
    return any(
        on and not off and any(above < at < below for at in runs[scope])
        for scope, flags in said.items()
        for above, on in flags
        for below, off in flags
    )


def _comprehended(around: Iterable[ast.AST]) -> set[str]:
    """The names that comprehensions give another value in each round: ``[run(cfg) for cfg in RUNS]``."""
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    parts = [part for one in around if isinstance(one, kinds) for part in one.generators if not _off_first(part.iter)]
    return {n.id for part in parts for n in walk(part.target) if isinstance(n, ast.Name)}


def _off_first(source: ast.expr, attr: str = "") -> bool:
    """Whether a loop goes over constants, those that say no first: ``for fp16 in (False, True)``; or, where an
    attribute is asked for, ``for argv in ([], ["--fp16"])``."""
    items = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
    said = [_says(item, attr) for item in items]
    return bool(said) and None not in said and said == sorted(map(bool, said))


def _says(item: ast.expr, attr: str) -> bool | None:
    """Whether an item switches mixed precision on; None where that is not written."""
    match item:
        case ast.Constant(value=value) if value in (False, True):
            return bool(value)
        case ast.Constant(value="O0" | "O1" | "O2" | "O3" as level):
            return level != "O0"
        case ast.List(elts=words) | ast.Tuple(elts=words) if attr and all(isinstance(x, ast.Constant) for x in words):
            return any(_is_option(word, attr) for word in words)
        case _:
            return None


def _is_option(word: ast.expr, attr: str) -> bool:
    return isinstance(word, ast.Constant) and str(word.value).lstrip("-").replace("-", "_") == attr


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
            if _changes(ctx, value, depth + 1, attr) or _set_between(ctx, function, value, attr):
                return True
            if (flag := _made_with(ctx, value, attr or name)) is not None:
                said.append((ctx.m.function(call).node, ctx.m.start(call), flag))
        written = _written(ctx, call, value, MAX_DEPTH)
        said += written
        if not written:
            handed.append(_Handed(call, value, flag, (ctx.m.function(call), ast.dump(value))))
    ends = _ends(handed)
    if any(_may_turn_off(ctx, one, other, attr or name) for i, one in enumerate(ends) for other in ends[i + 1 :]):
        return True
    in_order = len({where for where, _, _ in said}) == 1 and _off_before_on([(at, on) for _, at, on in said])
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
    match _given_once(ctx, one), _given_once(ctx, other):
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
    made = _given_once(ctx, value)
    if not isinstance(made, ast.Call):
        return False
    if any(one.kind == "class" for one in ctx.v.of(made.func)):
        return True
    handed = [ctx.v.of(arg) for arg in (*made.args, *(k.value for k in made.keywords))]
    return bool(ctx.v.callees(made)) and all(ctx.v.of(made).isdisjoint(one) for one in handed)


def _given_once(ctx: Context, value: ast.expr) -> ast.expr | None:
    """What a name is given, where that is one thing; anything else itself."""
    if not isinstance(value, ast.Name):
        return value
    home = ctx.m.binding_scope(value.id, ctx.m.scope(value))
    above = [ctx.m.parent[n] for n in ctx.m.stores(value.id, home)] if home is not None else []
    return above[0].value if len(above) == 1 and isinstance(above[0], ast.Assign) else None


def _off_before_on(said: Sequence[tuple[int, bool]]) -> bool:
    """Whether nothing in a text says no below what says yes."""
    flags = [on for _, on in sorted(said)]
    return flags == sorted(flags)


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
    return isinstance(loop, (ast.For, ast.AsyncFor)) and loop.target is name and not _off_first(loop.iter, attr)


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


def _made_with(ctx: Context, value: ast.expr, attr: str) -> bool | None:
    """What an attribute of an object is that is made with it: `Config(fp16=True)`, `parse(["--fp16"])`; None where that
    is not written."""
    value = _given_once(ctx, value) or value
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        said = [one for key, one in pairs if isinstance(key, ast.Constant) and key.value == attr]
        return bool(said[-1].value) if said and isinstance(said[-1], ast.Constant) else None
    if not isinstance(value, ast.Call):
        return None
    for keyword in value.keywords:
        if keyword.arg == attr:
            return bool(keyword.value.value) if isinstance(keyword.value, ast.Constant) else None
    if any(keyword.arg is None for keyword in value.keywords):
        return None
    for arg in value.args:
        words = [e for e in arg.elts if isinstance(e, ast.Constant)] if isinstance(arg, ast.List) else None
        if words is not None and all(isinstance(word.value, str) for word in words):
            return any(_is_option(word, attr) for word in words)
    classes = [o.key for o in ctx.v.of(value.func) if o.kind == "class" and isinstance(o.key, ast.ClassDef)]
    given = next((one for cls in classes if (one := _given_to(ctx, value, cls, attr)) is not None), None)
    return bool(given.value) if isinstance(given, ast.Constant) else None


def _given_to(ctx: Context, call: ast.Call, cls: ast.ClassDef, attr: str) -> ast.expr | None:
    """What a call hands the constructor of a class by the name of an attribute, or a dataclass by the place of its
    field; else what stands there as a default."""
    made = ctx.m.method(cls, "__init__")
    if made is not None:
        scope = ctx.m.scope_of[made]
        return (passed(ctx, call, scope, attr) or default_of(made, attr)) if attr in scope.params else None
    fields = [(stmt.target, stmt.value) for stmt in cls.body if isinstance(stmt, ast.AnnAssign)]
    for place, (target, default) in enumerate(fields):
        if isinstance(target, ast.Name) and target.id == attr:
            return call.args[place] if place < len(call.args) else default
    return None

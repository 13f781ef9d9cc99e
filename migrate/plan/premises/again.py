"""A condition of ``initialize`` that changes between its calls: Apex's casts stayed on once they were, for all that ran
later in the process, also where a later call said no."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...facts.names import is_property
from ...facts.scopes import Scope
from ...flow.arguments import default_of
from ...flow.spelled import listed_names, meet
from ...nodes import walk
from ...units.translate import passed
from ...units.unit import Context, Unit

MAX_DEPTH = 3


def review_runs_again(ctx: Context, unit: Unit) -> None:
    """Names the calls of ``initialize`` whose condition a loop changes, or callers that say different things."""
    m = ctx.m
    apart = any(isinstance(s, ast.If) for site in unit.scales for s in m.spine(m.statement(site.call))[1:])
    if unit.scales and not apart:
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
    yield from (keyword.value for keyword in call.keywords if keyword.arg in ("enabled", "opt_level"))


def _changes(ctx: Context, expr: ast.expr, depth: int, attr: str = "") -> bool:
    """Whether an expression has another value in another round of a loop around it, or by another caller; ``attr``:
    the attribute of it that is asked for."""
    m = ctx.m
    loops = [x for x in m.ancestors(expr) if isinstance(x, (ast.For, ast.AsyncFor)) and not _off_first(x.iter, attr)]
    turned = {n.id for loop in loops for n in walk(loop.target) if isinstance(n, ast.Name)}
    comprehended = _comprehended(m.ancestors(expr))
    for name in [n for n in walk(expr) if isinstance(n, ast.Name)]:
        home = m.binding_scope(name.id, m.scope(name))
        if name.id in comprehended or (name.id in turned and home is m.function(expr)):
            return True
        stores = m.stores(name.id, home) if home is not None else []
        if home is not None and not home.is_function and any(_of_a_loop(ctx, n, attr) for n in stores):
            return True  # a name of the file: `for USE_AMP in (True, False): run()`
        above = [m.parent[n] for n in stores if home is m.function(expr) and m.loops(n)]
        given = [one.value for one in above if isinstance(one, ast.Assign)]
        asked = attr if name is expr else _asked_of(m.parent[name])
        if asked:
            given += [value for at, value in _set_on(ctx, name, asked) if m.loops(at)]
        if depth < MAX_DEPTH and any(_changes(ctx, value, depth + 1) for value in given):
            return True
        if depth < MAX_DEPTH and asked and m.self_name(m.function(name)) == name.id:
            of_it = _asked_of(m.parent[m.parent[name]])  # of `self.args.fp16`, what `args` is asked for
            if any(_changes(ctx, value, depth + 1, of_it) for value in _of_the_object(ctx, name, asked)):
                return True
        if home is not None and home.is_function and name.id in home.params and not m.stores(name.id, home):
            if depth < MAX_DEPTH and _differs(ctx, home, name.id, depth, asked or attr):
                return True
    return False


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
        case ast.List(elts=words) | ast.Tuple(elts=words) if attr and all(isinstance(x, ast.Constant) for x in words):
            return any(_is_option(word, attr) for word in words)
        case _:
            return None


def _is_option(word: ast.expr, attr: str) -> bool:
    return isinstance(word, ast.Constant) and str(word.value).lstrip("-").replace("-", "_") == attr


def _differs(ctx: Context, function: Scope, name: str, depth: int, attr: str) -> bool:
    """Whether the callers of a function hand it different values: constants, objects made with different ones, or what
    a loop changes."""
    said: list[tuple[ast.AST, bool]] = []
    for call in sorted(ctx.v.calls[function.node], key=ctx.m.start):
        value = passed(ctx, call, function, name) or default_of(function.node, name)
        if isinstance(value, ast.Constant):
            said.append((ctx.m.function(call).node, bool(value.value) and value.value != "O0"))
        elif value is not None:
            if _changes(ctx, value, depth + 1, attr) or _set_between(ctx, function, value, attr):
                return True
            flag = _made_with(ctx, value, attr) if attr else None
            said += [(ctx.m.function(call).node, flag)] if flag is not None else []
    in_order = len({where for where, _ in said}) == 1 and [on for _, on in said] == sorted(on for _, on in said)
    return len({on for _, on in said}) > 1 and not in_order  # a run without it that comes first is as it was


def _of_a_loop(ctx: Context, name: ast.Name, attr: str) -> bool:
    loop = ctx.m.parent[name]
    return isinstance(loop, (ast.For, ast.AsyncFor)) and loop.target is name and not _off_first(loop.iter, attr)


def _asked_of(above: ast.AST) -> str:
    """The attribute, or the item by its name, that is asked for."""
    match above:
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case _:
            return ""


def _set_on(ctx: Context, name: ast.Name, attr: str) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Where an attribute, or an item, of what a name holds is set, in the function where it stands, and to what:
    ``cfg.amp = flag``, ``setattr(cfg, "amp", flag)``, ``vars(cfg).update(amp=flag)``."""
    m, here = ctx.m, ctx.m.function(name)
    stored: list[ast.Attribute | ast.Subscript] = [*m.attributes(attr), *m.all(ast.Subscript)]
    for one in stored:
        above = m.parent[one]
        if isinstance(one.ctx, ast.Store) and _is(one.value, name) and isinstance(above, ast.Assign):
            if _asked_of(one) == attr and m.function(one) is here:
                yield above, above.value
    for call in [*m.calls("setattr"), *m.calls("update")]:
        if m.function(call) is not here:
            continue
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, key, value]) if _is(owner, name):
                if any(meet(attr, one) for one in listed_names(m, key)):
                    yield call, _whole(ctx, call, name, value)
            case ast.Call(func=ast.Attribute(value=owner, attr="update"), args=given, keywords=keywords):
                if _is(_of_attributes(owner), name):
                    yield from ((call, one.value) for one in keywords if one.arg in (attr, None))
                    yield from ((call, _whole(ctx, call, name, one)) for one in given if not _says_without(one, attr))


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


def _is(owner: ast.expr, name: ast.Name) -> bool:
    return isinstance(owner, ast.Name) and owner.id == name.id


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


def _whole(ctx: Context, call: ast.Call, name: ast.Name, value: ast.expr) -> ast.expr:
    """What a loop that is only about the settings goes through (``for key, value in changes.items()``), where the value
    is one item of it: all of it is set by the time they are read."""
    readers = list(ctx.m.ancestors(name))
    for loop in ctx.m.loops(call):
        if isinstance(loop, ast.For) and loop not in readers and isinstance(value, ast.Name):
            if any(isinstance(n, ast.Name) and n.id == value.id for n in walk(loop.target)):
                return loop.iter
    return value


def _set_between(ctx: Context, function: Scope, value: ast.expr, attr: str) -> bool:
    """Whether `args.fp16 = False` stands between two calls of a function that are handed the same `args`."""
    m = ctx.m
    if not isinstance(value, ast.Name):
        return False
    here = m.function(value)
    calls = [m.start(call) for call in ctx.v.calls[function.node] if m.function(call) is here]
    for at, given in _set_on(ctx, value, attr):
        off = isinstance(given, ast.Constant) and not given.value
        if off and min(calls) < m.start(at) < max(calls):
            return True
    return False


def _made_with(ctx: Context, value: ast.expr, attr: str) -> bool | None:
    """What an attribute of an object is that is made with it: `Config(fp16=True)`, `parse(["--fp16"])`; None where that
    is not written."""
    m = ctx.m
    if isinstance(value, ast.Name):
        home = m.binding_scope(value.id, m.scope(value))
        above = [m.parent[n] for n in m.stores(value.id, home)] if home is not None else []
        if len(above) != 1 or not isinstance(above[0], ast.Assign):
            return None
        value = above[0].value
    if not isinstance(value, ast.Call):
        return None
    for keyword in value.keywords:
        if keyword.arg == attr:
            return bool(keyword.value.value) if isinstance(keyword.value, ast.Constant) else None
    for arg in value.args:
        words = [e for e in arg.elts if isinstance(e, ast.Constant)] if isinstance(arg, ast.List) else None
        if words is not None and all(isinstance(word.value, str) for word in words):
            return any(_is_option(word, attr) for word in words)
    classes = [o.key for o in ctx.v.of(value.func) if o.kind == "class" and isinstance(o.key, ast.ClassDef)]
    for stmt in (stmt for cls in classes for stmt in cls.body if not value.args):
        if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name) and stmt.target.id == attr:
            return bool(stmt.value.value) if isinstance(stmt.value, ast.Constant) else None
    return None

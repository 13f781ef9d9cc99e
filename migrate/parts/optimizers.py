"""What the rules for fused optimizers share: the options of a call, also those of ``**options``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..facts.module import Module
from ..nodes import walk
from ..units.unit import Context
from .arguments import Arguments, bind
from .outcome import Stays
from .sites import Site

_FUSED = (2, 4)  # the first torch whose fused kernels take parameters wherever they lie when the optimizer is made


@dataclass(frozen=True, eq=False)
class Options(Arguments):
    """The arguments of a call. ``keys`` are those of ``**options``; where they are not all known it is ``open``."""

    keys: frozenset[str]
    open: bool


def optimizer_call(
    ctx: Context, site: Site, parameters: Sequence[str], written: Collection[str] = ()
) -> Options | Stays:
    """The arguments of a call that makes an optimizer; why the use stays where they cannot be told.

    ``written`` are further options that may stand in ``**options``."""
    what = site.name.rpartition(".")[2]
    if site.call is None:
        return Stays(f"{what} is handed on here, and what it is called with is not told: torch's has other defaults")
    given = bind(site, parameters)
    if given.starred:
        return Stays("what `*` hands on is not told here, and torch's takes its arguments in another order")
    if given.surplus:
        return Stays(f"this is not how {what} of Apex 25.05 is called: it has no such argument")
    keys: set[str] = set()
    unknown = False
    for value in given.splat:
        held = _keys(ctx, value)
        unknown = unknown or held is None
        keys |= held or set()
    special = sorted(keys - {"lr", "betas", "eps", "weight_decay", "momentum", "dampening", "nesterov", *written})
    if special:
        return Stays(f"{', '.join(special)} of the options handed on has no counterpart here")
    if unknown and len(given.splat) > 1:
        return Stays("what this is called with is not told here")
    return Options(given.site, given.named, given.splat, False, given.surplus, frozenset(keys), unknown)


def _keys(ctx: Context, value: ast.expr) -> set[str] | None:
    """The keys that a dictionary may have, where the file makes it; None where it comes from elsewhere."""
    if isinstance(value, ast.Dict):
        spelled = [key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        return set(spelled) if len(spelled) == len(value.keys) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        words = [keyword.arg for keyword in value.keywords if keyword.arg is not None]
        return set(words) if len(words) == len(value.keywords) and not value.args else None
    if isinstance(value, ast.Name) and (last := _last_given(ctx, value)) is not None:
        return _keys(ctx, last)
    held = ctx.v.of(value)
    made = [one for one in held if one.kind == "dict"]
    if not held or len(made) != len(held) or not isinstance(value, ast.Name) or _updated(ctx, value):
        return None
    found: set[str] = set()
    for one in made:
        for key in ctx.v.attributes(one):
            found.add(key.strip("[]'\""))
    return found


def _last_given(ctx: Context, name: ast.Name) -> ast.expr | None:
    """The table that a name of a function was given last ahead of a use, where it was given several, and none gets keys
    one by one: ``kw = dict(lr=lr); SGD(params, **kw); kw = dict(batch_size=8)``."""
    m = ctx.m
    home = m.scope(name)
    stores = m.stores(name.id, home)
    items = [n for n in m.named(name.id) if isinstance(m.parent[n], ast.Subscript)]
    given = [stmt for one in stores if isinstance(stmt := m.parent[one], ast.Assign) and len(stmt.targets) == 1]
    if len(stores) < 2 or len(given) < len(stores) or items or _updated(ctx, name):
        return None
    around = m.spine(name)
    loops = [one for one in around if isinstance(one, (ast.For, ast.AsyncFor, ast.While))]
    last = max((one for one in given if m.start(one) < m.start(name)), key=m.start, default=None)
    if last is None or all(m.block(one) is not m.block(last) for one in around):
        return None  # none on every way to the use
    again = [one for one in given if one is not last and any(m.inside(one, loop) for loop in loops)]
    if again and not all(m.inside(last, loop) for loop in loops):
        return None  # a later one comes round with the loop
    return last.value if isinstance(last.value, (ast.Dict, ast.Call)) else None


def _updated(ctx: Context, name: ast.Name) -> bool:
    """Whether what a name holds gets keys by a method."""
    return any(
        isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == name.id
        for method in ("update", "setdefault")
        for call in ctx.m.calls(method)
    )


def surely_given(ctx: Context, value: ast.expr, key: str) -> bool:
    """Whether a table that is handed on has a key in each run: its function makes it with that, and takes out others at
    most (``opts = dict(lr=lr, weight_decay=decay)``, and ``opts.pop("eps", None)``)."""
    m = ctx.m
    if not isinstance(value, ast.Name):
        return False
    home = m.scope(value)
    stores = m.bindings(value.id, home)
    given = m.parent[stores[0]] if len(stores) == 1 else None
    match given:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id="dict"), keywords=words)):
            made = key in [word.arg for word in words]
        case ast.Assign(targets=[ast.Name()], value=ast.Dict(keys=keys)):
            made = key in [one.value for one in keys if isinstance(one, ast.Constant)]
        case _:
            return False
    reads = [n for n in m.named(value.id) if isinstance(n.ctx, ast.Load) and m.binding_scope(n.id, m.scope(n)) is home]
    return made and home.is_function and all(_leaves(m, one, key) for one in reads)


def _leaves(m: Module, table: ast.Name, key: str) -> bool:
    """Whether a use of a table leaves one of its keys where it is."""
    above = m.parent[table]
    match above:
        case ast.keyword(arg=None):
            return True
        case ast.Subscript(ctx=ast.Store() | ast.Load()):
            return True
        case ast.Attribute(attr="setdefault" | "update" | "get" | "items" | "keys" | "values"):
            return True
        case ast.Attribute(attr="pop"):
            match m.parent[above]:
                case ast.Call(args=[ast.Constant(value=taken), *_]):
                    return taken != key
    return False


def open_options(given: Options, *names: str) -> str | None:
    """What is to be looked at where options come from elsewhere; ``names`` are those that torch's has not."""
    if not given.open:
        return None
    return f"options that come from elsewhere are handed on: torch's has no {', '.join(names)}"


def fused(ctx: Context) -> list[str]:
    """``fused=True`` where the target's torch has it for parameters on any device."""
    return ["fused=True"] if ctx.settings.target_torch >= _FUSED else []


def loads(ctx: Context) -> bool:
    """Whether the file loads the saved state of an optimizer."""
    return any(
        "optim" in ctx.m.src(call.func.value).lower()
        for call in ctx.m.calls("load_state_dict")
        if isinstance(call.func, ast.Attribute)
    )


def of_a_group(ctx: Context, key: ast.Constant) -> bool:
    """Whether a string is a key of a parameter group: ``group["step"]``, ``optimizer.param_groups[0].get("step")``."""
    m = ctx.m
    match m.parent[key]:
        case ast.Subscript(value=owner, slice=ast.Constant()):
            pass
        case ast.Call(func=ast.Attribute(value=owner, attr="get" | "setdefault" | "pop")):
            pass
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[owner]):
            pass
        case _:
            return False
    if "group" in m.src(owner):
        return True
    loops = [stmt for stmt in m.loops(key) if isinstance(stmt, ast.For) and "param_groups" in m.src(stmt.iter)]
    names = {n.id for stmt in loops for n in walk(stmt.target) if isinstance(n, ast.Name)}
    return isinstance(owner, ast.Name) and owner.id in names

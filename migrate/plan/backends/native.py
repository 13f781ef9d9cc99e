"""A native backend of the file's own beside Apex: ``if use_amp == "apex": … elif use_amp == "native": …``.

What the native arm sets, a name for autocast and perhaps one for an object that scales, serves Apex's arm as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...facts.names import called_name, last_name
from ...facts.sites import Initialize
from ...nodes import Arm, arms, walk
from ...rewrite.arms import LOOSER
from ...units.unit import Context, Unit

_APEX_SCALER = re.compile(r"apex\w{0,80}scaler", re.I)
_NATIVE = frozenset("autocast torch.autocast torch.amp.autocast torch.cuda.amp.autocast amp.autocast".split())


@dataclass(frozen=True, eq=False)
class Backend:
    """Apex's arm: ``given`` are values in it and the native ones in their place, ``lines`` what it sets besides, ahead
    of ``first``. ``arms``: it and the native one, where they stand one behind the other. ``unused``: classes of the
    program that scale as Apex does, of which nobody makes an object any more; ``unread``: such as are imported.
    ``asked``: Apex's condition, for which the native arm of another ``if`` (``first``) asks as well from now on."""

    first: ast.stmt
    given: tuple[tuple[ast.expr, ast.expr], ...]
    lines: tuple[str, ...]
    arms: tuple[ast.If, ast.If] | None = None
    unused: tuple[ast.ClassDef, ...] = ()
    unread: tuple[ast.alias, ...] = ()
    asked: ast.expr | None = None


def native_backend(ctx: Context, unit: Unit) -> Backend | None:
    """The backend that serves in Apex's place; None where there is none, or where Apex's arm does something else."""
    if unit.scales or len(unit.initializes) != 1:
        return None
    (init,) = unit.initializes
    above = ctx.m.parent[ctx.m.statement(init.call)]
    if not isinstance(above, ast.If) or (init.optimizers and _used_besides(ctx, unit)):
        return None
    for chain in _chains(ctx, init):
        native = [body for _, body in chain if _autocast_name(body) and not _holds(ctx, body, init)]
        mine = next((arm for arm in chain if _is_apex(ctx, arm, init, above)), None)
        if len(native) == 1 and mine is not None:  # where there are several, which one serves is not known
            found = _served(ctx, init, native[0], mine[1], _chosen(ctx, mine[1], above))
            if found is None or not (found.given or not init.optimizers):  # who trains needs a scaler too
                continue
            entered = _is_entered(ctx, _autocast_name(native[0]))
            others = bool(init.optimizers) and _others_left(ctx, found)  # without one there is nothing to scale
            if entered and not others and all(_offers(ctx, *pair) for pair in found.given):
                beside = None if _inner(native[0]) else _one_behind_the_other(ctx, mine[1], native[0])
                return _made_no_more(ctx, unit, replace(found, arms=beside))
    return _two_switches(ctx, init, above)


def _two_switches(ctx: Context, init: Initialize, above: ast.If) -> Backend | None:
    """``if args.native_amp: amp_autocast = autocast`` beside ``if args.apex_amp: model = amp.initialize(model)``: two
    switches, of which the native one may ask for both. Who trains would need a scaler of it, too."""
    m, asked = ctx.m, above.test
    if init.optimizers or above.orelse or not isinstance(asked, (ast.Name, ast.Attribute)):
        return None
    if not all(stmt is m.statement(init.call) or only_tells(stmt) for stmt in above.body):
        return None
    block, index = m.place[above]
    for at, stmt in enumerate(block.body):
        if not isinstance(stmt, ast.If) or stmt.orelse or not isinstance(stmt.test, (ast.Name, ast.Attribute)):
            continue
        name = _autocast_name(stmt.body)
        alone = all(_assigned([one]).keys() == {name} or only_tells(one) for one in stmt.body)
        between = block.body[min(at, index) : max(at, index)]
        set_anew = any(ast.unparse(n) == ast.unparse(asked) for s in between for n in _stored(s))
        if name is not None and alone and not set_anew and _is_entered(ctx, name):
            return Backend(stmt, (), (), asked=asked)
    return None


def _stored(stmt: ast.stmt) -> Iterator[ast.expr]:
    return (n for n in walk(stmt) if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Store))


def _offers(ctx: Context, apex: ast.expr, native: ast.expr) -> bool:
    """Whether an object of the native arm has all methods and attributes that the class of Apex's gives its objects,
    as far as both classes are here: its state may be saved by whoever has it."""
    classes = [{o.key for o in ctx.v.of(value) if o.kind == "instance"} for value in (apex, native)]
    if not all(classes):
        return True
    names = [set.intersection(*map(_given_by, held)) for held in classes]
    return names[0] <= names[1]


def unread_scaler(ctx: Context, backend: Backend) -> str | None:
    """The name of a class whose objects scale natively in the place of Apex's, where it is not here."""
    made = [native for _, native in backend.given if isinstance(native, ast.Call) and called_name(native) != "partial"]
    return next((called_name(c) for c in made if not any(o.kind == "instance" for o in ctx.v.of(c))), None)


def _given_by(cls: object) -> set[str]:
    body = cls.body if isinstance(cls, ast.ClassDef) else []
    defined = {stmt.name for stmt in body if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef))}
    return defined - {"__init__"} | {
        target.id
        for stmt in body
        if isinstance(stmt, ast.Assign)
        for target in stmt.targets
        if isinstance(target, ast.Name)
    }


def _others_left(ctx: Context, backend: Backend) -> bool:
    """Whether something of Apex's backend is still made elsewhere: an object that scales as Apex does."""
    replaced = {node for value, _ in backend.given for node in walk(value)}
    makers = {called_name(value) for value, _ in backend.given if isinstance(value, ast.Call)}
    names = (last_name(n) for n in ctx.m.nodes if isinstance(n, (ast.Name, ast.Attribute)) and n not in replaced)
    return any(name in makers or _APEX_SCALER.search(name) for name in names)


def _one_behind_the_other(
    ctx: Context, mine: Sequence[ast.stmt], native: Sequence[ast.stmt]
) -> tuple[ast.If, ast.If] | None:
    """The conditions of two arms of which one is the other's ``elif``."""
    one, other = ctx.m.parent[mine[0]], ctx.m.parent[native[0]]
    if not (isinstance(one, ast.If) and isinstance(other, ast.If)) or isinstance(one.test, LOOSER):
        return None
    bodies = one.body[0] is mine[0] and other.body[0] is native[0]
    follows = other in one.orelse or one in other.orelse
    return (one, other) if bodies and follows and not isinstance(other.test, LOOSER) else None


def _made_no_more(ctx: Context, unit: Unit, backend: Backend) -> Backend:
    """With what only Apex's arm made an object of, and no other file takes or names in a text."""
    makers = {called_name(value) for value, _ in backend.given if isinstance(value, ast.Call)}
    makers |= {  # by the name that it has where it stands: `from utils import OurApexScaler as ApexScaler`
        obj.key.name
        for value, _ in backend.given
        for obj in ctx.v.of(value)
        if obj.kind == "instance" and isinstance(obj.key, ast.ClassDef)
    }
    makers -= {n.value for n in ctx.m.all(ast.Constant) if isinstance(n.value, str)}

    def private(name: str, node: ast.AST) -> bool:
        return name in makers and not ctx.exported(node) & {name, "*"}

    unused = [cls for cls in unit.beside if private(cls.name, cls) and not cls.decorator_list]
    unread = [
        alias
        for stmt in ctx.m.all(ast.ImportFrom)
        for alias in stmt.names
        if (len(stmt.names) > 1 or len(ctx.m.block(stmt).body) > 1) and private(alias.asname or alias.name, stmt)
    ]
    return replace(backend, unused=tuple(unused), unread=tuple(unread))


def _used_besides(ctx: Context, unit: Unit) -> bool:
    """Whether the program uses amp for more than to initialize it, and in more than a class that scales by itself."""
    calls = {init.call for init in ctx.facts.initializes}
    return any(
        dotted.startswith("apex.amp.") and ctx.m.parent[use] not in calls
        for use, dotted in ctx.facts.uses.items()
        if ctx.m.statement(use) not in ctx.facts.imports and ctx.m.class_of(ctx.m.function(use)) not in unit.beside
    )


def _chains(ctx: Context, init: Initialize) -> Iterator[list[Arm]]:
    """The chains of conditions in the function of a site that stand side by side with it or around it."""
    home = ctx.m.function(init.call)
    for node in ctx.m.all(ast.If):
        above = ctx.m.parent[node]
        follows = isinstance(above, ast.If) and above.orelse == [node]
        if ctx.m.function(node) is home and not follows:
            yield list(arms(node))


def _holds(ctx: Context, body: Sequence[ast.stmt], init: Initialize) -> bool:
    return any(ctx.m.inside(init.call, stmt) for stmt in body)


def _is_apex(ctx: Context, arm: Arm, init: Initialize, above: ast.If) -> bool:
    """Whether an arm is the one with the site, or one for the same condition as that stands under."""
    test, body = arm
    if ctx.m.statement(init.call) in body:
        return True
    alone = ctx.m.statement(init.call) in above.body and not above.orelse and len(above.body) == 1
    if not alone or test is None or _holds(ctx, body, init):
        return False
    return ast.dump(test) == ast.dump(above.test) or _chosen(ctx, body, above) is not None


def _chosen(ctx: Context, body: Sequence[ast.stmt], above: ast.If) -> str | None:
    """The name that an arm, and nothing else, gives the value which the condition of a site asks for:
    ``use_amp = "apex"``."""
    match above.test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant() as asked]):
            stores = ctx.m.stores(name, ctx.m.binding_scope(name, ctx.m.function(above)))
            given = {ctx.m.statement(node): node for node in stores}
            values = {stmt: stmt.value for stmt in given if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1}
            so = [s for s, v in values.items() if not isinstance(v, ast.Constant) or v.value == asked.value]
            return name if len(values) == len(given) and len(so) == 1 and so[0] in body else None
        case _:
            return None


def _assigned(body: Sequence[ast.stmt]) -> dict[str, ast.expr]:
    """Plain names that an arm gives a value."""
    return {
        stmt.targets[0].id: stmt.value
        for stmt in body
        if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name)
    }


def _inner(body: Sequence[ast.stmt]) -> dict[str, ast.expr]:
    """Plain names to which an arm gives autocast or a scaler under conditions of its own (where there is a GPU, where
    the type is float16), each with the first such value."""
    found: dict[str, ast.expr] = {}
    for stmt in body:
        if isinstance(stmt, (ast.If, ast.Try)):
            for name, value in {**_inner(stmt.body), **_assigned(stmt.body)}.items():
                if name not in found and (isinstance(value, ast.Call) or ast.unparse(value) in _NATIVE):
                    found[name] = value
    return {name: value for name, value in found.items() if name not in _assigned(body)}


def _autocast_name(body: Sequence[ast.stmt]) -> str | None:
    """The name that an arm gives to native autocast: to the class, or to a ``partial`` of it."""
    for name, value in (*_assigned(body).items(), *_inner(body).items()):
        if isinstance(value, ast.Call) and called_name(value) == "partial" and value.args:
            if any(k.arg in (None, "enabled") for k in value.keywords):
                continue  # it may be off
            value = value.args[0]
        if isinstance(value, (ast.Name, ast.Attribute)) and ast.unparse(value) in _NATIVE:
            return name
    return None


def _served(
    ctx: Context, init: Initialize, native: Sequence[ast.stmt], mine: Sequence[ast.stmt], chosen: str | None
) -> Backend | None:
    """What becomes of Apex's arm: all that it sets, the native arm has to set as well. What that sets under conditions
    of its own it sets without them, with the type that Apex had. ``chosen`` says which arm it was, and goes on."""
    values, inner = _assigned(native), _inner(native)
    given: dict[str, tuple[ast.expr, ast.expr]] = {}
    for stmt in mine:
        if stmt is ctx.m.statement(init.call):
            continue
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)]) if name == chosen:
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in values and name not in given:
                given[name] = (value, values[name])
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in inner and name not in given:
                given[name] = (value, inner[name])
            case ast.Assert() if inner or chosen:
                pass
            case _ if only_tells(stmt):
                pass
            case _:
                return None
    if not inner and not chosen:
        lines = [f"{name} = {' '.join(ctx.m.src(v).split())}" for name, v in values.items() if name not in given]
        return Backend(mine[0], tuple(given.values()), tuple(lines))
    own = _autocast_name(native)
    said = _spelled_out(ctx, {**values, **inner}[own]) if own is not None and own not in given else None
    return Backend(mine[0], tuple(given.values()), (f"{own} = {said}",)) if said is not None else None


def _spelled_out(ctx: Context, value: ast.expr) -> str | None:
    """Native autocast in float16 on the GPU, as Apex cast; None where that may be anything else."""
    plain = ctx.settings.dtype == "float16" and ctx.settings.device_type == "cuda"
    match value:
        case ast.Call(func=func, args=[ast.Attribute() as autocast, *_], keywords=keywords) if plain:
            name = ast.unparse(autocast)
            said = {"dtype": "torch.float16"}
            if name != "torch.cuda.amp.autocast":
                said = {"device_type": '"cuda"', **said}
            if not name.startswith("torch.") or any(k.arg not in ("device_type", "dtype") for k in keywords):
                return None
            return f"{ctx.m.src(func)}({name}, {', '.join(f'{key}={one}' for key, one in said.items())})"
        case ast.Attribute() if plain and ast.unparse(value) == "torch.cuda.amp.autocast":
            return ctx.m.src(value)
        case _:
            return None


def only_tells(stmt: ast.stmt) -> bool:
    """Whether a statement prints or logs, perhaps on one rank alone."""
    match stmt:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="info" | "warning" | "debug" | "log" | "write"))):
            return True
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case ast.If(body=body, orelse=orelse):
            return all(map(only_tells, (*body, *orelse)))
        case _:
            return False


def _is_entered(ctx: Context, name: str | None) -> bool:
    """Whether something in the program runs under what the name holds: ``with amp_autocast():``."""
    return any(
        isinstance(item.context_expr, ast.Call) and last_name(item.context_expr.func) == name
        for node in ctx.m.nodes
        if isinstance(node, (ast.With, ast.AsyncWith))
        for item in node.items
    )

"""Does an optimizer own just the parameters of a model? Only what its construction proves.

Parameters without a gradient do not matter to a clip, so a filter on ``requires_grad`` is no loss.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ..facts.scopes import Scope
from ..flow.arguments import argument
from ..flow.objects import Obj
from ..knowledge.models import PARAMETERS
from ..nodes import children, item_of, positional_parameters, walk
from .unit import Context

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Given = dict[str, ast.expr]  # what a call hands a function, by the names of its parameters


@dataclass(frozen=True)
class _Model:
    """What a model may be, where names of parameters mean what a call hands by them."""

    held: frozenset[Obj]
    given: _Given

    def may_be(self, ctx: Context, base: ast.expr) -> bool:
        meant = _meant(base, self.given)
        return bool(ctx.v.of(meant) & self.held) and not _within_maker(ctx, meant)


def owns_all(ctx: Context, optimizers: frozenset[Obj], model: ast.expr) -> bool:
    """Whether every object that may be the optimizer was made from all parameters of ``model``, whatever has its name
    where they are asked for."""
    held = ctx.v.of(model)
    if isinstance(model, ast.Name):
        held |= ctx.v.variable(model.id, ctx.m.scope(model))
    grows = any(
        isinstance(n.func, ast.Attribute) and ctx.v.of(n.func.value) & optimizers
        for n in ctx.m.calls("add_param_group")
    )
    if grows:
        return False
    made = [o for o in optimizers if o.kind == "call" and isinstance(o.key, ast.Call)]
    if not held or not made or len(made) != len(optimizers):
        return False
    return all(_from_all(ctx, o.key, held) and not _grown(ctx, o.key, held) for o in made)  # type: ignore[arg-type]


def _grown(ctx: Context, optimizer: ast.Call, model: frozenset[Obj]) -> bool:
    """Whether the model becomes a part of another one by the same name once the optimizer is made, or gets another
    part, whose parameters the optimizer lacks: ``model = nn.Sequential(head, model)``, ``model.fc = nn.Linear(8, 2)``.
    What hands the model back, as DDP does, is it."""
    m = ctx.m
    begin = m.function(optimizer)
    for node in m.own(begin, ast.Attribute):
        if isinstance(node.ctx, ast.Store) and m.start(node) > m.start(optimizer) and ctx.v.of(node.value) & model:
            stmt = m.statement(node)
            if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call) and not ctx.v.of(node) & model:
                return True
    for call in ctx.touching(model):
        above = m.function(call) is begin and m.start(call) < m.start(optimizer)
        if above or m.inside(optimizer, call):
            continue
        given = ctx.v.of(call) & model
        own = {o for o in given if o.key is call or (o.kind == "instance" and o.key in _classes(ctx, call))}
        if own and own == given:
            return True
    return False


def _classes(ctx: Context, call: ast.Call) -> set[object]:
    return {o.key for o in ctx.v.of(call.func) if o.kind == "class"}


def owned_model(ctx: Context, optimizers: frozenset[Obj], scope: Scope) -> str | None:
    """The text of a model, as ``scope`` can say it, all of whose parameters the optimizer owns."""
    names: set[str] = set(scope.params)
    at: Scope | None = scope
    while at is not None:
        names |= at.names
        at = at.parent
    for obj in ctx.v.in_order(optimizers):
        if obj.kind == "call" and isinstance(obj.key, ast.Call):
            if any(isinstance(x, _COMPREHENSIONS) for x in ctx.m.ancestors(obj.key)):
                return None  # one of many, each with a model of its own
            made = [(node, given) for one, given in _constructed(ctx, obj.key) for node in said_of(ctx, one)]
            for node, given in made:
                if isinstance(node, ast.Attribute) and node.attr in PARAMETERS:
                    base = _meant(node.value, given)
                    if _within_maker(ctx, base):
                        continue
                    if (text := _own_attribute(ctx, base, scope)) and owns_all(ctx, optimizers, base):
                        return text
                    if not isinstance(base, ast.Name):
                        continue
                    if (text := _handed_on(ctx, base, scope)) and owns_all(ctx, optimizers, base):
                        return text
                    if base.id in names and ctx.v.of(base) & ctx.v.variable(base.id, scope):
                        if owns_all(ctx, optimizers, base):
                            return base.id
    return None


def _handed_on(ctx: Context, base: ast.Name, scope: Scope) -> str | None:
    """``self.model`` in a method of an object that was handed ``model``, and has no other by that name."""
    m, v = ctx.m, ctx.v
    own, name = m.class_of(scope), m.self_name(scope)
    if own is None or name is None:
        return None
    mine = [n for n in m.attributes(base.id) if m.class_of(m.function(n)) is own and m.src(n.value) == name]
    held = {o for n in mine for o in v.of(n)}
    return f"{name}.{base.id}" if held and held <= v.of(base) else None


def _own_attribute(ctx: Context, base: ast.expr, scope: Scope) -> str | None:
    """``self.model``, where a method of the same class asks and no other code sets it on another object."""
    m = ctx.m
    if not isinstance(base, ast.Attribute) or not isinstance(base.value, ast.Name):
        return None
    made, own = m.function(base), m.class_of(scope)
    if own is None or m.class_of(made) is not own or base.value.id != m.self_name(made):
        return None
    name = m.self_name(scope)
    return f"{name}.{base.attr}" if name is not None else None


def said_of(ctx: Context, call: ast.Call) -> Iterator[ast.AST]:
    """The nodes of a call, and of what the names in it were given: `params = model.parameters()` ahead of it."""
    todo: list[tuple[ast.AST, int]] = [(call, 0)]
    while todo:
        at, depth = todo.pop()
        for node in walk(at):
            yield node
            value = _assigned(ctx, node) if isinstance(node, ast.Name) and depth < 3 else None
            if value is not None:
                todo.append((value, depth + 1))


def _constructed(ctx: Context, call: ast.Call) -> list[tuple[ast.Call, _Given]]:
    """The calls that make what a call gives: itself, or those of a function that makes an optimizer whenever it is
    called, with what this call hands it."""
    found: list[tuple[ast.Call, _Given]] = []
    for function in ctx.v.callees(call):
        maker = ctx.v.makers.get(function)
        for one in maker.inside if maker is not None else ():
            if ctx.m.function(one).node is not function or not isinstance(function, ast.FunctionDef):
                return [(call, {})]
            scope = ctx.m.scope_of[function]
            names = positional_parameters(function)[1 if ctx.m.self_name(scope) is not None else 0 :]
            each = ((name, argument(call, number, name)) for number, name in enumerate(names))
            kept = {name: value for name, value in each if value is not None and not ctx.m.bindings(name, scope)}
            found.append((one, kept))
    return found or [(call, {})]


def _within_maker(ctx: Context, base: ast.expr) -> bool:
    """Whether a name is one of a function that makes an optimizer whenever it is called, and holds another network in
    each call."""
    scope = ctx.m.function(base)
    own = isinstance(base, ast.Name) and scope.node in ctx.v.makers and base.id not in scope.params
    return own and bool(ctx.m.bindings(base.id, scope))  # type: ignore[attr-defined]


def _made_there(ctx: Context, base: ast.expr) -> bool:
    """The same, where the network is surely made in that call."""
    scope = ctx.m.function(base)
    stores = ctx.m.stores(base.id, scope) if isinstance(base, ast.Name) and _within_maker(ctx, base) else []
    values = [above.value for n in stores if isinstance(above := ctx.m.parent[n], ast.Assign)]
    made = [value for value in values if isinstance(value, ast.Call) and not ctx.v.callees(value)]
    return bool(made) and len(made) == len(values) and not any(_takes(ctx, call, scope) for call in made)


def _takes(ctx: Context, call: ast.Call, scope: Scope) -> bool:
    """Whether a call is handed an object that was made outside of its function, or that may have been."""
    parts = (n for part in children(call) if part is not call.func for n in walk(part))
    held = (o for n in parts if isinstance(n, (ast.Name, ast.Attribute)) for o in ctx.v.of(n))
    return any(not isinstance(o.key, ast.AST) or not ctx.m.inside(o.key, scope.node) for o in held)


def _meant(base: ast.expr, given: _Given) -> ast.expr:
    """What a function is handed by the name of a parameter."""
    return given.get(base.id, base) if isinstance(base, ast.Name) else base


def _from_all(ctx: Context, call: ast.Call, model: frozenset[Obj]) -> bool:
    return all(_from_all_of(ctx, one, model, given) for one, given in _constructed(ctx, call))


def _from_all_of(ctx: Context, call: ast.Call, model: frozenset[Obj], given: _Given) -> bool:
    source = next((k.value for k in call.keywords if k.arg in ("params", "parameters")), None)
    if source is None:
        source = call.args[0] if call.args else None
    return source is not None and _covers(ctx, source, _Model(model, given), 0)


def _covers(ctx: Context, expr: ast.expr, model: _Model, depth: int) -> bool:
    """Whether an expression gives all parameters of ``model`` (and of nothing else)."""
    if depth > 4:
        return False
    match expr:
        case ast.Call(func=ast.Attribute(value=base, attr="parameters")):
            return model.may_be(ctx, base)
        case ast.Call(func=ast.Name(id="filter"), args=[test, source]):
            return _only_trainable(test) and _covers(ctx, source, model, depth + 1)
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[source]):
            return _covers(ctx, source, model, depth + 1)
        case ast.Name():
            value = _assigned(ctx, expr)
            return value is not None and _covers(ctx, value, model, depth + 1)
        case ast.ListComp(elt=ast.Name(), generators=[gen]) | ast.GeneratorExp(elt=ast.Name(), generators=[gen]):
            source = gen.iter
            if not all(_only_trainable(t) for t in gen.ifs):
                return False
            return _covers(ctx, source, model, depth + 1)
        case ast.List(elts=elts) if elts and all(isinstance(e, ast.Dict) for e in elts):
            return _groups(ctx, elts, model, depth)
        case _:
            return False


def _groups(ctx: Context, groups: list[ast.expr], model: _Model, depth: int) -> bool:
    """Parameter groups: one that holds all, or two filtered by a condition and its opposite."""
    sources: list[ast.expr] = []
    for group in groups:
        assert isinstance(group, ast.Dict)
        value = item_of(group, "params")
        if value is None:
            return False
        sources.append(value)
    if len(sources) == 1:
        return _covers(ctx, sources[0], model, depth + 1)
    if len(sources) != 2:
        return False
    halves = [_half(ctx, s, model) for s in sources]
    if halves[0] is None or halves[1] is None:
        return False
    (first, negated), (second, other) = halves[0], halves[1]
    return first == second and negated != other


def _half(ctx: Context, expr: ast.expr, model: _Model) -> tuple[str, bool] | None:
    """The condition (and whether it is negated) of ``[p for n, p in model.named_parameters() if …]``."""
    if not isinstance(expr, (ast.ListComp, ast.GeneratorExp)) or len(expr.generators) != 1:
        return None
    gen = expr.generators[0]
    tests = [t for t in gen.ifs for t in (t.values if isinstance(t, ast.BoolOp) and isinstance(t.op, ast.And) else [t])]
    tests = [t for t in tests if not _only_trainable(t)]
    if len(tests) != 1 or not _named(ctx, gen.iter, model, 0):
        return None
    test = tests[0]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.dump(test.operand), True
    return ast.dump(test), False


def _named(ctx: Context, expr: ast.expr, model: _Model, depth: int) -> bool:
    match expr:
        case ast.Call(func=ast.Attribute(value=base, attr="named_parameters")):
            return model.may_be(ctx, base)
        case ast.Call(func=ast.Name(id="list"), args=[source]) if depth < 3:
            return _named(ctx, source, model, depth + 1)
        case ast.Name() if depth < 3:
            value = _assigned(ctx, expr)
            return value is not None and _named(ctx, value, model, depth + 1)
        case _:
            return False


def _only_trainable(test: ast.expr) -> bool:
    """``p.requires_grad``, also in a lambda."""
    body = test.body if isinstance(test, ast.Lambda) else test
    return isinstance(body, ast.Attribute) and body.attr == "requires_grad"


def _assigned(ctx: Context, name: ast.Name) -> ast.expr | None:
    """The one value a name is assigned in its scope; None where there are several or none."""
    m = ctx.m
    scope = m.binding_scope(name.id, m.scope(name))
    found: list[ast.expr | None] = []
    for node in m.stores(name.id, scope):
        above = m.parent[node]
        found.append(above.value if isinstance(above, ast.Assign) else None)
    if scope is None or name.id in scope.params or len(found) != 1:
        return None
    return found[0]


def share_parameters(ctx: Context, one: frozenset[Obj], other: frozenset[Obj]) -> ast.expr | None:
    """A module whose parameters both optimizers were made from, where their construction says so."""
    mine = [base for obj in ctx.v.in_order(one - other) for base in sources(ctx, obj)]
    theirs = [base for obj in ctx.v.in_order(other - one) for base in sources(ctx, obj)]
    for a in mine:
        for b in theirs:
            if ctx.m.function(a) is not ctx.m.function(b):
                continue
            long, short = sorted((ast.unparse(a), ast.unparse(b)), key=len, reverse=True)
            if long == short or long.startswith(short + "."):
                return a
    return None


def sources(ctx: Context, optimizer: Obj) -> list[ast.expr]:
    """Modules all of whose parameters an optimizer is made from, as its own call (and names in it) say."""
    if optimizer.kind != "call" or not isinstance(optimizer.key, ast.Call):
        return []
    made = _constructed(ctx, optimizer.key)
    bases = [_meant(base, given) for one, given in made for base in _sources(ctx, one)]
    return [base for base in bases if not _made_there(ctx, base)]


def _sources(ctx: Context, call: ast.Call) -> list[ast.expr]:
    found: list[ast.expr] = []
    todo: list[ast.AST] = [*call.args, *(k.value for k in call.keywords)]
    seen: set[ast.AST] = set()
    while todo:
        at = todo.pop()
        if at in seen or isinstance(at, _COMPREHENSIONS):
            continue
        seen.add(at)
        match at:
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as base, attr="parameters")):
                found.append(base)
            case ast.Name():
                value = _assigned(ctx, at)
                todo += [value] if value is not None else []
            case _:
                todo += children(at)
    return found

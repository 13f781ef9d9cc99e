"""What lies in amp's saved state is looked at where no value is known to be it: in a function that is handed a
checkpoint by nobody here. What is known to be one is looked at in `looked_into.py`.

A checkpoint is followed by the name under which the state was put into it (``state["amp"] = amp.state_dict()``), and
an object by its attribute, a call by the parameter; one of a function of another file by that file's text. Whether
there is a state at all may be asked: there is one before and after.

Source: apex/amp/frontend.py at tag 25.05 (one entry for each loss); torch/amp/grad_scaler.py (five of one scaler).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..facts.module import Module
from ..facts.names import called_name
from ..facts.networks import handed_elsewhere
from ..facts.once import once
from ..facts.scopes import Scope
from ..flow.objects import ELEMENT_KEY, Obj
from ..flow.values import Values
from ..units.translate import passed
from ..units.unit import Context, Unit
from .looked_into import items_by_key, looks, saved_states
from .saved_entries import is_saved_entry

_SAID = (
    "looks at what lies in amp's state: Apex's had an entry for each loss (`loss_scaler0`), of its scale and a count, "
    "a GradScaler's has five of the one scaler, by other names, and none where it is off"
)
_NESTED = 2  # lists in lists
_MEMBERS = frozenset("keys values items".split())
_COUNTS = frozenset("len set list tuple sorted dict iter enumerate zip max min any all next str repr print".split())


def review_saved_contents(ctx: Context, unit: Unit, state: Sequence[tuple[ast.expr, str]]) -> None:
    """Names the places that look into a saved state of amp's."""
    m = ctx.m
    saved = [m.parent[use] for use, kind in state if kind == "state_dict"]
    calls = [call for call in saved if isinstance(call, ast.Call)]
    keys, attributes = _names(m, calls)
    entries = list(_entries(ctx, keys))
    asked = [*entries, *m.in_order(node for name in attributes for node in m.attributes(name))]
    told = [use for use, kind in state if kind != "state_dict"]  # reads that have a finding of their own
    known = [(m.start(look.node), m.end(look.node)) for look in looks(ctx)]
    for node in dict.fromkeys((*entries, *saved_states(ctx), *_rows(ctx, calls))):
        call = _handing(m, node)
        if call is not None and node in handed_elsewhere(ctx.v, call, ctx.facts.elsewhere.looking):
            unit.review(call, "APX070", f"`{m.src(call.func)}` of another file {_SAID}")
    for node in asked:
        for place in (node, *_read_again(ctx, node)):
            use = _looks_into(m, place)
            if use is None or is_saved_entry(m.parent[use]) or any(m.inside(use, one) for one in told):
                continue
            if not any(start < m.end(use) and m.start(use) < end for start, end in known):
                unit.review(use, "APX070", f"`{m.src(use)}` {_SAID}")


def _names(m: Module, calls: Sequence[ast.Call]) -> tuple[set[str], set[str]]:
    """The keys and the attributes under which amp's state is kept."""
    keys, attributes = set[str](), set[str]()
    for call in calls:
        match m.parent[call]:
            case ast.Dict(keys=named, values=values):
                named_so = [key for key, value in zip(named, values, strict=True) if value is call]
                keys |= {key.value for key in named_so if isinstance(key, ast.Constant) and isinstance(key.value, str)}
            case ast.Assign(targets=targets):
                for target in targets:
                    match target:
                        case ast.Subscript(slice=ast.Constant(value=str() as key)):
                            keys.add(key)
                        case ast.Attribute(attr=name):
                            attributes.add(name)
            case ast.keyword(arg=str() as name) as keyword:
                above = m.parent[keyword]  # dict(amp=…), checkpoint.update(amp=…)
                if isinstance(above, ast.Call) and called_name(above) in ("dict", "update"):
                    keys.add(name)
            case _:
                pass
    return keys, attributes


def _entries(ctx: Context, keys: set[str]) -> Iterator[ast.expr]:
    """``checkpoint["amp"]``, ``checkpoint.get("amp")``; of a dictionary that is written out here more is known."""
    for node, base, key in items_by_key(ctx) if keys else ():
        stored = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        if key in keys and not stored and not any(isinstance(held.key, ast.Dict) for held in ctx.v.of(base)):
            yield node


def _rows(ctx: Context, calls: Sequence[ast.Call]) -> Iterator[ast.expr]:
    """What is handed to a call and holds states side by side: ``states``, after ``states.append(amp.state_dict())``."""
    states = {obj for call in calls for obj in (*ctx.v.of(call), Obj("call", call))}
    for arg, rows in _handed_rows(ctx) if states else ():
        if any(_has_rows_of(ctx.v, row, states) for row in rows):
            yield arg


@once
def _handed_rows(ctx: Context) -> list[tuple[ast.expr, list[Obj]]]:
    """The arguments of calls that may be lists or dictionaries, each with these."""
    handed = [arg for call in ctx.m.all(ast.Call) for arg in (*call.args, *(k.value for k in call.keywords))]
    rows = [(arg, [obj for obj in ctx.v.of(arg) if obj.kind in ("seq", "dict")]) for arg in handed]
    return [(arg, held) for arg, held in rows if held]


def _has_rows_of(v: Values, obj: Obj, states: set[Obj], depth: int = 0) -> bool:
    """Whether an object is a list of states, or a dictionary of them by keys that are not written."""
    names = v.attributes(obj) if obj.kind == "seq" else [ELEMENT_KEY] if obj.kind == "dict" else []
    items = {item for name in names for item in v.field(obj, name)}
    return bool(items & states) or (depth < _NESTED and any(_has_rows_of(v, one, states, depth + 1) for one in items))


def _read_again(ctx: Context, node: ast.expr) -> Iterator[ast.expr]:
    """Where the name is read that is given an expression in the same function, or is handed it in a call."""
    m, above = ctx.m, ctx.m.parent[node]
    if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
        yield from _reads(m, m.function(node), above.targets[0].id, m.start(node))
    call = _handing(m, node)
    if call is None:
        return
    for callee in ctx.v.callees(call):
        scope = m.scope_of[callee]
        for name in scope.params:
            if passed(ctx, call, scope, name) is node:
                yield from _reads(m, scope, name, -1)


def _handing(m: Module, node: ast.expr) -> ast.Call | None:
    """The call that an expression stands in as an argument, or as what is called."""
    above = m.parent[node]
    call = m.parent[above] if isinstance(above, ast.keyword) else above
    return call if isinstance(call, ast.Call) else None


def _reads(m: Module, scope: Scope, name: str, after: int) -> Iterator[ast.expr]:
    for read in m.own(scope, ast.Name):
        if read.id == name and isinstance(read.ctx, ast.Load) and m.start(read) > after:
            yield read


def _may_be_entry(key: ast.expr) -> bool:
    """Whether a key may be one of a state: `config["amp"]["opt_level"]` asks settings."""
    return not (isinstance(key, ast.Constant) and isinstance(key.value, str)) or key.value.startswith("loss_scaler")


def _looks_into(m: Module, node: ast.expr) -> ast.expr | None:
    """The expression that looks into a state, where one does."""
    match m.parent[node]:
        case ast.Call(func=ast.Name(id=name), args=args) as call if node in args and name in _COUNTS:
            return call
        case ast.Attribute(attr=name) as above if name in _MEMBERS:
            return above
        case ast.Subscript(value=value, slice=key) as above if value is node:
            return above if _may_be_entry(key) else None
        case ast.Compare(left=left, ops=ops, comparators=comparators) as test:
            if any(isinstance(op, (ast.Eq, ast.NotEq)) for op in ops):
                return test
            contained = any(isinstance(op, (ast.In, ast.NotIn)) for op in ops) and node in comparators
            return test if contained and left is not node else None
        case ast.For(iter=gone_over) | ast.comprehension(iter=gone_over) if gone_over is node:
            return node
        case _:
            return None

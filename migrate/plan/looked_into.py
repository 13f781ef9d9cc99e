"""What the program asks of a state that amp saved: ``len(state["amp"])``, ``"loss_scaler0" in saved``. Apex wrote an
entry for each loss, a GradScaler writes other ones, and none where it is off."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..facts.module import Module
from ..facts.names import called_name
from ..facts.once import once
from ..flow.objects import Obj
from ..units.unit import Context, Manual, Unit
from .carried import is_test
from .saved_entries import all_entries, is_saved_entry, scale_entry

_STATE = ("apex.amp.state_dict", "apex.amp.frontend.state_dict")
_LOADS = ("apex.amp.load_state_dict", "apex.amp.frontend.load_state_dict")
_COPIES = ("deepcopy", "copy", "dict", "dumps", "loads")  # what gives what it is handed once more, or its text
_TAKES = frozenset({"get", "pop"})  # an item of a dictionary, by its key
# Methods that give the state, or say nothing of it, and those that only list its entries.
_KEEPS, _LISTS = frozenset({"copy"}), frozenset({"keys", "__len__"})
# What shows what it is handed, or counts it.
_SHOWS = frozenset(
    "len list tuple set sorted iter next enumerate any all sum print pprint pformat str repr format bool "
    "info debug warning warn error log write writelines".split()
)


@dataclass(frozen=True)
class Look:
    """Where a state is looked into: the whole of it, and whether it may be something else there."""

    node: ast.expr
    certain: bool
    entries: bool  # what an entry holds is asked, not just which there are
    empty: bool = False  # only whether there is any


@once
def looks(ctx: Context) -> tuple[Look, ...]:
    """All of them, in order."""
    states = saved_states(ctx)
    return tuple(look for node in states if (look := _look(ctx, node, states)) is not None)


def unknown_look(ctx: Context) -> Manual | None:
    """The first one that natively finds nothing."""
    for look in looks(ctx):
        if look.certain and look.entries:
            return Manual(
                look.node,
                f"{ctx.m.src(look.node)} reads Apex's own entries, which a GradScaler's state does not have",
                "scaler.get_scale() for the loss scale; one GradScaler has one, for all losses",
            )
    return None


def review_looks(ctx: Context, unit: Unit) -> None:
    """Names those that natively find something else."""
    off = any(options.levels - {"O1", "O2", "O3"} for options in unit.options.values())
    for look in looks(ctx):
        said = f"`{ctx.m.src(look.node)}` looks into a state that amp saved"
        if not look.empty:
            unit.review(
                look.node,
                "APX070",
                f"{said}: Apex's had one entry for each loss (loss_scaler0), a GradScaler's has scale, growth_factor, "
                "backoff_factor, growth_interval and _growth_tracker",
            )
        elif off:
            unit.review(look.node, "APX070", f"{said}: that of a scaler which is off (O0) is empty, Apex's was not")


@once
def saved_states(ctx: Context) -> Mapping[ast.expr, bool]:
    """Where a state stands, in order: whether it is one for certain."""
    m, v = ctx.m, ctx.v
    saved = [m.parent[use] for use, dotted in ctx.facts.uses.items() if dotted in _STATE]
    loaded = [m.parent[use] for use, dotted in ctx.facts.uses.items() if dotted in _LOADS]
    calls = [one for one in saved if isinstance(one, ast.Call)]
    states = {obj for call in calls for obj in v.of(call)} | {Obj("call", call) for call in calls}
    copies = [call for name in _COPIES for call in m.calls(name)]
    copied: list[ast.Call] = []
    while more := [call for call in copies if any(one in (*calls, *copied) or v.of(one) & states for one in call.args)]:
        copied += more  # and copies of these: `json.loads(json.dumps(state))`
        copies = [call for call in copies if call not in more]
        states |= {obj for call in more for obj in v.of(call)} | {Obj("call", call) for call in more}
    given = [one.args[0] for one in loaded if isinstance(one, ast.Call) and one.args]
    holders = dict(_holders(ctx, states, given))
    for call in (*calls, *copied):
        holders[call] = True
    held = states | {obj for expr in given for obj in v.of(expr)}
    held |= {obj for expr, sure in holders.items() if sure for obj in v.of(expr)}
    for node in m.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found = v.of(node)
            if found & held:
                holders[node] = found <= held
    return {node: holders[node] for node in sorted(holders, key=m.start)}


def _holders(ctx: Context, states: set[Obj], given: list[ast.expr]) -> Iterator[tuple[ast.expr, bool]]:
    """The items by the keys under which a state is saved, of what it is saved in or loaded from."""
    m, v = ctx.m, ctx.v
    keys, wholes = set[str](), set[Obj]()
    for node, base, key in items_by_key(ctx):
        stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if node in given or (stored and v.of(node) & states):
            keys.add(key)
            wholes |= v.of(base)
    for node in m.all(ast.Dict):
        for one, value in zip(node.keys, node.values, strict=True):
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and v.of(value) & states:
                keys.add(one.value)
                wholes |= v.of(node)
    # dict(amp=…), package.update(amp=…), package.update({"amp": …}), package.setdefault("amp", …)
    for call in (*m.calls("dict"), *m.calls("update"), *m.calls("setdefault")):
        named = {one.arg for one in call.keywords if one.arg is not None and v.of(one.value) & states}
        match call.args:
            case [ast.Constant(value=str(key)), value] if v.of(value) & states:
                named.add(key)
        if named or any(v.of(one) & wholes for one in call.args):
            keys |= named
            filled = call.func.value if isinstance(call.func, ast.Attribute) else call
            wholes |= v.of(filled) | ({Obj("call", call)} if filled is call else set())
    for node, base, key in items_by_key(ctx):
        if key in keys and any(obj in wholes or _is_loaded(obj) for obj in v.of(base)):
            yield node, True


@once
def items_by_key(ctx: Context) -> list[tuple[ast.expr, ast.expr, str]]:
    """All items by a key that is spelled out, of what, and the key."""
    nodes = (*ctx.m.all(ast.Subscript), *ctx.m.all(ast.Call))
    return [(node, *item) for node in nodes if (item := _item_by_key(node)) is not None]


def _item_by_key(node: ast.expr) -> tuple[ast.expr, str] | None:
    """The dictionary and the key of which an expression is the item."""
    match node:
        case ast.Subscript(value=base, slice=ast.Constant(value=str(key))):
            return base, key
        case ast.Call(func=ast.Attribute(value=base, attr=attr), args=[ast.Constant(value=str(key)), *_]) if (
            attr in _TAKES
        ):
            return base, key
        case _:
            return None


def _is_loaded(obj: Obj) -> bool:
    return obj.kind == "call" and isinstance(obj.key, ast.Call) and "load" in (called_name(obj.key) or "")


def _look(ctx: Context, node: ast.expr, holders: Mapping[ast.expr, bool]) -> Look | None:
    """What the place of a state says of it."""
    m, sure = ctx.m, holders[node]
    above = m.parent[node]
    whole = above if isinstance(above, ast.expr) else node
    match above:
        case ast.Subscript(value=value) if value is node:
            known = is_saved_entry(m.parent[above]) and not isinstance(node, ast.Call)
            return None if known or _is_scale(ctx, node) else Look(whole, sure, entries=True)
        case ast.Attribute(attr=attr):
            if attr in _KEEPS or _are_scales(ctx, node):
                return None
            return Look(whole, sure, entries=attr not in _LISTS)
        case ast.For(iter=source) | ast.AsyncFor(iter=source) | ast.comprehension(iter=source) if source is node:
            return Look(node, sure, entries=False)
        case ast.Call(args=args) if node in args and called_name(above) in _SHOWS:
            return Look(whole, sure, entries=False, empty=_asks_whether_any(m, above))
        case ast.FormattedValue() | ast.BinOp(op=ast.Mod()):
            return Look(node, sure, entries=False)
        case ast.Tuple() if isinstance(outer := m.parent[above], ast.BinOp) and isinstance(outer.op, ast.Mod):
            return Look(node, sure, entries=False)
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[other]) if other is node:
            return Look(whole, sure, entries=False)
        case ast.Compare():
            return None
        case _:
            return Look(node, sure, entries=False, empty=True) if is_test(ctx, node) else None


def _asks_whether_any(m: Module, call: ast.Call) -> bool:
    """``bool(state)``, ``len(state) > 0``."""
    match m.parent[call]:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=0)]):
            return left is call and called_name(call) == "len"
        case _:
            return called_name(call) == "bool"


def _is_scale(ctx: Context, call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and _is_state(ctx, call) and scale_entry(ctx.m, call.func) is not None


def _are_scales(ctx: Context, call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and _is_state(ctx, call) and all_entries(ctx.m, call.func) is not None


def _is_state(ctx: Context, call: ast.Call) -> bool:
    return not ctx.v.apex_names(call.func).isdisjoint(_STATE)

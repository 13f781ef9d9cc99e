"""Uses of amp that belong to no single call: its state, its loss scalers, and amp as a value."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from ..facts.module import Module
from ..knowledge.apex import CASTS, REGISTRATIONS, RESOLVED
from ..nodes import walk
from ..units.casts import another_name, resolved
from ..units.options import set_at_once
from ..units.registered import registered
from ..units.unit import Context, Manual, Unit
from .carried import (
    AMP,
    asks_a_flag,
    handed_for_state,
    holders,
    is_test,
    may_be_another,
    through_parameter,
    unknown_reader,
)
from .home.set_ahead import set_ahead

_SCALERS = ("_amp_state.loss_scalers", "_amp_state._amp_state.loss_scalers")
_ITEM = frozenset(f"apex.amp.{name}[]" for name in _SCALERS)
# What a saved state calls its entries, before and after.
SAVED = {"loss_scale": "scale", "unskipped": "_growth_tracker"}


def assign_state(ctx: Context, units: list[Unit]) -> dict[int, list[tuple[ast.expr, str]]]:
    """Uses of the scaler's state, by the unit they belong to: the only one that trains, or the one next to them."""
    found: dict[int, list[tuple[ast.expr, str]]] = defaultdict(list)
    training = [u for u in units if u.scales] or units
    uses = [(use, kind) for use, dotted in ctx.facts.uses.items() if (kind := _kind(ctx, use, dotted)) is not None]
    for use, kind in [*uses, *((entry, "saved") for entry in saved_entries(ctx.m))]:
        if not training:
            continue
        unit = training[0]
        if len(training) > 1:
            near = [u for u in training if any(_same_function(ctx, use, s.call) for s in u.sites)]
            unit = near[0] if near else unit
        found[unit.number].append((use, kind))
    return found


def _kind(ctx: Context, use: ast.expr, dotted: str) -> str | None:
    """What a use asks of the state: see `state_kind`; ``taken`` and ``handed`` where a parameter takes the scaler;
    ``set`` where the loss scale is set ahead of training, ``set alias`` by way of a variable."""
    kind = state_kind(dotted)
    if kind in ("state_dict", "load_state_dict") and through_parameter(ctx, use):
        return "taken"
    if dotted in AMP and not is_test(ctx, use) and handed_for_state(ctx, use) is not None:
        return "handed"
    if kind == "state_dict":
        if scale_entry(ctx.m, use) is not None:
            return "entry"
        if all_entries(ctx.m, use) is not None:
            return "entries"
    if kind == "scale" and _alias(ctx, use) is not None:
        return "alias"
    above = ctx.m.parent[use]
    if kind == "scaler" and isinstance(above, ast.Attribute) and not _begins(ctx, above):
        if set_ahead(ctx, use) is not None:
            return "set alias" if isinstance(use, ast.Name) else "set"
    return kind


def _same_function(ctx: Context, one: ast.AST, other: ast.AST) -> bool:
    return ctx.m.function(one) is ctx.m.function(other)


def state_kind(dotted: str) -> str | None:
    """ "state_dict", "load_state_dict"; of the loss scalers "scalers" (all), "scaler" (one), "scale" (a read of its
    scale), "other"; None for anything else."""
    tail = dotted.removeprefix("apex.amp.").removeprefix("frontend.")
    if tail in ("state_dict", "load_state_dict"):
        return tail
    for name in _SCALERS:
        if tail.startswith(name):
            rest = tail.removeprefix(name)
            said = {"": "scalers", "[]": "scaler", "[].loss_scale": "scale", "[]._loss_scale": "scale"}
            return said.get(rest, "other")
    return None


def unresolved(ctx: Context) -> Manual | None:
    """The first use of amp in this module that no rule resolves: then all its units stay."""
    for attribute in ctx.m.all(ast.Attribute):
        if not isinstance(attribute.ctx, ast.Load) and ctx.v.apex_names(attribute.value) & AMP:
            return Manual(attribute, f"{ctx.m.src(attribute)} is changed here, and what Apex does then is not known")
    for node in holders(ctx):
        why = unknown_reader(ctx, node)
        if why is not None:
            return Manual(
                node,
                f"{ctx.m.src(node)} {why}: amp is handed on as an object here, and what is done with it is not known",
                "hand on the GradScaler instead: it has state_dict() and load_state_dict() too",
            )
    for node in holders(ctx, _ITEM):
        why = unknown_reader(ctx, node)
        if why is not None:
            return Manual(node, f"{ctx.m.src(node)} {why}: a loss scaler is handed on here", "scaler.get_scale()")
    for use, dotted in ctx.facts.uses.items():
        if dotted.startswith("apex.amp") and dotted not in AMP:
            problem = _resolved(ctx, use, dotted)
            if problem is not None:
                return problem
        elif dotted in AMP and asks_a_flag(ctx, use) and may_be_another(ctx, use):
            said = f"{ctx.m.src(use)} may be asked of something else than Apex, and is kept or asked for here"
            return Manual(use, said, "from apex import amp, and amp itself where Apex's is meant")
    return next(_unknown_entries(ctx.m), None)


def _resolved(ctx: Context, use: ast.expr, dotted: str) -> Manual | None:
    """Why a use of something in amp has no rule."""
    m = ctx.m
    tail = dotted.split(".")[-1]
    above = m.parent[use]
    called = isinstance(above, ast.Call) and above.func is use
    kind = state_kind(dotted)
    if kind in ("scalers", "scaler", "scale", "other"):
        return _scaler_use(ctx, use, kind)
    if kind is not None or tail in RESOLVED:
        decorates = isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and use in above.decorator_list
        if tail == "state_dict" and isinstance(above, ast.Call) and called:
            inside = _looks_inside(ctx, use, above)
            if inside is not None:
                return Manual(
                    inside,
                    f"{m.src(inside)} reads Apex's own entries, which a GradScaler's state does not have",
                    "scaler.get_scale() for the loss scale; one GradScaler has one, for all losses",
                )
        if tail in REGISTRATIONS and isinstance(above, ast.Call) and called:
            return _registration(ctx, use, above, tail)
        if called or decorates or (tail in CASTS and another_name(ctx, use) is not None):
            return None
        return Manual(use, f"{m.src(use)} is handed on as an object here; who calls it is not known")
    if tail == "init" and isinstance(above, ast.Call):
        return _handle(ctx, above)
    if isinstance(above, ast.expr) and ctx.conditions.constant(above) is not None:
        return None  # `"state_dict" in amp.__dict__`
    if ctx.conditions.constant(use) is not None and is_test(ctx, use):
        return None
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "hasattr":
        return None
    return Manual(use, f"{dotted} has no counterpart in native AMP", _suggestion(tail))


def _registration(ctx: Context, use: ast.expr, call: ast.Call, tail: str) -> Manual | None:
    """Why a registration of a function cannot go."""
    if resolved(ctx, use, tail) or (tail == "register_float_function" and registered(ctx, call) is not None):
        return None
    off = f'torch.autocast("{ctx.settings.device_type}", enabled=False)'
    method = {"register_half_function": "half", "register_float_function": "float"}.get(tail)
    advice = f"with {off}: around its calls, with x.{method}() for its tensors" if method else _suggestion(tail)
    what = "Apex casts for this function, whoever calls it, as autocast by itself does not"
    return Manual(call, f"{ctx.m.src(call)}: {what}", advice)


# ---------------------------------------------------------------- the loss scalers


def _scaler_use(ctx: Context, use: ast.expr, kind: str) -> Manual | None:
    """Why a use of Apex's loss scalers cannot be one of the GradScaler."""
    m = ctx.m
    above = m.parent[use]
    if kind == "scale":
        return None
    if kind == "scaler" and isinstance(above, ast.Attribute):
        if _begins(ctx, above) or set_ahead(ctx, use) is not None:
            return None
        what = "its scale is set here" if above.attr.endswith("loss_scale") else f"{above.attr} is set here"
        advice = "init_scale=… where the GradScaler is made; later, behind a scaled loss: scaler.update(new_scale=…)"
        return Manual(above, f"{m.src(above)}: {what}; a GradScaler is told its scale", advice)
    if kind == "scaler":
        return None
    if kind == "scalers" and (_iterated(m, use) or _counted(m, use)):
        return None
    return Manual(
        use, f"{m.src(use)}: this part of Apex's loss scaler has no counterpart", "scaler.get_scale() for the scale"
    )


def _begins(ctx: Context, scale: ast.Attribute) -> bool:
    """Whether an assignment right behind the one initialize says what a GradScaler begins with."""
    begun = [set_at_once(ctx.m, ctx.v, init) for init in ctx.facts.initializes]
    return len(begun) == 1 and begun[0] is not None and ctx.m.parent[scale] is begun[0]


def _iterated(m: Module, use: ast.expr) -> bool:
    above = m.parent[use]
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "enumerate":
        use, above = above, m.parent[above]
    return isinstance(above, (ast.For, ast.comprehension)) and above.iter is use


def _counted(m: Module, use: ast.expr) -> bool:
    above = m.parent[use]
    return isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "len"


def _alias(ctx: Context, use: ast.expr) -> ast.expr | None:
    """What holds a loss scaler whose scale is read, where it is no item of ``….loss_scalers`` itself."""
    if not isinstance(use, ast.Attribute):
        return None
    owner = use.value
    if isinstance(owner, ast.Subscript) and any(n.endswith("loss_scalers") for n in ctx.v.apex_names(owner.value)):
        return None
    return owner


# ---------------------------------------------------------------- entries of the state


def scale_entry(m: Module, use: ast.expr) -> ast.expr | None:
    """The whole of ``amp.state_dict()["loss_scaler0"]["loss_scale"]`` around its ``amp.state_dict``."""
    entry = m.parent[m.parent[use]]
    whole = m.parent.get(entry)
    if (
        isinstance(entry, ast.Subscript)
        and entry.value is m.parent[use]
        and isinstance(whole, ast.Subscript)
        and whole.value is entry
        and isinstance(whole.ctx, ast.Load)
        and isinstance(whole.slice, ast.Constant)
        and whole.slice.value == "loss_scale"
    ):
        return whole
    return None


def all_entries(m: Module, use: ast.expr) -> tuple[ast.Call, list[ast.Subscript]] | None:
    """``amp.state_dict().values()`` that a loop goes over for the scales alone: the call, and every
    ``entry["loss_scale"]``."""
    call = m.parent[use]
    values = m.parent.get(call)
    whole = m.parent.get(values) if values is not None else None
    loop = m.parent.get(whole) if whole is not None else None
    if not (isinstance(values, ast.Attribute) and values.attr == "values" and isinstance(whole, ast.Call)):
        return None
    if not isinstance(loop, (ast.For, ast.comprehension)) or loop.iter is not whole:
        return None
    if not isinstance(loop.target, ast.Name):
        return None
    within = loop if isinstance(loop, ast.For) else m.parent[loop]
    reads: list[ast.Subscript] = []
    for node in walk(within):
        if isinstance(node, ast.Name) and node.id == loop.target.id and isinstance(node.ctx, ast.Load):
            read = m.parent[node]
            if not (isinstance(read, ast.Subscript) and isinstance(read.ctx, ast.Load)):
                return None
            if not (isinstance(read.slice, ast.Constant) and read.slice.value == "loss_scale"):
                return None
            reads.append(read)
    return whole, reads


def saved_entries(m: Module) -> Iterator[ast.Subscript]:
    """``saved["loss_scaler0"]["loss_scale"]`` and ``…["unskipped"]`` of a state that was kept."""
    for node in m.all(ast.Subscript):
        if _saved_entry(node):
            assert isinstance(node.value, ast.Subscript)
            if not isinstance(node.value.value, ast.Call):
                yield node


def _saved_entry(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in SAVED
        and isinstance(node.value, ast.Subscript)
        and (_constant(node.value.slice) == "loss_scaler0" or _numbered(node.value.slice))
    )


def _constant(expr: ast.expr) -> object:
    return expr.value if isinstance(expr, ast.Constant) else None


def _numbered(key: ast.expr) -> bool:
    """``"loss_scaler%d" % i`` and the other ways to write it: an entry for each loss. All of them become the one of
    the one scaler, which the report says where there are several losses."""
    match key:
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return text in ("loss_scaler%d", "loss_scaler%s", "loss_scaler%i")
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Add(), right=ast.Call(func=ast.Name(id="str"))):
            return text == "loss_scaler"
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=[_]):
            return text in ("loss_scaler{}", "loss_scaler{:d}", "loss_scaler{0}")
        case ast.JoinedStr(values=[ast.Constant(value="loss_scaler"), ast.FormattedValue()]):
            return True
        case _:
            return False


def _unknown_entries(m: Module) -> Iterator[Manual]:
    """Entries of Apex's state that are read, or made, in another way."""
    for node in m.all(ast.Constant):
        if not (isinstance(node.value, str)):
            continue
        prefix, named, number = node.value.partition("loss_scaler")
        if prefix or not named or not number.isdigit():
            continue
        above = m.parent[node]
        if isinstance(above, ast.Subscript) and _saved_entry(m.parent[above]):
            continue
        if isinstance(above, ast.Subscript) and isinstance(above.value, ast.Call) and _read(m.parent[above]):
            continue  # of the state itself: looked at there
        yield Manual(
            node,
            f'"{node.value}" is an entry of Apex\'s own state, which a GradScaler\'s does not have',
            'saved["scale"] for the loss scale of a saved state, scaler.get_scale() for the current one',
        )


def _read(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)


def _looks_inside(ctx: Context, use: ast.expr, call: ast.Call) -> ast.expr | None:
    """Where the entries of the state itself are read in a way that is not `scale_entry` or `all_entries`."""
    m = ctx.m
    if scale_entry(m, use) is not None or all_entries(m, use) is not None:
        return None
    for node in m.nodes:
        if not isinstance(node, (ast.Subscript, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        held = ctx.v.of(node.value)
        if node.value is not call and not (held and all(o.key is call for o in held)):
            continue
        if _saved_entry(m.parent[node]) and node.value is not call:
            continue
        if isinstance(node, ast.Attribute) and node.attr not in ("values", "items", "keys", "get", "pop"):
            continue
        return node
    return None


def _handle(ctx: Context, init: ast.Call) -> Manual | None:
    """The old API's handle: fine where it only wraps optimizers, or is never used again."""
    m, v = ctx.m, ctx.v
    for node in m.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            if any(o.key is init for o in v.of(node)):
                above = m.parent[node]
                if isinstance(above, ast.Attribute) and above.attr == "wrap_optimizer":
                    continue
                return Manual(
                    above,
                    f"{m.src(above)} belongs to the old API of amp; its handle.scale_loss raises in Apex 25.05 itself",
                    _suggestion("init"),
                )
    return None


def _suggestion(tail: str) -> str | None:
    if tail in ("init", "AmpHandle"):
        return "the old API has no scaler: use torch.autocast and torch.amp.GradScaler around the training step"
    if tail in ("promote_function", "register_promote_function"):
        return "cast the arguments to the widest of their types by hand"
    return None

"""Uses of amp that belong to no single call: its state, its loss scalers, and amp as a value."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping

from ..facts.module import Module
from ..facts.scopes import Scope
from ..knowledge.apex import CASTS, REGISTRATIONS, RESOLVED
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
from .listed_state import among_others, asks_the_scaler, listed
from .looked_into import unknown_look
from .saved_entries import all_entries, saved_entries, scale_entry, unknown_entries
from .scale_names import scale_name

_SCALERS = ("_amp_state.loss_scalers", "_amp_state._amp_state.loss_scalers")
_ITEM = frozenset(f"apex.amp.{name}[]" for name in _SCALERS)


def assign_state(ctx: Context, units: list[Unit]) -> dict[int, list[tuple[ast.expr, str]]]:
    """Uses of the scaler's state, by the unit they belong to: the only one that trains, or the one next to them."""
    found: dict[int, list[tuple[ast.expr, str]]] = defaultdict(list)
    training = [u for u in units if u.scales] or units
    homes = {unit.number: {ctx.m.function(site.call) for site in unit.sites} for unit in training}
    uses = [(use, kind) for use, dotted in ctx.facts.uses.items() if (kind := _kind(ctx, use, dotted)) is not None]
    for use, kind in [*uses, *((entry, "saved") for entry in saved_entries(ctx.m))]:
        if not training:
            continue
        unit = training[0] if len(training) == 1 else _nearest(ctx, use, training, homes)
        found[unit.number].append((use, kind))
    return found


def _nearest(ctx: Context, use: ast.expr, units: list[Unit], homes: Mapping[int, set[Scope]]) -> Unit:
    """The first unit that scales or initializes where a use of the state stands, or in a function that calls that one,
    or one further up, or else in its class: two scripts of one program, or two trainers, each save their own."""
    met: set[Scope] = set()
    level = {ctx.m.function(use)}
    while level:
        if near := [unit for unit in units if homes[unit.number] & level]:
            return near[0]
        met |= level
        calls = [call for scope in level for call in ctx.v.calls.get(scope.node, ())]
        level = {ctx.m.function(call) for call in calls} - met
    if (cls := ctx.m.class_of(ctx.m.function(use))) is not None:  # `save()`, which somebody else calls
        own = set(ctx.v.order(cls))
        if mine := [unit for unit in units if own & {ctx.m.class_of(home) for home in homes[unit.number]}]:
            return mine[0]
    here = ctx.m.file(use)
    beside = (unit for unit in units if any(ctx.m.file(site.call) is here for site in unit.sites))
    return next(beside, units[0])


def _kind(ctx: Context, use: ast.expr, dotted: str) -> str | None:
    """What a use asks of the state: see `state_kind`; ``taken`` and ``handed`` where a parameter takes the scaler;
    ``set`` where the loss scale is set ahead of training, ``set alias`` by way of a variable; ``listed`` where amp is
    put among other things that have a state, ``asked`` where it is asked for it as one of them."""
    kind = state_kind(dotted)
    if kind in ("state_dict", "load_state_dict") and through_parameter(ctx, use):
        return "taken"
    if kind in ("state_dict", "load_state_dict") and among_others(ctx, use):
        return "asked"
    if use in listed(ctx):
        return "listed"
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
    return unknown_look(ctx) or next(unknown_entries(ctx.m), None)


def _resolved(ctx: Context, use: ast.expr, dotted: str) -> Manual | None:
    """Why a use of something in amp has no rule."""
    m = ctx.m
    tail = dotted.split(".")[-1]
    above = m.parent[use]
    called = isinstance(above, ast.Call) and above.func is use
    kind = state_kind(dotted)
    if kind in ("scalers", "scaler", "scale", "other"):
        return _scaler_use(ctx, use, kind)
    if kind is not None and called and among_others(ctx, use) and not asks_the_scaler(ctx, use):
        said = f"{m.src(use)} is asked of amp and of other things here, and where amp is put among them is not known"
        return Manual(use, said, "put the GradScaler among them: it has state_dict() and load_state_dict() too")
    if kind is not None or tail in RESOLVED:
        decorates = isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and use in above.decorator_list
        if tail in REGISTRATIONS and isinstance(above, ast.Call) and called:
            return _registration(ctx, use, above, tail)
        if called or decorates or (tail in CASTS and another_name(ctx, use) is not None):
            return None
        if tail == "scale_loss" and scale_name(ctx, use) is not None:
            return None
        return Manual(use, f"{m.src(use)} is handed on as an object here; who calls it is not known")
    if tail == "init" and isinstance(above, ast.Call):
        return _handle(ctx, above)
    if isinstance(above, ast.expr) and ctx.conditions.settled(above):
        return None  # `"state_dict" in amp.__dict__`
    if ctx.conditions.constant(use) is not None and is_test(ctx, use):
        return None
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "hasattr":
        return None
    if tail in ("GradScaler", "autocast"):  # which Apex never had
        said = f"{m.src(use)} is torch's own, so this name may be Apex's amp or torch's here: two backends side by side"
        return Manual(use, said, "from torch.cuda import amp, and take out what asks for Apex's")
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

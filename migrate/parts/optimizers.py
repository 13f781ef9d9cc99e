"""What the rules for fused optimizers share: the options of a call, also those of ``**options``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from migrate.parts.arguments import Arguments, bind
from migrate.parts.replace import Stays
from migrate.parts.sites import Site
from migrate.units.unit import Context

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
    return Options(given.site, given.named, given.splat, given.surplus, frozenset(keys), unknown)


def _keys(ctx: Context, value: ast.expr) -> set[str] | None:
    """The keys that a dictionary may have, where the file makes it; None where it comes from elsewhere."""
    held = ctx.v.of(value)
    made = [one for one in held if ctx.v.is_container(one)]
    if not held or len(made) != len(held):
        return None
    found: set[str] = set()
    for one in made:
        for key in ctx.v.attributes(one):
            found.add(key.strip("[]'\""))
    return found


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

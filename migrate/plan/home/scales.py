"""The static loss scale of a scaler that several calls of ``initialize`` ask for, each under its own condition."""

from __future__ import annotations

import ast
from dataclasses import replace

from ...facts.scopes import Scope
from ...facts.sites import Initialize
from ...units.conditions import TRUE, Term
from ...units.options import Options
from ...units.translate import translate
from ...units.unit import Context, Manual, Unit
from .cases import either
from .guards import guards, terms_there


def chosen(ctx: Context, unit: Unit, anchor: ast.stmt, there: Scope | None = None) -> Options:
    """The options that shape the scaler: a static scale that several calls ask for, or some of them; as the function
    of those calls says it, or another one."""
    inits = unit.initializes
    if not inits:
        return Options()
    every = [unit.options_of(i) for i in inits]
    static = [(i, o) for i, o in zip(inits, every, strict=True) if o.scale is not None]
    if not static or len({(o.scale, o.static_when) for o in every}) == 1:
        return every[0]
    asked = [guards(ctx, unit, i, anchor) for i in inits]
    shared = {t.text for _, t in asked[0] if all(t.text in {x.text for _, x in one} for one in asked)}
    cases: dict[str, list[list[Term]]] = {}  # the conditions under which each scale is asked for
    for init, options in static:
        own = [pair for pair in asked[inits.index(init)] if pair[1].text not in shared]
        scale, when = _said(ctx, init, options, own, there)
        cases.setdefault(scale, []).append(when)
    *first, last = cases
    asks = {one: either(cases[one]) for one in first}
    text = "".join(f"{one} if {asks[one].inside(2)} else " for one in first if asks[one].value is None) + last
    return replace(static[0][1], scale=text, static_when=either([case for each in cases.values() for case in each]))


def _said(
    ctx: Context, init: Initialize, options: Options, own: list[tuple[ast.expr, Term]], there: Scope | None
) -> tuple[str, list[Term]]:
    """A scale that one call asks for, and under which conditions."""
    scale, when = str(options.scale), options.static_when or TRUE
    if there is None:
        return scale, [*(term for _, term in own), when]
    source = init.options["loss_scale"]
    text, terms = translate(ctx, source, scale, there), terms_there(ctx, [*own, (source, when)], there)
    if text is None or isinstance(terms, str):
        raise Manual(init.call, f"the loss scale {scale} cannot be said where the optimizer lives")
    return text, terms

"""An object of a class that only a configuration names (``hydra.utils.instantiate(cfg.check, task)``), made of what has
the network: what it runs of that is not seen, and O1 cast there, too.
"""

from __future__ import annotations

import ast

from ...facts.names import last_name
from ...facts.once import once
from ...facts.sites import opened
from ...flow.found_by_name import LOCATES, is_found
from ...knowledge.models import NOT_RUN_BY_METHOD
from ...knowledge.words import Patterns
from ...units.order import NOT_YET
from ...units.unit import Context, Unit
from ..regions.planner import Planner

_MAKES = Patterns("instantiate instantiate_* *_from_config _instantiate", exact=True)
_FINDS = LOCATES | {"getattr", "get_class", "get_object", "eval", "import_module"}


def review_instantiated(ctx: Context, unit: Unit, planner: Planner) -> None:
    """Names what such objects do behind `initialize`, outside of the regions."""
    held = [stmt for r in planner.regions for stmt in r.stmts()]
    for call, made in _runs(ctx):
        if _holds(ctx, unit, made) and planner.order.states(call) != {NOT_YET}:
            if not any(ctx.m.inside(call, stmt) for stmt in held):
                what = ctx.m.src(call.func)
                unit.review(
                    call,
                    "APX031",
                    f"the class behind `{what}` is named at run time alone, and was handed what has the network: where "
                    "it runs that, Apex's casts held there, and none do now; put the call under autocast if it does",
                )


@once
def _runs(ctx: Context) -> list[tuple[ast.Call, ast.Call]]:
    """The calls of such objects, or of their methods, each with the call that made the object."""
    makers = {call for call in ctx.m.all(ast.Call) if _by_configuration(ctx, call)}
    found: list[tuple[ast.Call, ast.Call]] = []
    for call in ctx.m.all(ast.Call) if makers else ():
        func = call.func
        of = func.value if isinstance(func, ast.Attribute) else func
        if isinstance(func, ast.Attribute) and NOT_RUN_BY_METHOD.fit(func.attr):
            continue
        found += [(call, o.key) for o in ctx.v.of(of) if isinstance(o.key, ast.Call) and o.key in makers]
    return found


def _by_configuration(ctx: Context, call: ast.Call) -> bool:
    """Whether a call makes an object of a class that nothing here tells."""
    held = ctx.v.of(call.func)
    if any(is_found(one) and one.label.partition(".")[0] in LOCATES for one in held):
        return True  # any class of that name, of the program or not; those of one file are followed
    if ctx.v.callees(call) or any(o.kind == "class" for o in held):
        return False
    if _MAKES.fit(last_name(call.func)):
        return True
    return any(o.kind == "call" and o.label in _FINDS for o in held)


def _holds(ctx: Context, unit: Unit, made: ast.Call) -> bool:
    """Whether an object was made with a network of the unit's, or with an object that has one."""
    v, models, handed = ctx.v, unit.model_objects, [*made.args, *(k.value for k in made.keywords)]
    given = {one for arg in handed for one in opened(v, v.of(arg))}
    kept = (o for one in given for name in v.attributes(one) for o in opened(v, v.field(one, name)))
    return not models.isdisjoint(given) or any(o in models for o in kept)

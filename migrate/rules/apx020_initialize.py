"""``amp.initialize`` becomes a ``GradScaler`` beside the optimizer.

Model and optimizer stay as they are: under autocast the weights remain float32 and nothing is
patched. ``initialize`` changed its arguments in place and handed them back, so an assignment to the
same names goes, one to other names stays an assignment. The legacy guard and ``opt_level != "O0"``
become the scaler's ``enabled``; a disabled scaler is an exact no-op.

Source: apex/amp/frontend.py and _initialize.py at tag 25.05; torch/amp/grad_scaler.py.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..facts.module import Module
from ..facts.once import once
from ..facts.sites import Initialize
from ..plan.home.asked import guarded
from ..plan.home.places import Creation
from ..plan.home.scales import chosen
from ..plan.inserted import free_name
from ..plan.premises.premises import model_alone
from ..units.conditions import conjunction
from ..units.unit import Context
from .common import Plan, Stage, Work
from .put_back import Pairs, match, parts, put_back
from .same_items import same_item

ID = "APX020"
STAGE = Stage.UNIT
BEFORE = """\
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""
AFTER = """\
scaler = torch.amp.GradScaler("cuda", enabled=args.fp16)
"""
_THERE = "deleted: it is there already"
NOTES = {
    "APX021": "What an option of `initialize` (a level, a static scale, bounds) changes natively.",
}


def apply(plan: Plan, work: Work) -> None:
    """Remove the unit's initialize calls and create its scalers."""
    for init in plan.unit.initializes:
        if not plan.unit.foreign and init not in plan.left_out:
            _remove(plan, work, init)
    if not plan.scaled:
        return
    for creation in plan.homes.creations:
        place = work.draft.before if creation.before else work.draft.after
        gap = ["", ""] if isinstance(creation.anchor, ast.ClassDef) else []
        if creation.before and isinstance(creation.anchor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            gap = [""]
        lines = _lines(plan, work, creation)
        if _made_above(plan, work, creation.anchor, lines):
            continue
        if creation.method:
            lines, gap = [creation.method, *(f"\t{line}" for line in lines)], [""]
        place(creation.anchor, *lines, *gap)
        if creation.globals is not None:
            names = ", ".join([*creation.globals.names, creation.scaler.name])
            work.draft.replace(creation.globals, f"global {names}")
            work.note(plan.unit.number, ID, creation.globals, "the scaler is global beside the optimizer")
    for slots, name in plan.homes.slots:
        if slots.elts:
            work.draft.insert_at(work.m.end(slots.elts[-1]), f', "{name}"')
        else:
            work.draft.replace(slots, f'("{name}",)')
        work.note(plan.unit.number, ID, work.m.statement(slots), "the scaler is an attribute of its own")


@once
def _initialized(ctx: Context) -> frozenset[ast.stmt]:
    """The statements that initialize."""
    return frozenset(ctx.m.statement(init.call) for init in ctx.facts.initializes)


def _made_above(plan: Plan, work: Work, anchor: ast.stmt, lines: list[str]) -> bool:
    """Whether another unit makes the very scaler, and nothing but calls of ``initialize`` stands between the two: each
    call replaced what Apex knew of the scale, so one scaler serves both."""
    block, index = work.m.place[anchor]
    beside = work.made.setdefault(id(block), [])
    for other, made in beside:
        at = work.m.place[other][1]
        if made == lines and other is not anchor:
            initialized = _initialized(plan.ctx)
            if all(stmt in initialized for stmt in block.body[min(at, index) : max(at, index) + 1]):
                return True
    beside.append((anchor, lines))
    return False


def _remove(plan: Plan, work: Work, init: Initialize) -> None:
    m = work.m
    stmt = m.statement(init.call)
    what = "deleted: a GradScaler takes its place" if plan.scaled else "deleted: autocast regions take its place"
    work.note(plan.unit.number, ID, stmt, f"amp.initialize {what}")
    if init.handle is not None:
        handle = m.statement(init.handle)
        work.draft.delete(handle)
        work.note(plan.unit.number, ID, handle, "amp.init deleted: nothing is patched any more")
        if init.call is init.handle:
            return
    begins = plan.unit.options_of(init).begins
    if begins is not None:
        work.draft.delete(begins)
        work.note(plan.unit.number, ID, begins, "the loss scale that was set here is what the GradScaler begins with")
    result = _result(plan, work, init)
    if isinstance(stmt, ast.Expr) and stmt.value is init.call:
        effects = [x for x in (*init.models, *init.optimizers) if isinstance(x, ast.Call)]
        work.draft.rewrite(stmt, *(" ".join(m.src(x).split()) for x in effects))
    elif isinstance(stmt, ast.Assign) and stmt.value is init.call and len(stmt.targets) == 1:
        kept = _assignment(stmt.targets[0], _models(init), _optimizers(init))
        kept = kept and [(target, value) for target, value in kept if not same_item(m, target, value)]
        kept = kept and [(target, value) for target, value in kept if not (_unread(m, target) and _plain(plan, value))]
        back = put_back(m, stmt, _models(init), _optimizers(init))
        if not all(_plain(plan, part) for one in back for part in parts(one.targets[0])):
            back = []
        for one in back:
            work.draft.delete(one)
            work.note(plan.unit.number, ID, one, _THERE)
        if back:
            work.draft.delete(stmt)
        elif kept is None:
            work.draft.replace(init.call, result)
        elif kept and not _goes_back(plan, work, stmt, kept):
            work.draft.rewrite(stmt, _written(work, kept))
        else:
            work.draft.delete(stmt)
    else:
        work.draft.replace(init.call, result)


def _models(init: Initialize) -> ast.expr:
    call = init.call
    return next((k.value for k in call.keywords if k.arg == "models"), call.args[0] if call.args else call)


def _optimizers(init: Initialize) -> ast.expr | None:
    call = init.call
    if init.handle is not None:
        return None  # wrap_optimizer hands back the optimizer alone
    given = next((k.value for k in call.keywords if k.arg == "optimizers"), None)
    if given is None and len(call.args) > 1:
        given = call.args[1]
    return None if isinstance(given, ast.Constant) and given.value is None else given


def _result(plan: Plan, work: Work, init: Initialize) -> str:
    """What the call handed back, as an expression."""
    m = work.m
    models, optimizers = _models(init), _optimizers(init)
    if optimizers is None:
        return m.src(models)
    pair = f"{m.src(models)}, {m.src(optimizers)}"
    above = m.parent[init.call]
    bare = isinstance(above, (ast.Return, ast.Assign)) and getattr(above, "value", None) is init.call
    if bare and model_alone(plan.ctx, init):
        return f"({pair}) if {m.src(optimizers)} is not None else {m.src(models)}"
    return pair if bare else f"({pair})"


def _assignment(target: ast.expr, models: ast.expr, optimizers: ast.expr | None) -> Pairs | None:
    """Targets and values that are left of ``target = amp.initialize(…)``; None where it has to stay whole."""
    pairs: Pairs = []
    if optimizers is None:
        if not match(target, models, pairs):
            return None
    elif isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2:
        if not match(target.elts[0], models, pairs) or not match(target.elts[1], optimizers, pairs):
            return None
    else:
        return None
    return [(t, v) for t, v in pairs if ast.unparse(t) not in (ast.unparse(v), "_")]


def _written(work: Work, pairs: Pairs) -> str:
    src = work.m.src
    return f"{', '.join(src(t) for t, _ in pairs)} = {', '.join(' '.join(src(v).split()) for _, v in pairs)}"


def _goes_back(plan: Plan, work: Work, stmt: ast.stmt, pairs: Pairs) -> bool:
    """Whether the statements right behind only store what is left where it came from (``net = self.net`` and then
    ``self.net = net``), and nobody else asks for the names: all of them go."""
    m = work.m
    block, index = m.place[stmt]
    below = block.body[index + 1 : index + 1 + len(pairs)]
    there = {ast.unparse(t): ast.unparse(v) for t, v in pairs if _kept_local(work, t) and _plain(plan, v)}
    back = {
        s.value.id: ast.unparse(s.targets[0])
        for s in below
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.value, ast.Name)
    }
    if len(there) < len(pairs) or back != there or any(work.draft.gone(s) for s in below):
        return False
    for one in below:
        work.draft.delete(one)
        work.note(plan.unit.number, ID, one, _THERE)
    return True


def _unread(m: Module, target: ast.expr) -> bool:
    """Whether a name of a function is read nowhere: the pair was taken apart for the other one's sake."""
    if not isinstance(target, ast.Name):
        return False
    home = m.binding_scope(target.id, m.scope(target))
    mine = [n for n in m.named(target.id) if m.binding_scope(n.id, m.scope(n)) is home]
    return home is not None and home.is_function and not any(isinstance(n.ctx, ast.Load) for n in mine)


def _kept_local(work: Work, target: ast.expr) -> bool:
    """Whether a name of a function is read once in all, and bound once."""
    if not isinstance(target, ast.Name):
        return False
    m, name = work.m, target.id
    home = m.binding_scope(name, m.scope(target))
    uses = m.uses(name, home)
    return home is not None and home.is_function and name not in home.params and len(uses) == 2


def _plain(plan: Plan, value: ast.expr) -> bool:
    """Whether an attribute or item of a plain object, which no property or method stands for."""
    match value:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=owner, attr=attr):
            setters = {"__setattr__", "__setitem__", attr}
            run = any(f.name in setters for f in plan.ctx.m.all(ast.FunctionDef))
            return not run and _plain(plan, owner)
        case ast.Subscript(value=owner, slice=index):
            return _plain(plan, owner) and _plain(plan, index)
        case _:
            return False


def _arm(scale: str) -> str:
    """A scale as the first arm of a condition."""
    return f"({scale})" if " if " in scale else scale


_LONG = 40  # of a condition that is asked twice


def _lines(plan: Plan, work: Work, creation: Creation) -> list[str]:
    """The statements that make one scaler."""
    if creation.enabled.value is False:
        return [f"{creation.text} = {work.native(creation.anchor).scaler('enabled=False')}"]
    own = creation.init
    options = plan.unit.options_of(own) if own is not None else chosen(plan.ctx, plan.unit, creation.anchor)
    static = options.static_when
    if creation.renamed and static is not None and options.scale is not None:
        static = replace(static, text=creation.renamed[static.text])
        options = replace(options, scale=creation.renamed[options.scale])
    begins = options.init_scale
    if creation.init is not None or len(plan.unit.initializes) == 1:
        init = creation.init or plan.unit.initializes[0]
        held = options.scale or begins
        first = None if creation.renamed or held is None else guarded(plan.ctx, init, creation.anchor, held)
        if first is not None and static is not None:
            static = conjunction([first, static])
        elif first is not None:
            begins = f"{begins} if {first.text} else 2.0**16"
    arguments: list[str] = []
    lines: list[str] = []
    long = static is not None and (" and " in static.text or len(static.text) > _LONG)
    if static is not None and options.scale is not None and static.value is None and long:
        asked = free_name(work.m, "static_scale", set())
        lines.append(f"{asked} = {static.text}")
        static = replace(static, text=asked)
    fixed = options.scale is not None and static is not None and static.value
    if fixed:
        arguments.append(f"init_scale={options.scale}")
    elif options.scale is not None and static is not None:
        arguments.append(f"init_scale={_arm(options.scale)} if {static.text} else {begins or '2.0**16'}")
    elif begins is not None:
        arguments.append(f"init_scale={begins}")
    enabled = creation.enabled
    if options.unscaled:
        arguments.append("enabled=False")
    elif enabled.value is None:
        arguments.append(f"enabled={enabled.text if enabled.boolean else f'bool({enabled.text})'}")
    name = creation.text
    lines.append(f"{name} = {work.native(creation.anchor).scaler(*arguments)}")
    if options.scale is not None and static is not None:
        constant = [f"{name}.set_growth_factor(1.0)  # a static loss scale", f"{name}.set_backoff_factor(1.0)"]
        lines += constant if fixed else [f"if {static.text}:", *(f"\t{line}" for line in constant)]
    return lines

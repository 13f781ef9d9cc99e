"""Two backends side by side behind one switch: ``if self.use_amp: (natively) elif self.use_apex: (with Apex)``.

Where every loss that Apex scales has an arm beside that scales it natively, under a switch of the same making (two
flags, two values of one attribute), what chose Apex chooses the native arm: the switch is never Apex's any more, where
it is set, and Apex's arms go.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from ...facts.names import called_name, last_name
from ...facts.once import once, once_each
from ...facts.scaler_names import scaler_classes
from ...facts.sites import Scale
from ...model import Importable
from ...nodes import walk
from ...units.translate import paired
from ...units.unit import Context, Manual, Unit, sites_of
from .arms import scaling_call
from .foreign import derives_from_elsewhere, required, scaled_loss
from .native import only_tells

_ARMS = (ast.If, ast.IfExp)
_CLIPS = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_")
_BY_NAME = ("setattr", "getattr", "hasattr", "delattr")
_EVALUATION = re.compile(r"eval|valid|test|infer|predict", re.I)
Answer = bool | str  # what a condition comes to: True, False, or the text of what is left to ask


@dataclass(frozen=True)
class Switch:
    """``name`` is the attribute that chooses Apex; ``apex`` and ``native`` its values as they are written, where
    another value of the same attribute chooses the native arm, else ``flag`` is the attribute that does."""

    name: str
    flag: str = ""
    apex: str = ""
    native: str = ""

    def __str__(self) -> str:
        return f"{self.name} == {self.apex}" if self.apex else self.name


@dataclass(frozen=True, eq=False)
class Sides:
    """``asked``: conditions on the switch, with what they come to; ``blocks`` that set it become the lines of the
    native arm; behind ``checked`` statements it is turned to the native value; ``joined`` flags are true where either
    was; ``parted`` conditions have the native arm alone; ``unread`` statements set what nobody asks; ``unused``
    functions were called on Apex's side alone; ``masters`` ask for the parameters that an optimizer has."""

    switch: Switch
    asked: dict[ast.If | ast.IfExp, Answer]
    blocks: tuple[tuple[Sequence[ast.stmt], tuple[str, ...]], ...]
    checked: tuple[tuple[ast.stmt, str], ...]
    joined: tuple[tuple[ast.expr, str], ...]
    parted: tuple[ast.If, ...]
    unread: tuple[ast.stmt, ...]
    unused: tuple[ast.FunctionDef, ...]
    masters: tuple[ast.Call, ...]


def split(ctx: Context, units: Sequence[Unit]) -> list[Unit] | None:
    """One unit of all sites, where the native side serves each; None where it does not."""
    if not units or ctx.settings.dtype != "float16" or sides(ctx) is None:
        return None
    return [Unit(1, *sites_of(units), beside_native=True)]


@once
def sides(ctx: Context) -> Sides | None:
    """The switch of a program's two backends, and what becomes of all that hangs on it."""
    pairs = [_pair(ctx, scale) for scale in ctx.facts.scales]
    switches = {pair for pair in pairs if pair is not None}
    if not pairs or None in pairs or len(switches) != 1:
        return None
    (switch,) = switches
    if switch is None or _set_from_outside(ctx, switch):
        return None
    asked = _asked(ctx, switch)
    if asked is None or not _is_whole(ctx, switch):
        return None
    unused = _unused(ctx, asked)
    masters = _left(ctx, asked, unused)
    made = _turned(ctx, switch)
    if masters is None or made is None:
        return None
    return Sides(switch, asked, *made, unused, masters)


def goes(ctx: Context, found: Sides, node: ast.AST) -> bool:
    """Whether a node goes with Apex's side."""
    return is_dead(ctx, found.asked, node) or any(ctx.m.inside(node, one) for one in found.unused)


def is_dead(ctx: Context, asked: dict[ast.If | ast.IfExp, Answer], node: ast.AST) -> bool:
    """Whether a node stands in an arm that is never taken."""
    below = node
    for outer in ctx.m.ancestors(node):
        if isinstance(outer, _ARMS) and isinstance(answer := asked.get(outer), bool):
            dead = outer.orelse if answer else outer.body
            if below is dead or (isinstance(dead, list) and below in dead):
                return True
        below = outer
    return False


# ---------------------------------------------------------------- the switch


def _pair(ctx: Context, scale: Scale) -> Switch | None:
    """What chooses Apex at a scaled loss, and the native arm beside it."""
    if scale.loss is None:
        return None
    loss = ast.dump(scale.loss)
    below: ast.AST = scale.call
    for outer in ctx.m.ancestors(scale.call):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        if isinstance(outer, ast.If) and below in outer.body:
            for native in _scaled_natively(ctx, ctx.m.chain_head(outer)).get(loss, ()):
                if native is not outer:
                    return _switch(ctx, outer.test, native.test)
        below = outer
    return None


@once_each
def _scaled_natively(ctx: Context, head: ast.If) -> dict[str, list[ast.If]]:
    """The arms of a chain that run a loss backward scaled natively, by the loss."""
    found = defaultdict[str, list[ast.If]](list)
    for arm in _chain(head):
        losses = (scaled_loss(node) for stmt in arm.body for node in walk(stmt))
        for loss in dict.fromkeys(loss for loss in losses if loss is not None):
            found[loss].append(arm)
    return found


def _chain(node: ast.If) -> Iterator[ast.If]:
    """The conditions of a chain of arms, from its head on."""
    yield node
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        yield node


def _switch(ctx: Context, apex: ast.expr, native: ast.expr) -> Switch | None:
    mine = {ast.dump(part): part for part in required(apex)}
    theirs = {ast.dump(part): part for part in required(native)}
    ours = [part for said, part in mine.items() if said not in theirs]
    others = [_spoken_out(ctx, part) for said, part in theirs.items() if said not in mine]
    if len(ours) != 1 or len(others) != 1:
        return None
    match ours[0], others[0]:
        case ast.Attribute(attr=name), ast.Attribute(attr=flag) if name != flag:
            return Switch(name, flag=flag)
        case (
            ast.Compare(left=ast.Attribute(attr=name), ops=[ast.Eq()], comparators=[value]),
            ast.Compare(left=ast.Attribute(attr=other), ops=[ast.Eq()], comparators=[instead]),
        ) if name == other and ast.dump(value) != ast.dump(instead):
            return Switch(name, apex=ctx.m.src(value), native=ctx.m.src(instead))
        case _:
            return None


def _spoken_out(ctx: Context, part: ast.expr) -> ast.expr:
    """What a property gives back that does nothing else: ``self.amp`` is ``self._fp16 == "amp"``."""
    if not isinstance(part, ast.Attribute):
        return part
    found = _properties(ctx, part.attr)
    return found[0] if len(found) == 1 else part


def _properties(ctx: Context, name: str) -> list[ast.expr]:
    found = []
    for node in ctx.m.all(ast.FunctionDef):
        if node.name == name and any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list):
            match node.body:
                case [*said, ast.Return(value=ast.expr() as value)] if all(map(only_tells, said)):
                    found.append(value)
                case _:
                    pass
    return found


# ---------------------------------------------------------------- who asks


def _asked(ctx: Context, switch: Switch) -> dict[ast.If | ast.IfExp, Answer] | None:
    """The conditions on the switch; None where somebody reads a flag of it in another way."""
    found: dict[ast.If | ast.IfExp, Answer] = {}
    reads = [n for n in ctx.m.attributes(switch.name) if isinstance(n.ctx, ast.Load)]
    for read in reads:
        top: ast.AST = read
        while isinstance(ctx.m.parent[top], (ast.BoolOp, ast.UnaryOp, ast.Compare)):
            top = ctx.m.parent[top]
        owner = ctx.m.parent[top]
        if isinstance(owner, _ARMS) and owner.test is top:
            answer = _answer(ctx, switch, owner.test)
            if answer is True and isinstance(owner, ast.If) and ctx.m.is_elif(owner):
                return None
            if isinstance(answer, bool) or answer != ctx.m.src(owner.test):
                found[owner] = answer
        elif not switch.apex:
            return None
    return found


def _set_from_outside(ctx: Context, switch: Switch) -> bool:
    """Whether a file near the program's sets a switch, or one of these by its name."""
    names = {switch.name, switch.flag} - {""}
    spelled = [c.args[1] for name in _BY_NAME for c in ctx.m.calls(name) if len(c.args) > 1]
    return bool(names & ctx.switched) or any(_constant(one) in names for one in spelled)


def _answer(ctx: Context, switch: Switch, test: ast.expr) -> Answer:
    """What is left of a condition where the switch is never Apex's."""
    if (said := _says(ctx, switch, test)) is not None:
        return said
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            answer = _answer(ctx, switch, inner)
            if isinstance(answer, bool):
                return not answer
            return ctx.m.src(test) if answer == ctx.m.src(inner) else f"not ({answer})"
        case ast.BoolOp(op=op, values=values):
            ends = isinstance(op, ast.Or)
            answers = [_answer(ctx, switch, value) for value in values]
            if ends in answers and all(not isinstance(a, str) or a for a in answers):
                return ends
            kept = [answer for answer in answers if isinstance(answer, str)]
            if len(kept) == len(values) and all(a == ctx.m.src(v) for a, v in zip(kept, values, strict=True)):
                return ctx.m.src(test)
            return (" or " if ends else " and ").join(kept) if kept else not ends
        case _:
            return ctx.m.src(test)


def _says(ctx: Context, switch: Switch, part: ast.expr) -> bool | None:
    match part:
        case ast.Attribute(attr=switch.name) if not switch.apex:
            return False
        case ast.Compare(left=ast.Attribute(attr=switch.name), ops=[op], comparators=[value]) if switch.apex:
            if ctx.m.src(value) != switch.apex or not isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
                return None
            return isinstance(op, (ast.NotEq, ast.IsNot))
        case _:
            return None


def _unused(ctx: Context, asked: dict[ast.If | ast.IfExp, Answer]) -> tuple[ast.FunctionDef, ...]:
    """A program's own functions (``_init_apex``) that are called in arms that are never taken, and nowhere else."""
    said = {node.value for node in ctx.m.all(ast.Constant) if isinstance(node.value, str)}
    found = []
    for node in ctx.m.all(ast.FunctionDef):
        named = [*ctx.m.attributes(node.name), *ctx.m.named(node.name)]
        private = node.name.startswith("_") and not node.name.endswith("__") and node.name not in said
        alone = sum(one.name == node.name for one in ctx.m.all(ast.FunctionDef)) == 1
        if private and alone and named and not node.decorator_list and not ctx.exported(node) & {node.name, "*"}:
            if all(is_dead(ctx, asked, one) for one in named):
                found.append(node)
    return tuple(found)


def _left(
    ctx: Context, asked: dict[ast.If | ast.IfExp, Answer], unused: Sequence[ast.AST]
) -> tuple[ast.Call, ...] | None:
    """What else of amp may be written without it: the parameters of an optimizer; None where there is more."""
    masters: list[ast.Call] = []
    begun = {init.call for init in ctx.facts.initializes}
    for use, dotted in ctx.facts.uses.items():
        above = ctx.m.parent[use]
        if not dotted.startswith("apex.amp.") or ctx.m.statement(use) in ctx.facts.imports or above in begun:
            continue
        if is_dead(ctx, asked, use) or any(ctx.m.inside(use, one) for one in unused):
            continue
        if not (dotted.endswith(".master_params") and isinstance(above, ast.Call) and len(above.args) == 1):
            return None
        masters.append(above)
    return tuple(masters)


def _asks_native(ctx: Context, switch: Switch, test: ast.expr) -> bool:
    """Whether a condition has to hold the native side's."""
    return any(_is_native(ctx, switch, part) for part in required(test))


def _is_native(ctx: Context, switch: Switch, part: ast.expr) -> bool:
    match _spoken_out(ctx, part):
        case ast.Attribute(attr=switch.flag) if switch.flag:
            return True
        case ast.Compare(left=ast.Attribute(attr=switch.name), ops=[ast.Eq()], comparators=[value]) if switch.native:
            return ctx.m.src(value) == switch.native
        case _:
            return False


def _is_whole(ctx: Context, switch: Switch) -> bool:
    """Whether the native side has what Apex's had: a training under autocast, a step and an update of its scaler, and
    unscaled gradients where somebody clips or reads those of Apex's masters."""
    if not all(_calls_scaler(ctx, switch, method) for method in ("step", "update")):
        return False
    return not _clips_scaled(ctx, switch) and any(
        _switched_on(ctx, switch, call) and not _EVALUATION.search(getattr(ctx.m.function(call).node, "name", ""))
        for call in ctx.m.calls("autocast")
    )


def _calls_scaler(ctx: Context, switch: Switch, method: str) -> bool:
    """Whether the native side calls a method of what scales its losses."""
    scalers = {last_name(f.value) for n in ctx.m.all(ast.Call) if (f := scaling_call(n)) is not None}
    calls = [c for c in ctx.m.calls(method) if isinstance(c.func, ast.Attribute) and last_name(c.func.value) in scalers]
    return any(_under_native(ctx, switch, call) for call in calls)


def _clips_scaled(ctx: Context, switch: Switch) -> ast.Call | None:
    """What clips gradients, where the native side never unscales them."""
    clips = [call for name in _CLIPS for call in ctx.m.calls(name)] + ctx.master_params
    return None if _calls_scaler(ctx, switch, "unscale_") else next(iter(clips), None)


def obstacle(ctx: Context) -> Manual | None:
    """Why a native side does not serve that would do so else: it clips gradients that are still scaled."""
    switches = {_pair(ctx, scale) for scale in ctx.facts.scales}
    switch = switches.pop() if len(switches) == 1 else None
    clip = _clips_scaled(ctx, switch) if switch is not None else None
    if switch is None or clip is None:
        return None
    return Manual(
        clip,
        f"beside Apex's side (`{switch}`) stands a native one that could serve, but never unscales: this reads "
        "gradients that are still scaled there, and Apex's were not",
        "scaler.unscale_(optimizer) on the native side, ahead of this; then run again",
    )


def _switched_on(ctx: Context, switch: Switch, call: ast.Call) -> bool:
    """Whether autocast is on where the native side is: under its switch, or a flag that is set beside it."""
    enabled = [k.value for k in call.keywords if k.arg == "enabled"]
    if _under_native(ctx, switch, call) or any(_asks_native(ctx, switch, value) for value in enabled):
        return True
    flags, below = _set_beside(ctx, switch), cast(ast.AST, call)
    for outer in ctx.m.ancestors(call):
        if isinstance(outer, _ARMS) and (below is outer.body or (isinstance(outer.body, list) and below in outer.body)):
            either = outer.test.values if isinstance(outer.test, ast.BoolOp) else [outer.test]
            if any(isinstance(one, ast.Attribute) and one.attr in flags for one in either):
                return not enabled and not (isinstance(outer.test, ast.BoolOp) and isinstance(outer.test.op, ast.And))
        below = outer
    return False


def _set_beside(ctx: Context, switch: Switch) -> set[str]:
    """Flags that are switched on with the native side and nowhere else."""
    blocks = [
        ctx.m.block(stmt).body
        for stmt, _, value in _stores(ctx, switch.flag or switch.name)
        if _chooses_native(ctx, switch, value)
    ]
    found = set[str]()
    for block in blocks:
        names = {t.attr for s in block if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Attribute)}
        for name in names:
            on = [stmt for stmt, _, value in _stores(ctx, name) if _constant(value) is not False]
            if on and all(ctx.m.block(stmt).body in blocks for stmt in on):
                found.add(name)
    return found


def _under_native(ctx: Context, switch: Switch, node: ast.AST) -> bool:
    """Whether a node stands in an arm of the native side."""
    below = node
    for outer in ctx.m.ancestors(node):
        if isinstance(outer, _ARMS) and _asks_native(ctx, switch, outer.test):
            if below is outer.body or (isinstance(outer.body, list) and below in outer.body):
                return True
        below = outer
    return False


# ---------------------------------------------------------------- who sets it

_Turned = tuple[
    tuple[tuple[Sequence[ast.stmt], tuple[str, ...]], ...],
    tuple[tuple[ast.stmt, str], ...],
    tuple[tuple[ast.expr, str], ...],
    tuple[ast.If, ...],
    tuple[ast.stmt, ...],
]


def _is_public(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether code that is not in the tree may have what a file defines, and ask its objects for a flag: it finds the
    one that says no."""
    return bool(ctx.importable) and ctx.importable[ctx.m.file(stmt).number] is not Importable.NOWHERE


def _turned(ctx: Context, switch: Switch) -> _Turned | None:
    """How the switch chooses the native side where it chose Apex's; None where that is not known."""
    blocks: list[tuple[Sequence[ast.stmt], tuple[str, ...]]] = []
    checked: list[tuple[ast.stmt, str]] = []
    joined: list[tuple[ast.expr, str]] = []
    parted: list[ast.If] = []
    unread: list[ast.stmt] = []
    other = _stores(ctx, switch.flag or switch.name)
    native = [stmt for stmt, _, value in other if _chooses_native(ctx, switch, value)]
    for stmt, target, value in _stores(ctx, switch.name):
        apex = ctx.m.src(value) == switch.apex if switch.apex else _constant(value) is True
        if apex:
            made = next((n for n in native if _scaler_beside(ctx, n)), None)
            block = ctx.m.block(stmt).body
            if made is not None and isinstance(stmt, ast.Assign) and all(_only_switches(one, stmt) for one in block):
                chosen, owner = ctx.m.block(made).body, ctx.m.block(made).owner
                if isinstance(owner, ast.If) and owner.body is chosen and owner.orelse is block:
                    parted.append(owner)
                else:
                    blocks.append((block, tuple(_lines(ctx, chosen))))
            elif switch.apex and _made_below(ctx, switch, stmt):
                blocks.append(((stmt,), (f"{ctx.m.src(target)} = {switch.native}",)))
            else:
                return None
        elif isinstance(value, ast.Constant) or (switch.apex and ctx.m.src(value) == switch.native):
            if not switch.apex and _sets_one(stmt) and not _is_handed_up(ctx, stmt) and not _is_public(ctx, stmt):
                unread.append(stmt)
        elif switch.apex:
            if not isinstance(stmt, ast.Assign) or not _made_below(ctx, switch, stmt):
                return None
            checked.append((_whole(ctx, stmt), ctx.m.src(target)))
        else:
            pair = _joined(ctx, switch, stmt, value)
            if pair is None or not _sets_one(stmt):
                return None
            joined.append(pair)
            unread.append(stmt)
    if not (blocks or checked or joined or parted):
        return None
    return tuple(blocks), tuple(dict.fromkeys(checked)), tuple(joined), tuple(parted), tuple(unread)


def _stores(ctx: Context, name: str) -> Iterator[tuple[ast.stmt, ast.Attribute, ast.expr]]:
    """The statements that give an attribute a value."""
    for node in ctx.m.attributes(name):
        stmt = ctx.m.statement(node)
        if not isinstance(node.ctx, ast.Store):
            continue
        values: list[ast.expr] = []
        if isinstance(stmt, ast.Assign):
            values = [value for t in stmt.targets for target, value in paired(t, stmt.value) if target is node]
        elif isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
            values = [stmt.value]
        for value in values or [node]:  # itself: nothing that is known
            yield stmt, node, value


def _is_handed_up(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a base that is not in the program may read what an object is given."""
    cls = ctx.m.class_of(ctx.m.function(stmt))
    return cls is None or derives_from_elsewhere(ctx, cls)


def _sets_one(stmt: ast.stmt) -> bool:
    """Whether a statement gives a value to one attribute alone."""
    match stmt:
        case ast.Assign(targets=[ast.Attribute()]) | ast.AnnAssign():
            return True
        case _:
            return False


def _chooses_native(ctx: Context, switch: Switch, value: ast.expr) -> bool:
    return _constant(value) is True if switch.flag else ctx.m.src(value) == switch.native


def _constant(value: ast.expr) -> object:
    return value.value if isinstance(value, ast.Constant) else None


def _makes_scaler(ctx: Context, node: ast.AST) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    called = [called_name(n) for n in walk(node.value) if isinstance(n, ast.Call)]
    return any(name.endswith("GradScaler") or name in scaler_classes(ctx.m) for name in called)


def _scaler_beside(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether what chooses the native side also makes its scaler there."""
    return any(_makes_scaler(ctx, node) for one in ctx.m.block(stmt).body for node in walk(one))


def _made_below(ctx: Context, switch: Switch, stmt: ast.stmt) -> bool:
    """Whether the native side's scaler is made further down in the function, where the switch is asked once more."""
    scope = ctx.m.function(stmt)
    for node in ctx.m.own(scope, ast.If):
        if ctx.m.start(node) > ctx.m.start(stmt) and _asks_native(ctx, switch, node.test):
            made = [n for one in node.body for n in walk(one)]
            made += [n for call in made if isinstance(call, ast.Call) for f in ctx.v.callees(call) for n in walk(f)]
            if any(_makes_scaler(ctx, one) for one in made):
                return True
    return False


def _only_switches(stmt: ast.stmt, setter: ast.stmt) -> bool:
    """Whether a statement beside the one that chooses Apex does no more: it complains that Apex is missing, tells."""
    if stmt is setter or only_tells(stmt) or isinstance(stmt, (ast.Import, ast.ImportFrom)):
        return True
    return isinstance(stmt, ast.If) and not stmt.orelse and all(isinstance(s, ast.Raise) for s in stmt.body)


def _whole(ctx: Context, stmt: ast.stmt) -> ast.stmt:
    """The statement behind which the switch is set, whichever way: a ``try`` around it as a whole."""
    return next((s for s in reversed(ctx.m.spine(stmt)) if isinstance(s, ast.Try)), stmt)


def _joined(ctx: Context, switch: Switch, stmt: ast.stmt, value: ast.expr) -> tuple[ast.expr, str] | None:
    """The native flag's value that takes in Apex's, set in the same block ahead of what asks for it."""
    if any(isinstance(n, (ast.Call, ast.NamedExpr, ast.Await)) for n in walk(value)):
        return None
    block, index = ctx.m.place[stmt]
    for other, _, theirs in _stores(ctx, switch.flag):
        if ctx.m.block(other) is block and isinstance(other, ast.Assign) and _made_below(ctx, switch, other):
            first, last = sorted((index, ctx.m.index(other)))
            between = block.body[first + 1 : last]
            if all(isinstance(one, ast.Assign) for one in between):
                said = ((v, ctx.m.src(v)) for v in (theirs, value))
                return theirs, " or ".join(text if isinstance(v, ast.Attribute) else f"({text})" for v, text in said)
    return None


def _lines(ctx: Context, stmts: Sequence[ast.stmt]) -> Iterator[str]:
    """The lines of an arm, without its indentation."""
    unit = " " * 4
    first, last = ctx.m.first_line(stmts[0]), ctx.m.last_line(stmts[-1])
    depth = stmts[0].col_offset
    for number in range(first, last + 1):
        line = ctx.m.line_text(number)[depth:].rstrip("\r\n")
        level = 0
        while line.startswith(unit):
            line, level = line[len(unit) :], level + 1
        yield "\t" * level + line

"""Who reads gradients: clips, norms, ``.grad``, and unknown code that is handed a model or an optimizer."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..facts.names import called_name
from ..facts.networks import looks_elsewhere
from ..facts.once import once_each
from ..facts.sites import opened
from ..flow.objects import Obj
from ..flow.tensors import own_gradient
from ..knowledge import gradients
from ..knowledge.gradients import COLLECTS
from ..nodes import chain, header, walk
from .by_name import NOTHING, Said, run_by, said_to
from .degree import gives_norm
from .ownership import sources
from .unit import Context, Unit, once_of_unit


def is_clip(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a statement is one call that clips gradients."""
    if not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Call):
        return False
    return gradients.CLIP.fit(ctx.m.src(stmt.value.func))


def unknown_readers(ctx: Context, unit: Unit, stmt: ast.stmt) -> list[ast.Call]:
    """Calls of code that is not here and is handed a model or optimizer of the unit, its parameters, or an object that
    holds one; of a compound statement those in its header. A function of this program that makes one counts, too."""
    return [
        node
        for part in header(stmt)
        for node in walk(part)
        if isinstance(node, ast.Call) and _unknown_reader(ctx, unit, node)
    ]


def _unknown_reader(ctx: Context, unit: Unit, call: ast.Call) -> bool:
    v = ctx.v
    if v.apex_names(call.func):
        return False
    watched = unit.optimizer_objects | unit.model_objects
    name = called_name(call)
    if callees := v.callees(call):
        if gradients.NO_READER.fit(name) or name[:1].isupper():
            return False
        inner = [n for f in callees for s in _body(f) for n in walk(s) if isinstance(n, ast.Call)]
        return any(_takes_parameters(ctx, n, watched) and not v.callees(n) for n in inner)
    if name == "apply" and isinstance(call.func, ast.Attribute) and opened(v, v.of(call.func.value)) & watched:
        known = all(v.callee(o) is not None for a in call.args for o in v.of(a))
        return not known or not any(v.of(a) for a in call.args)
    if gradients.NO_READER.fit(name) or hasattr(builtins, name) or name[:1].isupper():
        return False
    if _takes_parameters(ctx, call, watched):
        return True
    held = [v.of(a) for a in [*call.args, *(k.value for k in call.keywords)]]
    if isinstance(call.func, ast.Attribute):
        held.append(frozenset(o for o in v.of(call.func.value) if _made_of(ctx, o, watched)))
    return any(_has(ctx, h, watched) or any(_made_of(ctx, o, watched) for o in h) for h in held)


def _takes_parameters(ctx: Context, call: ast.Call, watched: frozenset[Obj]) -> bool:
    """Whether a call whose name does not say what it does is handed parameters of a model or optimizer."""
    v, name = ctx.v, called_name(call)
    said = gradients.NO_READER.fit(name) or gradients.ABOUT_GRADIENTS.fit(name)
    if said or hasattr(builtins, name) or name[:1].isupper():
        return False
    for arg in [*call.args, *(k.value for k in call.keywords)]:
        for node in [arg, *(o.key for o in opened(v, v.of(arg)) if o.kind == "call")]:
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters")):
                    pass
                case ast.Attribute(value=owner, attr="param_groups"):
                    pass
                case _:
                    continue
            if any(opened(v, v.of(one)) & (watched | _made_from(ctx, watched)) for one in chain(owner)):
                return True
    return False


def _made_from(ctx: Context, watched: frozenset[Obj]) -> frozenset[Obj]:
    """The networks from whose parameters optimizers are made: parts of those that Apex was handed, it may be."""
    return frozenset(one for obj in watched for base in sources(ctx, obj) for one in ctx.v.of(base))


def _made_of(ctx: Context, obj: Obj, watched: frozenset[Obj]) -> bool:
    """Whether an object was made by a call of unknown code that was handed a model or optimizer."""
    if obj in watched or obj.kind != "call" or not isinstance(obj.key, ast.Call) or ctx.v.callees(obj.key):
        return False
    made, name = obj.key, called_name(obj.key)
    known = gradients.SCHEDULERS.fit(obj.label) or gradients.KEEPERS.fit(name) or not name[:1].isupper()
    if known or ctx.v.apex_names(made.func):
        return False
    return any(_has(ctx, ctx.v.of(a), watched) for a in [*made.args, *(k.value for k in made.keywords)])


def _has(ctx: Context, held: frozenset[Obj], watched: frozenset[Obj]) -> bool:
    """Whether a model or optimizer is among some objects, or kept by one of this program's: ``Handler(self)``."""
    v = ctx.v
    mine = [o for o in held if o.kind == "instance"]
    return bool(opened(v, held) & watched) or any(
        opened(v, v.field(o, name)) & watched for o in mine for name in v.attributes(o)
    )


def norms_read(ctx: Context, stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that give the norm of gradients, clipped by it or not, where it reads them in no
    other way; empty where it does."""
    if isinstance(stmt, (ast.For, ast.While, ast.With, ast.Try)):
        return []
    nodes = list(walk(stmt))
    if any(isinstance(n, ast.Attribute) and n.attr == "grad" for n in nodes):
        return []
    readers = [n for n in nodes if isinstance(n, ast.Call) and gradients.ABOUT_GRADIENTS.fit(called_name(n))]
    clips = [n for n in readers if called_name(n) in gradients.CLIPS_NORM and clip_bound(n) is not None]
    norms = [n for n in readers if gradients.GIVES_NORM.fit(called_name(n)) and len(n.args) == 1 and not n.keywords]
    known = [n for n in (*clips, *norms) if not ctx.v.callees(n)]
    known += [n for n in readers if (inner := ctx.v.callees(n)) and all(gives_norm(ctx, f) for f in inner)]
    return known if len(known) == len(readers) else []


def clip_bound(call: ast.Call) -> ast.expr | None:
    """The threshold of a clip."""
    named = next((k.value for k in call.keywords if k.arg in ("max_norm", "clip_value")), None)
    return named if named is not None or len(call.args) < 2 else call.args[1]


def reads_gradients(ctx: Context, unit: Unit, stmt: ast.AST) -> bool:
    """Whether a statement reads or changes gradients, or hands model or optimizer to someone who may."""
    return _asked(ctx, _asker(ctx, unit), (stmt, 0, frozenset()))


# A statement or function, how many calls it is below one that is looked at, and the words that its function was handed.
_Asked = tuple[ast.AST, int, frozenset[tuple[str, str]]]


@dataclass(frozen=True, eq=False)
class _Asker:
    """Whose gradients it is about: its models and optimizers, the functions that its steps stand in, and the answers it
    got."""

    watched: frozenset[Obj]
    stepping: frozenset[ast.AST]
    known: dict[_Asked, bool] = field(default_factory=dict)

    def has(self, held: frozenset[Obj]) -> bool:
        return not self.watched.isdisjoint(held)

    def steps_in(self, function: ast.AST) -> bool:
        return function in self.stepping


@dataclass(frozen=True, eq=False)
class _Nobody(_Asker):
    """Nobody, who notes what it was asked of: for whom none of that is its own, the answer is the same."""

    objects: set[Obj] = field(default_factory=set)
    functions: set[ast.AST] = field(default_factory=set)

    def has(self, held: frozenset[Obj]) -> bool:
        self.objects.update(held)
        return False

    def steps_in(self, function: ast.AST) -> bool:
        self.functions.add(function)
        return False


@dataclass(frozen=True, eq=False)
class _Answer:
    """Whether nobody's gradients are read, and what that was asked of."""

    reads: bool
    objects: frozenset[Obj]
    functions: frozenset[ast.AST]


@once_of_unit
def _asker(ctx: Context, unit: Unit) -> _Asker:
    stepping = frozenset(outer for step in unit.steps for outer in ctx.m.ancestors(step.call))
    return _Asker(unit.optimizer_objects | unit.model_objects, stepping)


@once_each
def _of_nobody(ctx: Context, asked: _Asked) -> _Answer:
    """The answer for a statement or function that many units ask of and that has to do with few of them."""
    nobody = _Nobody(frozenset(), frozenset())
    reads = _reads(ctx, nobody, asked)
    return _Answer(reads, frozenset(nobody.objects), frozenset(nobody.functions))


def _asked(ctx: Context, who: _Asker, asked: _Asked) -> bool:
    answer = _of_nobody(ctx, asked)
    if isinstance(who, _Nobody):
        who.objects.update(answer.objects)
        who.functions.update(answer.functions)
    elif not (who.watched.isdisjoint(answer.objects) and who.stepping.isdisjoint(answer.functions)):
        if asked not in who.known:
            who.known[asked] = _reads(ctx, who, asked)
        return who.known[asked]
    return answer.reads


def _reads(ctx: Context, who: _Asker, asked: _Asked) -> bool:
    """Whether a statement reads gradients, or what it runs."""
    m, v, (node, depth, words) = ctx.m, ctx.v, asked
    said = dict(words)
    for place in _places(ctx, node):
        at = place.node
        if place.reads or any(_read_in(ctx, who, function, depth + 1) for function in place.runs):
            return True
        if isinstance(at, ast.Attribute) and gradients.MADE_OF_GRADIENTS.fit(at.attr):
            above = m.parent[at]
            if who.has(v.of(at.value)) and not (isinstance(above, ast.Call) and above.func is at):
                return True
        if not isinstance(at, ast.Call):
            continue
        if place.clips and not _bounds_values(ctx, at, who) and not _of_other_models(ctx, at, who):
            return True
        callees = run_by(ctx, at, said)
        for callee in [*callees, *place.handed]:
            if who.steps_in(callee):
                continue  # readers before that step are found there
            if _read_in(ctx, who, callee, depth + 1, said_to(ctx, at, callee, said) if callee in callees else NOTHING):
                return True
        if not place.asks or depth:
            continue
        for arg in [*at.args, *(k.value for k in at.keywords)]:
            taken = opened(v, v.of(arg))
            if isinstance(arg, ast.Call) and isinstance(arg.func, ast.Attribute) and "parameters" in arg.func.attr:
                taken = v.of(arg.func.value)
            if who.has(taken):
                return True
    return False


@dataclass(frozen=True)
class _Place:
    """A node that may read gradients, and what is the same whoever's they are: many units ask, each of what it runs."""

    node: ast.AST
    reads: bool  # those of anything
    runs: tuple[ast.AST, ...]  # what it runs though it does not call it
    clips: bool
    handed: tuple[ast.AST, ...]  # the functions that a call hands on
    asks: bool  # of what it is handed, by its name, and is not here


@once_each
def _places(ctx: Context, stmt: ast.AST) -> Sequence[_Place]:
    """Those of a statement, in order."""
    return [place for node in walk(stmt) if (place := _place(ctx, node)) is not None]


def _place(ctx: Context, node: ast.AST) -> _Place | None:
    runs = (*ctx.unnamed.run_by(node), *ctx.unnamed.properties(node))
    reads = ctx.unnamed.spells(node)
    match node:
        case ast.Attribute(attr=name):
            reads = reads or (name == "grad" and _looks(ctx, node))
            known = reads or runs or gradients.MADE_OF_GRADIENTS.fit(name)
            return _Place(node, reads, runs, False, (), False) if known else None
        case ast.Call(func=func):
            name = called_name(node)
            master = any(n.endswith(".master_params") for n in ctx.v.apex_names(func))
            clips = gradients.CLIP.fit(name) and gradients.CLIPPED.fit(name + ctx.m.src(node))
            clips = clips or (isinstance(func, ast.Attribute) and gradients.CLIP_METHODS.fit(name))
            asks = not ctx.v.callees(node) and gradients.ABOUT_GRADIENTS.fit(name) and not gradients.NO_READER.fit(name)
            reads = reads or (master and not _kept(ctx, node))
            reads = reads or looks_elsewhere(ctx.v, node, ctx.facts.elsewhere.gradients)
            return _Place(node, reads, runs, clips, tuple(_handed_functions(ctx, node)), asks)
        case _:
            return _Place(node, reads, runs, False, (), False) if reads or runs else None


def _read_in(ctx: Context, who: _Asker, function: ast.AST, depth: int, said: Said = NOTHING) -> bool:
    """Whether a function reads gradients; of those further below than that it is not asked."""
    if depth > 3:
        return False
    body: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else [*_body(function)]
    words = frozenset(said.items())
    return any(_asked(ctx, who, (stmt, depth, words)) for stmt in body)


def _handed_functions(ctx: Context, call: ast.Call) -> list[ast.AST]:
    """The functions of this program that a call is handed, to call them itself: ``map(norm, model.parameters())``."""
    handed = [*call.args, *(k.value for k in call.keywords)]
    held = {o for a in handed for o in ctx.v.of(a) if o.kind in ("function", "method", "partial")}
    return ctx.m.in_order({node for o in held for node in ctx.v.functions(o)})


def _of_other_models(ctx: Context, clip: ast.Call, who: _Asker) -> bool:
    """Whether a clip is about the parameters of a model alone that another unit trains."""
    match clip.args:
        case [ast.Call(func=ast.Attribute(value=model, attr="parameters"), args=[]), *_]:
            held = ctx.v.of(model)
            return bool(held) and held <= ctx.initialized.keys() and not who.has(held)
        case _:
            return False


def _bounds_values(ctx: Context, call: ast.Call, who: _Asker) -> bool:
    """Whether a method called ``clip`` puts bounds to data, as numpy's and torch's do: ``boxes.clip(0, 1)``,
    ``(action + rng.normal(0, 0.1)).clip(-1, 1)``."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if called_name(call) not in ("clip", "clip_") or not (call.args or call.keywords):
        return False
    said = " ".join(ctx.m.src(x) for x in (call.func.value, *call.args))
    held = [ctx.v.of(x) for x in (call.func.value, *call.args)]
    words = gradients.GRADIENTS if _computed(call.func.value) and _two_bounds(call) else gradients.OF_GRADIENTS
    return not words.fit(said) and not any(who.has(opened(ctx.v, h)) for h in held)


def _computed(expr: ast.expr) -> bool:
    """Whether a number or an array was computed here, which is no object that has a method of its own for a clip."""
    return isinstance(expr, ast.BinOp) and isinstance(expr.op, (ast.Add, ast.Sub, ast.Mult, ast.Div))


def _two_bounds(call: ast.Call) -> bool:
    """``clip(0, model_config.max_action)``, ``clip(-bound, bound)``: a lower bound and an upper one."""
    match call.args:
        case [ast.UnaryOp(op=ast.USub()) | ast.Constant(value=int() | float()), _]:
            return not call.keywords
        case _:
            return False


def _kept(ctx: Context, call: ast.Call) -> bool:
    """Whether parameters are only collected here; who reads their gradients later is found there."""
    above = ctx.m.parent[call]
    while isinstance(above, (ast.IfExp, ast.keyword, ast.Call)):
        if isinstance(above, ast.Call) and called_name(above) not in COLLECTS:
            break
        above = ctx.m.parent[above]
    if isinstance(above, ast.Call):
        return bool(ctx.v.callees(above))  # what a function of the file does with them is looked at there
    return isinstance(above, (ast.Assign, ast.AnnAssign))


def _looks(ctx: Context, node: ast.Attribute) -> bool:
    """Whether a gradient's value matters: not where one only asks whether it is there or throws it away, nor that of
    a tensor that no optimizer holds, which Apex left scaled as well."""
    if isinstance(node.ctx, ast.Del) or _all_go(ctx, node):
        return False
    return not is_none_test(ctx, node) and not _is_torch_grad(node) and not own_gradient(ctx.m, ctx.v, node)


def is_none_test(ctx: Context, node: ast.Attribute) -> bool:
    """Whether one only asks whether a gradient is there: ``p.grad is None``."""
    above = ctx.m.parent[node]
    return isinstance(above, ast.Compare) and all(isinstance(o, (ast.Is, ast.IsNot)) for o in above.ops)


def _all_go(ctx: Context, node: ast.Attribute) -> bool:
    """Whether all gradients of a model are thrown away: ``for p in model.parameters(): p.grad = None``."""
    match ctx.m.parent[node]:
        case ast.Assign(value=ast.Constant(value=None)):
            loop = next(iter(ctx.m.loops(node)), None)
        case _:
            return False
    match loop:
        case ast.For(iter=ast.Call(func=ast.Attribute(value=model, attr="parameters"))):
            return bool(ctx.v.of(model) & ctx.initialized.keys())
        case _:
            return False


def only_clears(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a statement does no more to gradients than to throw some away."""
    grads = [n for n in walk(stmt) if isinstance(n, ast.Attribute) and n.attr == "grad" and _looks(ctx, n)]
    values = [getattr(ctx.m.parent[n], "value", None) for n in grads if isinstance(n.ctx, ast.Store)]
    return bool(grads) and len(values) == len(grads) and all(isinstance(v, ast.Constant) for v in values)


def _is_torch_grad(node: ast.Attribute) -> bool:
    """``autograd.grad``, not ``p.grad``."""
    return isinstance(node.value, (ast.Name, ast.Attribute)) and (
        getattr(node.value, "id", "") in ("autograd", "torch") or getattr(node.value, "attr", "") == "autograd"
    )


def _body(node: ast.AST) -> list[ast.stmt]:
    return node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []

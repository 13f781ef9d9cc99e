"""A type that is printed, compared or kept, of what a network gave: O1 and autocast leave some results in another type
(`y.softmax(-1)` was half under O1, and is float32 under autocast). In the file of the network it is named where such an
operation made it; of what a function of another file shows, and of a library's network, wherever a network did.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ...facts.names import called_name, last_name
from ...facts.networks import comes_from_elsewhere, handed_elsewhere, library, name_elsewhere
from ...flow.objects import Obj, whole_of
from ...knowledge.models import CLASSIFIERS
from ...knowledge.operations import (
    FLOAT_NOT_AS_GIVEN,
    HALF_NOT_FLOAT,
    INTEGER,
    NATIVE_FLOAT,
    NATIVE_HALF,
    SPREADS,
    WIDENS,
)
from ...nodes import children, walk
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage

_OTHERWISE = (FLOAT_NOT_AS_GIVEN | HALF_NOT_FLOAT | {"square"}) - SPREADS
_OF_TENSORS = FLOAT_NOT_AS_GIVEN | {"square"}  # of torch, or methods; those of torch.nn.functional ran as they do now
# What comes out of these has one type, whatever goes in.
_CASTS = frozenset("half bfloat16 type to type_as long int".split())
_OF_ONE_TYPE = (NATIVE_HALF | NATIVE_FLOAT | WIDENS | INTEGER | _CASTS) - _OTHERWISE
_LAYERS = ("Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LayerNorm")
# Who is handed a type to make something of it, which is no more than rounding.
_FITS = frozenset("to type type_as astype finfo iinfo masked_fill".split())
_FUNCTIONAL = ("F", "functional")
_ENDS_IN_LINEAR = ("torchvision", "timm")  # whose classifiers do so, unless they are told to end before
_LIBRARIES = frozenset(
    "torchvision timm transformers segmentation_models_pytorch monai mmcv mmseg mmdet detectron2 fairseq torchaudio "
    "sentence_transformers pytorch_transformers pytorch_pretrained_bert open_clip clip torchreid efficientnet_pytorch "
    "diffusers peft espnet".split()
)
_BARE = frozenset({"features_only"})


def review_shown_types(ctx: Context, unit: Unit, coverage: Coverage, written: Collection[ast.AST]) -> None:
    """Names what shows the type of what a network of the unit gave, but for operations that are ``written`` anew."""
    if not unit.by_functions:
        return
    for asked, value in _asked(ctx):
        made = next((o for o in _made_by(ctx, value) if o not in written and coverage.may_within(o)), None)
        if made is not None:
            unit.review(
                asked,
                "APX037",
                f"the type of what `{called_name(made)}` (line {made.lineno}) gave is asked for: it may be another one "
                "than under O1, as autocast runs that operation in another type than Apex's casts did",
            )
        elif (run := next((c for c in _unseen(ctx, unit, value) if coverage.may_within(c)), None)) is not None:
            unit.review(
                asked,
                "APX037",
                f"the type of what `{called_name(run)}` (line {run.lineno}) gave is asked for, a network of which this "
                "tree does not tell what it computes last: it may be another one than under O1, as autocast runs some "
                "operations in another type than Apex's casts did",
            )
    _review_handed(ctx, unit)


def _unseen(ctx: Context, unit: Unit, value: ast.expr) -> Iterator[ast.Call]:
    """The calls of networks of a library, or of files with operations that autocast runs in another type, that may have
    given a value its type."""
    todo: list[ast.AST] = [value]
    met = set[ast.AST]()
    while todo:
        node = todo.pop()
        if node in met:
            continue
        met.add(node)
        if isinstance(node, ast.Call):
            name = called_name(node)
            if name in _OF_ONE_TYPE or any(o.label in _LAYERS for o in ctx.v.of(node.func)):
                continue
            if any(whole_of(o) in unit.model_objects and _not_told(ctx, o) for o in ctx.v.of(node.func)):
                yield node
            if isinstance(node.func, ast.Attribute) and not ctx.v.callees(node):
                todo.append(node.func.value)  # `model(x).mean()`
            continue  # what it is handed has a type of its own
        if isinstance(node, ast.Name):
            todo += [v for target in ctx.m.stores(node.id, ctx.m.scope(node)) for v in _given(ctx, target)]
        elif isinstance(node, (ast.Compare, ast.Lambda)) or _product(node):
            continue
        elif isinstance(node, ast.Attribute) and node.attr == "loss":
            continue  # float32 in both
        elif isinstance(node, ast.Subscript):
            todo.append(node.value)
        else:
            todo += children(node)


def _not_told(ctx: Context, obj: Obj) -> bool:
    """Whether a library made a network whose last operation nobody here sees, or another file one with operations that
    autocast runs in another type."""
    obj = whole_of(obj)
    if obj.kind != "call" or not isinstance(obj.key, ast.Call) or not comes_from_elsewhere(ctx.v, obj.key.func):
        return False
    maker, made = name_elsewhere(ctx.v, obj.key.func), obj.key
    if maker in ctx.facts.elsewhere.networks:
        return not _OTHERWISE.isdisjoint(ctx.facts.elsewhere.operations)
    source = library(ctx.v, made.func)
    if source not in _LIBRARIES:
        return False
    return not (CLASSIFIERS.fit(maker) and source in _ENDS_IN_LINEAR and not _BARE.intersection(_words(made)))


def _words(made: ast.Call) -> frozenset[str]:
    """What a call says by name, but for what it switches off."""
    said = (k for k in made.keywords if not (isinstance(k.value, ast.Constant) and k.value.value in (None, False)))
    return frozenset(k.arg or "" for k in said)


def _asked(ctx: Context) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What asks for the type of a value, and does more with it than to make something else fit."""
    for node in ctx.m.attributes("dtype"):
        if isinstance(node.ctx, ast.Load) and not _only_fits(ctx, node):
            yield node, node.value
    for call in ctx.m.calls("type"):
        if isinstance(call.func, ast.Attribute) and not call.args and not call.keywords and not _only_fits(ctx, call):
            yield call, call.func.value


def _only_fits(ctx: Context, asked: ast.expr) -> bool:
    above = ctx.m.parent[asked]
    match above:
        case ast.keyword(arg="dtype"):
            return True  # of what is made to hold such values
        case ast.Call():
            return called_name(above) in _FITS
        case ast.Assign(targets=[ast.Name(id=name) as kept]):
            uses = [n for n in ctx.m.own(ctx.m.function(kept), ast.Name) if n.id == name and n is not kept]
            return all(isinstance(n.ctx, ast.Load) and _only_fits(ctx, n) for n in uses)
        case _:
            return False


def _made_by(ctx: Context, value: ast.expr) -> Iterator[ast.Call]:
    """The operations that may have given a value its type, and give another one than under O1."""
    todo: list[ast.AST] = [value]
    met = set[ast.AST]()
    while todo:
        node = todo.pop()
        if node in met:
            continue
        met.add(node)
        if isinstance(node, ast.Call):
            name = called_name(node)
            if _otherwise(node):
                yield node
                continue
            if name in _OF_ONE_TYPE or any(o.label in _LAYERS for o in ctx.v.of(node.func)):
                continue
            for function in ctx.v.callees(node) + _forwards(ctx, node):
                returns = ctx.m.own(ctx.m.scope_of[function], ast.Return) if function in ctx.m.scope_of else []
                todo += [one.value for one in returns if one.value is not None]
        elif isinstance(node, ast.Name):
            todo += [v for target in ctx.m.stores(node.id, ctx.m.scope(node)) for v in _given(ctx, target)]
        elif isinstance(node, (ast.Compare, ast.Lambda)) or _product(node):
            continue
        todo += children(node)


def _product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)


def _otherwise(call: ast.Call) -> bool:
    name = called_name(call)
    if name not in _OTHERWISE or any(k.arg == "dtype" for k in call.keywords):
        return False
    functional = isinstance(call.func, ast.Attribute) and last_name(call.func.value) in _FUNCTIONAL
    return not functional if name in _OF_TENSORS else True


def _forwards(ctx: Context, call: ast.Call) -> list[ast.AST]:
    """What a call of a network of the file runs."""
    classes = [o.key for o in ctx.v.of(call.func) if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
    found = (ctx.m.method(one, "forward") for cls in classes for one in ctx.v.order(cls))
    return [one for one in found if one is not None]


def _review_handed(ctx: Context, unit: Unit) -> None:
    """Names the calls of functions of other files that show a type, and are handed what a network gave."""
    if not (typing := ctx.facts.elsewhere.typing):
        return
    for call in ctx.m.all(ast.Call):
        handed = handed_elsewhere(ctx.v, call, typing)
        if any(_of_network(ctx, unit, one) for one in handed):
            unit.review(
                call,
                "APX037",
                f"`{called_name(call)}` shows the type of what a network gave: it may be another one than under O1, as "
                "autocast runs some operations in another type than Apex's casts did",
            )


def _of_network(ctx: Context, unit: Unit, expr: ast.expr) -> bool:
    """Whether an expression was computed with a call of a network, through names of its function."""
    todo: list[ast.AST] = [expr]
    met = set[str]()
    while todo:
        for node in walk(todo.pop()):
            if isinstance(node, ast.Call) and not unit.model_objects.isdisjoint(ctx.v.of(node.func)):
                return True
            if isinstance(node, ast.Name) and node.id not in met:
                met.add(node.id)
                todo += (value for stmt in ctx.m.stores(node.id, ctx.m.scope(node)) for value in _given(ctx, stmt))
    return False


def _given(ctx: Context, target: ast.AST) -> list[ast.AST]:
    stmt = ctx.m.statement(target)
    value = getattr(stmt, "value", None)
    return [value] if isinstance(stmt, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and value is not None else []

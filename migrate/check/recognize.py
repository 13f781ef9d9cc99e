"""What a piece of native AMP code is: scalers, autocast, and calls that matter for gradients.

Scalers are known by the last part of their name (``self.scaler`` and ``trainer.scaler`` are both
``scaler``): a module hands one object around under one name far more often than it keeps two
objects under one name, and to tell them apart would only raise false alarms.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..nodes import children, walk

Function = ast.FunctionDef | ast.AsyncFunctionDef
# Code in these runs at another time than the statement that holds them.
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

_NOT_AUTOCAST = re.compile(r"(?:disable|no|without|suspend)\w{0,80}?_?autocast", re.I)
_CLIPPING = re.compile(r"clip_grad|grad_norm(?!\w{0,80}meter)", re.I)
_OPTIMIZER = re.compile(r"[Oo]ptim|(?:^|_)opts?(?:$|_|[A-Z\d])")
_SCHEDULER = re.compile(r"sched", re.I)
# Functions that are given a scaler to write its state somewhere or to read it back.
_KEEPING = re.compile(r"save|load|checkpoint|ckpt|state|log", re.I)

Kind = Literal["scaled", "plain", "clip", "read", "unscale", "step", "update", "bare", "zero", "settle"]


@dataclass(frozen=True)
class Event:
    """One call (or read of ``.grad``) that has a part in the protocol.

    ``scaler`` is the key of the scaler; ``target`` the text of the optimizer;
    "settle" is a call that may well unscale, step or update out of sight.
    """

    kind: Kind
    node: ast.expr
    scaler: str = ""
    target: str = ""


@dataclass(frozen=True)
class Knowledge:
    """What is known of a whole module before its functions are read one by one."""

    parents: Mapping[ast.AST, ast.AST]
    created: frozenset[str]  # keys of scalers that the module constructs
    scalers: frozenset[str]  # keys of all that are surely scalers
    foreign: frozenset[str]  # keys of objects of other classes
    autocasts: frozenset[str]  # names bound to autocast or to a context made by it
    defined: frozenset[str]  # functions and classes of the module
    settling: frozenset[str]  # those of them that unscale, step or update
    own: frozenset[tuple[int, int]] = frozenset()  # where gradients of tensors are read that no optimizer holds
    handed: dict[ast.Call, list[str]] = field(default_factory=dict)  # what `handed` has found
    # what `events` has found; one with other facts begins anew
    events: dict[tuple[ast.AST, frozenset[str]], list[Event]] = field(default_factory=dict, init=False)

    def is_scaler(self, node: ast.expr) -> bool:
        key = key_of(node)
        return key in self.scalers or ("scaler" in key.lower() and key not in self.foreign)


def key_of(node: ast.expr) -> str:
    """The last part of a name: what ``self.scaler``, ``scaler`` and ``scaler[0]`` have in common."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, (ast.Subscript, ast.Starred)):
        return key_of(node.value)
    if isinstance(node, ast.Call):
        return key_of(node.func)
    return ""


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of plain names, the last parts of anything else."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def now(*roots: ast.AST) -> list[ast.AST]:
    """The nodes that are run when the given ones are, without nested functions, classes and lambdas."""
    stack = [root for root in roots if not isinstance(root, _LATER)]
    found: list[ast.AST] = []
    while stack:
        node = stack.pop()
        found.append(node)
        if inner := children(node):
            stack += [child for child in inner if not isinstance(child, _LATER)]
    return found


def study(tree: ast.Module) -> Knowledge:
    """Gather what is known of a module."""
    nodes = list(walk(tree))
    parents = {child: node for node in nodes for child in children(node)}
    makers, autocasts = {"GradScaler"}, set[str]()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            makers |= {a.asname for a in node.names if a.asname and a.name.endswith("GradScaler")}
            autocasts |= {a.asname for a in node.names if a.asname and "autocast" in a.name}
    created: set[str] = set()
    known: set[str] = set()
    foreign: set[str] = set()
    for node in nodes:
        for targets, value in _bindings(node):
            if _makes_scaler(value, makers):
                created |= {key_of(target) for target in targets}
            elif _autocast(value, autocasts) or _is_partial(value, autocasts):
                autocasts |= {key_of(target) for target in targets}
            elif isinstance(value, ast.Call) and key_of(value.func)[:1].isupper():
                foreign |= {key_of(target) for target in targets}
        if isinstance(node, ast.arg) and node.annotation is not None:
            if "GradScaler" in ast.unparse(node.annotation):
                known.add(node.arg)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "unscale_":
                known.add(key_of(node.func.value))
            elif node.func.attr == "backward":
                known |= {key_of(owner) for owner in scalings(node.func.value)}
    known = (known | created) - {""}
    functions = [
        node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    knowledge = Knowledge(
        parents=parents,
        created=frozenset(created - {""}),
        scalers=frozenset(known),
        foreign=frozenset(foreign - known),
        autocasts=frozenset(autocasts - {""}),
        defined=frozenset(one.name for one in functions),
        settling=frozenset(),
    )
    return replace(knowledge, settling=_settling(functions, knowledge))


def _bindings(node: ast.AST) -> Iterator[tuple[list[ast.expr], ast.expr]]:
    """Targets and the value they get, a tuple of values taken apart where it can be."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            pair = target.elts if isinstance(target, ast.Tuple) else []
            values = node.value.elts if isinstance(node.value, ast.Tuple) else []
            if pair and len(pair) == len(values):
                yield from (([one], value) for one, value in zip(pair, values, strict=True))
            else:
                yield [target], node.value
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield [node.target], node.value


def _makes_scaler(value: ast.expr, makers: set[str]) -> bool:
    return any(
        isinstance(node, ast.Call)
        and (key_of(node.func) in makers or key_of(node.func).endswith("GradScaler"))
        for node in now(value)
    )


def _is_partial(value: ast.expr, autocasts: set[str]) -> bool:
    if not (isinstance(value, ast.Call) and key_of(value.func) == "partial" and value.args):
        return False
    return _autocast(value.args[0], autocasts) is True


def scalings(*roots: ast.AST) -> list[ast.expr]:
    """The objects of which a method ``scale`` is called in an expression."""
    return [
        node.func.value
        for node in now(*roots)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "scale"
        and (node.args or node.keywords)
    ]


def _settling(functions: Sequence[Function | ast.ClassDef], knowledge: Knowledge) -> frozenset[str]:
    """Names of functions that unscale, step or update a scaler, by themselves or through one another."""
    found: set[str] = set()
    calls: dict[str, set[str]] = {}
    for function in functions:
        for node in walk(function):
            if isinstance(node, ast.Call):
                event = classify(node, knowledge, frozenset())
                if event is not None and event.kind in {"unscale", "step", "update", "settle"}:
                    found.add(function.name)
                calls.setdefault(function.name, set()).add(key_of(node.func))
    while more := {name for name, called in calls.items() if name not in found and called & found}:
        found |= more
    return frozenset(found)


# ---------------------------------------------------------------- autocast


def enters_autocast(node: ast.expr, knowledge: Knowledge) -> bool | None:
    """Whether a context manager or a decorator switches autocast on (True) or off (False), else None."""
    return _autocast(node, knowledge.autocasts)


def _autocast(node: ast.expr, names: frozenset[str] | set[str]) -> bool | None:
    if isinstance(node, (ast.IfExp, ast.BoolOp)):
        arms = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
        return True if any(_autocast(arm, names) for arm in arms) else None
    if isinstance(node, ast.Call):
        found_here = _autocast(node.func, names)
        for keyword in node.keywords:
            if found_here and keyword.arg == "enabled" and isinstance(keyword.value, ast.Constant):
                return bool(keyword.value.value)
        return found_here
    key = key_of(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
    if key in names:
        return True
    if "autocast" not in key.lower():
        return None
    return not _NOT_AUTOCAST.search(key)


# ---------------------------------------------------------------- events


def events(roots: Sequence[ast.AST], knowledge: Knowledge, scaled: frozenset[str]) -> list[Event]:
    """The events of some expressions or statements, in the order they are evaluated.

    ``scaled`` are names that hold a scaled loss. Statements are asked several times: alone, and as parts of others.
    """
    found: list[Event] = []
    for root in roots:
        if (root, scaled) not in knowledge.events:
            knowledge.events[root, scaled] = _events_of(root, knowledge, scaled)
        found += knowledge.events[root, scaled]
    # a call is made once its arguments are there: what ends first is evaluated first
    return sorted(found, key=lambda one: (one.node.end_lineno or 0, one.node.end_col_offset or 0))


def _events_of(root: ast.AST, knowledge: Knowledge, scaled: frozenset[str]) -> list[Event]:
    found: list[Event] = []
    for node in now(root):
        event = None
        if isinstance(node, ast.Call):
            event = classify(node, knowledge, scaled)
        elif (
            isinstance(node, ast.Attribute)
            and node.attr == "grad"
            and (node.lineno, node.col_offset) not in knowledge.own
            and looks_at_gradient(node, knowledge.parents)
        ):
            event = Event("read", node)
        if event is not None:
            found.append(event)
    return found


def classify(call: ast.Call, knowledge: Knowledge, scaled: frozenset[str]) -> Event | None:
    """What a call is, None where it has no part in the protocol."""
    name = key_of(call.func)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if owner is not None:
        if name == "unscale_":
            return Event("unscale", call, key_of(owner), _optimizer(call))
        if name == "step" and knowledge.is_scaler(owner) and (call.args or call.keywords):
            return Event("step", call, key_of(owner), _optimizer(call))
        if name == "step" and is_optimizer(owner) and not call.args and not call.keywords:
            if name in knowledge.settling:  # a wrapper of the module, which steps through the scaler
                return Event("settle", call)
            return Event("bare", call, target=ast.unparse(owner))
        if name == "update" and knowledge.is_scaler(owner):
            return Event("update", call, key_of(owner))
        if name == "zero_grad":
            return Event("zero", call)
        if name == "backward":
            backward = _backward(call, owner, scaled)
            if backward.kind == "scaled" or name not in knowledge.settling:
                return backward
    if name in knowledge.settling or handed(call, knowledge) or _is_called_scaler(call, knowledge):
        return Event("settle", call)
    if _CLIPPING.search(name) and not _takes_scale_along(call, knowledge):
        return Event("clip", call)
    return None


def _takes_scale_along(call: ast.Call, knowledge: Knowledge) -> bool:
    """Whether the threshold of a clip is multiplied by the scale, or the norm that comes out divided by it."""
    above = knowledge.parents.get(call)
    places: list[ast.AST] = [*call.args, *(word.value for word in call.keywords)]
    if isinstance(above, ast.BinOp):
        places.append(above.right)
    return any(isinstance(node, ast.Call) and key_of(node.func) == "get_scale" for node in now(*places))


def _optimizer(call: ast.Call) -> str:
    if call.args:
        return ast.unparse(call.args[0])
    return next((ast.unparse(word.value) for word in call.keywords if word.arg == "optimizer"), "")


def is_optimizer(node: ast.expr) -> bool:
    key = key_of(node)
    return bool(_OPTIMIZER.search(key)) and not _SCHEDULER.search(key)


def _backward(call: ast.Call, owner: ast.expr, scaled: frozenset[str]) -> Event:
    operands = [owner, *call.args]
    found = scalings(*operands)
    if found:
        return Event("scaled", call, key_of(found[0]))
    if any(isinstance(node, ast.Name) and node.id in scaled for node in operands):
        return Event("scaled", call)
    return Event("plain", call)


def handed(call: ast.Call, knowledge: Knowledge) -> list[str]:
    """Keys of the scalers that are arguments as a whole, so that the function may do anything with them."""
    found = knowledge.handed.get(call)
    if found is None:
        name = key_of(call.func)
        arguments = [*call.args, *(word.value for word in call.keywords)]
        if hasattr(builtins, name) or name.endswith("GradScaler") or _KEEPING.search(name):
            arguments = []
        found = [key for one in arguments for key in bare_scalers(one, knowledge)]
        knowledge.handed[call] = found
    return found


def bare_scalers(node: ast.expr, knowledge: Knowledge) -> list[str]:
    """Keys of the scalers in an expression that are more than the owner of a method called there."""
    return [
        key_of(one)
        for one in now(node)
        if isinstance(one, (ast.Name, ast.Attribute))
        and knowledge.is_scaler(one)
        and not isinstance(knowledge.parents.get(one), (ast.Attribute, ast.Compare))
        and not _is_func(one, knowledge.parents)
    ]


def _is_func(node: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> bool:
    parent = parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _is_called_scaler(call: ast.Call, knowledge: Knowledge) -> bool:
    """``loss_scaler(loss, optimizer)``: an object that scales, steps and updates in one go."""
    name = key_of(call.func)
    return (
        isinstance(call.func, (ast.Name, ast.Attribute))
        and not name[:1].isupper()
        and (name in knowledge.scalers or name.lower().endswith("scaler"))
    )


# ---------------------------------------------------------------- reading gradients

# What leaves a gradient the gradient it is, so that the next use decides.
_SAME_ATTRIBUTES = {"data"}
_SAME_METHODS = {
    *("detach", "clone", "float", "double", "cpu", "view", "reshape", "flatten", "contiguous", "to", "ravel"),
    *("coalesce", "values", "_values"),
}
# What comes out wrong of a gradient that is still scaled. Averaging over processes, copying and zeroing
# are right with either, and the sign is the same.
_VALUE_METHODS = {
    *(
        "norm",
        "abs",
        "abs_",
        "pow",
        "pow_",
        "square",
        "sqrt",
        "item",
        "mean",
        "sum",
        "max",
        "min",
        "std",
        "var",
    ),
    *("clamp", "clamp_", "clip", "clip_", "clamp_max", "clamp_max_", "clamp_min", "clamp_min_"),
    *("add", "add_", "sub", "sub_", "addcmul_", "addcdiv_", "numpy", "tolist", "histc", "dot", "median"),
}
_VALUE_FUNCTIONS = {
    *(
        "norm",
        "vector_norm",
        "matrix_norm",
        "clamp",
        "clamp_",
        "abs",
        "square",
        "pow",
        "sum",
        "mean",
        "max",
        "min",
    ),
    *("add_histogram", "add_scalar", "print", "Histogram", "histogram"),
}


def looks_at_gradient(node: ast.Attribute, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether an attribute ``.grad`` is used in a way that its magnitude matters for."""
    here: ast.AST = node
    while True:
        parent = parents.get(here)
        if isinstance(parent, ast.Attribute):
            user = parents.get(parent)
            if parent.attr in _SAME_ATTRIBUTES:
                here = parent
            elif not (isinstance(user, ast.Call) and user.func is parent):
                return False
            elif parent.attr in _SAME_METHODS:
                here = user
            else:
                return parent.attr in _VALUE_METHODS
        elif isinstance(parent, ast.Call):
            return here is not parent.func and key_of(parent.func) in _VALUE_FUNCTIONS
        elif isinstance(parent, (ast.BinOp, ast.AugAssign)):
            changed = isinstance(parent.op, (ast.Add, ast.Sub, ast.Pow))
            return changed and not (isinstance(parent, ast.AugAssign) and parent.value is here)
        elif isinstance(parent, ast.Compare):
            return any(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in parent.ops)
        else:
            return False

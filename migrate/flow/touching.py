"""Functions that look at gradients: in their own text, or in that of a function of the program that they call."""

from __future__ import annotations

import ast
import re

from ..facts.module import Module
from ..facts.names import called_name, is_property
from ..facts.once import once
from ..nodes import walk
from .values import Values

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TRAINS = frozenset("backward step scale_loss".split())
_NO_GRADIENTS = frozenset("no_grad zero_grad enable_grad set_grad_enabled requires_grad requires_grad_".split())
# Settings of a run that only speak of gradients: `grad_accumulation_steps`, `max_grad_norm`.
_SETTING = re.compile(r"accum|checkpoint|^max_|_steps$")


def touches(m: Module, node: ast.AST) -> bool:
    """Whether gradients stand in a function's text, and are not only asked for being there."""
    return node in _around_gradients(m)


@once
def _around_gradients(m: Module) -> set[ast.AST]:
    """All in whose text gradients stand so."""
    named = (n for n in m.all(ast.Attribute) if "grad" in n.attr and n.attr not in _NO_GRADIENTS)
    asked = [n for n in named if not _SETTING.search(n.attr) and not _none_test(m.parent[n])]
    return {one for n in asked for one in (n, *m.ancestors(n))}


def _none_test(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)


def trains(function: ast.AST) -> bool:
    """Whether a backward or a step stands in a function."""
    return any(isinstance(n, ast.Call) and called_name(n) in _TRAINS for n in walk(function))


def touching(m: Module, v: Values) -> frozenset[ast.AST]:
    """The functions of a program that look at gradients, be it in another function, which does not train: what one
    that does may see is another matter."""
    own = [f for f in m.scope_of if isinstance(f, _FUNCTIONS) and touches(m, f)]
    found: set[ast.AST] = set(own)
    todo: list[ast.AST] = [f for f in own if not trains(f)]
    while todo:
        function = todo.pop()
        for caller in (*v.callers.get(function, ()), *_lambdas(m, v, function), *_readers(m, v, function)):
            if caller not in found and isinstance(caller, _FUNCTIONS):
                found.add(caller)
                if not trains(caller):
                    todo.append(caller)
    return frozenset(found)


def _lambdas(m: Module, v: Values, function: ast.AST) -> list[ast.AST]:
    """The lambdas that call a function, which may run elsewhere than the function that they stand in."""
    return [one for call in v.calls.get(function, ()) for one in m.ancestors(call) if isinstance(one, ast.Lambda)]


def _readers(m: Module, v: Values, function: ast.AST) -> list[ast.AST]:
    """The functions in which a property is read."""
    if not isinstance(function, ast.FunctionDef) or not is_property(function):
        return []
    reads = [n for n in m.attributes(function.name) if isinstance(n.ctx, ast.Load)]
    held = [(n, o.key) for n in reads for o in v.stood_for(v.of(n.value)) if o.kind == "instance"]
    return [
        m.function(n).node
        for n, owner in held
        if isinstance(owner, ast.ClassDef) and v.property_of(owner, n.attr) is function
    ]

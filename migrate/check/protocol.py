"""The protocol of `torch.amp.GradScaler` and autocast, as a linter of one module of native AMP code.

What is wrong, by code:

``backward-under-autocast``   the backward pass runs inside of autocast
``clips-scaled-gradients``    gradients are clipped (or their norm is taken) before ``unscale_``
``reads-scaled-gradients``    the magnitude of a ``.grad`` is used before ``unscale_``
``unscale-twice``             ``unscale_`` of one optimizer twice without an update between
``unscale-after-step``        ``unscale_`` of an optimizer that was stepped since the last update
``step-twice``                an optimizer is stepped twice without an update between
``step-with-closure``         ``scaler.step`` is given a closure, which it does not support
``bare-optimizer-step``       ``optimizer.step()`` uses gradients of a scaled loss
``scale-without-step``        the module's own scaler scales a loss, and neither unscales nor steps
``step-without-update``       a scaler steps and is never updated in the module
``update-without-step``       a scaler is updated, and neither unscales nor steps in the module

Source: https://pytorch.org/docs/stable/notes/amp_examples.html and ``torch/amp/grad_scaler.py``.
Where the code may be right it is taken to be right: what is reported should be worth a look.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ..facts.module import Module
from ..flow.tensors import own_gradient
from ..flow.values import Values
from ..nodes import children, walk
from ..rewrite.lines import Lines
from .compiles import parse
from .flow import Walk
from .problem import MEMORY, Problem, surplus
from .recognize import (
    Event,
    Knowledge,
    bare_scalers,
    classify,
    enters_autocast,
    handed,
    key_of,
    looks_at_gradient,
    now,
    study,
)


@lru_cache(MEMORY)
def check_protocol(text: str) -> tuple[Problem, ...]:
    """Everything that is wrong in a module; nothing in a text that does not parse."""
    tree = parse(text)
    if tree is None:
        return ()
    knowledge = study(tree)
    found = _problems(tree, knowledge)
    if found and (own := _own_gradients(text)):  # dear, and next to no text has problems
        found = _problems(tree, replace(knowledge, own=own))
    return tuple(sorted(found))


def _problems(tree: ast.Module, knowledge: Knowledge) -> list[Problem]:
    found = list(_backwards(tree, knowledge))
    bodies = [tree.body]
    bodies += [
        node.body for node in walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    for body in bodies:
        found += Walk(knowledge, body).run()
    calls = [(node, event) for node, event in _classified(tree, knowledge) if event is not None]
    found += _closures(calls, knowledge)
    found += _balance(tree, calls, knowledge)
    return found


def _own_gradients(text: str) -> frozenset[tuple[int, int]]:
    """Where gradients of the program's own tensors are read: they stay scaled, under Apex as well."""
    if ".grad" not in text:
        return frozenset()
    m = Module(text)
    v = Values(m)
    grads = [n for n in m.all(ast.Attribute) if n.attr == "grad"]
    return frozenset((n.lineno, n.col_offset) for n in grads if own_gradient(m, v, n))


# What is no problem where the rest stands in another file.
_ACROSS = frozenset({"scale-without-step", "step-without-update", "update-without-step", "bare-optimizer-step"})


_READS = "reads-scaled-gradients"


def _read_in_blocks(text: str) -> frozenset[str]:
    """The lines, without their indentation, that look at gradients in the block of a ``scale_loss``: Apex's are scaled
    there as well."""
    tree = parse(text)
    if tree is None:
        return frozenset()
    parents, lines, found = study(tree).parents, Lines(text), set[str]()
    for block in walk(tree):
        if isinstance(block, ast.With) and any(_scales(item.context_expr) for item in block.items):
            grads = (n for stmt in block.body for n in walk(stmt) if isinstance(n, ast.Attribute) and n.attr == "grad")
            found.update(lines.content(n.lineno).strip() for n in grads if looks_at_gradient(n, parents))
    return frozenset(found)


def _scales(entered: ast.expr) -> bool:
    return isinstance(entered, ast.Call) and key_of(entered.func) == "scale_loss"


def new_problems(old_text: str, new_text: str, whole: bool = True) -> tuple[Problem, ...]:
    """What is wrong in the new text and was not in the old one, counted by code; ``whole`` says that no other file
    belongs to the program."""
    if old_text == new_text:
        return ()
    new = tuple(one for one in check_protocol(new_text) if whole or one.code not in _ACROSS)
    if any(one.code == _READS for one in new) and "scale_loss" in old_text:
        lines, inside = Lines(new_text), _read_in_blocks(old_text)
        new = tuple(one for one in new if one.code != _READS or lines.content(one.line).strip() not in inside)
    if not new:
        return ()
    old = check_protocol(old_text)
    return surplus(old_text, new_text, old, new, lambda one: one.code)


# ---------------------------------------------------------------- autocast


def _backwards(tree: ast.Module, knowledge: Knowledge) -> Iterator[Problem]:
    """Backward calls that stand inside of autocast, as far as the text of one function shows it."""
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, on = stack.pop()
        body = on
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                entered = enters_autocast(item.context_expr, knowledge)
                body = body if entered is None else entered
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = any(enters_autocast(one, knowledge) for one in node.decorator_list)
        elif isinstance(node, ast.Lambda):
            body = False
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "backward"
            and on
        ):
            yield Problem(
                node.lineno, "backward runs under autocast: leave the region first", "backward-under-autocast"
            )
        if body is on:
            stack += [(child, on) for child in children(node)]
            continue
        for name, value in ast.iter_fields(node):
            inside = body if name == "body" else on
            parts = value if isinstance(value, list) else [value]
            stack.extend((child, inside) for child in parts if isinstance(child, ast.AST))


# ---------------------------------------------------------------- single calls


def _classified(tree: ast.Module, knowledge: Knowledge) -> Iterator[tuple[ast.Call, Event | None]]:
    for node in walk(tree):
        if isinstance(node, ast.Call):
            yield node, classify(node, knowledge, frozenset())


def _closures(calls: Sequence[tuple[ast.Call, Event]], knowledge: Knowledge) -> Iterator[Problem]:
    for node, event in calls:
        if event.kind != "step":
            continue
        given = [word.value for word in node.keywords if word.arg == "closure"]
        given += [one for one in node.args[1:] if _is_closure(one, knowledge)]
        if any(not (isinstance(one, ast.Constant) and one.value is None) for one in given):
            yield Problem(node.lineno, "GradScaler.step does not support a closure", "step-with-closure")


def _is_closure(node: ast.expr, knowledge: Knowledge) -> bool:
    if isinstance(node, (ast.Name, ast.Attribute)):
        return "closure" in key_of(node).lower() or key_of(node) in knowledge.defined
    return isinstance(node, ast.Lambda)


# ---------------------------------------------------------------- a whole module


def _balance(
    tree: ast.Module, calls: Sequence[tuple[ast.Call, Event]], knowledge: Knowledge
) -> Iterator[Problem]:
    """Scalers of which one half is used and the other nowhere in the module.

    A half that another name has too much of may be this one's: one object under two names.
    """
    kinds = ("scaled", "step", "update", "unscale")
    uses: dict[str, dict[str, list[int]]] = {kind: defaultdict(list) for kind in kinds}
    for node, event in calls:
        if event.scaler and event.kind in uses:
            uses[event.kind][event.scaler].append(node.lineno)
    scaled, steps, updates = uses["scaled"], uses["step"], uses["update"]
    elsewhere = _handed_out(tree, knowledge) | uses["unscale"].keys()  # who unscales may step by other means
    if not updates.keys() - steps.keys():
        for key in steps.keys() - updates.keys():
            yield Problem(min(steps[key]), f"{key} steps and is never updated", "step-without-update")
    if not steps.keys() - updates.keys():
        for key in (updates.keys() & knowledge.scalers) - steps.keys() - elsewhere:
            yield Problem(min(updates[key]), f"{key} is updated and never steps", "update-without-step")
    if not steps:
        for key in (scaled.keys() & knowledge.created) - elsewhere:
            yield Problem(min(scaled[key]), f"{key} scales a loss and never steps", "scale-without-step")


def _handed_out(tree: ast.Module, knowledge: Knowledge) -> frozenset[str]:
    """Scalers that leave the module: given to a function, or returned to a caller, from elsewhere."""
    nodes = list(walk(tree))
    called = {key_of(node.func) for node in nodes if isinstance(node, ast.Call)}
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and key_of(node.func) not in knowledge.defined:
            found.update(handed(node, knowledge))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name not in called:
            for given in now(*node.body):
                if isinstance(given, (ast.Return, ast.Yield)) and given.value is not None:
                    found.update(bare_scalers(given.value, knowledge))
    return frozenset(found)

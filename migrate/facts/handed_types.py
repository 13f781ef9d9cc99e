"""Which files hand results of another type under autocast to what puts them into a tensor, in a third file perhaps:
``bank.push(model(x))``. By their syntax alone, as it says which files belong to a program; names are not told apart.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..nodes import each_given, walk
from .names import called_name
from .stores import (
    MAY_DIFFER,
    MAY_STORE,
    Body,
    Function,
    Here,
    Known,
    gives_back,
    layers_of,
    own,
    parameters_of,
    stored,
)
from .text import parsed

_HANDED = "what is handed"


@dataclass(frozen=True)
class Given:
    """Of one file, by function and method that gives back a result of another type the operation which it has its type
    of; the same of networks by their class."""

    functions: Mapping[str, str] = field(default_factory=dict)
    networks: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        return frozenset({*self.functions, *self.networks})


def puts_handed(text: str) -> frozenset[str]:
    """The functions of a file that put what they are handed into a tensor; none where it does not parse."""
    tree = parsed(text) if "torch" in text and MAY_STORE.search(text) else None
    if tree is None:
        return frozenset()
    known = Known(lambda call: None, layers_of(tree), parameters_of(tree))
    functions = (n for n in walk(tree) if isinstance(n, Function))
    return frozenset(one.name for one in functions if any(True for _ in stored(one, known, _all_handed)))


def gives_other_types(text: str) -> Given:
    """What a file gives back; nothing where it does not parse."""
    tree = parsed(text) if MAY_DIFFER.search(text) else None
    if tree is None:
        return Given()
    found: dict[str, str] = {}
    known = Known(lambda call: found.get(called_name(call)), layers_of(tree), parameters_of(tree))
    functions = [n for n in walk(tree) if isinstance(n, Function)]
    for _ in range(2):  # helpers of helpers
        found.update({one.name: said for one in functions if (said := gives_back(one, known)) is not None})
    networks: dict[str, str] = {}
    for cls in (n for n in walk(tree) if isinstance(n, ast.ClassDef)):
        forward = next((n for n in cls.body if isinstance(n, Function) and n.name == "forward"), None)
        if forward is not None and (said := gives_back(forward, known)) is not None:
            networks[cls.name] = said
    return Given({name: said for name, said in found.items() if name != "forward"}, networks)


def hands_over(
    text: str, giving: Mapping[str, str], networks: Mapping[str, str], putting: frozenset[str]
) -> frozenset[str]:
    """Which of the functions ``putting`` a file hands such a result: ``networks`` are classes, and functions that make
    an object of one."""
    if not re.search(rf"\b(?:{'|'.join(sorted(map(re.escape, putting)))})\(", text):
        return frozenset()
    tree = parsed(text)
    if tree is None:
        return frozenset()
    made = {name: said for name, value in _assigned(tree) if (said := _made(value, networks)) is not None}
    given = {**giving, **made}
    known = Known(lambda call: given.get(called_name(call)), {**layers_of(tree), **made}, parameters_of(tree))
    found = set[str]()
    for function in (tree, *(n for n in walk(tree) if isinstance(n, Function))):
        nodes = own(function)
        calls = [n for n in nodes if isinstance(n, ast.Call) and called_name(n) in putting]
        here = Here(nodes if calls else [], known, {})
        for call in calls:
            if any(here.carries(one) is not None for one in (*call.args, *(k.value for k in call.keywords))):
                found.add(called_name(call))
    return frozenset(found)


def _all_handed(function: Body) -> Mapping[str, str]:
    if isinstance(function, ast.Module):
        return {}
    args = function.args
    return {one.arg: _HANDED for one in (*args.posonlyargs, *args.args, *args.kwonlyargs) if one.arg != "self"}


def _made(value: ast.expr, networks: Mapping[str, str]) -> str | None:
    """The operation whose type the results of a network have that is made here."""
    calls = (n for n in walk(value) if isinstance(n, ast.Call))
    return next((said for call in calls if (said := networks.get(called_name(call))) is not None), None)


def _assigned(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in walk(tree):
        if isinstance(node, ast.Assign):
            for target, value in (pair for one in node.targets for pair in each_given(one, node.value)):
                if isinstance(target, (ast.Name, ast.Attribute)):
                    yield target.id if isinstance(target, ast.Name) else target.attr, value

"""What a file's own backwards and its hooks of the backward pass compute, by its text: O1 cast there as well, autocast
does not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from ..knowledge.operations import BACKWARD_PRODUCTS
from .elsewhere import Outline

# What is given as a hook of the backward pass: a name, perhaps one with its owner, or a function without a name.
HOOKED = re.compile(
    rb"\.register_(?!\w*forward)\w*hook\(\s*(?:(?:functools\.)?partial\(\s*)?(lambda\b[^\n]*|[\w.]+)"
)
_PRODUCT = re.compile(rf"\.(?:{'|'.join(sorted(BACKWARD_PRODUCTS))})\(|[\w\])][ \t]*@[ \t]*[\w(]")
_CALLED = re.compile(r"(?<!\w)(\w+)\(")

_Text = tuple[str, frozenset[str], bool]  # a function: its name, those that it calls, whether it computes products


def multiplies_backward(file: Outline, imported: Sequence[Outline]) -> bool:
    """Whether a file has an autograd function whose own backward computes products, itself or by functions of the file
    or of those that it imports; not one that runs a backward itself (Megatron's checkpoints)."""
    backwards = [one for cls in file.classes if "Function" in cls.bases and (one := cls.methods.get("backward"))]
    names = {name for one in backwards for name in _last(one.called)}
    if not backwards or "backward" in names:
        return False
    computes = any(one.multiplies for one in backwards) or not names.isdisjoint(BACKWARD_PRODUCTS)
    return computes or not names.isdisjoint(_multiplying((file, *imported)))


def multiplies_in_hooks(hooks: Collection[str], file: Outline, imported: Sequence[Outline]) -> bool:
    """Whether a hook that a file registers computes products: ``hooks`` are what it hands over."""
    called = set[str]()
    for one in hooks:
        if not one.startswith("lambda"):
            called.add(one.rpartition(".")[2])
        elif _PRODUCT.search(one):
            return True
        else:
            called.update(_CALLED.findall(one))
    if not called:
        return False
    inner = any(multiplies and any(map(_registers, names)) for _, names, multiplies in _functions(file))
    return inner or not called.isdisjoint(_multiplying((file, *imported)))  # a hook within a function has no own name


def _registers(name: str) -> bool:
    return name.startswith("register_") and name.endswith("hook")


def _multiplying(files: Iterable[Outline]) -> set[str]:
    """The functions and methods of some files that compute products, themselves or by others of them."""
    every = [one for file in files for one in _functions(file)]
    found = {name for name, _, multiplies in every if multiplies}
    while more := {name for name, called, _ in every if not found.isdisjoint(called)} - found:
        found |= more
    return found


def _functions(file: Outline) -> Iterator[_Text]:
    for one in file.every:
        called = _last(one.called)
        yield one.name, called, one.multiplies or not called.isdisjoint(BACKWARD_PRODUCTS)


def _last(called: Iterable[str]) -> frozenset[str]:
    return frozenset(one.rpartition(".")[2] for one in called)

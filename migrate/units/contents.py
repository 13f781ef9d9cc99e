"""What a value is when it is taken apart, put together, computed with, or converted: see `halves.py`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from ..facts.names import called_name
from ..knowledge.results import integers, predicted
from .halves import ARRAY, DOUBLE, FLOAT, HALF, MAYBE, NOTHING, OTHER, Value, join, joined, many, of, proved, record


def facts_of(values: Iterable[Value]) -> frozenset[str]:
    """The facts of any of several values."""
    return frozenset[str]().union(*(value.flat for value in values))


def part_of(held: Value, name: str, unpacked: bool = False) -> Value:
    """An item or attribute of a value that may be a model's output: a float, unless its name says otherwise."""
    if HALF not in held.flat:
        return Value(held.flat)
    if integers(name) or (unpacked and predicted(name)):
        return of(MAYBE)
    return Value(held.flat)


def item_of(held: Value, index: ast.expr) -> Value:
    """What ``held[index]`` holds."""
    match index:
        case ast.Constant(value=str() as name):
            field = held.field(name)
            return field if field is not None else held.element if held.holds else part_of(held, name)
        case ast.Slice() if held.each is not None or held.names:
            return held
        case _ if held.items is None:
            return held.element
        case ast.Constant(value=int() as at) if -len(held.items) <= at < len(held.items):
            return held.items[at]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as at)) if at <= len(held.items):
            return held.items[-at]
        case ast.Slice(lower=None | ast.Constant() as low, upper=None | ast.Constant() as high, step=None):
            first, last = low.value if low else None, high.value if high else None
            if isinstance(first, int | None) and isinstance(last, int | None):
                return Value(held.facts, held.items[first:last])
            return many(held.element)
        case ast.Slice():
            return many(held.element)
        case _:
            return held.element


def spread(targets: Sequence[ast.expr], held: Value) -> tuple[Value, ...] | None:
    """What each name holds where a value is unpacked, if its items are told apart; one behind a star takes the rest."""
    items, count = held.items, len(targets)
    star = next((at for at, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if items is None or (len(items) != count if star is None else len(items) < count - 1):
        return None
    if star is None:
        return items
    behind = len(items) - (count - 1 - star)
    return (*items[:star], Value(items=items[star:behind]), *items[behind:])


def with_item(held: Value | None, key: ast.expr | None, item: Value) -> Value:
    """What holds for a container into which an item was put; a key that is not known stands for any."""
    match key:
        case ast.Constant(value=str() as name) if held is not None and (held == NOTHING or held.names):
            return record(dict(zip(held.names, held.items or (), strict=True)) | {name: item})
        case _:
            return join(held or NOTHING, many(item))


def nested(container: ast.expr, item: Value) -> Value:
    """What lies in the outermost container where an item is put into ``logs["a"][i]``."""
    while isinstance(container, ast.Subscript):
        container, item = container.value, many(item)
    return item


def dictionary(keys: Sequence[ast.expr | None], values: Sequence[Value]) -> Value:
    """A dictionary that is written out."""
    named = [k.value if isinstance(k, ast.Constant) and isinstance(k.value, str) else None for k in keys]
    if not keys:
        return NOTHING
    if None not in named:
        return record({name or "": value for name, value in zip(named, values, strict=True)})
    return many(joined(v.element if key is None else v for key, v in zip(keys, values, strict=True)))


def arithmetic(one: Value, other: Value, op: ast.operator, cast: bool) -> Value:
    """What ``one op other`` may hold; a float with anything gives a float."""
    if one.holds and (other.holds or not other.flat or other.flat == {OTHER}):
        return many(join(one.element, other.element if other.holds else NOTHING))  # lists put together, or repeated
    if other.holds and not one.flat:
        return many(other.element)
    if one.holds or other.holds:
        return Value(one.flat | other.flat)
    flat = one.flat | other.flat
    for wide in (DOUBLE, ARRAY):
        if {wide} in (one.flat, other.flat):
            return of(wide)
    if cast and isinstance(op, ast.Pow) and flat & {HALF}:
        return of(FLOAT)
    if one.flat == {FLOAT} or other.flat == {FLOAT}:
        return of(FLOAT)
    if one.flat == {HALF} or other.flat == {HALF}:
        return of(HALF)
    if proved(one) or proved(other):
        return of(HALF, FLOAT)
    return Value(flat)


def gives_its_type(node: ast.Call) -> ast.expr | None:
    """The tensor whose type the result of a call has: ``scores`` of ``y.to(scores.dtype)``, ``y.type_as(scores)``,
    ``y.to(scores)`` and ``torch.zeros(3, dtype=scores.dtype)``; None of another call."""
    name = called_name(node) if isinstance(node.func, ast.Attribute) else ""
    casts = name in ("to", "type", "type_as")
    for given in (*(node.args if casts else ()), *(k.value for k in node.keywords if k.arg in ("dtype", "other"))):
        match given:
            case ast.Attribute(value=tensor, attr="dtype"):
                return tensor
            case ast.Name() | ast.Attribute() if name == "type_as" or (casts and len(node.args) == 1):
                return given
    return None


def converted(node: ast.Call, held: Value) -> Value:
    """``x.to(...)`` and ``x.type(...)``."""
    given = [*node.args, *(k.value for k in node.keywords if k.arg in ("dtype", "device", "other"))]
    if not given:
        return of(OTHER) if called_name(node) == "type" else held
    for arg in given:
        text = ast.unparse(arg)
        if re.search(r"float32|torch\.float$|FloatTensor|\.float$", text):
            return of(FLOAT) if "Half" not in text else held
        if re.search(r"\.(u?int\d*|long|bool|short)$|LongTensor|IntTensor|ByteTensor|BoolTensor", text):
            return of(OTHER)
        if "dtype" in text or text.endswith((".type()", "_type")):
            return of(MAYBE) if held.flat & {HALF, MAYBE} else held
    return Value(held.flat)

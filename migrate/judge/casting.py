"""What operations of torch give, by the type that they are handed, under Apex and natively; and which of them compute
in half, outside of a region, what Apex computed in float32: layers, functions, methods. `halves.py` says where.

Source: as `widths.py`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..knowledge import operations as known
from . import widths
from .program.program import Program
from .program.syntax import last_name
from .widths import (
    A_NUMBER,
    ANYTHING,
    FLOAT,
    FLOATS,
    HALF,
    HALVES,
    NO_VALUE,
    NUMBER,
    Width,
    join,
    joined,
    many,
    promoted,
)

TORCH, FUNCTIONAL = ("torch", "th"), ("F", "functional", "nn.functional", "torch.nn.functional")
PROMOTING = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_LAYERS_HALF = known.WEIGHING - {"Sequential", "LSTM", "GRU", "RNN", "MultiheadAttention"}
_LAYERS_AS_GIVEN = frozenset(
    "BatchNorm1d BatchNorm2d BatchNorm3d ReLU ReLU6 LeakyReLU ELU SELU SiLU Sigmoid Tanh Hardtanh Dropout Dropout2d "
    "Flatten Identity MaxPool2d AvgPool2d AdaptiveAvgPool2d AdaptiveMaxPool2d MaxPool1d AvgPool1d".split()
)
_LAYERS_FLOAT = known.O1_FLOAT_LAYERS | {"LayerNorm", "GroupNorm"}
_DEVICES = frozenset("device dev gpu cuda cpu rank local_rank gpu_id non_blocking".split())


@dataclass(frozen=True)
class Narrowed:
    """``node`` (of the new text) computes in half what Apex computed in float32, raises, or hands it to numpy."""

    node: ast.AST
    message: str


@dataclass(eq=False)
class Frame:
    region: bool
    depth: int
    owner: ast.AST | None
    off: bool = False
    returned: Width = NO_VALUE
    yielded: Width | None = None
    env: dict[str, Width] = field(default_factory=dict)


class Operations:
    """Those of one new program. ``patched``: Apex cast torch's functions (O1), else models alone (O2, O3)."""

    def __init__(self, program: Program, patched: bool) -> None:
        self.p, self.v, self.patched = program, program.v, patched
        self.found: dict[ast.AST, Narrowed] = {}

    def _listed(
        self, frame: Frame, node: ast.AST, name: str, given: Width, *, listed: bool = False, half: bool = False
    ) -> Width:
        """An operation of a list; said of where it computes in half what Apex computed in float32."""
        result = widths.cast(name, given, listed, half, frame.region, self.patched)
        if listed and given.new == HALF and result.narrowed and not frame.region:
            self.say(node, "computes in half precision what Apex computed in float32")
        return result

    def _product(self, frame: Frame, node: ast.AST, one: Width, other: Width) -> Width:
        if HALF in (kinds := {one.new, other.new}) and kinds & {FLOAT, NUMBER} and not frame.region:
            self.say(node, "multiplies half with another type, which is an error; Apex cast both")
        old = HALF if self.patched and {one.old, other.old} & {HALF, FLOAT} else _same(one.old, other.old)
        new = HALF if frame.region and {one.new, other.new} & {HALF, FLOAT} else _same(one.new, other.new)
        return Width(old, new)

    def say(self, node: ast.AST, message: str) -> None:
        self.found.setdefault(node, Narrowed(node, message))

    def arithmetic(self, frame: Frame, node: ast.AST, op: ast.operator, one: Width, other: Width) -> Width:
        if frame.off:
            return ANYTHING
        match op:
            case ast.MatMult():
                return self._product(frame, node, one, other)
            case ast.Pow():
                if one.old == NUMBER:
                    return ANYTHING
                return self._listed(frame, node, "pow", one, listed=True)
            case ast.Add() if one.holds or other.holds:
                return join(one, other) if one.holds and other.holds else ANYTHING
            case ast.Add() | ast.Sub() | ast.Mult() | ast.Div():
                return promoted(one, other)
            case _:
                return A_NUMBER if one == other == A_NUMBER else ANYTHING

    def function(
        self, frame: Frame, call: ast.Call, name: str, given: list[Width], functional: bool, method: bool
    ) -> Width:
        """A function of torch, or a method of a tensor."""
        if not given:
            return ANYTHING
        first = given[0]
        if method and name in known.WIDENS | {"half", "bfloat16"}:
            type_ = FLOAT if name in known.WIDENS else HALF
            if first.holds:
                return ANYTHING
            inserted = self.p.naming.twin(call) is None
            return widths.put_in(first, type_) if inserted else widths.turned(first, type_)
        if method and name in ("to", "type", "type_as"):
            return self._to(call, given)
        if any(k.arg == "dtype" for k in call.keywords):
            return ANYTHING
        if method and name == "cpu":
            return widths.to_cpu(first, self.patched)
        if method and name == "numpy":
            if first.narrowed and not self._forgotten(call):
                self.say(call, "gives numpy half precision where Apex gave float32")
            return ANYTHING
        if first.holds and name in known.JOIN:
            items = [item for _, item in first.items] or [first.element]
            result = items[0]
            for one in items[1:]:
                result = promoted(result, one)
            return result
        if name == "dot" and len(given) > 1 and {first.new, given[1].new} == {HALF, FLOAT} and not frame.region:
            self.say(call, "multiplies half with another type, which is an error; Apex cast both")
        if name in known.O1_PRODUCTS | {"einsum"} and len(given) > 1:
            if name == "einsum":
                return self._einsum(frame, given[1:])
            return self._product(frame, call, first, given[1])
        listed = name in (known.O1_FLOAT_FUNCTIONAL if functional else known.O1_FLOAT)
        half = name in (known.O1_HALF_METHODS if method else known.O1_HALF)
        if listed or half or name in known.FLOAT_NOT_AS_GIVEN:
            if listed and functional and name in known.O1_PAIRS and len(given) > 1 and first.new != HALF:
                first = given[1] if given[1].new == HALF else first
            if half and not method and first.new not in (HALF, FLOAT):
                return HALVES if frame.region and self.patched else ANYTHING
            return self._listed(frame, call, name, first, listed=listed, half=half)
        if name in known.NATIVE_PROMOTE | known.PROMOTE:
            held = first
            for one in given[1:3] if name != "where" else ():
                held = promoted(held, one)
            return held if name != "where" else ANYTHING
        if name in known.PAIR:
            return self._pair(call, name, given, method)
        if name in known.CREATE and not method:
            return FLOATS if _has_dimensions(call) else ANYTHING
        if name in known.FLOAT_RESULTS or name in ("interpolate", "upsample", "grid_sample", "normalize", "gelu"):
            return FLOATS if frame.region and name in known.FLOAT_RESULTS else ANYTHING
        if name in ("chunk", "split", "unbind"):
            return ANYTHING if first.holds or first.opaque else many(first)
        if name == "items" and first.each is not None:
            return many(widths.record(enumerate((ANYTHING, first.each))))
        if name in known.KEEP | known.LIKE:
            return first
        return A_NUMBER if name in known.INTEGER else ANYTHING

    def _forgotten(self, call: ast.Call) -> bool:
        """Whether the type of an array does not matter: ``x.numpy().astype(np.float32)``, ``int(x.numpy()[0])``"""
        above = self.p.m.parent[call]
        while isinstance(above, ast.Subscript):
            above = self.p.m.parent[above]
        if isinstance(above, ast.Attribute):
            return above.attr == "astype" or above.attr in known.TYPE_FORGOTTEN
        return isinstance(above, ast.Call) and (
            last_name(above.func) in known.TYPE_FORGOTTEN_BY_FUNCTION or any(k.arg == "dtype" for k in above.keywords)
        )

    def _einsum(self, frame: Frame, given: list[Width]) -> Width:
        held = given[0]
        for one in given[1:]:
            held = Width(_same(held.old, one.old), _same(held.new, one.new))
        return Width(held.old, HALF) if frame.region and held.new in (HALF, FLOAT) else held

    def _to(self, call: ast.Call, given: list[Width]) -> Width:
        first = given[0]
        said = [*call.args, *(k.value for k in call.keywords if k.arg not in ("non_blocking", "copy"))]
        names = [str(one.value) if isinstance(one, ast.Constant) else last_name(one) for one in said]
        inserted = self.p.naming.twin(call) is None
        if any(one in ("float32", "float", "float64", "double", "FloatTensor") for one in names):
            return widths.put_in(first, FLOAT) if inserted else widths.turned(first, FLOAT)
        if all(one in _DEVICES or one.startswith(("cuda", "cpu")) or one == "True" for one in names):
            return first
        return ANYTHING

    def _pair(self, call: ast.Call, name: str, given: list[Width], method: bool) -> Width:
        several = len(given) > 1 or any(k.arg == "dim" for k in call.keywords)
        if name in ("max", "min") and not several:
            return given[0]
        if name in ("max", "min") and len(given) > 1 and given[1] != A_NUMBER:
            return promoted(given[0], given[1])
        return Width(items=((0, given[0]), (1, A_NUMBER)))

    # ------------------------------------------------------------ layers

    def layer(self, frame: Frame, call: ast.Call, args: list[Width]) -> Width | None:
        """What a layer of torch gives that is called here; None where it is none."""
        made = [obj for obj in self.v.of(call.func) if obj.kind == "call"]
        if not made or len(made) < len(self.v.of(call.func)):
            return None
        given = args[0] if args else ANYTHING
        results = [self.through(frame, call, obj.key, given) if isinstance(obj.key, ast.Call) else None for obj in made]
        return None if None in results else joined(one for one in results if one is not None)

    def through(self, frame: Frame, call: ast.Call, made: ast.Call, given: Width) -> Width | None:
        name = last_name(made.func)
        if name == "Sequential":
            held: Width | None = given
            for one in made.args:
                held = self.through(frame, call, one, held) if isinstance(one, ast.Call) and held is not None else None
            return held
        if name in _LAYERS_HALF:
            if given.new == HALF and not frame.region:
                self.say(call, "is a layer in float32 that is handed half, which is an error; Apex cast both")
            new = HALF if frame.region else FLOAT
            return Width(HALF if self.patched or given.old == HALF else widths.UNKNOWN, new)
        if name in _LAYERS_FLOAT:
            new = FLOAT if frame.region else given.new
            return Width(FLOAT if self.patched else given.old, new)
        if name in _LAYERS_AS_GIVEN:
            return given
        return None


def _same(one: str, other: str) -> str:
    return one if one == other else widths.UNKNOWN


def item_of(held: Width, index: ast.expr) -> Width:
    """``x[0]``, ``x["logits"]``, ``x[:, 0]``, ``x[mask]``"""
    if held.holds:
        if isinstance(index, ast.Constant):
            return held.item(index.value)
        return held if isinstance(index, ast.Slice) else held.element
    return ANYTHING if held.opaque and isinstance(index, ast.Constant) else held


def _has_dimensions(call: ast.Call) -> bool:
    match call.args:
        case [ast.Tuple(elts=[]) | ast.List(elts=[])] | []:
            return False
        case _:
            return True


def pythons(name: str, args: list[Width]) -> Width:
    """Functions of Python's own."""
    if not args:
        return many(NO_VALUE) if name in ("list", "dict", "set", "tuple", "deque") else ANYTHING
    first = args[0]
    match name:
        case "list" | "tuple" | "sorted" | "reversed" | "iter" | "tqdm" | "deepcopy":
            return first
        case "zip":
            return many(Width(items=tuple(enumerate(one.element for one in args))))
        case "enumerate":
            return many(Width(items=((0, A_NUMBER), (1, first.element))))
        case "next":
            return first.element
        case "sum":
            return first.element if first.holds else ANYTHING
        case _:
            return A_NUMBER if name in ("len", "int", "float", "round", "bool", "range") else ANYTHING

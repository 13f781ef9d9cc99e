"""What a function puts into a tensor, where torch asks for one type, of operations whose type autocast decides in
another way than O1 did: ``out[mask] = gate.softmax(-1)``.

Of the syntax of one file alone, as it also says which files belong to a program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..knowledge.host import HOST_MODULES
from ..knowledge.operations import (
    ATTRIBUTES,
    CREATE,
    FLOAT_NOT_AS_GIVEN,
    FLOAT_RESULTS,
    HALF_NOT_AS_GIVEN,
    HALF_NOT_FLOAT,
    HALF_NOT_FLOAT_LAYERS,
    INTEGER,
    KEEP,
    NATIVE_HALF,
    STORES,
    TYPE_FORGOTTEN,
    WIDENS,
)
from ..nodes import children, each_given, walk
from .names import called_name, last_name
from .text import parsed
from .usual_names import home

Function = ast.FunctionDef | ast.AsyncFunctionDef
Body = Function | ast.Module
_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_FUNCTIONAL = frozenset("F functional".split())
_CASTS = TYPE_FORGOTTEN | INTEGER | {"to", "type", "type_as", "cpu", "numpy", "item", "new_tensor"}
_DIFFERING = FLOAT_NOT_AS_GIVEN | HALF_NOT_FLOAT | HALF_NOT_AS_GIVEN | {*HALF_NOT_FLOAT_LAYERS}
_TABLES = frozenset("at loc iloc".split())  # of pandas
_MAPPINGS = frozenset("dict OrderedDict defaultdict list".split())
# Where what is put stands among the arguments, if not as the third: ``out.index_add_(0, index, source)``.
_PLACES = {"lerp_": 0, "index_put_": 1, "masked_scatter": 1, "masked_scatter_": 1}
_SOURCES = frozenset("src source values value end tensor".split())
# A file that has none of each has nothing to be looked at.
MAY_STORE = re.compile(
    rf"\.(?:{'|'.join(sorted(STORES))})\(|^[ \t]+[\w.]+\[(?:[^\n]*|[^\[\]=]{{0,200}})\][ \t]*=[^=]", re.M
)
MAY_DIFFER = re.compile(rf"\b(?:{'|'.join(sorted(_DIFFERING))})\b")


@dataclass(frozen=True)
class Known:
    """What is known of the names of a file: what a call of a function gives back, by the operation whose type it has;
    the attributes of its objects that hold layers of such an operation; and those that hold parameters."""

    given: Callable[[ast.Call], str | None]
    layers: Mapping[str, str]
    parameters: frozenset[str]


Taken = Callable[[Body], Mapping[str, str]]


def _nothing(function: Body) -> Mapping[str, str]:
    return {}


def stores_other_types(text: str) -> bool:
    """Whether a file puts a result of one of these operations into a tensor."""
    if not (MAY_STORE.search(text) and MAY_DIFFER.search(text)):
        return False
    tree = parsed(text)
    if tree is None:
        return False
    functions = [n for n in walk(tree) if isinstance(n, Function)]
    putting = [one for one in functions if any(map(_put, own(one)))]
    if not putting:
        return False
    back: dict[str, str] = {}

    def given(call: ast.Call) -> str | None:
        of_self = isinstance(call.func, ast.Attribute) and _is_self(call.func.value)
        return back.get(called_name(call)) if of_self or isinstance(call.func, ast.Name) else None

    known = Known(given, layers_of(tree), parameters_of(tree))
    for _ in range(2):  # helpers of helpers
        back.update({one.name: said for one in functions if (said := gives_back(one, known))})
        if not back:
            break
    return any(True for one in putting for _ in stored(one, known))


def layers_of(tree: ast.AST) -> dict[str, str]:
    """``act`` for ``self.act = nn.GELU()``, for what ends with one in a sequence of layers, for what a function of the
    file makes so, and for a copy of one."""
    makers = {one.name: said for one in walk(tree) if isinstance(one, Function) and (said := _makes(one)) is not None}
    found: dict[str, str] = {}
    for _ in range(2):  # copies of what is found first
        found.update({name: said for name, made in _kept(tree) if (said := _layer(made, makers, found)) is not None})
    return found


def _makes(function: Function) -> str | None:
    """The operation of the layer that a function gives back."""
    values = [n.value for n in own(function) if isinstance(n, ast.Return) and n.value is not None]
    return next((said for one in values if (said := _layer(one, {}, {})) is not None), None)


def parameters_of(tree: ast.AST) -> frozenset[str]:
    """The attributes that hold parameters and buffers of modules."""
    found = {name for name, made in _kept(tree) if called_name(made) == "Parameter"}
    for node in walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="register_buffer" | "register_parameter"), args=[name, *_]):
                found.update([name.value] if isinstance(name, ast.Constant) and isinstance(name.value, str) else [])
    return frozenset(found)


def _kept(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that an assignment sets, and what to."""
    for node in walk(tree):
        if isinstance(node, ast.Assign):
            for one, made in (pair for target in node.targets for pair in each_given(target, node.value)):
                if isinstance(one, ast.Attribute):
                    yield one.attr, made


def stored(function: Body, known: Known, taken: Taken = _nothing) -> Iterator[tuple[ast.AST, str]]:
    """What puts a result of one of these operations into a tensor, and the operation; ``taken`` says what is known of
    the function's parameters."""
    nodes = own(function)
    if any(map(_put, nodes)):
        here = Here(nodes, known, taken(function))
        for node in nodes:
            put = _put(node)
            operation = here.carries(put[1]) if put is not None else None
            if put is not None and operation is not None and here.asks(put[0], node, operation):
                yield node, operation


def gives_back(function: Function, known: Known) -> str | None:
    """The operation whose type a function's result has; of several results, the first one's."""
    nodes = own(function)
    values = [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]
    if not values:
        return None
    here = Here(nodes, known, {})
    return next((said for one in values if (said := here.carries(_first(one)))), None)


class Here:
    """The names of one function, and which operation each has the type of; ``taken`` are those of its parameters."""

    def __init__(self, nodes: list[ast.AST], known: Known, taken: Mapping[str, str]) -> None:
        self.known = known
        self.pairs = [pair for n in nodes if isinstance(n, ast.Assign) for pair in _pairs(n)]
        self.numbers = {name for n in nodes for name in _counting(n)}
        self.names: dict[str, tuple[str, int]] = {name: (operation, 0) for name, operation in taken.items()}
        for _ in range(3):  # names made of names
            before = len(self.names)
            for name, value in self.pairs:
                operation = self.carries(value)
                if operation is not None:
                    self.names.setdefault(name, (operation, value.lineno))
            if len(self.names) == before:
                break

    def asks(self, target: ast.expr, node: ast.AST, operation: str) -> bool:
        """Whether torch asks for the type of what is changed: it copies into what an integer or a slice picks."""
        if isinstance(node, ast.Assign):
            assert isinstance(target, ast.Subscript)
            if self._plain(target.slice) or _is_text(target.slice):
                return False
            target = target.value
        if not isinstance(target, ast.Name):
            return last_name(target) not in _TABLES
        made = [value for name, value in self.pairs if name == target.id]
        if made and all(self._follows(one, operation) for one in made):
            return False  # it has the type of what is put there
        return not any(_holds_anything(one) for one in made)

    def _follows(self, made: ast.expr, operation: str) -> bool:
        """Whether a tensor is of the type of what is put there: made like it; or float32, where the operation left the
        type as it was given, which had to be float32 then."""
        if self.carries(made) is not None:
            return True
        if not isinstance(made, ast.Call) or operation not in FLOAT_NOT_AS_GIVEN:
            return False
        return called_name(made) in CREATE and _of_torch(made) and not any(k.arg == "dtype" for k in made.keywords)

    def _plain(self, index: ast.expr) -> bool:
        match index:
            case ast.Tuple(elts=elts):
                return all(map(self._plain, elts))
            case ast.Slice() | ast.Constant() | ast.JoinedStr():
                return True
            case ast.Name(id=name):
                return name in self.numbers
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._plain(operand)
            case ast.BinOp(left=left, right=right):
                return self._plain(left) and self._plain(right)
            case ast.Call():
                return called_name(index) in ("len", "int", "str", "item", "size", "format")
        return False

    def carries(self, node: ast.AST) -> str | None:
        """The operation whose type an expression has; None where something else decides it."""
        match node:
            case ast.Name(id=name):
                operation, line = self.names.get(name, (None, 0))
                return None if operation is None or self._cast_since(name, line, node.lineno) else operation
            case ast.Compare() | ast.Lambda() | ast.Constant() | ast.Dict() | ast.BinOp(op=ast.MatMult()):
                return None
            case ast.Attribute(attr=attr) if attr in ATTRIBUTES and attr != "dtype":
                return None
            case ast.Subscript(value=value):
                return self.carries(value)
            case ast.Call():
                return self._called(node)
        return next((said for child in children(node) if (said := self.carries(child))), None)

    def _called(self, node: ast.Call) -> str | None:
        func, name = node.func, called_name(node)
        owner = func.value if isinstance(func, ast.Attribute) else None
        if owner is not None and last_name(owner) in HOST_MODULES:
            return None
        of_self = owner is not None and _is_self(owner)
        if of_self and name in self.known.layers:
            return self.known.layers[name]
        if name in HALF_NOT_AS_GIVEN and owner is not None:
            return name if any(self._parameter(one) or _widened(one) for one in node.args) else None
        if any(map(_widened, node.args)) or any(k.arg == "dtype" and _single(k.value) for k in node.keywords):
            return None
        said = self.known.given(node)
        if said is not None:
            return said
        if name in FLOAT_NOT_AS_GIVEN and owner is not None and last_name(owner) not in _FUNCTIONAL:
            return None if _widened(owner) else name
        if name in HALF_NOT_FLOAT and owner is not None:
            return None if _widened(owner) else name
        if of_self or name in _CASTS or name in NATIVE_HALF or name in FLOAT_RESULTS:
            made = [k.value for k in node.keywords if k.arg == "dtype"] if name in CREATE else []
            return next((said for one in made if (said := self.carries(one))), None)
        return next((said for child in children(node) if (said := self.carries(child))), None)

    def _parameter(self, node: ast.expr) -> bool:
        """Whether an operand is a parameter, which is float32: then all were, or O1 would have raised."""
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in KEEP:
                return self._parameter(value)
            case ast.Subscript(value=value):
                return self._parameter(value)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                return attr in self.known.parameters
        return False

    def _cast_since(self, name: str, since: int, until: int) -> bool:
        """Whether a name was made of itself in another type: ``gate = gate.to(h.dtype)``."""
        return any(
            one == name
            and since < value.lineno < until
            and any(isinstance(n, ast.Name) and n.id == name for n in walk(value))
            and any(isinstance(n, ast.Call) and called_name(n) in _CASTS for n in walk(value))
            for one, value in self.pairs
        )


def own(function: Body) -> list[ast.AST]:
    """The nodes of a function without those of functions and classes in it, in order."""
    found: list[ast.AST] = []
    todo: list[ast.AST] = function.body[::-1]  # type: ignore[assignment]
    while todo:
        node = todo.pop()
        if not isinstance(node, _APART):
            found.append(node)
            todo += children(node)[::-1]
    return found


def _is_text(index: ast.expr) -> bool:
    """Whether an index is a text, or a tuple that has one: ``out["disp", scale]``. No tensor takes it."""
    match index:
        case ast.Tuple(elts=elts):
            return any(map(_is_text, elts))
        case ast.Constant(value=str()) | ast.JoinedStr() | ast.Call(func=ast.Name(id="str")):
            return True
        case ast.BinOp(left=left, right=right, op=ast.Add()):
            return _is_text(left) or _is_text(right)
        case ast.BinOp(left=text, op=ast.Mod()) | ast.Call(func=ast.Attribute(value=text, attr="format")):
            return _is_text(text)
        case _:
            return False


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _put(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """What a statement or call changes, and what it puts there."""
    match node:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, value
        case ast.Call(func=ast.Attribute(value=target, attr=attr)) if attr in STORES:
            at = _PLACES.get(attr, 2)
            named = [k.value for k in node.keywords if k.arg in _SOURCES]
            sources = [*node.args[at : at + 1], *named]
            return (target, sources[0]) if sources else None
    return None


def _pairs(stmt: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment gives what; of several results of one call, the first: values, then indices."""
    for target in stmt.targets:
        for one, value in each_given(target, stmt.value):
            first = _first(one)
            if isinstance(first, ast.Name):
                yield first.id, value


def _counting(node: ast.AST) -> Iterator[str]:
    """The names of numbers, and of keys, that an index may be."""
    match node:
        case ast.For(target=target, iter=ast.Call() as source) | ast.comprehension(
            target=target, iter=ast.Call() as source
        ) if called_name(source) in ("range", "enumerate", "items", "keys"):
            first = _first(target)
            yield from (first.id,) if isinstance(first, ast.Name) else ()
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
            yield name


def _first(node: ast.expr) -> ast.expr:
    return node.elts[0] if isinstance(node, ast.Tuple) and node.elts else node


def _layer(made: ast.expr, makers: Mapping[str, str], layers: Mapping[str, str]) -> str | None:
    """The operation of a layer that is made here, or of the last one of a sequence: ``makers`` are functions that make
    one, ``layers`` the attributes that hold one."""
    if isinstance(made, ast.IfExp):
        return _layer(made.body, makers, layers) or _layer(made.orelse, makers, layers)
    if not isinstance(made, ast.Call):
        return None
    name = called_name(made)
    if name == "Sequential" and made.args:
        return _layer(made.args[-1], makers, layers)
    if name == "deepcopy" and made.args and isinstance(made.args[0], ast.Attribute):
        return layers.get(made.args[0].attr)
    return HALF_NOT_FLOAT_LAYERS.get(name) or (makers.get(name) if isinstance(made.func, ast.Name) else None)


def _holds_anything(made: ast.expr) -> bool:
    """Whether this is no tensor, but a list or dictionary."""
    if isinstance(made, ast.BinOp):
        return _holds_anything(made.left)
    kinds = ast.Dict | ast.List | ast.DictComp | ast.ListComp
    return isinstance(made, kinds) or (isinstance(made, ast.Call) and called_name(made) in _MAPPINGS)


def _widened(node: ast.expr) -> bool:
    """Whether a tensor is made float32 as it stands here."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in WIDENS or (node.func.attr == "to" and any(map(_single, node.args))):
        return True
    return node.func.attr in KEEP and _widened(node.func.value)


def _single(node: ast.expr) -> bool:
    return last_name(node) in ("float", "float32", "float64", "double")


def _of_torch(call: ast.Call) -> bool:
    return home(call.func) in ("torch", "th")

"""A class that is written out holds what its program uses: a template of `migrate.parts.written`, for what is known.

Options that have one value are no parameters, conditions that they decide are gone, and so are methods and attributes
that nobody asks for. Each step looks for places that can go in the text as it is by then, until there are none more;
what stays keeps its lines and comments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ..nodes import walk

WIDTH = 100  # of the lines of a class that is written out
_ASKED_BY_ALL = ("__init__", "step")
_Edit = tuple[int, int, str]


@dataclass(frozen=True)
class Known:
    """What a program is known to do with a class.

    ``values`` are parameters of its constructor that have one value in all calls (of a dictionary its keys), of which
    ``gone`` are no parameters any more, and decide conditions; ``keys`` are those that no group of parameters has
    another value for. ``idle`` are parameters of its methods that no call gives. ``asked`` says of a method or an
    attribute whether something may ask for it (``name=``: set it), ``grouped`` of a key whether something may ask
    groups for it."""

    values: Mapping[str, object] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    idle: frozenset[tuple[str, str]] = frozenset()
    empty: frozenset[str] = frozenset()  # what is asked of the constructor's argument, and is empty in any case
    asked: Callable[[str], bool] = lambda name: True
    grouped: Callable[[str], bool] = lambda name: True
    said: str = "."  # how what it says of itself ends


class _Open:
    """The value of what is not known."""


_OPEN = _Open()


def specialised(source: str, known: Known) -> str:
    """The text of one class, without what its program does not use."""
    source = source.replace('."""', f'{known.said}"""', 1)
    while True:
        text = _Text(source, known)
        edits = next((found for step in text.steps() if (found := list(step))), None)
        if edits is None:
            return source
        source = _edited(source, edits)


def _edited(source: str, edits: list[_Edit]) -> str:
    end = 0
    parts = []
    for begin, stop, text in sorted(edits, key=lambda one: (one[0], -one[1])):
        if begin >= end:  # not within what another replaced
            parts += [source[end:begin], text]
            end = stop
    return "".join([*parts, source[end:]])


class _Text:
    """One state of the text: what can go from it."""

    def __init__(self, source: str, known: Known) -> None:
        self.source, self.known = source, known
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        tree = ast.parse(source)
        self.cls = next(stmt for stmt in tree.body if isinstance(stmt, ast.ClassDef))
        self.methods = [stmt for stmt in self.cls.body if isinstance(stmt, ast.FunctionDef)]
        self.constants = self._constants()

    def steps(self) -> Iterator[Iterator[_Edit]]:
        """What can go, each kind once those before it are gone."""
        yield self._folded()
        yield self._replaced()
        yield self._parameters()
        yield self._unasked()
        yield self._unread()
        yield self._reflowed()

    # What is known of names, attributes and keys.

    def _constants(self) -> dict[str, object]:
        """The attributes that only ever get one value, which is known."""
        given: dict[str, list[object]] = {}
        for method in self.methods:
            for node in walk(method):
                if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and _own(node):
                    given.setdefault(node.attr, [])
            for node in walk(method):
                match node:
                    case ast.Assign(targets=[ast.Attribute() as target], value=value) if _own(target):
                        given[target.attr].append(self._value(method, value))
                    case ast.Assign(targets=targets):
                        for one in [n for target in targets for n in walk(target)]:
                            if isinstance(one, ast.Attribute) and _own(one):
                                given[one.attr].append(_OPEN)
                    case ast.AugAssign(target=ast.Attribute() as target) if _own(target):
                        given[target.attr].append(_OPEN)
        return {
            name: values[0]
            for name, values in given.items()
            if values and _OPEN not in values and all(one is values[0] or one == values[0] for one in values)
            and len({type(one) for one in values}) == 1 and not self.known.asked(f"{name}=")
        }

    def _value(self, method: ast.FunctionDef, expr: ast.expr) -> object:
        """The value of an expression, as far as it is known. A number that is still a parameter may be another one
        tomorrow."""
        match expr:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if method.name == "__init__" and name in self.known.values:
                held = self.known.values[name]
                return held if name in self.known.gone or isinstance(held, frozenset) else _OPEN
            case ast.Name(id=name) if (method.name, name) in self.known.idle:
                return self._default(method, name)
            case ast.Attribute(attr=name) if _own(expr):
                return getattr(self, "constants", {}).get(name, _OPEN)
            case ast.Subscript(slice=ast.Constant(value=str(key))) if _of_groups(expr) and key in self.known.keys:
                return self.known.values[key] if key in self.known.gone else _OPEN
            case ast.Compare(left=ast.Constant(value=str(key)), ops=[ast.In()], comparators=[ast.Name(id=name)]):
                keys = self.known.values.get(name)
                return key in keys if method.name == "__init__" and isinstance(keys, frozenset) else _OPEN
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                values = [self._value(method, one) for one in (left, right)]
                plain = all(isinstance(one, (int, float)) for one in values)
                return values[0] ** values[1] if plain else _OPEN  # type: ignore[operator]
            case _:
                return _OPEN

    def _truth(self, method: ast.FunctionDef, test: ast.expr) -> bool | None:
        """Whether a condition holds, where that is known."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self._truth(method, operand)
                return None if truth is None else not truth
            case ast.BoolOp(op=op, values=values):
                truths = [self._truth(method, one) for one in values]
                decides = isinstance(op, ast.Or)
                if decides in truths:
                    return decides
                return None if None in truths else not decides
            case ast.Compare(left=left, ops=[op], comparators=[right]) if not isinstance(op, ast.In):
                sides = [self._value(method, one) for one in (left, right)]
                return None if _OPEN in sides else _compared(op, *sides)
            case _ if self._src(test) in self.known.empty:
                return False
            case _:
                value = self._value(method, test)
                return None if value is _OPEN else bool(value)

    def _default(self, method: ast.FunctionDef, name: str) -> object:
        args = method.args.args
        at = [arg.arg for arg in args].index(name) - len(args)
        default = method.args.defaults[at]
        return ast.literal_eval(default)

    # What goes.

    def _folded(self) -> Iterator[_Edit]:
        """Conditions that are decided."""
        for method in self.methods:
            for node in walk(method):
                match node:
                    case ast.If(test=test):
                        truth = self._truth(method, test)
                        if truth is not None:
                            yield self._arm(node, node.body if truth else node.orelse)
                        elif isinstance(test, ast.BoolOp):
                            yield from self._shorter(method, test)
                    case ast.IfExp(test=test) if (truth := self._truth(method, test)) is not None:
                        yield self._instead(node, self._src(node.body if truth else node.orelse))

    def _shorter(self, method: ast.FunctionDef, test: ast.BoolOp) -> Iterator[_Edit]:
        """A condition without the parts of it that hold in any case."""
        left = [one for one in test.values if self._truth(method, one) is None]
        if len(left) < len(test.values):
            word = " and " if isinstance(test.op, ast.And) else " or "
            yield self._instead(test, word.join(self._src(one) for one in left))

    def _arm(self, node: ast.If, arm: list[ast.stmt]) -> _Edit:
        """An ``if`` that is one of its arms; an ``elif`` is the ``else`` of the one before, or goes."""
        begin, end = self.starts[node.lineno - 1], self.starts[(node.end_lineno or node.lineno)]
        elif_ = self.source[self._at(node) :].startswith("elif")
        if not arm:
            return begin, end, ""
        lines = self.lines[arm[0].lineno - 1 : arm[-1].end_lineno]
        nested = len(arm) == 1 and isinstance(arm[0], ast.If) and arm is node.orelse
        if nested and self.source[self._at(arm[0]) :].startswith("elif"):  # takes the place of the one before
            first = lines[0] if elif_ else lines[0].replace("elif", "if", 1)
            return begin, end, "".join([first, *lines[1:]])
        if elif_:
            return begin, end, "".join([" " * node.col_offset, "else:\n", *lines])
        less = arm[0].col_offset - node.col_offset
        return begin, end, "".join(line[less:] if line.strip() else line for line in lines)

    def _replaced(self) -> Iterator[_Edit]:
        """Names and attributes of one value, where they stand for nothing but that."""
        for method in self.methods:
            stores = [n.id for n in walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
            none = {
                stmt.targets[0].id
                for stmt in walk(method)
                if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name)
                if isinstance(stmt.value, ast.Constant) and stmt.value.value is None
                if stores.count(stmt.targets[0].id) == 1
            }
            for node in walk(method):
                match node:
                    case ast.Call(keywords=[ast.keyword(arg=name, value=ast.Name(id=value))]) if (
                        name == value and (method.name, name) in self.known.idle
                    ):  # what it is called with without one, too
                        end = self._end(node.args[-1] if node.args else node.func)
                        yield (end if node.args else end + 1), self._end(node) - 1, ""
                    case ast.Name(id=name, ctx=ast.Load()) if name in none:
                        yield self._instead(node, "None")
                    case ast.Name(id=name, ctx=ast.Load()) if method.name == "__init__" and name in self.known.gone:
                        yield self._instead(node, spelled(self.known.values[name]))
                    case ast.Name(id=name, ctx=ast.Load()) if (method.name, name) in self.known.idle:
                        yield self._instead(node, spelled(self._default(method, name)))
                    case ast.Attribute(attr=name, ctx=ast.Load()) if _own(node) and name in self.constants:
                        yield self._instead(node, spelled(self.constants[name]))

    def _parameters(self) -> Iterator[_Edit]:
        """Parameters that nobody gives; keywords that only hand on what their function takes by itself."""
        for method in self.methods:
            args = method.args
            names = {arg.arg for arg in args.args}
            gone = names & self.known.gone if method.name == "__init__" else set[str]()
            gone |= {name for name in names if (method.name, name) in self.known.idle}
            if not gone:
                continue
            bare = len(args.args) - len(args.defaults)
            words = []
            for index, arg in enumerate(args.args):
                default = f"={self._src(args.defaults[index - bare])}" if index >= bare else ""
                if arg.arg not in gone:
                    words.append(f"{arg.arg}{default}")
            first, last = args.args[0], (args.defaults or args.args)[-1]
            begin, end = self.source.rindex("(", 0, self._at(first)) + 1, self._end(last)
            close = self.source.index(")", end)
            yield begin, close, ", ".join(words)

    def _unasked(self) -> Iterator[_Edit]:
        """Methods, attributes and keys of groups that nobody asks for."""
        attributes = [n for n in walk(self.cls) if isinstance(n, ast.Attribute) and _own(n)]
        read = {n.attr for n in attributes if isinstance(n.ctx, ast.Load)}
        for method in self.methods:
            setter = any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in method.decorator_list)
            used = self.known.asked(f"{method.name}=") or (
                not setter and (method.name in read or self.known.asked(method.name))
            )
            if method.name not in _ASKED_BY_ALL and not used:
                yield self._without(method)
        for stmt in [n for n in walk(self.cls) if isinstance(n, (ast.Assign, ast.AugAssign))]:
            target = stmt.targets[0] if isinstance(stmt, ast.Assign) else stmt.target
            match target:
                case ast.Attribute(attr=name) if _own(target) and name not in read and not self.known.asked(name):
                    yield self._line(stmt)
                case ast.Subscript(slice=ast.Constant(value=str(key))) if _of_groups(target):
                    within = [n for n in self._keys(key) if not _inside(n, stmt)]
                    if not within and not self.known.grouped(key):
                        yield self._line(stmt)
        for call in [n for n in walk(self.cls) if isinstance(n, ast.Call) and _named(n.func, "dict")]:
            kept = [
                k for k in call.keywords
                if k.arg not in self.known.keys or self._keys(k.arg or "") or self.known.grouped(k.arg or "")
            ]
            if len(kept) < len(call.keywords):
                yield self._instead(call, f"dict({', '.join(self._src(one) for one in kept)})")

    def _keys(self, key: str) -> list[ast.Subscript]:
        """Where groups are asked for a key."""
        return [
            n
            for n in walk(self.cls)
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load) and _of_groups(n) and _is(n.slice, key)
        ]

    def _unread(self) -> Iterator[_Edit]:
        """Variables that are not read."""
        for method in self.methods:
            read = {n.id for n in walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            for stmt in [n for n in walk(method) if isinstance(n, ast.Assign)]:
                target = stmt.targets[0]
                if isinstance(target, ast.Name) and target.id not in read:
                    yield self._line(stmt)
            last = method.body[-1]
            match last:
                case ast.Return(value=ast.Constant(value=None)):
                    yield self._line(last)

    def _reflowed(self) -> Iterator[_Edit]:
        """Brackets over several lines, or too long a line, as they fit."""
        for node in walk(self.cls):
            if isinstance(node, ast.FunctionDef):
                last = node.returns or (node.args.defaults or node.args.args)[-1]
                begin = self.source.index("(", self._at(node))
                end = self.source.index(")", self._end(last)) + 1
            elif isinstance(node, ast.Call) and (node.args or node.keywords):
                begin, end = self._end(node.func), self._end(node)
            else:
                continue
            flat = _flat(self.source[begin:end])
            new = self._fitting(begin, end, flat, node)
            if new != self.source[begin:end]:
                yield begin, end, new

    def _fitting(self, begin: int, end: int, flat: str, node: ast.FunctionDef | ast.Call) -> str:
        line = self.source.rindex("\n", 0, begin) + 1
        behind = self.source[end : (self.source + "\n").index("\n", end)]
        ahead = self.source[line:begin]
        now = self.source[begin:end]
        if len(ahead) + len(flat) + len(behind) <= WIDTH:
            return flat
        if "\n" in now:
            return now
        indent = " " * (len(ahead) - len(ahead.lstrip()))
        inner = flat[1:-1]
        if len(indent) + 4 + len(inner) <= WIDTH:
            return f"(\n{indent}    {inner}\n{indent})"
        parts: list[str] = []
        if isinstance(node, ast.FunctionDef):
            bare = len(node.args.args) - len(node.args.defaults)
            for index, arg in enumerate(node.args.args):
                default = f"={self._src(node.args.defaults[index - bare])}" if index >= bare else ""
                parts.append(f"{arg.arg}{default}")
        else:
            parts = [_flat(self._src(one)) for one in (*node.args, *node.keywords)]
        return "(\n" + "".join(f"{indent}    {one},\n" for one in parts) + f"{indent})"

    # Places in the text.

    def _at(self, node: ast.AST) -> int:
        return self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def _end(self, node: ast.AST) -> int:
        return self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column  # templates are plain ASCII

    def _src(self, node: ast.AST) -> str:
        return self.source[self._at(node) : self._end(node)]

    def _instead(self, node: ast.AST, text: str) -> _Edit:
        return self._at(node), self._end(node), text

    def _line(self, stmt: ast.stmt) -> _Edit:
        """A statement that goes, with its lines; the block around it too where it was alone in there."""
        begin, end = self.starts[stmt.lineno - 1], self.starts[stmt.end_lineno or stmt.lineno]
        alone = (n for n in walk(self.cls) if [stmt] in (getattr(n, "body", None), getattr(n, "orelse", None)))
        around = next(alone, None)
        match around:
            case ast.If(orelse=[]):
                return self._line(around)
            case ast.If(body=[*_, last], orelse=[one]) if one is stmt:  # with the ``else:``
                return self.starts[last.end_lineno or last.lineno], end, ""
            case ast.AST():
                return self._instead(stmt, "pass")
            case _:
                return begin, end, ""

    def _without(self, method: ast.FunctionDef) -> _Edit:
        """A method that goes, with the blank line above it."""
        first = min([method.lineno, *(one.lineno for one in method.decorator_list)])
        while not self.lines[first - 2].strip():
            first -= 1
        return self.starts[first - 1], self.starts[method.end_lineno or method.lineno], ""


def spelled(value: object) -> str:
    """A constant as a person writes it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(spelled, value))})"
    if isinstance(value, str):
        return '"' + value + '"'
    if isinstance(value, float) and value >= 4096 and (power := value.hex())[:3] == "0x1" and set(power[4:-4]) == {"0"}:
        return f"2.0**{int(power.rpartition('p')[2])}"
    if isinstance(value, float) and 0 < value < 0.01:
        return re.sub(r"e-0(\d)", r"e-\1", f"{value:e}".replace("000000e", "e").replace(".e", "e"))
    return repr(value)


def _flat(text: str) -> str:
    joined = re.sub(r"\s*\n\s*", " ", text)
    return re.sub(r",? \)$", ")", re.sub(r"\( ", "(", joined))


def _own(node: ast.Attribute) -> bool:
    return _named(node.value, "self")


def _named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is(node: ast.expr, value: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _of_groups(node: ast.Subscript) -> bool:
    """Whether something is an entry of a group of parameters, or of what all have by default."""
    owner = node.value
    return _named(owner, "group") or (isinstance(owner, ast.Attribute) and owner.attr == "defaults")


def _inside(node: ast.AST, outer: ast.AST) -> bool:
    return any(node is one for one in walk(outer))


def _compared(op: ast.cmpop, left: object, right: object) -> bool | None:
    match op:
        case ast.Is():
            return left is right
        case ast.IsNot():
            return left is not right
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
        case ast.Gt() if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            return left > right
        case _:
            return None

"""What answers for an object of the program's own class where no call is written: ``if run:`` runs ``__bool__``, and
``run == 1`` ``__eq__``; and what a decorator may have put in a function's place."""

from __future__ import annotations

import ast

from ...facts.module import Module
from ...flow.values import Values
from ...knowledge.words import Patterns
from .syntax import FUNCTIONS, last_name

_TRUTH = ("__bool__", "__len__")
_ROUNDS = ("__iter__", "__next__", "__getitem__", "__len__")
_COMPARED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_SHOWN = ("__str__", "__repr__", "__format__")
_COUNTED = ("__int__", "__float__", "__index__", "__len__", "__hash__", "__abs__", "__round__")
_CALLED = Patterns(
    "bool len int float str repr format hash abs round list tuple set frozenset dict sorted any all sum min max next "
    "iter enumerate zip map filter",
    exact=True,
)
_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.MatMult: "matmul",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
}  # fmt: skip


def answering(m: Module, v: Values, expr: ast.AST) -> set[str]:
    """The results that the value of an expression hangs on by itself, as ``__eq__()``."""
    found = _by_its_kind(v, expr)
    if isinstance(expr, (ast.Name, ast.Attribute, ast.Call)) and _is_asked(m, expr):
        found |= _of(v, expr, *_TRUTH)
    return found


def _by_its_kind(v: Values, expr: ast.AST) -> set[str]:
    match expr:
        case ast.Compare(left=left, ops=ops, comparators=others):
            found = set[str]()
            for one, op, other in zip((left, *others), ops, others, strict=False):
                if isinstance(op, (ast.In, ast.NotIn)):
                    found |= _of(v, other, "__contains__", *_ROUNDS)
                elif not isinstance(op, (ast.Is, ast.IsNot)):
                    found |= _of(v, one, *_COMPARED) | _of(v, other, *_COMPARED)
            return found
        case ast.UnaryOp(op=op, operand=inner) if type(op) in _OPERATORS:
            return _of(v, inner, f"__{_OPERATORS[type(op)]}__")
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _OPERATORS:
            word = _OPERATORS[type(op)]
            return _of(v, left, f"__{word}__") | _of(v, right, f"__r{word}__")
        case ast.FormattedValue(value=inner):
            return _of(v, inner, *_SHOWN)
        case ast.Call(func=func, args=args):
            given = _decorating(v, expr) | _made(v, func)
            if isinstance(func, ast.Name) and _CALLED.fit(func.id):
                for one in args:
                    given |= _of(v, one, *_TRUTH, *_ROUNDS, *_SHOWN, *_COUNTED)
            return given
        case _:
            return set()


def _is_asked(m: Module, expr: ast.AST) -> bool:
    """Whether an expression is a condition, or a part of one."""
    above = m.parent.get(expr)
    match above:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test is expr
        case ast.comprehension(ifs=tests):
            return expr in tests
        case _:
            return isinstance(above, ast.BoolOp) or (isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not))


def entered(v: Values, context: ast.expr) -> set[str]:
    """What the name behind `as` hangs on."""
    return _of(v, context, "__enter__", "__aenter__")


def _of(v: Values, expr: ast.AST, *methods: str) -> set[str]:
    """Those of the methods that the objects have which an expression may hold."""
    found = set[str]()
    for obj in v.of(expr):
        if obj.kind == "instance" and isinstance(obj.key, ast.ClassDef):
            found |= {f"{name}()" for name in methods if v.has_method(obj.key, name)}
    return found


def _made(v: Values, func: ast.expr) -> set[str]:
    classes = (obj.key for obj in v.of(func) if obj.kind == "class" and isinstance(obj.key, ast.ClassDef))
    return {"__new__()" for cls in classes if v.has_method(cls, "__new__")}


def _decorating(v: Values, call: ast.Call) -> set[str]:
    """The results of the decorators of what a call may run."""
    return {name for one in v.callees(call) for name in decorated(one)}


def decorated(function: ast.AST) -> set[str]:
    """The results of a function's decorators, and what a decorator that was called gave calls."""
    if not isinstance(function, FUNCTIONS) or isinstance(function, ast.Lambda):
        return set()
    return {f"{last_name(one.func if isinstance(one, ast.Call) else one)}()" for one in function.decorator_list}

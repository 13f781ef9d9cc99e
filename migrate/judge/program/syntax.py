"""Small questions about a piece of syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...facts.module import Module
from ...facts.scaler_names import SCALERS
from ...knowledge.models import MAPPING, OPTIONS
from ...nodes import walk
from ..names import ASKS, NOT_ANY

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
EXITS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
YIELDS = (ast.Yield, ast.YieldFrom)
Said = Callable[[ast.Name], str]
_LOOKING = frozenset({"float", "print", "to_python_float"})
# Functions that go through all that they are handed before they give anything back.
_GO_THROUGH = frozenset("list tuple set sum max min sorted any all deque".split())


def last_name(func: ast.AST) -> str:
    """The last part of a dotted name."""
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def plain(name: ast.Name) -> str:
    return name.id


def names_in(node: ast.AST, said: Said = plain) -> set[str]:
    """Names (as ``said``), attributes and keys in a piece of code, and the functions it calls, as ``f()``."""
    found: set[str] = set()
    for one in walk(node):
        match one:
            case ast.Name():
                found.add(said(one))
            case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
                found.add(name)
            case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()]):
                found.add(name)  # `"fp16" in config` asks about that key
            case ast.Call(func=func):
                found.add(last_name(func) + "()")
                found |= asked_for(one)
    return found


def asked_for(call: ast.Call) -> set[str]:
    """The attribute or key that a call reads by its name: ``getattr(args, "fp16")``, ``config.get("fp16")``,
    ``os.getenv("FP16")``."""
    match call:
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return {name}
        case ast.Call(
            func=ast.Attribute(attr="get" | "pop" | "setdefault" | "getenv"), args=[ast.Constant(value=str(name)), *_]
        ):
            return {name}
        case _:
            return set()


def stored_names(target: ast.AST, said: Said = plain) -> set[str]:
    """The names by which is read what a target is given: of ``a.b`` only ``b``, as ``a`` stays what it is."""
    match target:
        case ast.Attribute(attr=name):
            return {name}
        case ast.Subscript(value=base):
            return stored_names(base, said) | (names_in(target, said) - names_in(base, said))
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return set[str]().union(*(stored_names(one, said) for one in elts))
        case ast.Starred(value=inner):
            return stored_names(inner, said)
        case _:
            return names_in(target, said)


def generator_call(expr: ast.expr) -> ast.Call | None:
    """The call of a generator under ``enumerate``, ``tqdm`` and the like."""
    while isinstance(expr, ast.Call):
        if last_name(expr.func) in ("enumerate", "tqdm", "iter") and expr.args:
            expr = expr.args[0]
        else:
            return expr
    return None


def reads_to_the_end(call: ast.Call) -> bool:
    """Whether a call goes through all that it is handed before it comes back: ``list(train(…))``."""
    return isinstance(call.func, ast.Name) and call.func.id in _READS_ALL


_READS_ALL = frozenset("list tuple set dict sorted sum max min".split())


def makes_scaler(call: ast.Call) -> bool:
    """Whether a call makes a GradScaler; one by a name of the file's own is none yet (a known gap)."""
    return last_name(call.func) in SCALERS


def asks_if_enabled(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "is_enabled"


def around(m: Module, node: ast.AST) -> ast.AST:
    """The function or lambda in which a node runs, or the module."""
    scope = m.scope(node)
    while isinstance(scope.node, ast.ClassDef) and scope.parent is not None:
        scope = scope.parent
    return scope.node


# What is set where it is not written which attribute or key, and which name of a file.
ANY, ANY_OF_FILES = "*", "**"


def factors(reader: ast.AST) -> list[ast.Name]:
    """The names by which something is multiplied or divided in a reader of gradients: one may be their scale."""
    return [
        n.right
        for n in walk(reader)
        if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Mult, ast.Div)) and isinstance(n.right, ast.Name)
    ]


def divides(reader: ast.AST) -> bool:
    """Whether a reader divides each gradient that it reads by the loss scale, ``p.grad / scaler.get_scale()``, or
    multiplies a threshold with it: ``clip_grad_norm_(parameters, bound * scaler.get_scale())``."""
    made_up = [n for n in walk(reader) if isinstance(n, ast.BinOp) and _asks_scale(n.right)]
    divided = {n for one in made_up if isinstance(one.op, ast.Div) for n in walk(one.left)}
    grads = [n for n in walk(reader) if isinstance(n, ast.Attribute) and n.attr == "grad"]
    bounds = any(isinstance(one.op, ast.Mult) for one in made_up)
    return bool(made_up) and (divided.issuperset(grads) if grads else bounds)


def shows(user: ast.AST) -> bool:
    """Whether what uses a tensor looks at its value: ``loss.item()``, ``float(loss)``, a text made of it."""
    if isinstance(user, ast.Attribute):
        return user.attr in ("item", "detach", "data", "cpu", "tolist", "numpy")
    return isinstance(user, ast.FormattedValue) or (isinstance(user, ast.Call) and last_name(user.func) in _LOOKING)


def _asks_scale(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Call) and last_name(expr.func) == "get_scale"


def goes_on(m: Module, node: ast.AST) -> bool:
    """Whether the function goes on where an exception raised here is no error of Python's own."""
    return any(
        not isinstance(handler.body[-1], ast.Raise) and (handler.type is None or _catches(handler.type))
        for stmt in m.spine(node)
        if isinstance(stmt, ast.Try) and any(m.inside(node, one) for one in stmt.body)
        for handler in stmt.handlers
    )


def _catches(types: ast.expr) -> bool:
    names = {last_name(one) for one in (types.elts if isinstance(types, ast.Tuple) else [types])}
    return not names <= NOT_ANY


def tried(m: Module, node: ast.AST) -> bool:
    """Whether an exception raised here is looked at in the same function."""
    return any(hasattr(s, "handlers") for s in m.spine(node))


def set_by_name(node: ast.AST) -> set[str]:
    """The attributes and keys that a node gives something without an assignment to them: by ``setattr``, by way of
    ``vars(args)`` or ``args.__dict__``, by ``cfg.update(…)``; `ANY` where it is not written which, and `ANY_OF_FILES`
    where that may be a name of a file."""
    found = _set_by_name(node)
    return found | {ANY_OF_FILES} if ANY in found and _of_a_file(node) else found


def _of_a_file(node: ast.AST) -> bool:
    """Whether what is set by its name may be a name of a file: the owner is a module, or is called as one may be."""
    match node:
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, *_]):
            pass
        case ast.Call(func=ast.Attribute(value=owner)) | ast.Subscript(value=owner):
            pass
        case _:
            return True
    match owner:
        case ast.Attribute(value=inner, attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[inner]):
            owner = inner
        case _:
            pass
    plain = isinstance(owner, (ast.Name, ast.Attribute)) and last_name(owner) not in OPTIONS
    return not plain or last_name(owner).endswith(("module", "mod"))


def _set_by_name(node: ast.AST) -> set[str]:
    match node:
        case ast.Call(func=ast.Name(id="setattr"), args=[_, name, _]):
            return _written(name)
        case ast.Call(func=ast.Attribute(value=owner, attr="update"), args=args, keywords=keywords):
            options = _of_attributes(owner) or last_name(owner) in OPTIONS  # a meter's `update(**losses)` is its own
            named = {k.arg or ANY for k in keywords if k.arg or options}
            for arg in args:
                match arg:
                    case ast.Dict(keys=keys):
                        named |= {name for key in keys for name in (_written(key) if key is not None else {ANY})}
                    case ast.Call(func=ast.Name(id="dict"), args=[], keywords=inner):
                        named |= {k.arg or ANY for k in inner}
                    case _ if options:
                        named.add(ANY)
            return named
        case ast.Subscript(value=owner, slice=key, ctx=ast.Store()) if _of_attributes(owner):
            return _written(key)
        case _:
            return set()


def _written(name: ast.expr) -> set[str]:
    return {name.value} if isinstance(name, ast.Constant) and isinstance(name.value, str) else {ANY}


def _of_attributes(node: ast.expr) -> bool:
    """Whether an expression is the dictionary of an object's attributes."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__"
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars"


def finds_apex(node: ast.AST) -> bool:
    """Whether an expression looks for Apex by its name: ``find_spec("apex")``, ``is_package_available("apex")``."""
    match node:
        case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]):
            last = last_name(func)
            return (last == "find_spec" or ASKS.search(last) is not None) and name.split(".")[0] == "apex"
        case _:
            return False


def of_process(call: ast.Call) -> str:
    """A question about the machine that has one answer in a process, by its name: ``torch.cuda.is_available()``."""
    match call:
        case ast.Call(func=ast.Attribute(value=owner, attr="is_available" | "device_count" as name), args=[]):
            return f"cuda.{name}()" if last_name(owner) == "cuda" and not call.keywords else ""
        case _:
            return ""


def asks_loaded(node: ast.AST) -> bool:
    """Whether an expression asks Python if Apex was imported: ``"apex" in sys.modules``."""
    match node:
        case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()], comparators=[table]):
            return name.split(".")[0] == "apex" and last_name(table) == "modules"
        case _:
            return False


def attributes_of(node: ast.expr) -> ast.expr | None:
    """Whose attributes an expression is the dictionary of: ``vars(args)``, ``args.__dict__``."""
    match node:
        case ast.Attribute(value=owner, attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[owner]):
            return owner
        case _:
            return None


def maps(m: Module, call: ast.Call) -> bool:
    """``list(map(f, xs))``, and all else that goes through a ``map`` at once: ``f`` runs there, item by item."""
    if not call.args or last_name(call.func) not in MAPPING or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    match m.parent[call]:
        case ast.Call(func=ast.Name(id=name), args=[first, *_]):
            return first is call and name in _GO_THROUGH
        case ast.Starred():
            return True
        case _:
            return False

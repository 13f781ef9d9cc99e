"""Functions that look at gradients and are given to something that nobody follows, which runs them later.

``report.register(nn.Module)`` of a ``singledispatch``, ``model.told = MethodType(told, model)``, ``partialmethod(size,
"weight")``, ``hooks.get("size")``, ``methodcaller("told")``, a decorator that puts what it decorates in a table:
whoever calls what came of that may run the function. Who calls what has nothing to do with it reads nothing.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator

from ..facts.module import Module
from ..facts.names import called_name, is_property
from ..facts.scopes import Scope
from ..knowledge.host import POOL_METHODS, STARTS_THREADS
from ..nodes import positional_parameters
from .objects import ELEMENT_KEY, Obj
from .spelled import listed_names, meet
from .touching import touches
from .values import Values

# What is handed a function and runs it at once, or whose own way of running it is followed: values, hooks, threads.
_RUN_HERE = STARTS_THREADS | POOL_METHODS | frozenset(
    "filter reduce sorted min max partial apply append add insert setdefault extend update setattr getattr hasattr "
    "callable isinstance wraps update_wrapper super print property step".split()
)
# Decorators that give back what does the same, called in the same way.
_SAME = frozenset(
    "no_grad enable_grad inference_mode set_grad_enabled staticmethod classmethod abstractmethod override overload "
    "lru_cache cache contextmanager asynccontextmanager wraps".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLABLE = frozenset("function method partial".split())
_Bound = tuple[Scope | None, str]


class KeptLookers:
    """Says what may run such functions. ``lookers`` are functions that look at gradients."""

    def __init__(self, m: Module, v: Values, lookers: Collection[ast.AST]) -> None:
        self.m, self.v = m, v
        self._lookers = {*lookers, *(f for f in m.all(ast.Lambda) if touches(m, f))}
        self._methods = {f.name for f in self._lookers if isinstance(f, _FUNCTIONS)}
        self._kept: dict[Obj, bool] = {}  # objects that may run one, as far as they were asked for
        self._dispatchers: set[ast.AST] = set()
        self._names: set[_Bound] = set()
        self._attributes: set[str] = set()
        self._given: set[ast.Call] = set()
        self._replaced: dict[str, set[Obj]] = defaultdict(set)  # attributes of classes that are given one at run time
        if self._lookers:
            for call in m.all(ast.Call):
                self._handed(call)
            for function in self._lookers:
                for decorator in getattr(function, "decorator_list", ()):
                    if not is_property(function) and called_name(decorator) not in _SAME:
                        self._decorates(decorator)
            for stmt in m.all(ast.Assign):
                self._set_elsewhere(stmt)
            for call in m.calls("setattr"):
                if len(call.args) == 3:
                    self._replace(call.args[0], listed_names(m, call.args[1]), call.args[2])

    def run_by(self, call: ast.Call) -> bool:
        """Whether a call may run one of the functions that somebody keeps."""
        if not self._lookers or call in self._given:
            return False
        callees = self.v.callees(call)
        if not self._dispatchers.isdisjoint(callees):
            return True
        if isinstance(call.func, ast.Name) and self._bound(call.func) in self._names:
            return True
        if self._of_replaced(call.func):
            return True
        if callees or self._makes(call):
            return False
        if isinstance(call.func, ast.Attribute) and call.func.attr in self._attributes:
            return True
        return any(map(self._keeps, self._down(call.func))) or any(
            obj.kind == "call" and self._is_kept(obj) for arg in call.args for obj in self.v.of(arg)
        )

    def ends(self, item: ast.withitem) -> bool:
        """Whether the end of a block may run one: ``stack.callback(size, model)`` of an ``ExitStack``."""
        return bool(self._lookers) and self._keeps(item.context_expr)

    def _keeps(self, node: ast.expr) -> bool:
        named = isinstance(node, ast.Name) and self._bound(node) in self._names
        return named or any(map(self._is_kept, self.v.of(node)))

    def _is_kept(self, obj: Obj) -> bool:
        """Whether an object may run one when it is called, or hand one out that is called then."""
        if obj not in self._kept:
            self._kept[obj] = False  # what holds itself
            self._kept[obj] = self._found(obj)
        return self._kept[obj]

    def _found(self, obj: Obj) -> bool:
        match obj.kind:
            case "function" | "method":
                return not self._dispatchers.isdisjoint(self.v.functions(obj))
            case "path":
                return self._is_kept(obj.key[0])  # type: ignore[index]
            case "seq" | "dict":
                held = [one for name in self.v.attributes(obj) for one in self.v.field(obj, name)]
                return any(self._looks(one) or (one.kind not in _CALLABLE and self._is_kept(one)) for one in held)
            case "call" if isinstance(obj.key, ast.Call) and called_name(obj.key) != "enter_context":
                if self.v.callees(obj.key) or self._makes(obj.key):
                    return False
                parts = [*self._down(obj.key.func), *obj.key.args, *(k.value for k in obj.key.keywords)]
                return any(map(self._keeps, parts))
            case _:
                return False

    def _bound(self, name: ast.Name) -> _Bound:
        return self.m.binding_scope(name.id, self.m.scope(name)), name.id

    def _down(self, func: ast.expr) -> Iterator[ast.expr]:
        """What is called, and what it is an item or a result of, or a method that is not here."""
        while True:
            yield func
            match func:
                case ast.Attribute(value=inner) if all(obj.kind == "path" for obj in self.v.of(func)):
                    func = inner
                case ast.Subscript(value=inner) | ast.Call(func=inner):
                    func = inner
                case _:
                    return

    # ------------------------------------------------------------ who keeps some

    def _handed(self, call: ast.Call) -> None:
        name = called_name(call)
        hook = name.startswith("register") and name.endswith("hook")  # said elsewhere (APX056)
        if hook or name in _RUN_HERE or self.v.callees(call) or self._makes(call):
            return
        handed = (*call.args, *(k.value for k in call.keywords))
        if not any(self._looks(obj) for arg in handed for obj in self.v.of(arg)):
            if name != "methodcaller" or not self._calls_looker(call):
                return
        self._given.add(call)
        self._kept.update((obj, True) for obj in self.v.of(call) if obj.kind in ("call", "instance"))
        if isinstance(call.func, ast.Attribute):
            self._receives(call.func.value)

    def _makes(self, call: ast.Call) -> bool:
        """Whether a class of the program is made an object of, all of whose bases are here: attributes are followed."""
        made = [obj.key for obj in self.v.of(call.func) if obj.kind == "class" and isinstance(obj.key, ast.ClassDef)]
        bases = [base for one in made for cls in self.v.order(one) for base in cls.bases]
        return bool(made) and all(map(self.v.of, bases))

    def _looks(self, obj: Obj) -> bool:
        return obj.kind in _CALLABLE and not self._lookers.isdisjoint(self.v.functions(obj))

    def _calls_looker(self, getter: ast.Call) -> bool:
        match getter.args:
            case [ast.Constant(value=str(name)), *_]:
                return name in self._methods
            case _:
                return bool(getter.args)

    def _receives(self, receiver: ast.expr) -> None:
        """What keeps a function is the object whose method was handed it, or a function that dispatches."""
        held = self.v.of(receiver)
        for obj in held:
            if obj.kind in ("function", "method"):
                self._dispatchers.update(self.v.functions(obj))
            elif obj.kind in ("call", "param", "path", "instance"):
                self._kept[obj] = True
        if not held and isinstance(receiver, ast.Name) and not self._of_module(receiver):
            self._names.add(self._bound(receiver))

    def _of_module(self, name: ast.Name) -> bool:
        """Whether a name is that of an imported module: its functions are many, and not all keep something."""
        aliases = (a for stmt in self.m.all(ast.Import) for a in stmt.names)
        return any((a.asname or a.name.split(".")[0]) == name.id for a in aliases)

    def _of_replaced(self, func: ast.expr) -> bool:
        """Whether what is called is a method, or one of an object, that the program gives to it at run time."""
        if any(obj.kind == "call" and self._is_kept(obj) for obj in self.v.of(func)):  # MethodType(size, trainer)
            return True
        if not isinstance(func, ast.Attribute):
            return False
        given = {obj for name, those in self._replaced.items() if meet(name, func.attr) for obj in those}
        held = self.v.of(func.value) if given else frozenset()
        owners = [o.key for o in held if o.kind in ("instance", "class")]
        classes = {cls for one in owners if isinstance(one, ast.ClassDef) for cls in self.v.order(one)}
        return bool(given) and (not held or any(obj.key in classes for obj in given))

    def _replace(self, owner: ast.expr, names: list[str], value: ast.expr) -> None:
        """``Trainer.after_backward = size``: objects have the attribute of their class."""
        held = [obj for obj in self.v.of(value) if self._looks(obj) or self._is_kept(obj)]
        # a wrapper that a decorator of the class makes is said elsewhere, with the name that it is handed
        inner = held and all(self.m.scope(f).is_function for o in held for f in self.v.functions(o))
        if held and not (inner and ELEMENT_KEY in names):
            for name in names:
                self._replaced[name].update(obj for obj in self.v.of(owner) if obj.kind == "class")

    def _set_elsewhere(self, stmt: ast.Assign) -> None:
        """``nn.Linear.report = size``: an attribute of what is not here."""
        for target in stmt.targets:
            if isinstance(target, ast.Attribute):
                self._replace(target.value, [target.attr], stmt.value)
            if isinstance(target, ast.Attribute) and not self.v.of(target.value):
                if any(self._looks(obj) or self._is_kept(obj) for obj in self.v.of(stmt.value)):
                    self._attributes.add(target.attr)

    def _decorates(self, decorator: ast.expr) -> None:
        """A function of the program runs what its parameter holds; what is not followed keeps it."""
        own = [node for obj in self.v.of(decorator) for node in self._of_program(obj)]
        for function in own:
            scope = self.m.scope_of[function]
            names = [n for n in positional_parameters(function) if n != self.m.self_name(scope)]
            self._names.update((scope, name) for name in names[:1])
            held = [obj for name in names[:1] for obj in self.v.variable(name, scope)]
            self._kept.update((obj, True) for obj in held if obj.kind == "param")
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not own and isinstance(made, ast.Attribute):
            self._receives(made.value)

    def _of_program(self, obj: Obj) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        found = self.v.functions(obj) if obj.kind in ("function", "method", "class", "instance") else []
        return [node for node in found if isinstance(node, _FUNCTIONS)]

"""Gradients that are looked at where no ``.grad`` stands: by code that runs unseen, or by a name in a text.

``print(stats)`` runs ``__str__``, ``v["weight"]`` ``__getitem__``, ``acc += net`` ``__iadd__``, a ``with``
``__exit__``, ``watch.net = net`` a setter, ``next(it)`` a generator made long ago, ``scheduler.step()`` a ``get_lr``;
``Shot(model)`` a ``__post_init__``, ``del span`` a ``__del__``, ``run.size`` a descriptor's ``__get__``;
``getattr(p, "grad")``, ``"{0.grad}".format(p)``, ``methodcaller("norm")``, ``eval("p.grad")`` and ``getattr(p, what)``
of a parameter read what they do not spell as an attribute.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from ..facts.module import Module
from ..facts.names import called_name, is_property, last_name
from ..knowledge.gradients import NO_READER, SCHEDULERS
from ..knowledge.models import PARAMETERS
from ..nodes import walk
from .decorated import wrappers
from .kept_clips import KeptClips
from .kept_lookers import KeptLookers
from .managers import generators, handed_on
from .objects import ELEMENT_KEY, Obj
from .resumed import looked_at_meanwhile
from .spelled import listed_names, meet
from .touching import touches, touching, trains
from .unmade import UnmadeLookers
from .values import Values

_BY_NAME = frozenset("__init__ __new__ __call__ __del__ __get__ __init_subclass__ __post_init__ __setattr__".split())
_MAKES = frozenset("__post_init__ __new__".split())  # a new object runs these, beside its constructor
_GETTER, _CALLER = "attrgetter", "methodcaller"
_ASKS = frozenset(("getattr", "__getattribute__", _GETTER))
_FORMATS = frozenset("format format_map vformat".split())
_RUNS_TEXT = frozenset({"eval", "exec"})
_ITERATES = frozenset("__iter__ __next__ __aiter__ __anext__ __getitem__".split())
_LAZY = frozenset("map filter iter starmap".split())
# What is asked of the items of a container that these are handed: an order, a truth, a text.
_ASKS_ITEMS = frozenset("max min sorted any all sum print str repr format".split())
_NO_METHODS = frozenset("object ABC Generic Protocol".split())
_STACKS = frozenset("ExitStack AsyncExitStack".split())
_PUTS = frozenset("callback push enter_context push_async_callback push_async_exit enter_async_context".split())
_TEXTS = frozenset("__str__ __repr__ __format__".split())
_KEEPS_ITEMS = frozenset(
    "append appendleft extend insert add put setdefault update remove discard index count copy deepcopy items values "
    "keys get pop popleft clear reverse".split()
)
_MAKES_TEXT = frozenset("str repr format print join".split())
_FIELD = re.compile(r"\{[^{}]*\.grad\b")  # of a format: "{0.grad}"

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Method = tuple[ast.ClassDef, _Function]


def unnamed(m: Module, v: Values) -> Unnamed:
    """The one of a module: several ask."""
    if Unnamed not in m.kept:
        m.kept[Unnamed] = Unnamed(m, v)
    found: Unnamed = m.kept[Unnamed]
    return found


class Unnamed:
    """Answers for one module; what it takes to answer is looked up once."""

    def __init__(self, m: Module, v: Values) -> None:
        self.m, self.v = m, v
        texts = [constant.value for constant in m.all(ast.Constant) if isinstance(constant.value, str)]
        self._named = "grad" in texts or "_grad" in texts
        self._callers = _names_of(m, _CALLER)
        self._getters = _names_of(m, _GETTER) | self._callers
        self._formatted = any(".grad" in text and _FIELD.search(text) for text in texts)
        self.looking = looking = touching(m, v)
        unseen = [
            (cls, method)
            for cls in m.all(ast.ClassDef)
            for method in cls.body
            if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method in looking
        ]
        methods = [(cls, method) for cls, method in unseen if touches(m, method)]
        self._special = [(cls, method) for cls, method in unseen if _special(method.name)]
        self._texts = [(cls, method) for cls, method in self._special if method.name in _TEXTS]
        self._lookers = {function for function in looking if not trains(function)}
        self._makers = [(cls, method) for cls, method in unseen if method.name in _MAKES]
        self._makers += _factories(m, v, self._lookers)
        self._sets = [(cls, method) for cls, method in unseen if method.name == "__setattr__"]
        self._ends = [(cls, method) for cls, method in unseen if method.name == "__del__"] + _finalized(m, v, looking)
        self._training: dict[ast.ClassDef, bool] = {}
        self._given = KeptLookers(m, v, self._lookers)
        self._clips = KeptClips(m, v)
        self._unmade = UnmadeLookers(m, v, self._lookers)
        self._made = _made_properties(m, v, self._lookers)
        around = self.wrappers if looking else {}
        self._around = {f: seen for f, made in around.items() if (seen := [n for n in made if n in looking])}
        for function, method in self._left_behind():
            self._around.setdefault(function, []).append(method)
        self._setters = _setters(m, v, methods)
        self._rates = [
            (cls, method) for cls, method in methods if any(SCHEDULERS.fit(last_name(base)) for base in cls.bases)
        ]

    @cached_property
    def wrappers(self) -> dict[ast.AST, list[ast.AST]]:
        """By function what its decorators, or those of its class, run around it."""
        return wrappers(self.m, self.v)

    def run_by(self, node: ast.AST) -> list[ast.AST]:
        """The special methods with gradients in them that using a name, an attribute or a new object may run, the
        setters that an assignment runs, what a scheduler of torch's asks its own subclass for, decorators, and methods
        of objects that are made by name."""
        found: list[ast.AST] = self.around(node)
        if isinstance(node, ast.Call):
            found += self._unmade.run_by(node)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found += self._setters.get(node.attr, [])
            found += self._with(self.v.of(node.value), self._sets)
        if self._rates and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "step" and not self.v.callees(node):
                found += self._of(node.func.value, self._rates)
        if self._ends and isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            found += self._of(node, self._ends)  # what a name held until then may be gone now
        if self._makers and isinstance(node, ast.Call):
            found += self._with(self.v.of(node), self._makers) if self._makes(node) else []
        if self._special and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            found += self._of(node, self._special)
            if isinstance(node, ast.Call) and called_name(node) in _ASKS_ITEMS and not self.v.callees(node):
                found += self._with(self._items(node.args), self._special)
        if self._texts:
            shown = self._shown(node)
            found += self._with(self._items([*shown, *self._written(node)]), self._texts)
            if any(_any_item(o) for part in shown for o in self.v.of(part)):
                found += [method for _, method in self._texts]
        return found

    def _shown(self, node: ast.AST) -> list[ast.expr]:
        """What an expression makes a text of: ``"%s %s" % row``, ``f"{row}"``, ``str(row)``."""
        match node:
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=right):
                return [*right.elts, right] if isinstance(right, ast.Tuple) else [right]
            case ast.FormattedValue(value=value):
                return [value]
            case ast.Call() if called_name(node) in _MAKES_TEXT and not self.v.callees(node):
                return [a.value if isinstance(a, ast.Starred) else a for a in node.args]
            case _:
                return []

    def _written(self, node: ast.AST) -> list[ast.expr]:
        """What code that is not here may make a text of: ``json.dumps(row, default=str)``, ``writer.writerow(row)``."""
        if not isinstance(node, ast.Call) or self.v.callees(node) or self._makes(node):
            return []
        name = called_name(node)
        silent = name in _KEEPS_ITEMS or (isinstance(node.func, ast.Name) and hasattr(builtins, name))
        return [] if silent else [*node.args, *(k.value for k in node.keywords)]

    def around(self, node: ast.AST) -> list[ast.AST]:
        """Decorators that look at gradients before or behind what a call runs."""
        called = self.v.callees(node) if self._around and isinstance(node, ast.Call) else ()
        return [made for function in called for made in self._around.get(function, ())]

    def at_end(self, stmt: ast.stmt) -> bool:
        """Whether the end of a block looks at gradients: ``__exit__`` of an object that it is a block of, or what that
        was handed, or what was put on an ``ExitStack``."""
        if not isinstance(stmt, (ast.With, ast.AsyncWith)):
            return False
        blocks = [item.context_expr for item in stmt.items]
        stacked = [arg for stack in blocks for call in self._put_on(stack, stmt) for arg in call.args[:1]]
        looks = any(self.v.callee(o) in self._lookers for arg in stacked for o in self.v.of(arg))
        looks = looks or any(generators(self.m, self.v, arg) & self._lookers for arg in stacked if self._lookers)
        if looks or any(map(self._given.ends, stmt.items)) or self._managed(blocks):
            return True
        ends = [(cls, method) for cls, method in self._special if method.name in ("__exit__", "__aexit__")]
        return bool(ends) and any(self._of(block, ends) for block in (*blocks, *stacked))

    def at_start(self, stmt: ast.stmt) -> bool:
        """Whether a context manager that somebody hands a block looks at gradients; where it does so is not asked."""
        return isinstance(stmt, (ast.With, ast.AsyncWith)) and self._managed([one.context_expr for one in stmt.items])

    def _managed(self, blocks: list[ast.expr]) -> bool:
        return bool(self._lookers) and any(handed_on(self.m, self.v, one) & self._lookers for one in blocks)

    def _put_on(self, stack: ast.expr, stmt: ast.With | ast.AsyncWith) -> list[ast.Call]:
        """What a block of an ``ExitStack`` puts on it, to be run at its end."""
        held = self.v.of(stack)
        if not any(o.kind == "call" and o.label in _STACKS for o in held):
            return []
        puts = [n for n in walk(stmt) if isinstance(n, ast.Call) and called_name(n) in _PUTS]
        return [n for n in puts if isinstance(n.func, ast.Attribute) and self.v.of(n.func.value) & held]

    def each_round(self, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether what a loop goes through looks at gradients from one round to the next: a generator, ``__next__``."""
        for node in walk(loop.iter):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
                if any(method.name in _ITERATES for method in self._of(node, self._special)):
                    return True
            if node in self._lazy or (isinstance(node, (ast.Name, ast.Attribute)) and self._goes_on(node)):
                return True
        return False

    def properties(self, node: ast.AST) -> list[ast.AST]:
        """The properties of this program that reading an attribute runs."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load) or node.attr not in self._read:
            return []
        held = self.v.stood_for(self.v.of(node.value))
        owners = [o.key for o in held if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
        return [one for owner in owners if (one := self.v.property_of(owner, node.attr)) is not None]

    @cached_property
    def _read(self) -> frozenset[str]:
        """The names of properties."""
        return frozenset(
            node.name
            for node in self.m.scope_of
            if isinstance(node, ast.FunctionDef) and is_property(node)
        )

    def _of(self, node: ast.expr, methods: list[_Method]) -> list[_Function]:
        """Those of ``methods`` that an object here has."""
        objects = self.v.of(node)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):  # acc += net
            objects = self.v.variable(node.id, self.m.scope(node))
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            objects = frozenset(one for o in self.v.of(node.value) for one in self.v.field(o, node.attr))
        return self._with(objects, methods)

    def _left_behind(self) -> Iterator[tuple[ast.AST, _Function]]:
        """Functions at whose end something goes that looks at gradients then: a local name held it."""
        for node in self.m.all(ast.Name) if self._ends else ():
            scope = self.m.scope(node)
            if isinstance(node.ctx, ast.Store) and scope.is_function and self.m.binding_scope(node.id, scope) is scope:
                for method in self._of(node, self._ends):
                    yield scope.node, method

    def _makes(self, call: ast.Call) -> bool:
        """Whether a call makes an object of a class of the program."""
        return any(o.kind == "class" for o in self.v.of(call.func))

    def _with(self, objects: Iterable[Obj], methods: list[_Method]) -> list[_Function]:
        """Those of ``methods`` that some objects have."""
        held = [o.key for o in objects if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
        classes = {cls for made in held for cls in self.v.order(made)}
        return [method for cls, method in methods if cls in classes]

    def _items(self, handed: list[ast.expr]) -> set[Obj]:
        """What the containers hold that a call is handed, and those in them."""
        found, todo = set[Obj](), [o for arg in handed for o in self.v.of(arg)]
        while todo:
            if (whole := todo.pop()).kind in ("seq", "dict"):
                held = {one for name in self.v.attributes(whole) for one in self.v.field(whole, name)} - found
                found |= held
                todo += held
        return found

    def spells(self, node: ast.AST) -> bool:
        """Whether an expression or a pattern asks for an attribute that is ``grad``, or may be: of a parameter by any
        name, of anything where the name is written somewhere else; or goes on with what does."""
        match node:
            case ast.Call():
                named = self._asks(node) or self._formats(node) or self._runs_text(node)
                return named or self._given.run_by(node) or self._clips.run_by(node) or self._put_there(node)
            case ast.MatchClass(kwd_attrs=names):
                return "grad" in names
            case ast.Attribute(value=owner, attr=name, ctx=ast.Load()) if name in self._made:
                held = [o.key for o in self.v.of(owner) if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
                return not held or any(cls in self._made[name] for one in held for cls in self.v.order(one))
            case ast.Attribute(attr="_grad", ctx=ast.Load()) if "_grad" not in self._stored:
                return True  # torch's own name of it
            case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                return bool(self._lazy) and self._goes_on(node)
            case ast.Yield():
                return self.m.function(node).node in self._meanwhile
            case _:
                return False

    @cached_property
    def _meanwhile(self) -> frozenset[ast.AST]:
        """The generators that train, and while one of which waits gradients are looked at."""
        return looked_at_meanwhile(self.m, self.v, self._lookers)

    def _asks(self, call: ast.Call) -> bool:
        name = called_name(call)
        if name not in _ASKS and name not in self._getters:
            return False
        if name in self._callers:
            said = {arg.value for arg in call.args[:1] if isinstance(arg, ast.Constant)}
            return any(getattr(function, "name", "") in said for function in self._lookers)
        if any(isinstance(arg, ast.Constant) and _names(arg.value) for arg in call.args):
            return True
        if self._looking_properties and self._asks_property(call, name):
            return True
        if name != "getattr" or len(call.args) < 2 or isinstance(call.args[1], ast.Constant):
            return False
        if not any(meet(one, "grad") for one in listed_names(self.m, call.args[1])):
            return False
        return self._named or any(map(_of_parameters, self.v.of(call.args[0])))

    def _asks_property(self, call: ast.Call, name: str) -> bool:
        """Whether a name that is made at run time, or handed to a getter, may be that of a property that looks."""
        if name != "getattr":  # of anything, later
            asked = [one.split(".")[-1] for arg in call.args for one in listed_names(self.m, arg)]
            return any(meet(one, known) for one in asked for known in self._looking_properties)
        if len(call.args) < 2:
            return False
        asked = listed_names(self.m, call.args[1])
        owners = [o.key for o in self.v.of(call.args[0]) if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
        return any(
            self.v.property_of(owner, known) in self._lookers
            for known in self._looking_properties
            if any(meet(one, known) for one in asked)
            for owner in owners
        )

    @cached_property
    def _looking_properties(self) -> frozenset[str]:
        """The names of properties that look at gradients."""
        return frozenset(f.name for f in self._lookers if isinstance(f, ast.FunctionDef) and is_property(f))

    def _put_there(self, call: ast.Call) -> bool:
        """Whether a method is called that no class of the program gives to an object that trains, of which all bases
        are known: somebody puts it there (`type("Trainer", (Base,), parts)`), or a class of another file has it."""
        if not isinstance(call.func, ast.Attribute) or self.v.callees(call) or NO_READER.fit(call.func.attr):
            return False
        if call.func.attr in self._stored:
            return False
        return any(
            obj.kind == "path" and obj.key[1] == call.func.attr and self._trains(obj.key[0])  # type: ignore[index]
            for obj in self.v.of(call.func)
        )

    @cached_property
    def _stored(self) -> frozenset[str]:
        """The names of attributes that are assigned somewhere."""
        return frozenset(n.attr for n in self.m.all(ast.Attribute) if isinstance(n.ctx, ast.Store))

    def _trains(self, obj: Obj) -> bool:
        """Whether an object's class trains, and all that it is made of is known."""
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            return False
        if obj.key not in self._training:
            order = self.v.order(obj.key)
            bases = [base for cls in order for base in cls.bases if last_name(base) not in _NO_METHODS]
            known = all(any(o.kind == "class" and o.key in order for o in self.v.of(base)) for base in bases)
            self._training[obj.key] = known and any(trains(stmt) for cls in order for stmt in cls.body)
        return self._training[obj.key]

    def _formats(self, call: ast.Call) -> bool:
        if not self._formatted or called_name(call) not in _FORMATS or not isinstance(call.func, ast.Attribute):
            return False
        text = call.func.value
        return _FIELD.search(text.value) is not None if _text(text) else True  # type: ignore[attr-defined]

    def _runs_text(self, call: ast.Call) -> bool:
        """Whether a text is run of which it is not known that no gradient stands in it; a loop may go over several that
        are written out (``for name in ["f1", "loss"]: log(name, eval(name))``). What an option says, and what is called
        as soon as it is found (``eval(config.MODULE)(config)``), is a name. Many a program calls what evaluates its
        model ``eval``, too."""
        if not isinstance(call.func, ast.Name) or call.func.id not in _RUNS_TEXT or not call.args:
            return False
        if self.m.binding_scope(call.func.id, self.m.scope(call)) is not None:
            return False
        text, above = call.args[0], self.m.parent[call]
        if self._option(text) or (isinstance(above, ast.Call) and above.func is call):
            return False
        if _text(text):
            return ".grad" in text.value  # type: ignore[attr-defined]
        return any(".grad" in word or ELEMENT_KEY in word for word in listed_names(self.m, text))

    def _option(self, text: ast.expr) -> bool:
        """Whether a text is an option's value: ``args.eps``, ``str(args.eps)``, ``getattr(args, name)``, a name for
        one."""
        match text:
            case ast.Attribute():
                return True
            case ast.Call(func=ast.Name(id="str"), args=[inner], keywords=[]):
                return self._option(inner)
            case ast.Call(func=ast.Name(id="getattr"), args=[_, _, *_]):
                return True
            case ast.Name(id=name):
                scope = self.m.binding_scope(name, self.m.scope(text))
                given = [self.m.parent[n] for n in self.m.bindings(name, scope)] if scope is not None else []
                mine = scope is not None and name not in scope.params
                return mine and bool(given) and all(isinstance(g, ast.Assign) and self._plain(g.value) for g in given)
            case _:
                return False

    def _plain(self, value: ast.expr) -> bool:
        return not isinstance(value, ast.Name) and self._option(value)

    def _goes_on(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a name or attribute holds what looks at gradients once it is gone on with, or called."""
        if any(isinstance(o.key, ast.AST) and o.key in self._lazy for o in self.v.of(node)):
            return True
        return self._place(node) in self._kept

    def _place(self, node: ast.expr) -> object:
        match node:
            case ast.Name(id=name):
                return self.m.binding_scope(name, self.m.scope(node)), name
            case ast.Attribute(attr=name):
                return name
            case _:
                return None

    @cached_property
    def _kept(self) -> set[object]:
        """The names and attributes that such things are assigned to: of generators the values know nothing."""
        targets: list[ast.expr] = []
        for node in self._lazy:
            match self.m.parent[node]:
                case ast.Assign(targets=several):
                    targets += several
                case ast.Tuple(elts=values) as row if isinstance(stmt := self.m.parent[row], ast.Assign):
                    rows = (t.elts for t in stmt.targets if isinstance(t, ast.Tuple) and len(t.elts) == len(values))
                    targets += [elts[values.index(node)] for elts in rows]  # type: ignore[arg-type]
        return {place for target in targets if (place := self._place(target)) is not None}

    @cached_property
    def _lazy(self) -> set[ast.AST]:
        """What makes something that looks at gradients only when it is gone on with: generators, ``map``, getters."""
        found: set[ast.AST] = {g for g in self.m.all(ast.GeneratorExp) if self._looks(g)}
        found |= {c for name in self._getters for c in self.m.calls(name) if self._asks(c)}
        tensors = {n for n in self.m.attributes("grad") if last_name(n.value) in ("Tensor", "Parameter")}
        found |= {above for n in tensors if isinstance(above := self.m.parent[n], ast.Attribute)}  # Tensor.grad.__get__
        touching = {f for kind in (ast.FunctionDef, ast.Lambda) for f in self.m.all(kind) if touches(self.m, f)}
        touching |= self._lookers
        if not touching:
            return found
        for call in (c for name in _LAZY for c in self.m.calls(name)):
            handed = {self.v.callee(o) for a in call.args for o in self.v.of(a)}
            if handed & touching:
                found.add(call)
        for function in touching:
            if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in walk(function)) and not trains(function):
                found.update(self.v.calls[function])
        return found

    def _looks(self, generator: ast.GeneratorExp) -> bool:
        """Whether a generator expression looks at gradients, itself or in a function that it calls."""
        calls = (n for n in walk(generator) if isinstance(n, ast.Call)) if self._lookers else ()
        return touches(self.m, generator) or any(not self._lookers.isdisjoint(self.v.callees(c)) for c in calls)


def _made_properties(m: Module, v: Values, lookers: set[ast.AST]) -> dict[str, set[ast.ClassDef]]:
    """``size = property(_size)`` of a function that looks at gradients, or ``size = Stat(_size)`` of a class with
    ``__get__``: attributes, and the classes that have them."""
    found: dict[str, set[ast.ClassDef]] = {}
    for call in (*m.calls("property"), *_descriptors(m, v)):
        gets = [get for obj in v.of(call) for get in _get(m, v, obj)]
        handed = [*call.args, *(k.value for k in call.keywords)] if gets else call.args[:1]
        # what one is handed it may call, and that of another is none of its own
        given = any(v.functions(o) for getter in handed for o in v.of(getter) if o.kind in ("function", "method"))
        own = any(touches(m, get) if given else get in lookers for get in gets)
        if not own and not any(_looks(m, v, getter, lookers) for getter in handed):
            continue
        for name, owners in _set_as(m, v, call):
            found.setdefault(name, set()).update(owners)
    return found


def _descriptors(m: Module, v: Values) -> Iterator[ast.Call]:
    """What makes objects of classes with ``__get__`` in the body of a class."""
    if not m.defined("__get__"):
        return
    for stmt in m.all(ast.Assign):
        if isinstance(m.parent[stmt], ast.ClassDef) and isinstance(stmt.value, ast.Call):
            if any(_get(m, v, o) for o in v.of(stmt.value)):
                yield stmt.value


def _get(m: Module, v: Values, obj: Obj) -> list[_Function]:
    """``__get__`` of an object of the program."""
    if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
        return []
    return [get for cls in v.order(obj.key) if (get := m.method(cls, "__get__")) is not None][:1]


def _factories(m: Module, v: Values, lookers: set[ast.AST]) -> list[_Method]:
    """``norm: float = field(default_factory=norm)``: by the class the functions that a new object of it runs."""
    found: list[_Method] = []
    for call in m.calls("field") if lookers else ():
        cls = m.parent[m.statement(call)]
        given = [k.value for k in call.keywords if k.arg == "default_factory"]
        if isinstance(cls, ast.ClassDef):
            found += [(cls, f) for value in given for f in _running(v, value, lookers)]
    return found


def _finalized(m: Module, v: Values, looking: Collection[ast.AST]) -> list[_Method]:
    """``weakref.finalize(self, write, params)``: by the class of what is watched what runs when it goes."""
    found: list[_Method] = []
    for call in m.calls("finalize") if looking else ():
        if len(call.args) > 1:
            watched = [o.key for o in v.of(call.args[0]) if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
            found += [(cls, f) for cls in watched for f in _running(v, call.args[1], looking)]
    return found


def _running(v: Values, value: ast.expr, looking: Collection[ast.AST]) -> list[_Function]:
    """The functions that look at gradients of those that a value may be."""
    runs = (f for o in v.of(value) for f in v.functions(o) if f in looking)
    return [f for f in runs if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _looks(m: Module, v: Values, getter: ast.expr, lookers: set[ast.AST]) -> bool:
    lazily = isinstance(getter, ast.Lambda) and touches(m, getter)
    return lazily or any(v.callee(o) in lookers for o in v.of(getter))


def _set_as(m: Module, v: Values, made: ast.Call) -> Iterator[tuple[str, list[ast.ClassDef]]]:
    """The attributes that something is given to, and the classes that have them: in a class's own body, by
    ``View.size = …`` or by ``setattr(View, "size", …)``."""
    stmt = m.parent[made]
    around = m.parent[stmt]
    match stmt:
        case ast.Assign(targets=targets):
            for target in targets:
                if isinstance(target, ast.Name) and isinstance(around, ast.ClassDef):
                    yield target.id, [around]
                elif isinstance(target, ast.Attribute):
                    yield target.attr, _classes(v, target.value)
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), _]):
            yield name, _classes(v, owner)
        case _:
            pass


def _classes(v: Values, owner: ast.expr) -> list[ast.ClassDef]:
    return [o.key for o in v.of(owner) if o.kind == "class" and isinstance(o.key, ast.ClassDef)]


def _setters(
    m: Module, v: Values, methods: list[_Method]
) -> dict[str, list[_Function]]:
    """By the name of an attribute the setters, of properties and descriptors, that look at gradients."""
    found: dict[str, list[_Function]] = {}
    for _, method in methods:
        if any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in method.decorator_list):
            found.setdefault(method.name, []).append(method)
    sets = {cls: method for cls, method in methods if method.name == "__set__"}
    if sets:
        for cls in m.all(ast.ClassDef):
            for stmt in cls.body:
                held = v.of(stmt.value) if isinstance(stmt, ast.Assign) else ()
                for method in (sets[o.key] for o in held if o.kind == "instance" and o.key in sets):
                    for target in getattr(stmt, "targets", ()):
                        if isinstance(target, ast.Name):
                            found.setdefault(target.id, []).append(method)
    return found


def _names_of(m: Module, name: str) -> set[str]:
    """What something that is imported may be called."""
    return {name, *(a.asname for a in m.all(ast.alias) if a.name == name and a.asname)}


def _names(value: object) -> bool:
    """Whether a text is the name of a gradient, be it one step further: ``attrgetter("weight.grad")``."""
    return isinstance(value, str) and not {"grad", "_grad"}.isdisjoint(value.split("."))


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _BY_NAME


def _any_item(obj: Obj) -> bool:
    """Whether an object is an item of something of which nothing is known."""
    return obj.kind == "path" and obj.key[1] == ELEMENT_KEY  # type: ignore[index]


def _of_parameters(obj: Obj) -> bool:
    """Whether an object is an item of what lists parameters."""
    while obj.kind == "path":
        obj = obj.key[0]  # type: ignore[index]
        if obj.kind == "call" and isinstance(obj.key, ast.Call) and called_name(obj.key) in PARAMETERS:
            return True
    return False

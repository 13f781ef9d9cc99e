"""One of the two programs: what in its text has a part in training, and which objects are meant.

``Side`` answers the compiler's questions and names objects so that both sides name them alike: by where
in the OLD text the call, class or parameter stands that made them.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from migrate.facts.module import Module, Scope
from migrate.facts.sites import Facts, opened
from migrate.flow.tensors import own_gradient
from migrate.flow.values import Obj, Values, argument
from migrate.judge.code import Code, compile_body
from migrate.judge.names import COLLECTS, IDLE, LIBRARIES, LOSSES, READERS, RUNS_MODEL, SCALER_METHODS, TRAINING
from migrate.judge.origin import Origin
from migrate.knowledge.gradients import MADE_OF_GRADIENTS, NO_READER
from migrate.knowledge.models import NO_MODULE, NO_NETWORK, NOT_RUN_BY_METHOD, evaluates

Key = tuple[object, ...]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PROTOCOL = frozenset({"backward", "gradients", "step", "scaler", "zero", "amp", "entered"})
_EVALUATED = frozenset({"call", "gradients", "initialize", "create", "scaler", "step", "backward", "amp", "entered"})
_NO_GRAD = re.compile(r"\bno_grad\b|\binference_mode\b")
_EXITS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_YIELDS = (ast.Yield, ast.YieldFrom)


class Side:
    """A program as the judge sees it. ``origin`` is None for the old one."""

    def __init__(self, m: Module, v: Values, old: Side | None = None, origin: Origin | None = None) -> None:
        self.m, self.v, self.old, self.origin = m, v, old, origin
        self._codes: dict[ast.AST, Code] = {}
        self.kind: dict[ast.AST, str] = {}  # call -> what it is
        self._relevant: set[ast.AST] = set()
        self.optimizers: frozenset[Key] = old.optimizers if old else frozenset()
        self.models: frozenset[Key] = old.models if old else frozenset()
        self.cast: frozenset[Key] = old.cast if old else frozenset()  # networks under O1's casts, models or not
        self.readers: set[ast.stmt] = set()
        self.clearers: set[ast.stmt] = set()
        self.functions: set[ast.AST] = set()
        self.asides: set[ast.stmt] = set()
        self.loud: set[ast.stmt] = set()  # loops in which more happens in the other program
        self._only_evaluates: dict[ast.AST, bool] = {}
        self._places: dict[ast.AST, int] = {}
        self._keys: dict[ast.AST, frozenset[Key]] = {}
        self._switches: dict[ast.AST, list[ast.AST]] = {}
        self.scales: dict[ast.Call, frozenset[Key]] = {}  # scale_loss calls and their optimizers

    # ------------------------------------------------------------ names of objects and places

    def place(self, node: ast.AST) -> int:
        """Where a node stands in the old text; negative where it is new."""
        found = self._places.get(node)
        if found is None:
            found = self._places[node] = self._place(node)
        return found

    def _place(self, node: ast.AST) -> int:
        source: ast.AST | None = node
        if self.origin is not None:
            source = self.origin.of(node)
            if source is None:
                return -1 - self.m.start(node)
        assert source is not None
        m = self.old.m if self.old is not None else self.m
        return m.end(source.func) if isinstance(source, ast.Call) else m.start(source)

    def line(self, node: ast.AST) -> int:
        """The line of the old text that a node comes from; 0 where it is new."""
        source = node if self.origin is None else self.origin.of(node)
        return getattr(source, "lineno", 0) if source is not None else 0

    def key(self, obj: Obj) -> Key:
        match obj.kind:
            case "path":
                owner: Obj = obj.key[0]  # type: ignore[index]
                name: str = obj.key[1]  # type: ignore[index]
                return ("path", self.key(owner), name)
            case "param":
                scope: Scope = obj.key[0]  # type: ignore[index]
                name = obj.key[1]  # type: ignore[index]
                return ("param", self.place(scope.node) if scope.parent is not None else -1, name)
            case "method":
                return ("function", self.place(obj.key[1]))  # type: ignore[index]
            case "apex":
                return ("apex", obj.label)
            case _:
                kind = "instance" if obj.kind == "instance" else obj.kind
                return (kind, self.place(obj.key) if isinstance(obj.key, ast.AST) else str(obj.key))

    def keys(self, expr: ast.AST) -> frozenset[Key]:
        """The objects that an expression may hold on any path, containers opened."""
        found = self._keys.get(expr)
        if found is None:
            found = self._keys[expr] = frozenset(self.key(o) for o in opened(self.v, self.v.of(expr)))
        return found

    def known(self, expr: ast.AST) -> frozenset[Key]:
        """The models and optimizers among `keys`."""
        return self.keys(expr) & self._interesting

    @cached_property
    def _interesting(self) -> frozenset[Key]:
        return self.optimizers | self.models

    # ------------------------------------------------------------ preparing

    def prepare(self, facts: Facts | None) -> None:
        """Find everything that has a part in training. ``facts`` is given for the old program.

        Functions that have one in either program are followed in both."""
        if facts is not None:
            self._known_objects(facts)
        for node in self.m.nodes:
            if isinstance(node, ast.Call):
                kind = self._classify(node)
                if kind:
                    self.kind[node] = kind
            elif isinstance(node, ast.Attribute) and node.attr == "_loss_scale" and self._of_loss_scaler(node):
                if isinstance(node.ctx, ast.Load):
                    self.kind[node] = "scale"
        for node in self.m.nodes:
            if isinstance(node, ast.stmt) and not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                self._gradients(node)
        if self.old is None or self.origin is None:
            self._spread(set())
            return
        self._spread({n for n in self.m.scope_of if self.origin.of(n) in self.old.functions})
        sources = {self.origin.of(n) for n in self.functions} - self.old.functions - {None}
        if sources:
            self.old._spread({n for n in sources if n is not None})
        self._share()

    def _share(self) -> None:
        """A loop or a `raise` that has a part in training in one program is followed in both: the one waits for the
        other there, or ends where it does."""
        assert self.old is not None and self.origin is not None
        for node in [n for n in self.m.nodes if isinstance(n, (ast.For, ast.AsyncFor, ast.While, ast.Raise))]:
            source = self.origin.of(node)
            if source is None or type(source) is not type(node):
                continue
            if node in self._relevant and source not in self.old._relevant:
                self.old._mark(source)
            elif source in self.old._relevant and node not in self._relevant:
                self._mark(node)

    def _known_objects(self, facts: Facts) -> None:
        models: set[Obj] = set()
        optimizers: set[Obj] = set()
        for init in facts.initializes:
            models |= init.model_objects
            optimizers |= init.optimizer_objects
        for scale in facts.scales:
            optimizers |= scale.optimizer_objects
            self.scales[scale.call] = frozenset(self.key(o) for o in scale.optimizer_objects)
        self.models = frozenset(self.key(o) for o in models if o.kind != "apex")
        self.optimizers = frozenset(self.key(o) for o in optimizers if o.kind != "apex")
        levels = [argument(init.call, 3, "opt_level") for init in facts.initializes]
        if all(level is None or (isinstance(level, ast.Constant) and level.value == "O1") for level in levels):
            self.cast = frozenset(self.key(o) for node in self.m.nodes for o in self.v.of(node) if self._network(o))

    def _network(self, obj: Obj) -> bool:
        """Whether an object is a network by its class: O1's casts reach those that nobody handed to Apex as well."""
        if obj.kind == "instance" and isinstance(obj.key, ast.ClassDef):
            return not NO_NETWORK.fit(obj.key.name) and self._within_module_class(obj.key.body[0])
        if obj.kind != "call" or not isinstance(obj.key, ast.Call) or not isinstance(obj.key.func, ast.Attribute):
            return False
        func = obj.key.func
        made = func.attr[:1].isupper() and self.m.src(func.value) in ("nn", "torch.nn")
        return made and not NO_NETWORK.fit(func.attr)

    def _classify(self, call: ast.Call) -> str:
        func = call.func
        last = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        for name in self.v.apex_names(func):
            tail = name.split(".")[-1]
            if name.startswith("apex.amp") and tail in ("state_dict", "load_state_dict"):
                return "state"
            if name.startswith("apex.amp") and tail in ("initialize", "init"):
                return "initialize"
            if name.startswith("apex.amp") and tail in ("scale_loss", "disable_casts"):
                return "amp"
        if call in self.scales:
            return "amp"
        if last == "enter_context" and call.args and self.scaling(call.args[0]):
            return "entered"
        if last == "loss_scale" and isinstance(func, ast.Attribute) and self._of_loss_scaler(func):
            return "scale"
        if last == "GradScaler":
            return "create"
        if isinstance(func, ast.Attribute) and last in SCALER_METHODS and self._is_scaler(func.value):
            return "scaler"
        callees = self.v.callees(call)
        if not callees and (last == "backward" if isinstance(func, ast.Attribute) else last in self._backwards):
            return "backward"
        if last == "grad" and isinstance(func, ast.Attribute) and _last(func.value) == "autograd":
            return "gradients"
        if last == "step" and isinstance(func, ast.Attribute) and self.keys(func.value) & self.optimizers:
            return "step" if not callees else "call"
        if last == "zero_grad" and not callees:
            return "zero"
        if self._within_module_class(call):
            return ""
        if self._foreign(call):
            return "foreign"
        source = self.origin.of(call) if self.origin is not None else None
        if isinstance(source, ast.Call) and self.old is not None:
            known = self.old.kind.get(source, "")
            if known in ("forward", "loss", ""):
                return known
        if self._forward(call, last):
            return "forward"
        if (last in LOSSES and not callees) or any(
            o.kind == "call" and o.label.endswith("Loss") and o.label != "BCELoss" for o in self.v.of(func)
        ):
            moved = isinstance(func, ast.Attribute) and NOT_RUN_BY_METHOD.fit(last)
            return "loss" if not callees and not moved else ""
        return ""

    def _foreign(self, call: ast.Call) -> bool:
        """Whether a call, made for its effect inside of a ``try``, runs code of another file, which may raise."""
        name = getattr(call.func, "id", "")
        starred = "*" in self._from_elsewhere and bool(name) and not hasattr(builtins, name)
        unbound = starred and self.m.binding_scope(name, self.m.scope(call)) is None
        if name not in self._from_elsewhere and not unbound:
            return False
        return isinstance(self.m.parent[call], ast.Expr) and self._tried(call)

    @cached_property
    def _from_elsewhere(self) -> set[str]:
        """Names imported from modules that are no well-known library's."""
        return {
            alias.asname or alias.name
            for node in self.m.nodes
            if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] not in LIBRARIES)
            for alias in node.names
        }

    def _of_loss_scaler(self, node: ast.Attribute) -> bool:
        """Whether an attribute is one of Apex's loss scalers', by whatever name."""
        return any(name.endswith("loss_scalers[]") for name in self.v.apex_names(node.value))

    def reads_scale(self, expr: ast.AST) -> bool:
        """Whether an expression is the loss scale of this moment."""
        if isinstance(expr, ast.Subscript) and isinstance(expr.value, ast.Subscript):
            entry = isinstance(expr.slice, ast.Constant) and expr.slice.value == "loss_scale"
            return entry and self.kind.get(expr.value.value) == "state"
        kind = self.kind.get(expr)
        asked = isinstance(expr, ast.Call) and _last(expr.func) == "get_scale"
        return kind == "scale" or (kind == "scaler" and asked)

    @cached_property
    def _backwards(self) -> set[str]:
        """Names of ``torch.autograd.backward``."""
        return {
            alias.asname or alias.name
            for node in self.m.nodes
            if isinstance(node, ast.ImportFrom) and node.module == "torch.autograd"
            for alias in node.names
            if alias.name == "backward"
        }

    def scalers(self, expr: ast.AST) -> list[Key]:
        """The GradScalers of this program that an expression may hold."""
        return [
            self.key(o)
            for o in self.v.of(expr)
            if o.kind == "call" and isinstance(o.key, ast.Call) and _last(o.key.func) == "GradScaler"
        ]

    def _is_scaler(self, expr: ast.AST) -> bool:
        """Whether an expression holds a GradScaler: it may, and it is called so or may hold nothing else."""
        named = _last(expr) in self._scaler_names
        return bool(self.scalers(expr)) and (named or not self.known(expr))

    @cached_property
    def _scaler_names(self) -> set[str]:
        """Names and attributes that a new GradScaler is assigned to."""
        return {
            _last(target)
            for node in self.m.nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            for target in node.targets
            if _last(node.value.func) == "GradScaler"
        }

    def _forward(self, call: ast.Call, last: str) -> bool:
        func = call.func
        if any(o.kind in ("method", "function") and not self._of_network(o) for o in self.v.of(func)):
            return False
        if isinstance(func, ast.Attribute):
            if NOT_RUN_BY_METHOD.fit(last):
                return False
            return bool((self.keys(func) | self._owners(func.value)) & self.models or self.keys(func) & self.cast)
        if self.keys(func) & (self.models | self.cast):
            return True
        if last in RUNS_MODEL and not self.v.callees(call):
            return any(self.keys(a) & self.models for a in call.args)
        return False

    def beside(self, call: ast.AST) -> bool:
        """Whether the network that a call runs is one that nobody handed to Apex."""
        held = self.keys(call.func) if isinstance(call, ast.Call) else frozenset()
        return bool(held & self.cast) and not held & self.models

    def _owners(self, base: ast.expr) -> frozenset[Key]:
        """The objects that a method's own object is or is a part of: ``model.decoder`` belongs to ``model``."""
        found = self.keys(base)
        while isinstance(base, ast.Attribute) and base.attr not in NO_MODULE:
            base = base.value
            held = self.keys(base)
            found |= frozenset(k for k in held if k[0] != "instance")
        return found

    def _of_network(self, obj: Obj) -> bool:
        node = self.v.callee(obj)
        return node is not None and self._within_module_class(node)

    def _within_module_class(self, node: ast.AST) -> bool:
        """Whether a node stands in a network's own class: what runs there is part of the network's call."""
        for outer in self.m.ancestors(node):
            if isinstance(outer, ast.ClassDef):
                bases = {_last(b) for b in outer.bases}
                text = self.m.src(outer)
                return any(b.endswith("Module") for b in bases) and not any(word in text for word in TRAINING)
        return False

    # ------------------------------------------------------------ gradients

    def _gradients(self, stmt: ast.stmt) -> None:
        source = self.origin.of(stmt) if self.origin is not None else None
        if isinstance(source, ast.stmt) and self.old is not None and type(source) is type(stmt):
            if source in self.old.clearers:
                self.clearers.add(stmt)
            elif source in self.old.readers:
                self.readers.add(stmt)
            return
        nodes = [n for part in own_parts(stmt) for n in ast.walk(part)]
        grads = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr == "grad" and not _function_grad(n)]
        grads = [n for n in grads if not own_gradient(self.m, self.v, n)]  # neither Apex nor a GradScaler touches it
        none = isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant) and stmt.value.value is None
        if none or isinstance(stmt, ast.Delete):
            grads = [n for n in grads if self._clears(n)]  # of some parameters only: what is left is as it was
        if grads and all(self._clears(n) for n in grads):
            self.clearers.add(stmt)
        elif any(self._looks(n) for n in grads) or any(
            self._reading_call(n) if isinstance(n, ast.Call) else self._reading_attribute(n) for n in nodes
        ):
            self.readers.add(stmt)

    def _clears(self, node: ast.Attribute) -> bool:
        above = self.m.parent[node]
        if isinstance(node.ctx, ast.Del):
            return not self._some_only(node)
        if isinstance(node.ctx, ast.Store):
            none = isinstance(above, ast.Assign) and isinstance(above.value, ast.Constant) and above.value.value is None
            return none and not self._some_only(node)
        text = self.m.src(self.m.statement(node))
        return ".zero_()" in text and isinstance(self.m.statement(node), ast.Expr)

    def _some_only(self, node: ast.AST) -> bool:
        """Whether this runs for some parameters only: a condition chooses them, or a part of the model has them."""
        for outer in self.m.spine(node)[1:]:
            if isinstance(outer, (ast.For, ast.While)):
                return isinstance(outer, ast.For) and self._of_a_part(outer.iter)
            if isinstance(outer, ast.If) and ".grad" not in self.m.src(outer.test):
                return True
        return False

    def _of_a_part(self, source: ast.expr) -> bool:
        """Whether a loop goes over the parameters of something that is no whole model."""
        owners = [
            n.func.value
            for n in ast.walk(source)
            if isinstance(n, ast.Call) and _last(n.func) in ("parameters", "named_parameters")
            if isinstance(n.func, ast.Attribute)
        ]
        return bool(owners) and not any(self.keys(owner) & self.models for owner in owners)

    def _looks(self, node: ast.Attribute) -> bool:
        """Whether a gradient's value matters: not when one only asks if it is there."""
        above = self.m.parent[node]
        if isinstance(above, ast.Compare) and all(isinstance(o, (ast.Is, ast.IsNot)) for o in above.ops):
            return False
        kept = ("detach_", "requires_grad_", "requires_grad")
        return not (isinstance(above, ast.Attribute) and above.attr in kept)

    def _reading_call(self, call: ast.Call) -> bool:
        last = _last(call.func)
        if any(n.endswith(".master_params") for n in self.v.apex_names(call.func)):
            user = self.m.parent[call]  # what a function of the file reads is found in there
            unknown = isinstance(user, ast.Call) and not self.v.callees(user)
            return unknown and _last(user.func) not in COLLECTS  # type: ignore[attr-defined]
        if self.v.callees(call) or self.kind.get(call):
            return False
        if any(word in last.lower() for word in READERS) and not any(word in last for word in IDLE):
            return True
        return self._may_read(call, last)

    def _reading_attribute(self, node: ast.AST) -> bool:
        """Whether a value of a model is called as one made of its gradients is, and no property here makes it."""
        if not isinstance(node, ast.Attribute) or not MADE_OF_GRADIENTS.fit(node.attr):
            return False
        above = self.m.parent[node]
        called = isinstance(above, ast.Call) and above.func is node
        return not called and bool(self.known(node.value)) and not self.runs(node)

    def _may_read(self, call: ast.Call, last: str) -> bool:
        """Whether code that is not here is handed a model or an optimizer, and may look at gradients. What gives a
        value back runs the model, as far as one can say, unless its name speaks of gradients."""
        if not isinstance(self.m.parent[call], ast.Expr):
            return False
        if last == "apply" and isinstance(call.func, ast.Attribute):  # of a network: to each of its modules
            handed = [self.v.callee(o) for a in call.args for o in self.v.of(a)]
            return bool(self.known(call.func.value)) and None in (handed or [None])
        if NO_READER.fit(last) or NOT_RUN_BY_METHOD.fit(last) or last[:1].isupper() or last in COLLECTS or not last:
            return False
        if evaluates(last) or hasattr(builtins, last):
            return False
        return any(self.known(a) or self._holds(a) for a in [*call.args, *(k.value for k in call.keywords)])

    def _holds(self, expr: ast.AST) -> bool:
        """Whether an object of this program that has a model or an optimizer is handed on."""
        return any(
            self.key(held) in self._interesting
            for obj in self.v.of(expr)
            if obj.kind == "instance"
            for name in self.v.attributes(obj)
            for held in self.v.field(obj, name)
        )

    # ------------------------------------------------------------ relevance

    def _spread(self, more: set[ast.AST]) -> None:
        """Mark statements around what matters, and functions that hold such, up through their callers."""
        m, v = self.m, self.v
        roots: list[ast.AST] = [*self.kind, *self.readers, *self.clearers]
        for node in m.nodes:
            entered = isinstance(node, (ast.With, ast.AsyncWith)) and any(self.context(i) for i in node.items)
            imported = isinstance(node, (ast.Import, ast.ImportFrom)) and _imports_apex(node)
            if entered or imported or self._keeps_scaler(node):
                roots.append(node)
        todo: list[ast.AST] = sorted(more, key=self.m.start)
        for node in roots:
            self._mark(node)
            todo.append(self._around(node))
        while todo or (todo := [*self._raisers(), *self._constructors()]):
            at = todo.pop()
            if at in self.functions or (self._own_of_network(at) and not self._touches(at)):
                continue
            self.functions.add(at)
            todo += self._constructors_asked(at)
            for call in (*v.calls.get(at, ()), *self._reads_of.get(at, ()), *self._handed_to.get(at, ())):
                if not self.kind.get(call):
                    self.kind[call] = "call"
                self._mark(call)
                todo.append(self._around(call))
        stepping = {self._around(n) for n, kind in self.kind.items() if kind in _PROTOCOL}
        caught = any(kind == "call" and self._tried(n) for n, kind in self.kind.items())
        for function in self.functions:
            for node in ast.walk(function):
                if isinstance(node, (*_EXITS, *_YIELDS)) and m.function(node).node is function:
                    # who raises where nothing is pending only ends, in both programs alike
                    if not isinstance(node, ast.Raise) or function in stepping or caught or self._tried(node):
                        self._mark(node)
        for node in m.nodes:  # functions defined inside
            if isinstance(node, _FUNCTIONS) and node in self.functions:
                self._relevant.add(node)

    def _constructors(self) -> list[ast.AST]:
        """Constructors, not followed so far, of objects with a method that is followed: they set what it asks for."""
        owners = {self.m.class_of(self.m.scope_of[f]) for f in self.functions if f in self.m.scope_of}
        made = [self.v.callee(Obj("class", owner, owner.name)) for owner in owners if owner is not None]
        found = [f for f in made if f is not None and f not in self.functions and not self._own_of_network(f)]
        return sorted(found, key=self.m.start)

    def _raisers(self) -> list[ast.AST]:
        """Functions, not followed so far, whose exception a ``try`` of one that is followed may look at."""
        return [
            callee
            for callee, calls in self.v.calls.items()
            if callee not in self.functions
            and any(isinstance(n, ast.Raise) and self._around(n) is callee for n in ast.walk(callee))
            and any(self._around(call) in self.functions and self._tried(call) for call in calls)
            and not self._own_of_network(callee)
        ]

    def _keeps_scaler(self, node: ast.AST) -> bool:
        """Whether an object is given a scaler that it was handed: ``self.scaler = scaler``."""
        if not isinstance(node, ast.Assign) or not isinstance(node.value, (ast.Name, ast.Attribute)):
            return False
        return any(isinstance(t, ast.Attribute) for t in node.targets) and self._is_scaler(node.value)

    def _constructors_asked(self, function: ast.AST) -> list[ast.AST]:
        """The constructor that says that a method runs for the first time, where that makes what is not there yet:
        ``if self._optimizer is None: self._optimizer = …``."""
        first = self.m.self_name(self.m.scope_of[function]) if isinstance(function, _FUNCTIONS) else None
        owner = self.m.class_of(self.m.scope_of[function]) if first is not None else None
        init = self.v.callee(Obj("class", owner, owner.name)) if owner is not None else None
        if init is None or init is function:
            return []
        tested = {
            n.attr
            for stmt in ast.walk(function)
            if isinstance(stmt, ast.If)
            for n in ast.walk(stmt.test)
            if isinstance(n, ast.Attribute)
        }
        made = _set_attributes(function) & tested
        nothing = {
            t.attr
            for n in ast.walk(init)
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant) and not n.value.value
            for t in n.targets
            if isinstance(t, ast.Attribute)
        }
        return [init] if made & nothing else []

    def _touches(self, function: ast.AST) -> bool:
        """Whether gradients are read or cleared in a function itself."""
        return any(self.m.function(s).node is function for s in (*self.readers, *self.clearers))

    @cached_property
    def _reads_of(self) -> dict[ast.AST, list[ast.Attribute]]:
        """Properties, and the attributes by which they are run."""
        properties: dict[str, list[ast.AST]] = defaultdict(list)
        for node in self.m.nodes:
            if isinstance(node, _FUNCTIONS) and any(_last(d) == "property" for d in node.decorator_list):
                properties[node.name].append(node)
        found: dict[ast.AST, list[ast.Attribute]] = defaultdict(list)
        for node in self.m.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in properties:
                classes = {o.key for o in self.v.of(node.value) if o.kind == "instance"}
                for function in properties[node.attr]:
                    owner = self.m.class_of(self.m.scope_of[function])
                    if owner in classes or not classes:
                        found[function].append(node)
        return found

    @cached_property
    def _handed_to(self) -> dict[ast.AST, list[ast.Call]]:
        """Functions that only look at gradients, and the calls of unknown code that are handed one, and may run it."""
        found: dict[ast.AST, list[ast.Call]] = defaultdict(list)
        for node in self.m.nodes:
            if not isinstance(node, ast.Call) or self.v.callees(node):
                continue
            for arg in node.args:
                for obj in self.v.of(arg):
                    function = self.v.callee(obj) if obj.kind in ("function", "method") else None
                    if function is not None and self._touches(function):
                        found[function].append(node)
        return found

    def runs(self, node: ast.AST) -> list[ast.AST]:
        """Functions of the program that a call, or an attribute that is a property, may run."""
        if isinstance(node, ast.Call):
            return self.v.callees(node) or [f for f, calls in self._handed_to.items() if node in calls]
        return [f for f, reads in self._reads_of.items() if node in reads]

    def _around(self, node: ast.AST) -> ast.AST:
        """The function or lambda in which a node runs, or the module."""
        scope = self.m.scope(node)
        while isinstance(scope.node, ast.ClassDef) and scope.parent is not None:
            scope = scope.parent
        return scope.node

    def _tried(self, node: ast.AST) -> bool:
        """Whether an exception raised here is looked at in the same function."""
        return any(hasattr(s, "handlers") for s in self.m.spine(node))

    def _own_of_network(self, function: ast.AST) -> bool:
        return not isinstance(function, ast.Module) and self._within_module_class(function)

    def _mark(self, node: ast.AST) -> None:
        self._relevant.add(node)
        for outer in self.m.ancestors(node):
            self._relevant.add(outer)
            if isinstance(outer, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
                break

    # ------------------------------------------------------------ what the compiler asks

    def relevant(self, stmt: ast.stmt) -> bool:
        return stmt in self._relevant and not isinstance(stmt, (ast.Import, ast.ImportFrom))

    def calls(self, expr: ast.AST) -> bool:
        return expr in self._relevant

    def event(self, node: ast.expr) -> bool:
        return bool(self.kind.get(node))

    def context(self, item: ast.withitem) -> bool:
        expr = item.context_expr
        func = expr.func if isinstance(expr, ast.Call) else expr
        if _last(func) == "autocast" or expr in self.scales:
            return True
        if self.scaling(expr) or self.stack(item) is not None:
            return True
        return any(
            name.startswith("apex.amp") and name.split(".")[-1] in ("scale_loss", "disable_casts")
            for name in self.v.apex_names(func)
        )

    def scaling(self, expr: ast.AST) -> bool:
        """Whether an expression may be what ``amp.scale_loss`` handed back."""
        return any(o.kind == "call" and o.key in self.scales for o in self.v.of(expr))

    def stack(self, item: ast.withitem) -> str | None:
        """The name of an ``ExitStack`` that scaled losses are entered on."""
        made, name = item.context_expr, item.optional_vars
        if isinstance(made, ast.Call) and _last(made.func) == "ExitStack" and isinstance(name, ast.Name):
            return name.id if name.id in self._stacks else None
        return None

    @cached_property
    def _stacks(self) -> set[str]:
        """Names with a method by which scaled losses are entered."""
        entered = [n.func for n, kind in self.kind.items() if kind == "entered" and isinstance(n, ast.Call)]
        return {f.value.id for f in entered if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name)}

    def reads(self, stmt: ast.stmt) -> bool:
        return stmt in self.readers

    def clears(self, stmt: ast.stmt) -> bool:
        return stmt in self.clearers

    def aside(self, stmt: ast.stmt) -> bool:
        """Whether nothing hangs on a condition but that models are evaluated, in both programs."""
        return stmt in self.asides

    def find_asides(self) -> None:
        """Find these conditions; asked of the new program once both are prepared."""
        assert self.old is not None and self.origin is not None
        for stmt in self.m.nodes:
            if isinstance(stmt, (ast.For, ast.While)):
                twin = self.origin.of(stmt)
                if isinstance(twin, (ast.For, ast.While)) and self.only_reads(stmt) != self.old.only_reads(twin):
                    self.loud.add(stmt)
                    self.old.loud.add(twin)
            source = self.origin.of(stmt) if isinstance(stmt, ast.If) else None
            if isinstance(stmt, ast.If) and isinstance(source, ast.If):
                if self._only_evaluation(stmt) and self.old._only_evaluation(source):
                    self.asides.add(stmt)
                    self.old.asides.add(source)

    def _only_evaluation(self, stmt: ast.If) -> bool:
        if stmt not in self._relevant:
            return False
        for node in [n for arm in (stmt.body, stmt.orelse) for s in arm for n in ast.walk(s)]:
            kind = self.kind.get(node, "")
            if kind == "call":
                if not all(self.evaluates_only(f) for f in self.runs(node) if f in self.functions):
                    return False
            elif kind not in ("", "forward", "loss") and not _asks_if_enabled(node):
                return False
            if isinstance(node, _EXITS) and not self._own_loop(node, stmt):
                return False
            if isinstance(node, (ast.Yield, ast.YieldFrom)) or node in self.readers or node in self.clearers:
                return False
        return not any(self.kind.get(n) for n in ast.walk(stmt.test))

    def only_reads(self, stmt: ast.stmt) -> bool:
        """A loop in which nothing happens but that gradients are read or cleared."""
        if not isinstance(stmt, (ast.For, ast.While)) or stmt in self.loud:
            return False
        touched = False
        for node in ast.walk(stmt):
            if node in self.kind or (isinstance(node, _EXITS) and not self._own_loop(node, stmt)):
                return False
            if isinstance(node, (ast.With, *_FUNCTIONS, ast.ClassDef)):
                return False
            touched = touched or node in self.readers or node in self.clearers
        return touched

    def reading(self, stmt: ast.stmt) -> tuple[bool, bool]:
        """Whether gradients are read, and whether they are cleared, anywhere in a loop."""
        nodes = list(ast.walk(stmt))
        return any(n in self.readers for n in nodes), any(n in self.clearers for n in nodes)

    def _own_loop(self, node: ast.AST, stmt: ast.stmt) -> bool:
        loops = [s for s in self.m.spine(node) if isinstance(s, (ast.For, ast.While))]
        return isinstance(node, (ast.Break, ast.Continue)) and bool(loops) and self.m.inside(loops[0], stmt)

    def resumes(self, expr: ast.expr) -> bool:
        """Whether a loop runs over a generator of this program that has a part in training."""
        call = generator_call(expr)
        return call is not None and any(
            c in self.functions and self.code(c).generator for c in self.v.callees(call)
        )

    def code(self, function: ast.AST) -> Code:
        if function not in self._codes:
            body = function.body if isinstance(function, (*_FUNCTIONS, ast.Module)) else []
            self._codes[function] = compile_body(self, function, body)
        return self._codes[function]

    def without_gradients(self, node: ast.AST) -> bool:
        """Whether a ``no_grad`` stands around a node in its function, or above the function."""
        for outer in self.m.ancestors(node):
            if isinstance(outer, (ast.With, ast.AsyncWith)):
                if any(_NO_GRAD.search(self.m.src(i.context_expr)) for i in outer.items):
                    return True
            elif isinstance(outer, _FUNCTIONS):
                return any(_NO_GRAD.search(self.m.src(d)) for d in outer.decorator_list)
        return False

    def runs_backward(self, function: ast.AST) -> bool:
        """Whether a backward stands in the function itself."""
        return "backward" in self._by_function[function]

    def evaluates_only(self, function: ast.AST, trail: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function does no more than run models and compute losses, also in functions that it calls."""
        if function in trail:
            return True
        if function not in self._only_evaluates:
            kinds = [(n, k) for n, k in self.kind.items() if self._around(n) is function]
            fine = not any(self.m.function(s).node is function for s in (*self.readers, *self.clearers))
            fine = fine and all(k in ("forward", "loss", "call") or _asks_if_enabled(n) for n, k in kinds)
            raised = [n for n in ast.walk(function) if isinstance(n, ast.Raise) and n in self._relevant]
            fine = fine and not any(self._around(n) is function for n in raised)
            inner = {c for call in self._calls_in[function] for c in self.runs(call) if c in self.functions}
            fine = fine and all(self.evaluates_only(c, trail | {function}) for c in inner)
            self._only_evaluates[function] = fine
        return self._only_evaluates[function]

    def outlived(self, function: ast.AST) -> frozenset[str]:
        """Names of a function that functions defined inside read, which may outlive a run of it."""
        return self._holders.get(function, frozenset())

    @cached_property
    def _holders(self) -> dict[ast.AST, frozenset[str]]:
        found: dict[ast.AST, frozenset[str]] = defaultdict(frozenset)
        for inner in self.functions:
            if isinstance(inner, (*_FUNCTIONS, ast.Lambda)):
                outer = self.m.function(inner).node
                found[outer] |= {n.id for n in ast.walk(inner) if isinstance(n, ast.Name)}
        return dict(found)

    def class_constant(self, keys: frozenset[Key], attr: str) -> ast.Constant | None:
        """The constant that a class gives an attribute that no code sets."""
        if len(keys) != 1 or attr in self._stored:
            return None
        return self._class_constants.get((*keys, attr))

    def sets(self, attr: str) -> bool:
        """Whether code of the file sets an attribute of that name."""
        return attr in self._stored

    @cached_property
    def _stored(self) -> set[str]:
        return {n.attr for n in self.m.nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}

    @cached_property
    def _class_constants(self) -> dict[tuple[object, ...], ast.Constant]:
        found: dict[tuple[object, ...], ast.Constant] = {}
        for node in self.m.nodes:
            if not isinstance(node, ast.ClassDef):
                continue
            for stmt in node.body:
                targets = stmt.targets if isinstance(stmt, ast.Assign) else []
                for target in targets:
                    if isinstance(target, ast.Name) and isinstance(stmt.value, ast.Constant):  # type: ignore[attr-defined]
                        found[(("instance", self.place(node)), target.id)] = stmt.value  # type: ignore[attr-defined]
        return found

    # ------------------------------------------------------------ names that matter

    @cached_property
    def mattering(self) -> frozenset[str]:
        """Names whose values may decide which way a program goes, or which object is meant."""
        return self._mattering(lambda node: node in self._relevant)

    @cached_property
    def mattering_most(self) -> frozenset[str]:
        """The same, but for conditions that have no part in mixed precision."""
        return self._mattering(lambda node: node in self._deciding or node in self._leaving)

    def _mattering(self, decides: Callable[[ast.AST], bool]) -> frozenset[str]:
        found: set[str] = set()
        assigned: dict[str, set[str]] = defaultdict(set)
        aside: list[tuple[set[str], set[str]]] = []  # conditions that only choose what is bound
        for node in self.m.nodes:
            match node:
                case ast.If(test=test) if node not in self._relevant:
                    stored = {n for n in ast.walk(node) if isinstance(getattr(n, "ctx", None), ast.Store)}
                    aside.append((_names_in(test), {name for n in stored for name in _names_in(n)}))
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                    if decides(node):
                        found |= _names_in(test)
                case ast.match_case() | ast.BoolOp() if decides(node):
                    found |= _names_in(node)
                case ast.Return(value=ast.expr() as value):
                    assigned[getattr(self.m.function(node).node, "name", "") + "()"] |= _names_in(value)
                case ast.Call() if self.kind.get(node) == "call":
                    found |= _names_in(node.func)
                    for name, arg in self._handed(node):
                        assigned[name] |= _names_in(arg)
                case ast.Call() if self.kind.get(node) in _EVALUATED:
                    found |= _names_in(node)
                case ast.withitem() if self.context(node):
                    found |= _names_in(node)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        for name in _names_in(target):
                            assigned[name] |= _names_in(value)
                case ast.For(target=target, iter=source):
                    for name in _names_in(target):
                        assigned[name] |= _names_in(source)
                case _:
                    pass
        for asked, names in aside:
            for name in names:
                assigned[name] |= asked
        todo = list(found)
        while todo:
            for name in assigned.get(todo.pop(), ()):
                if name not in found:
                    found.add(name)
                    todo.append(name)
        return frozenset(found)

    @cached_property
    def deciding(self) -> frozenset[str]:
        """Names in conditions that have a part in mixed precision."""
        created = [node for node, kind in self.kind.items() if kind == "create"]
        tests = [node.test for node in self._deciding]
        return frozenset[str]().union(*map(_names_in, (*created, *tests)))

    @cached_property
    def _deciding(self) -> set[ast.If | ast.While]:
        """Conditions that decide whether and how losses are scaled, gradients are taken and steps are made."""
        sites = [
            node
            for node, kind in self.kind.items()
            if kind in _PROTOCOL | {"initialize", "create"}
            or (kind == "call" and any(self._trains(f) for f in self.runs(node)))
        ]
        return self._conditions((*sites, *self.readers, *self.clearers))

    @cached_property
    def _leaving(self) -> set[ast.If | ast.While]:
        """Conditions on which training is left, or a round of it."""
        return self._conditions(n for n in self._relevant if isinstance(n, _EXITS) and self._trains(self._around(n)))

    def _conditions(self, nodes: Iterable[ast.AST]) -> set[ast.If | ast.While]:
        """The conditions that some nodes stand under, each in its function."""
        return {outer for n in nodes for outer in self.m.spine(n) if isinstance(outer, (ast.If, ast.While))}

    def _handed(self, call: ast.Call) -> Iterator[tuple[str, ast.AST]]:
        """The arguments of a call by the names of the parameters that they may fill."""
        for callee in self.v.callees(call):
            scope = self.m.scope_of[callee]
            names = [n for n in scope.params if n != self.m.self_name(scope)]
            for number, arg in enumerate(call.args):
                if isinstance(arg, ast.Starred):
                    yield from ((name, arg) for name in names[number:])
                elif number < len(names):
                    yield names[number], arg
            for keyword in call.keywords:
                yield keyword.arg or "", keyword.value

    @cached_property
    def asked(self) -> dict[str, set[int]]:
        """For each name or attribute the places whose conditions or values it may decide."""
        found: dict[str, set[int]] = defaultdict(set)
        for node in self.m.nodes:
            parts: list[ast.AST] = []
            match node:
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                    parts = [test] if node in self._relevant else []
                case ast.Call() if self.kind.get(node) in _EVALUATED:
                    parts = [node]
                case ast.withitem() if self.context(node):
                    parts = [node.context_expr]
                case ast.Assign(targets=targets, value=value):
                    if any(_names_in(t) & self.mattering for t in targets):
                        parts = [value]
                case ast.Return(value=ast.expr() as value):
                    parts = [value]
                case _:
                    pass
            for part in parts:
                for name in _names_in(part):
                    found[name].add(self.place(part))
        return found

    # ------------------------------------------------------------ entries

    def concrete(self, owner: ast.ClassDef) -> ast.ClassDef:
        """The class that an object with the methods of ``owner`` has, where the file has one such subclass only."""
        while True:
            below = [
                n
                for n in self.m.nodes
                if isinstance(n, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == owner.name for b in n.bases)
            ]
            if len(below) != 1 or below[0] is owner:
                return owner
            owner = below[0]

    @cached_property
    def entries(self) -> list[ast.AST]:
        """Functions that train and that nothing in the file calls: others may, in any order. The new program has the
        same as the old one."""
        if self.old is not None and self.origin is not None:
            images = [n for n in self.m.nodes if isinstance(n, _FUNCTIONS) and self.origin.of(n) in self.old.entries]
            return sorted(images, key=self.place)
        found: list[ast.AST] = [
            node
            for node in self.functions
            if isinstance(node, _FUNCTIONS)
            and not self.v.calls.get(node)
            and self.m.function(node).parent is None
            and self._trains(node)
        ]
        return sorted(found, key=self.place)

    def nested(self, function: ast.AST) -> list[ast.AST]:
        """Functions defined in ``function`` that nothing calls by name: somebody was handed them."""
        found = [
            node
            for node in self.functions
            if isinstance(node, _FUNCTIONS)
            and not self.v.calls.get(node)
            and self.m.function(node).node is function
            and not isinstance(function, ast.Module)
        ]
        return sorted(found, key=self.place)

    @cached_property
    def _by_function(self) -> dict[ast.AST, set[str]]:
        kinds: dict[ast.AST, set[str]] = defaultdict(set)
        for node, kind in self.kind.items():
            kinds[self._around(node)].add(kind)
        return kinds

    def initializes(self, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function runs ``amp.initialize``, itself or in others that it calls."""
        if "initialize" in self._by_function[node]:
            return True
        inner = {c for call in self._calls_in[node] for c in self.runs(call)}
        return any(c not in seen and self.initializes(c, seen | {node}) for c in inner)

    def switches(self, node: ast.AST) -> list[ast.AST]:
        """The calls in a function that run ``amp.initialize``, in it or further down."""
        if node not in self._switches:
            inner = [c for c in self._calls_in[node] if any(self.initializes(f) for f in self.runs(c))]
            own = [n for n, kind in self.kind.items() if kind == "initialize" and self._around(n) is node]
            self._switches[node] = [*own, *inner]
        return self._switches[node]

    @cached_property
    def _calls_in(self) -> dict[ast.AST, list[ast.AST]]:
        found: dict[ast.AST, list[ast.AST]] = defaultdict(list)
        for node, kind in self.kind.items():
            if kind == "call":
                found[self._around(node)].append(node)
        return found

    def _trains(self, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
        kinds = self._by_function[node]
        if kinds & {"initialize", "amp", "backward", "step", "create", "scaler", "state"}:
            return True
        if any(self.m.function(n).node is node for n in self.m.nodes if isinstance(n, ast.With) and self._scales(n)):
            return True
        inner = {c for call in self._calls_in[node] for c in self.runs(call)}
        return any(c not in seen and self._trains(c, seen | {node}) for c in inner)

    def _scales(self, node: ast.With) -> bool:
        if self.origin is not None and self.origin.of(node) is None:
            return False  # a region of the new text: where the old one had none, it makes no entry
        return any(self.context(i) for i in node.items)


def generator_call(expr: ast.expr) -> ast.Call | None:
    """The call of a generator under ``enumerate``, ``tqdm`` and the like."""
    while isinstance(expr, ast.Call):
        if _last(expr.func) in ("enumerate", "tqdm", "iter", "list") and expr.args:
            expr = expr.args[0]
        else:
            return expr
    return None


def own_parts(stmt: ast.stmt) -> list[ast.AST]:
    """The expressions of a statement's own header, or a simple statement itself."""
    match stmt:
        case ast.If(test=test) | ast.While(test=test):
            return [test]
        case ast.For(iter=source) | ast.AsyncFor(iter=source):
            return [source]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [i.context_expr for i in items]
        case ast.Match(subject=subject):
            return [subject]
        case ast.Try() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return []
        case _ if hasattr(stmt, "handlers"):
            return []
        case _:
            return [stmt]


def _set_attributes(function: ast.AST) -> set[str]:
    return {n.attr for n in ast.walk(function) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}


def _asks_if_enabled(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) == "is_enabled"


def _names_in(node: ast.AST) -> set[str]:
    """Names and attributes in a piece of code, and the functions it calls, as ``f()``."""
    found: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Attribute):
            found.add(one.attr)
        elif isinstance(one, ast.Call):
            found.add(_last(one.func) + "()")
    return found


def _function_grad(node: ast.Attribute) -> bool:
    """``torch.autograd.grad``, not ``p.grad``."""
    value = node.value
    return getattr(value, "attr", getattr(value, "id", "")) in ("autograd", "torch")


def _imports_apex(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and (node.module or "").split(".")[0] == "apex"
    return any(a.name.split(".")[0] == "apex" for a in node.names)


def _last(func: ast.AST) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")

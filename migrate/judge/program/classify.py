"""What a call is to training: ``forward``, ``backward``, ``step``, … or nothing."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from functools import cached_property

from ...facts.module import Module
from ...facts.networks import runs_elsewhere
from ...flow.objects import Obj
from ...flow.values import Values
from ...knowledge.models import FORWARDING, MAPPING, NO_MODULE, NOT_RUN_BY_METHOD
from ...knowledge.operations import NATIVE_HALF
from ...nodes import walk
from ..names import LIBRARIES, LOSSES, OPTIMIZERS, RUNS_MODEL, SCALER_METHODS
from ..state import Key
from .callees import Callees
from .objects import Objects, within_module_class
from .scaling import Scaling
from .syntax import around, goes_on, last_name, makes_scaler, tried


class Classifier:
    """Says of each call of one program what it is. ``old`` is what was said of the calls of the old one."""

    def __init__(
        self,
        m: Module,
        v: Values,
        objects: Objects,
        scaling: Scaling,
        callees: Callees,
        old: Mapping[ast.AST, str],
    ) -> None:
        self.m, self.v, self.objects, self.scaling, self.callees, self.old = m, v, objects, scaling, callees, old
        self.naming = objects.naming
        self._computing: dict[ast.AST, bool] = {}

    def kind(self, call: ast.Call) -> str:
        """What a call is; empty where training goes by without it."""
        func = call.func
        last = last_name(func)
        for name in sorted(self.v.apex_names(func)):
            tail = name.split(".")[-1]
            if name.startswith("apex.amp") and tail in ("state_dict", "load_state_dict"):
                if isinstance(func, ast.Attribute) and self.objects.known(func.value):
                    continue  # of one of several things: no call of amp's alone, in either program
                return "state"
            if name.startswith("apex.amp") and tail in ("initialize", "init"):
                return "initialize"
            if name.startswith("apex.amp") and tail in ("scale_loss", "disable_casts"):
                return "amp"
        if call in self.objects.scales:
            return "amp"
        if last == "enter_context" and call.args and self.scaling.may_scale(call.args[0]):
            return "entered"
        if last == "loss_scale" and isinstance(func, ast.Attribute) and self.scaling.of_loss_scaler(func):
            return "scale"
        if makes_scaler(call) and not self.v.callees(call):
            return "create"
        if isinstance(func, ast.Attribute) and last in SCALER_METHODS and self.scaling.is_scaler(func.value):
            return "" if self.scaling.sets_scale(call) else "scaler"
        callees = self.v.callees(call)
        if not callees and (last == "backward" if isinstance(func, ast.Attribute) else last in self._backwards):
            return "backward"
        if last == "grad" and isinstance(func, ast.Attribute) and last_name(func.value) == "autograd":
            return "gradients"
        if (
            last == "step"
            and isinstance(func, ast.Attribute)
            and self.naming.keys(func.value) & self.objects.optimizers
        ):
            return "step" if all(map(self._of_optimizer, callees)) else "call"
        if last == "zero_grad" and not callees:
            return "zero"
        if within_module_class(self.naming, call):
            return ""
        if self._foreign(call):
            return "foreign"
        source = self.naming.twin(call)
        if isinstance(source, ast.Call):
            known = self.old.get(source, "")
            if known in ("forward", "loss", ""):
                return known
        if self._forward(call, last):
            return "forward"
        if (last in LOSSES and not callees) or any(
            o.kind == "call" and o.label.endswith("Loss") and o.label != "BCELoss" for o in self.v.of(func)
        ):
            moved = isinstance(func, ast.Attribute) and NOT_RUN_BY_METHOD.fit(last)
            return "loss" if not callees and not moved else ""
        return "loss" if any(map(self._own_loss, self.v.of(func))) else ""

    def _own_loss(self, obj: Obj) -> bool:
        """Whether an object is a loss module of the program's own in which casts matter."""
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef) or not obj.key.name.endswith("Loss"):
            return False
        forward = self.m.method(obj.key, "forward")
        return forward is not None and within_module_class(self.naming, forward) and self._computes(forward)

    def _of_optimizer(self, function: ast.AST) -> bool:
        """Whether a function is a method of an optimizer that the program has written down: `amp.initialize` patches
        its step as it does torch's."""
        owner = self.m.class_of(self.m.scope_of[function])
        bases = [last_name(base) for base in owner.bases] if owner is not None else []
        return any(base.endswith("Optimizer") or base in OPTIMIZERS for base in bases)

    def _foreign(self, call: ast.Call) -> bool:
        """Whether a call, made for its effect inside of a ``try``, runs code of another file, which may raise.

        The ``try`` may be a caller's, where a part of training stands beside the call."""
        name = getattr(call.func, "id", "")
        starred = "*" in self._from_elsewhere and bool(name) and not hasattr(builtins, name)
        unbound = starred and self.m.binding_scope(name, self.m.scope(call)) is None
        if name not in self._from_elsewhere and not unbound:
            return False
        if not isinstance(self.m.parent[call], ast.Expr):
            return False
        home = around(self.m, call)
        return tried(self.m, call) or (home in self._within_try and home in self._training)

    @cached_property
    def _within_try(self) -> set[ast.AST]:
        """Functions that run inside of a ``try`` that a caller goes on behind, directly or through others."""
        found: set[ast.AST] = set()
        todo = [f for call in self.m.all(ast.Call) if goes_on(self.m, call) for f in self.v.callees(call)]
        while todo:
            at = todo.pop()
            if at not in found:
                found.add(at)
                todo += [f for call in self.callees.standing_in.get(at, ()) for f in self.v.callees(call)]
        return found

    @cached_property
    def _training(self) -> set[ast.AST]:
        """Functions with a backward or a step."""
        return {around(self.m, call) for name in ("backward", "step") for call in self.m.calls(name)}

    @cached_property
    def _from_elsewhere(self) -> set[str]:
        """Names imported from modules that are no well-known library's."""
        return {
            alias.asname or alias.name
            for node in self.m.all(ast.ImportFrom)
            if node.level or (node.module or "").split(".")[0] not in LIBRARIES
            for alias in node.names
        }

    @cached_property
    def _backwards(self) -> set[str]:
        """Names of ``torch.autograd.backward``."""
        return {
            alias.asname or alias.name
            for node in self.m.all(ast.ImportFrom)
            if node.module == "torch.autograd"
            for alias in node.names
            if alias.name == "backward"
        }

    def _forward(self, call: ast.Call, last: str) -> bool:
        func = call.func
        if any(o.kind in ("method", "function") and not self._of_network(o) for o in self.v.of(func)):
            return False
        if runs_elsewhere(self.v, call, self.objects.elsewhere, self.objects.handed):
            return True
        callees = self.v.callees(call)
        if callees and isinstance(func, ast.Attribute) and not any(map(self._computes, callees)):
            return False
        if isinstance(func, ast.Attribute):
            if NOT_RUN_BY_METHOD.fit(last):
                return False
            owners = self._owners(func.value)
            return bool(
                (self.naming.keys(func) | owners) & self.objects.models
                or (self.naming.keys(func) | (owners if FORWARDING.fit(last) else frozenset())) & self.objects.cast
            )
        if self.naming.keys(func) & (self.objects.models | self.objects.cast) or any(map(self._runs, self.v.of(func))):
            return True
        if isinstance(func, ast.Call) and isinstance(func.func, ast.Attribute) and not self.v.callees(func):
            if self.naming.keys(func.func.value) & self.objects.models:
                return True  # a part of it that a method gives: `model.get_input_embeddings()(ids)`
        if last in RUNS_MODEL and not self.v.callees(call):
            return any(self.naming.keys(a) & self.objects.models for a in call.args)
        if last in MAPPING and isinstance(func, ast.Name) and call.args:
            return self._maps(call.args[0])
        return False

    def _runs(self, obj: Obj) -> bool:
        """Whether an object runs a network when it is called: a method of one by another name, or a partial of that."""
        networks = self.objects.models | self.objects.cast
        if obj.kind in ("method", "path"):
            owner, name = obj.key[0], obj.label.split(".")[-1]  # type: ignore[index]
            if not isinstance(owner, Obj) or self.naming.key(owner) not in networks:
                return False
            callee = self.v.callee(obj)
            return FORWARDING.fit(name) if callee is None else self._computes(callee)
        if obj.kind != "partial" or not isinstance(obj.key, ast.Call):
            return False
        first, *rest = obj.key.args
        handed = rest if last_name(first) in RUNS_MODEL else [first]
        held = [o for arg in handed for o in self.v.of(arg) if o is not obj]
        return any(self.naming.key(o) in networks or self._runs(o) for o in held)

    def _maps(self, mapped: ast.expr) -> bool:
        """Whether ``map`` runs a model with what it goes through: the model itself, or a method of it."""
        if isinstance(mapped, ast.Attribute):
            owned = self.naming.keys(mapped.value) & (self.objects.models | self.objects.cast)
            return bool(owned) and FORWARDING.fit(mapped.attr)
        return bool(self.naming.keys(mapped) & (self.objects.models | self.objects.cast))

    def _computes(self, method: ast.AST) -> bool:
        """Whether a network's method runs a part of the network, or what casts matter for; not whether it counts
        parameters or looks at gradients."""
        if method not in self._computing:
            self._computing[method] = False  # recursion
            self._computing[method] = any(map(self._may_compute, walk(method)))
        return self._computing[method]

    def _may_compute(self, node: ast.AST) -> bool:
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.MatMult)
        if not isinstance(node, ast.Call):
            return False
        last = last_name(node.func)
        if last in NATIVE_HALF or FORWARDING.fit(last):
            return True
        callees = self.v.callees(node)
        if callees:
            return any(map(self._computes, callees))
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if root is node.func:  # `layer(x)`, `self.layers[0](x)`
            return not (isinstance(root, ast.Name) and hasattr(builtins, last))
        own = isinstance(root, ast.Name) and root.id == self.m.self_name(self.m.function(node))
        return own and not NOT_RUN_BY_METHOD.fit(last)

    def _owners(self, base: ast.expr) -> frozenset[Key]:
        """The objects that a method's own object is or is a part of: ``model.decoder`` belongs to ``model``."""
        found = self.naming.keys(base)
        while isinstance(base, ast.Attribute) and base.attr not in NO_MODULE:
            base = base.value
            held = self.naming.keys(base)
            found |= frozenset(k for k in held if k[0] != "instance")
        return found

    def _of_network(self, obj: Obj) -> bool:
        return any(within_module_class(self.naming, node) for node in self.v.functions(obj))

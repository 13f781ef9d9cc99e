"""Where losses are scaled: Apex's blocks, GradScalers, and what reads the loss scale."""

from __future__ import annotations

import ast
from functools import cached_property

from ...facts.module import Module
from ...flow.values import Values
from ...nodes import walk
from ..state import Key
from .autocasting import Autocasting
from .marks import Marks
from .objects import Objects
from .syntax import FUNCTIONS, last_name, makes_scaler


class Scaling:
    """The scalers and scaled losses of one program."""

    def __init__(self, m: Module, v: Values, objects: Objects, marks: Marks) -> None:
        self.m, self.v, self.objects, self.marks = m, v, objects, marks
        self.naming = objects.naming
        self.autocasting = Autocasting(m, v)

    # ------------------------------------------------------------ scalers

    def scalers(self, expr: ast.AST) -> list[Key]:
        """The GradScalers of this program that an expression may hold."""
        found = [
            self.naming.key(o)
            for o in self.v.of(expr)
            if o.kind == "call" and isinstance(o.key, ast.Call) and makes_scaler(o.key)
        ]
        return self._made if not found and self._handed_over(expr) else found

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes that hold GradScalers."""
        return frozenset(one.attr for one in self.m.all(ast.Attribute) if self.scalers(one))

    @cached_property
    def _made(self) -> list[Key]:
        """All GradScalers that this program makes, whose keys are as those of their objects."""
        made = [call for call in self.m.all(ast.Call) if makes_scaler(call)]
        return sorted({key for call in made for key in self.naming.keys(call)}, key=str)

    def _handed_over(self, expr: ast.AST) -> bool:
        """Whether an expression is a parameter that the migration gave to a function, or to the constructor of a class,
        that nothing in the program calls: the report says that whoever calls it has to hand the scaler over."""
        m = self.m
        if isinstance(expr, ast.Name):
            return (m.function(expr).node, expr.id) in self._new_parameters
        if not isinstance(expr, ast.Attribute) or not isinstance(expr.value, ast.Name):
            return False
        scope = m.function(expr)
        return expr.value.id == m.self_name(scope) and (m.class_of(scope), expr.attr) in self._kept_parameters

    @cached_property
    def _new_parameters(self) -> set[tuple[ast.AST, str]]:
        """The functions that nothing calls, each with a parameter that the old one had not."""
        found: set[tuple[ast.AST, str]] = set()
        for node in (*self.m.all(ast.FunctionDef), *self.m.all(ast.AsyncFunctionDef)):
            was = self.naming.twin(node)
            if isinstance(was, FUNCTIONS) and not self.v.calls.get(node):
                before = {arg.arg for arg in walk(was.args) if isinstance(arg, ast.arg)}
                found |= {(node, name) for name in self.m.scope_of[node].params if name not in before}
        return found

    @cached_property
    def _kept_parameters(self) -> set[tuple[ast.ClassDef | None, str]]:
        """The attributes that such a constructor keeps them in."""
        return {
            (self.m.class_of(self.m.scope_of[init]), target.attr)
            for init, name in self._new_parameters
            for stmt in walk(init)
            if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Name) and stmt.value.id == name
            for target in stmt.targets
            if isinstance(target, ast.Attribute)
        }

    def is_scaler(self, expr: ast.AST) -> bool:
        """Whether an expression holds a GradScaler: it may, and it is called so or may hold nothing else."""
        named = last_name(expr) in self._scaler_names
        return bool(self.scalers(expr)) and (named or not self.objects.known(expr))

    @cached_property
    def _scaler_names(self) -> set[str]:
        """Names and attributes that a new GradScaler is assigned to."""
        return {
            last_name(target)
            for node in self.m.all(ast.Assign)
            if isinstance(node.value, ast.Call)
            for target in node.targets
            if makes_scaler(node.value)
        }

    def keeps_scaler(self, node: ast.AST) -> bool:
        """Whether an object is given a scaler that it was handed: ``self.scaler = scaler``."""
        if not isinstance(node, ast.Assign) or not isinstance(node.value, (ast.Name, ast.Attribute)):
            return False
        return any(isinstance(t, ast.Attribute) for t in node.targets) and self.is_scaler(node.value)

    # ------------------------------------------------------------ the loss scale

    def of_loss_scaler(self, node: ast.Attribute) -> bool:
        """Whether an attribute is one of Apex's loss scalers', by whatever name."""
        return any(name.endswith("loss_scalers[]") for name in self.v.apex_names(node.value))

    def sets_scale(self, call: ast.Call) -> bool:
        """Whether a call, or the one around it, gives a GradScaler the scale to begin with, and nothing else:
        ``scaler.load_state_dict({**scaler.state_dict(), "scale": 1}``, for Apex's ``scaler._loss_scale = 1``."""
        above = self.m.parent.get(call)
        whole = self.m.parent.get(above) if isinstance(above, ast.Dict) else call
        match whole:
            case ast.Call(
                func=ast.Attribute(value=owner, attr="load_state_dict"),
                args=[ast.Dict(keys=[None, ast.Constant(value="scale")], values=[ast.Call(func=asked), _])],
            ):
                own = ast.Attribute(value=owner, attr="state_dict", ctx=ast.Load())
                return ast.dump(asked) == ast.dump(own)
            case _:
                return False

    def reads_scale(self, expr: ast.AST) -> bool:
        """Whether an expression is the loss scale of this moment."""
        if isinstance(expr, ast.Subscript) and isinstance(expr.value, ast.Subscript):
            entry = isinstance(expr.slice, ast.Constant) and expr.slice.value == "loss_scale"
            return entry and self.marks.kind.get(expr.value.value) == "state"
        kind = self.marks.kind.get(expr)
        asked = isinstance(expr, ast.Call) and last_name(expr.func) == "get_scale"
        return kind == "scale" or (kind == "scaler" and asked)

    # ------------------------------------------------------------ blocks

    def context(self, item: ast.withitem) -> bool:
        """Whether a block switches casts, scales a loss, or may."""
        expr = item.context_expr
        func = expr.func if isinstance(expr, ast.Call) else expr
        if last_name(func) == "autocast" or expr in self.objects.scales:
            return True
        if self.may_scale(expr) or self.stack(item) is not None or self.autocasting.enters(expr):
            return True
        return any(
            name.startswith("apex.amp") and name.split(".")[-1] in ("scale_loss", "disable_casts")
            for name in self.v.apex_names(func)
        )

    def disables(self, expr: ast.expr) -> bool:
        """Whether a block switches Apex's casts off, by another name perhaps: whatever else gives that name a value
        does so where Apex is missing."""
        func = expr.func if isinstance(expr, ast.Call) else expr
        if last_name(func) == "disable_casts":
            return True
        if not isinstance(func, ast.Name) or not self._switches_off(func):
            return False
        home = self.m.binding_scope(func.id, self.m.scope(func))
        given: list[ast.AST] = [*self.m.bindings(func.id, home)]
        given += [d for d in self.m.declared(func.id) if home is not None and self.m.scope(d) is home]
        return bool(given) and all(self._gives_apex(one) or self._without_apex(one) for one in given)

    def _switches_off(self, expr: ast.AST) -> bool:
        names = self.v.apex_names(expr)
        return bool(names) and all(n.startswith("apex.amp") and n.endswith(".disable_casts") for n in names)

    def _gives_apex(self, node: ast.AST) -> bool:
        """Whether a name is given what switches casts off, and nothing else where Apex is there."""
        if isinstance(node, ast.alias):
            return node.name == "disable_casts"
        above = self.m.parent[node]
        value = above.value if isinstance(above, ast.Assign) and above.targets == [node] else None
        if isinstance(value, ast.IfExp):
            there = self._asks_for_apex(value.test)
            return there is not None and self._switches_off(value.body if there else value.orelse)
        return value is not None and self._switches_off(value)

    def _asks_for_apex(self, test: ast.expr) -> bool | None:
        """What a question is answered where Apex is there; None for another question."""
        match test:
            case ast.Compare(left=asked, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
                return isinstance(op, ast.IsNot) if self.v.apex_names(asked) else None
            case _:
                return True if self.v.apex_names(test) else None

    def _without_apex(self, node: ast.AST) -> bool:
        """Whether a statement only runs where an import of Apex failed."""
        return any(isinstance(outer, ast.ExceptHandler) for outer in self.m.ancestors(node))

    def may_scale(self, expr: ast.AST) -> bool:
        """Whether an expression may be what ``amp.scale_loss`` handed back."""
        return any(o.kind == "call" and o.key in self.objects.scales for o in self.v.of(expr))

    def stack(self, item: ast.withitem) -> str | None:
        """The name of an ``ExitStack`` that scaled losses are entered on."""
        made, name = item.context_expr, item.optional_vars
        if isinstance(made, ast.Call) and last_name(made.func) == "ExitStack" and isinstance(name, ast.Name):
            return name.id if name.id in self._stacks else None
        return None

    @cached_property
    def _stacks(self) -> set[str]:
        """Names with a method by which scaled losses are entered."""
        entered = [n.func for n, kind in self.marks.kind.items() if kind == "entered" and isinstance(n, ast.Call)]
        return {f.value.id for f in entered if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name)}

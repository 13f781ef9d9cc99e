"""Which statements read gradients, and which clear them."""

from __future__ import annotations

import ast
import builtins
from functools import cached_property

from ...facts.module import Module
from ...facts.networks import looks_elsewhere
from ...flow.objects import Obj
from ...flow.tensors import own_gradient
from ...flow.unnamed import unnamed
from ...flow.values import Values
from ...knowledge.gradients import KEEPERS, MADE_OF_GRADIENTS, NO_READER, SCHEDULERS
from ...knowledge.models import NOT_RUN_BY_METHOD, PARAMETERS, evaluates
from ...nodes import chain, header, walk
from ..names import COLLECTS, IDLE, READERS
from ..state import Key
from .callees import Callees
from .marks import Marks
from .objects import Objects
from .syntax import last_name

_PUT_THERE = frozenset("add_ sub_ copy_ addcmul_ addcdiv_ lerp_".split())


class Gradients:
    """Finds them in one program. What was found in the old one, ``old``, holds for the same statements of the new."""

    def __init__(
        self, m: Module, v: Values, objects: Objects, marks: Marks, callees: Callees, old: Marks | None
    ) -> None:
        self.m, self.v, self.objects, self.marks, self.callees, self.old = m, v, objects, marks, callees, old
        self.naming, self.unnamed = objects.naming, unnamed(m, v)

    def find(self) -> None:
        """Mark the statements that read or clear gradients."""
        for node in self.m.nodes:
            if isinstance(node, ast.stmt):
                self._look_at(node)

    def _look_at(self, stmt: ast.stmt) -> None:
        source = self.naming.twin(stmt)
        if isinstance(source, ast.stmt) and self.old is not None and type(source) is type(stmt):
            if source in self.old.clearers:
                self.marks.clearers.add(stmt)
            elif source in self.old.readers:
                self.marks.readers.add(stmt)
            if source in self.old.puts:
                self.marks.puts.add(stmt)
            if source in self.old.ends:
                self.marks.ends.add(stmt)
            if source in self.old.rounds:
                self.marks.rounds.add(stmt)
            if source in self.old.around:
                self.marks.around.add(stmt)
            if source in self.old.guarded:
                self.marks.guarded.add(stmt)
            return
        nodes = [n for part in header(stmt) for n in walk(part)]
        nodes += [n for case in getattr(stmt, "cases", ()) for n in walk(case.pattern)]
        grads = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr == "grad" and not _function_grad(n)]
        own = [n for n in grads if own_gradient(self.m, self.v, n)]  # neither Apex nor a GradScaler touches it
        self.marks.asked.update(n for n in own if self._looks(n) and not _cleared(self.m, n))
        grads = [n for n in grads if n not in own]
        none = isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant) and stmt.value.value is None
        if none or isinstance(stmt, ast.Delete):
            grads = [n for n in grads if self._clears(n)]  # of some parameters only: what is left is as it was
        if self.unnamed.at_end(stmt):
            self.marks.ends.add(stmt)
        if isinstance(stmt, (ast.For, ast.AsyncFor)) and self.unnamed.each_round(stmt):
            self.marks.rounds.add(stmt)
        if decorators := [made for n in nodes for made in self.unnamed.around(n)]:
            self.marks.around.add(stmt)
            if any(isinstance(n, (ast.Try, ast.With, ast.AsyncWith)) for made in decorators for n in walk(made)):
                self.marks.guarded.add(stmt)
        if grads and all(self._clears(n) for n in grads):
            self.marks.clearers.add(stmt)
        elif any(self._looks(n) for n in grads) or any(map(self._reads, nodes)) or self.unnamed.at_start(stmt):
            self.marks.readers.add(stmt)
            if any(self._puts(n) for n in grads):
                self.marks.puts.add(stmt)

    # ------------------------------------------------------------ clearing

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
        """Whether this runs for some parameters only, which a condition chooses. Of those that need no gradients none
        has any, unless they are frozen while training goes on."""
        for outer in self.m.spine(node)[1:]:
            if isinstance(outer, (ast.For, ast.While)):
                return isinstance(outer, ast.For) and any(map(self._chooses, _filters(outer.iter)))
            if isinstance(outer, ast.If) and self._chooses(outer.test):
                return True
        return False

    def _chooses(self, test: ast.expr) -> bool:
        text = self.m.src(test)
        return ".grad" not in text and (".requires_grad" not in text or self._frozen_meanwhile)

    @cached_property
    def _frozen_meanwhile(self) -> bool:
        """Whether parameters are frozen in a loop that trains."""
        return any(
            ".backward(" in self.m.src(loop)
            for node in self.m.nodes
            if _freezes(self.m, node)
            for site in (node, *self.v.calls.get(self.m.function(node).node, ()))
            for loop in self.m.loops(site)
        )

    # ------------------------------------------------------------ reading

    def _reads(self, node: ast.AST) -> bool:
        if self.unnamed.run_by(node) or self.unnamed.spells(node):
            return True
        if isinstance(node, ast.Call):
            return self._reading_call(node)
        return self._reading_attribute(node)

    def _looks(self, node: ast.Attribute) -> bool:
        """Whether a gradient's value matters: not when one only asks if it is there."""
        above = self.m.parent[node]
        if isinstance(above, ast.Compare) and all(isinstance(o, (ast.Is, ast.IsNot)) for o in above.ops):
            return False
        kept = ("detach_", "requires_grad_", "requires_grad")
        return not (isinstance(above, ast.Attribute) and above.attr in kept)

    def _puts(self, grad: ast.Attribute) -> bool:
        """Whether a gradient is put there that no backward left: ``p.grad = g``, ``p.grad += g``, ``p.grad.add_(g)``,
        or the same of ``p.grad.data``. What is made of gradients alone, or of zeros, is none."""
        above = self.m.parent[grad]
        target = above if isinstance(above, ast.Attribute) and above.attr == "data" else grad
        made: tuple[ast.expr, ...]
        match self.m.parent[target]:
            case ast.Assign(targets=targets, value=value) if target in targets:
                made = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
            case ast.AugAssign(op=ast.Add() | ast.Sub(), value=value) as stmt if stmt.target is target:
                made = (value,)
            case ast.Attribute(attr=attr) as method if attr in _PUT_THERE:
                call = self.m.parent[method]
                made = tuple(call.args) if isinstance(call, ast.Call) and call.func is method else ()
            case _:
                return False
        return any(not _none_new(one) for one in made)

    def _reading_call(self, call: ast.Call) -> bool:
        last = last_name(call.func)
        if any(n.endswith(".master_params") for n in self.v.apex_names(call.func)):
            user = self.m.parent[call]  # what a function of the file reads is found in there
            unknown = isinstance(user, ast.Call) and not self.v.callees(user)
            return unknown and last_name(user.func) not in COLLECTS  # type: ignore[attr-defined]
        if self.v.callees(call) or self.marks.kind.get(call):
            return False
        if looks_elsewhere(self.v, call, self.objects.looking):
            return True
        if any(word in last.lower() for word in READERS) and not any(word in last for word in IDLE):
            return True
        return self._takes_parameters(call, last) or self._may_read(call, last)

    def _takes_parameters(self, call: ast.Call, last: str) -> bool:
        """Whether code that is not here, by whatever name, is handed the parameters of a model. What makes an
        optimizer of them (``getattr(torch.optim, name)(…)``) looks at no gradient."""
        if self.naming.keys(call) & self.objects.optimizers:
            return False
        if NO_READER.fit(last) or last[:1].isupper() or last in COLLECTS or hasattr(builtins, last):
            return False
        handed = [*call.args, *(k.value for k in call.keywords)]
        made = [o.key for arg in handed for o in self.v.of(arg) if o.kind == "call" and isinstance(o.key, ast.Call)]
        lists = [n for n in (*handed, *made) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
        owners = [n.func.value for n in lists if isinstance(n.func, ast.Attribute) and n.func.attr in PARAMETERS]
        mine = self.objects.interesting | self._made_from
        return any(self.naming.keys(one) & mine for owner in owners for one in chain(owner))

    @cached_property
    def _made_from(self) -> frozenset[Key]:
        """The networks from whose parameters optimizers are made: parts of those that Apex was handed, it may be."""
        made = [call for call in self.m.all(ast.Call) if self.naming.keys(call) & self.objects.optimizers]
        listed = (n for call in made for n in walk(call) if isinstance(n, ast.Attribute) and n.attr in PARAMETERS)
        return frozenset(key for one in listed for key in self.naming.keys(one.value))

    def _reading_attribute(self, node: ast.AST) -> bool:
        """Whether a value of a model is called as one made of its gradients is, and no property here makes it."""
        if not isinstance(node, ast.Attribute) or not MADE_OF_GRADIENTS.fit(node.attr):
            return False
        above = self.m.parent[node]
        called = isinstance(above, ast.Call) and above.func is node
        return not called and bool(self.objects.known(node.value)) and not self.callees.runs(node)

    def _may_read(self, call: ast.Call, last: str) -> bool:
        """Whether code that is not here is handed a model or an optimizer, and may look at gradients. What gives a
        value back runs the model, as far as one can say, unless its name speaks of gradients."""
        if not isinstance(self.m.parent[call], ast.Expr):
            return False
        if last == "apply" and isinstance(call.func, ast.Attribute):  # of a network: to each of its modules
            handed = [self.v.callee(o) for a in call.args for o in self.v.of(a)]
            return bool(self.objects.known(call.func.value)) and None in (handed or [None])
        if NO_READER.fit(last) or NOT_RUN_BY_METHOD.fit(last) or last[:1].isupper() or last in COLLECTS or not last:
            return False
        if evaluates(last) or hasattr(builtins, last) or self._keeps(call.func):
            return False
        if isinstance(call.func, ast.Attribute) and any(map(self._keeps_trainer, self.v.of(call.func.value))):
            return True
        return any(self.objects.known(a) or self._holds(a) for a in [*call.args, *(k.value for k in call.keywords)])

    def _keeps_trainer(self, obj: Obj) -> bool:
        """Whether an object of a class that is not here was made with one of this program's that has a model or an
        optimizer (``CallbackHandler(callbacks, self)``), and may look at gradients whenever it is told something."""
        made = obj.key
        if obj.kind != "call" or not isinstance(made, ast.Call) or self.v.callees(made):
            return False
        if not obj.label[:1].isupper() or KEEPERS.fit(obj.label) or SCHEDULERS.fit(obj.label):
            return False
        return any(map(self._holds, [*made.args, *(k.value for k in made.keywords)]))

    def _keeps(self, func: ast.expr) -> bool:
        """Whether what is called are objects of classes that leave gradients alone, as their names tell; or lists,
        which nobody can call: `callbacks(*args)` behind a loop for those that are some."""
        held = self.v.of(func)
        return bool(held) and all(
            obj.kind == "seq" or (obj.kind == "call" and KEEPERS.fit(obj.label)) for obj in held
        )

    def _holds(self, expr: ast.AST) -> bool:
        """Whether an object of this program that has a model or an optimizer is handed on."""
        return any(
            self.naming.key(held) in self.objects.interesting
            for obj in self.v.of(expr)
            if obj.kind == "instance"
            for name in self.v.attributes(obj)
            for held in self.v.field(obj, name)
        )


def _none_new(value: ast.expr) -> bool:
    """Whether a value is made of gradients, or is none or zeros."""
    names = {last_name(n) for n in walk(value) if isinstance(n, (ast.Name, ast.Attribute))}
    return "grad" in names or any("zero" in name for name in names) or not names


def _function_grad(node: ast.Attribute) -> bool:
    """``torch.autograd.grad``, not ``p.grad``."""
    value = node.value
    return getattr(value, "attr", getattr(value, "id", "")) in ("autograd", "torch")


def _cleared(m: Module, grad: ast.Attribute) -> bool:
    """``delta.grad.zero_()``, ``delta.grad = None``: nobody sees what was in there."""
    above = m.parent[grad]
    return not isinstance(grad.ctx, ast.Load) or (isinstance(above, ast.Attribute) and above.attr == "zero_")


def _filters(source: ast.expr) -> list[ast.expr]:
    """The conditions by which a loop goes over some things only, as its header says them."""
    found: list[ast.expr] = []
    for node in walk(source):
        match node:
            case ast.GeneratorExp(generators=each) | ast.ListComp(generators=each):
                found += [test for one in each for test in one.ifs]
            case ast.Call(func=ast.Name(id="filter"), args=[ast.Lambda(body=test), *_]):
                found.append(test)
            case _:
                pass
    return found


def _freezes(m: Module, node: ast.AST) -> bool:
    """Whether a parameter needs no gradients from here on, or may not."""
    match node:
        case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=[ast.Constant(value=value), *_]):
            return not value
        case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=args, keywords=keywords):
            return bool(args or keywords)
        case ast.Attribute(attr="requires_grad", ctx=ast.Store()):
            above = m.parent[node]
            given = above.value if isinstance(above, ast.Assign) else None
            return not (isinstance(given, ast.Constant) and given.value)
        case _:
            return False

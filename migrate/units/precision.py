"""Which tensors leave a unit's autocast regions in half precision: an abstract interpreter over names.

Every expression gets a set of facts about what it may hold (`halves.py`). Statements are run in order, branches
joined, loops run until nothing changes, functions of the module entered with their arguments, also those that
somebody else calls with what he is handed (`map(f, xs)`). A fact that is not proved makes a value OTHER or MAYBE, never
HALF alone.

Source: ATen/autocast_mode.h and apex/amp/lists at tag 25.05 for what is cast where; P. and R. Cousot,
Abstract Interpretation, 1977.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ..facts.scopes import FunctionNode
from ..flow.objects import FORWARD_HOOK
from ..knowledge import operations
from ..nodes import children, positional_parameters
from . import operands
from .beside_numbers import beside_number, beside_own_number
from .called import Called
from .contents import arithmetic, dictionary, item_of, nested, part_of, spread, with_item
from .frames import MAX_DEPTH, Env, Frame, given_anew, key_of, merge, said
from .halves import FLOAT, HALF, NOTHING, OTHER, Value, join, joined, many, of, proved
from .seen import a_loss, properties

MAX_ROUNDS = 4  # in which what one function leaves behind reaches another


class Precision(Called):
    """Runs the functions of one unit that call its model, and remembers what was seen."""

    def run(self) -> None:
        """Run every function in which the model is called under autocast, and those that read what these leave behind,
        until nothing more is left behind."""
        for _ in range(MAX_ROUNDS):
            self.kept.grew = False
            self._run()
            if not self.kept.grew:
                break
            self.forget()

    def _run(self) -> None:
        m = self.ctx.m
        roots: dict[ast.AST, bool] = {}
        for call in self.compute.candidates:
            if self.compute.strong(call) and self.casts.autocast(call):
                scope = m.function(call)
                roots[scope.node] = roots.get(scope.node, False) or not self.casts.covered(scope)
        self._add_callers(roots)
        readers = [node for node in self.kept.readers() if node not in roots]
        roots |= {node: not self.casts.covered(m.scope_of[node]) for node in readers if not self.ctx.v.calls[node]}
        done: set[ast.AST] = set(hooks := self._hooks())
        for hook in hooks:
            self._run_hook(hook)
            roots.pop(hook, None)
        for node in sorted(roots, key=lambda n: not roots[n]):
            if roots[node] or not self.complete(node):
                self._root(node, done)
        for node in readers:  # those that were not entered by all who call them
            if node not in done and node not in hooks and not self.complete(node):
                self._root(node, done)
        # what others may call with arguments that were not seen is run once more, with nothing known of them
        while left := [n for n in self.entered if n not in done and not self.complete(n)]:
            self._root(left[0], done)

    def _add_callers(self, roots: dict[ast.AST, bool]) -> None:
        """Those who call a function with a region may be handed a half result by it."""
        m, todo = self.ctx.m, list(roots)
        for _ in range(MAX_DEPTH - 2):
            above = dict.fromkeys(m.function(c) for n in todo for c in self.ctx.v.calls[n])
            todo = [s.node for s in above if s.node not in roots]
            for scope in above:
                roots.setdefault(scope.node, not self.casts.covered(scope))

    def _root(self, node: ast.AST, done: set[ast.AST]) -> None:
        done.add(node)
        if not isinstance(node, ast.Lambda):
            self._block(Frame(False, 0), node.body, {})  # type: ignore[attr-defined]

    def _hooks(self) -> list[ast.AST]:
        """The functions that torch calls with what a part of a network gives, and under its casts."""
        v, m = self.ctx.v, self.ctx.m
        handed = [arg for call in m.calls(FORWARD_HOOK) for arg in call.args[:1]]
        found = {node for arg in handed for obj in v.of(arg) for node in v.functions(obj)}
        return m.in_order(found)

    def _run_hook(self, function: ast.AST) -> None:
        assert isinstance(function, FunctionNode)
        args = positional_parameters(function)
        env = {name: of(HALF, FLOAT) for name in args[-1:]}  # the result; which type it has depends on the part
        if isinstance(function, ast.Lambda):
            self._expr(Frame(True, 0), function.body, env)
        else:
            self._block(Frame(True, 0), function.body, env)

    # ------------------------------------------------------------ statements

    def _block(self, frame: Frame, body: Sequence[ast.stmt], env: Env | None) -> Env | None:
        for stmt in body:
            if env is None:
                return None
            left = self._done_apart(frame, stmt, env)
            env = self._statement(frame, stmt, env) if left is None else left
        return env

    def _statement(self, frame: Frame, stmt: ast.stmt, env: Env) -> Env | None:
        match stmt:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return env
            case ast.Assign(targets=targets, value=value):
                held = self._expr(frame, value, env)
                for target in targets:
                    self._assign(frame, target, held, env)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(frame, target, self._expr(frame, value, env), env)
            case ast.AugAssign(target=target, op=op, value=value):
                old, new = self._read(target, env), self._expr(frame, value, env)
                held = arithmetic(old, new, op, self._cast(frame, stmt))
                alone = not (isinstance(target, ast.Subscript) or old.holds or new.holds)  # an item is copied into
                if operands.stays(op) and alone and old.flat == {HALF} and new.flat == {FLOAT}:
                    held = old
                    if not (a_loss(target) or a_loss(value)):
                        self.narrow[stmt] = None
                self._assign(frame, target, held, env)
            case ast.Return(value=value):
                if value is not None:
                    frame.returned = join(frame.returned, self._expr(frame, value, env))
                return None
            case ast.Raise():
                self._children(frame, stmt, env)
                return None
            case ast.Break() | ast.Continue():
                if frame.leaves:
                    frame.leaves[-1].append(dict(env))
                return None
            case ast.If(test=test, body=body, orelse=orelse):
                self._expr(frame, test, env)
                return merge(self._block(frame, body, dict(env)), self._block(frame, orelse, dict(env)))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(frame, stmt, env)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    held = self._expr(frame, item.context_expr, env)
                    if item.optional_vars is not None:
                        self._assign(frame, item.optional_vars, held if held.each is None else held.each, env)
                return self._block(frame, body, env)
            case ast.Try():
                return self._try(frame, stmt, env)
            case ast.Match(subject=subject, cases=cases):
                self._expr(frame, subject, env)
                out: Env | None = dict(env)
                for case_ in cases:
                    out = merge(out, self._block(frame, case_.body, dict(env)))
                return out
            case ast.Delete():
                return env
            case _:
                self._children(frame, stmt, env)
        return env

    def _loop(self, frame: Frame, stmt: ast.For | ast.AsyncFor | ast.While, env: Env) -> Env | None:
        for _ in range(4):
            before = dict(env)
            frame.leaves.append([])
            if isinstance(stmt, ast.While):
                self._expr(frame, stmt.test, env)
            else:
                self._iterate(frame, stmt.target, stmt.iter, env)
            after = self._block(frame, stmt.body, dict(env))
            merged: Env | None = merge(before, after)
            for left in frame.leaves.pop():
                merged = merge(merged, left)
            env = merged or before
            anew = given_anew(self.ctx, stmt)
            if env == before or anew.issuperset(key for key in env if env[key] != before.get(key)):
                break
        return self._block(frame, stmt.orelse, env)

    def _try(self, frame: Frame, stmt: ast.Try, env: Env) -> Env | None:
        done = self._block(frame, stmt.body, dict(env))
        out = self._block(frame, stmt.orelse, done) if done is not None else None
        for handler in stmt.handlers:
            out = merge(out, self._block(frame, handler.body, merge(dict(env), done) or dict(env)))
        if stmt.finalbody:
            out = self._block(frame, stmt.finalbody, out if out is not None else dict(env))
        return out

    def _read(self, target: ast.expr, env: Env) -> Value:
        return env.get(key_of(target), NOTHING)

    def _assign(self, frame: Frame, target: ast.expr, held: Value, env: Env) -> None:
        self.kept.put(target, held)
        match target:
            case ast.Name(id=name):
                env[name] = held
            case ast.Attribute():
                env[said(target)] = held
            case ast.Subscript(value=base):
                self._expr(frame, target.slice, env)
                key = key_of(base)
                at = target.slice if key == said(base) else None
                env[key] = with_item(env.get(key), at, nested(base, held))
            case ast.Starred(value=inner):
                self._assign(frame, inner, held, env)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                exact = spread(elts, held)
                for number, elt in enumerate(elts):
                    if exact is not None:
                        self._assign(frame, elt, exact[number], env)
                    else:
                        part = held.element if held.holds else part_of(Value(held.flat), key_of(elt), unpacked=True)
                        self._assign(frame, elt, many(part) if isinstance(elt, ast.Starred) else part, env)
            case _:
                pass

    def _iterate(self, frame: Frame, target: ast.expr, source: ast.expr, env: Env) -> None:
        self._go_over(frame, target, source, self._expr(frame, source, env), env)

    def _go_over(self, frame: Frame, target: ast.expr, source: ast.expr, held: Value, env: Env) -> None:
        own = None if held.holds else self._by_method(frame, source, "__iter__")
        self._assign(frame, target, (own or held).element, env)

    # ------------------------------------------------------------ expressions

    def _children(self, frame: Frame, node: ast.AST, env: Env) -> None:
        for child in children(node):
            if isinstance(child, ast.expr):
                self._expr(frame, child, env)
            elif isinstance(child, (ast.keyword, ast.FormattedValue)):
                self._expr(frame, child.value, env)

    def _expr(self, frame: Frame, node: ast.expr, env: Env) -> Value:
        held = self._compute(frame, node, env)
        if held.flat or node in self.seen:
            self.seen[node] = join(self.seen.get(node, NOTHING), held)
        return held

    def _compute(self, frame: Frame, node: ast.expr, env: Env) -> Value:
        match node:
            case ast.Constant(value=value):
                return NOTHING if value is None else of(OTHER)
            case ast.Name(id=name):
                held, kept = env.get(name), self._kept(node)
                return self._with_items(node, join(held, kept) if held and kept else held or kept)
            case ast.Attribute(value=base, attr=attr):
                if (known := env.get(said(node))) is not None:
                    self._expr(frame, base, env)
                    return self._with_items(node, known)
                held, kept = self._expr(frame, base, env), self._kept(node)
                if (field := held.field(attr)) is not None:
                    return self._with_items(node, join(field, kept) if kept else field)
                if kept or self.kept.inside(node).flat:
                    part = part_of(held, attr) if HALF in held.flat else None
                    return self._with_items(node, join(kept, part) if kept and part else kept or part)
                if attr in properties(self.ctx) and (got := self._property(frame, base, attr)) is not None:
                    return got
                if held.items is not None and attr in ("values", "indices") and len(held.items) == 2:
                    return held.items[attr == "indices"]
                return of(OTHER) if attr in operations.ATTRIBUTES else part_of(held, attr)
            case ast.Subscript(value=base, slice=index):
                held = self._expr(frame, base, env)
                at = self._expr(frame, index, env)
                if not held.holds and (got := self._by_method(frame, base, "__getitem__", at)) is not None:
                    return got
                if (item := self.kept.item(node)).flat:
                    return item
                return item_of(held, index)
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                items = tuple(self._expr(frame, e, env) for e in elts)
                if not elts:
                    return NOTHING
                if any(isinstance(e, ast.Starred) for e in elts):
                    starred = [isinstance(e, ast.Starred) for e in elts]
                    return many(joined(i.element if s else i for i, s in zip(items, starred, strict=True)))
                return Value(frozenset(), items)
            case ast.Dict(keys=keys, values=values):
                self._children_of(frame, [k for k in keys if k is not None], env)
                return dictionary(keys, [self._expr(frame, v, env) for v in values])
            case ast.ListComp(elt=elt, generators=gens) | ast.SetComp(elt=elt, generators=gens):
                return self._comprehension(frame, elt, gens, env)
            case ast.GeneratorExp(elt=elt, generators=gens) | ast.DictComp(value=elt, generators=gens):
                return self._comprehension(frame, elt, gens, env)
            case ast.BinOp(left=left, op=op, right=right):
                one, other = self._expr(frame, left, env), self._expr(frame, right, env)
                return self._binary(frame, node, one, other, op)
            case ast.UnaryOp(op=op, operand=operand):
                held = self._expr(frame, operand, env)
                return of(OTHER) if isinstance(op, ast.Not) else held
            case ast.BoolOp(values=values):
                return joined([self._expr(frame, v, env) for v in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._expr(frame, test, env)
                return join(self._expr(frame, body, env), self._expr(frame, orelse, env))
            case ast.NamedExpr(target=target, value=value):
                held = self._expr(frame, value, env)
                self._assign(frame, target, held, env)
                return held
            case ast.Await(value=value) | ast.Starred(value=value):
                return self._expr(frame, value, env)
            case ast.Yield(value=ast.expr() as value) | ast.YieldFrom(value=value):
                held = self._expr(frame, value, env)
                held = held.element if isinstance(node, ast.YieldFrom) else held
                frame.yielded = join(frame.yielded or NOTHING, held)
                return of(OTHER)
            case ast.Lambda():
                return of(OTHER)
            case ast.Call():
                return self._call(frame, node, env)
            case _:
                self._children(frame, node, env)
                return of(OTHER)

    def _children_of(self, frame: Frame, nodes: Iterable[ast.expr], env: Env) -> None:
        for node in nodes:
            self._expr(frame, node, env)

    def _comprehension(self, frame: Frame, elt: ast.expr, gens: list[ast.comprehension], env: Env) -> Value:
        inner, only = dict(env), gens[0]
        row = self._expr(frame, only.iter, inner)
        if len(gens) == 1 and not only.ifs and row.items and not row.names:
            parts = list[Value]()  # one by one, as what it gives may be unpacked
            for item in row.items:
                self._assign(frame, only.target, item, inner)
                parts.append(self._expr(frame, elt, inner))
            return Value(items=tuple(parts))
        for gen in gens:
            if gen is only:
                self._go_over(frame, gen.target, gen.iter, row, inner)
            else:
                self._iterate(frame, gen.target, gen.iter, inner)
            self._children_of(frame, gen.ifs, inner)
        return many(self._expr(frame, elt, inner))

    def _binary(self, frame: Frame, node: ast.BinOp, one: Value, other: Value, op: ast.operator) -> Value:
        cast = self._cast(frame, node)
        if not cast and isinstance(op, ast.Pow) and proved(one):
            self.widened[node.left] = node
            return of(FLOAT)
        if not cast and isinstance(op, ast.MatMult) and self._mixes(node):
            return of(FLOAT)
        if not cast and (proved(one) or proved(other)):
            operand = beside_number(self.ctx.v, node) or beside_own_number(node)
            if operand is not None and proved(self.value(operand)):
                self.widened[operand] = node
                return of(FLOAT)
        return arithmetic(one, other, op, cast)

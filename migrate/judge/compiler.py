"""Makes the operations of a function.

Only what has a part in training becomes operations; what cannot touch it is one binding of the names it
assigns. Every operation knows where an exception that leaves it goes on.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..facts.module import Module
from ..nodes import children, header, run_now, walk
from .code import Code, Label, Op

_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Sight(Protocol):
    """What the compiler has to know of a program."""

    m: Module

    def relevant(self, stmt: ast.stmt) -> bool: ...
    def calls(self, expr: ast.AST) -> bool: ...
    def prepares(self, loop: ast.AST) -> bool: ...
    def changes(self, node: ast.AST) -> bool: ...
    def event(self, node: ast.expr) -> bool: ...
    def context(self, item: ast.withitem) -> bool: ...
    def aside(self, stmt: ast.stmt) -> bool: ...
    def only_reads(self, stmt: ast.stmt) -> bool: ...
    def reading(self, stmt: ast.stmt) -> tuple[bool, bool]: ...
    def reads(self, stmt: ast.stmt) -> bool: ...
    def reads_before(self, stmt: ast.stmt) -> bool: ...
    def reads_where_raised(self, stmt: ast.stmt) -> bool: ...
    def reads_at_end(self, stmt: ast.stmt) -> bool: ...
    def reads_each_round(self, loop: ast.For | ast.AsyncFor) -> bool: ...
    def clears(self, stmt: ast.stmt) -> bool: ...
    def maps(self, call: ast.Call) -> bool: ...
    def manages(self, item: ast.withitem) -> bool: ...
    def resumes(self, expr: ast.expr) -> bool: ...
    def exhausts(self, call: ast.Call) -> bool: ...
    def trains(self, expr: ast.expr) -> bool: ...
    def counts(self, target: ast.expr) -> bool: ...
    def may_fail(self, node: ast.AST) -> bool: ...
    def next_may_fail(self, loop: ast.For | ast.AsyncFor) -> bool: ...
    def looks(self, body: Sequence[ast.AST]) -> bool: ...


@dataclass(eq=False)
class _Loop:
    start: Label
    end: Label
    depth: int


def compile_body(sight: Sight, node: ast.AST, body: Sequence[ast.stmt]) -> Code:
    """The code of a function or module; a lambda's body counts as a return."""
    maker = _Compiler(sight, Code(node))
    if isinstance(node, ast.Lambda):
        maker.expression(node.body)
        maker.emit(Op("return", node, value=node.body))
        return maker.code
    if any(map(sight.m.all, (ast.Yield, ast.YieldFrom))):  # a scan of each body, where there may be one
        maker.code.generator = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for s in body for n in run_now(s))
    maker.block(body)
    maker.emit(Op("epilogue", node))
    maker.emit(Op("return", node))
    return maker.code


def _binding(node: ast.AST) -> list[ast.AST]:
    """What binds a name or an attribute in a statement or expression."""
    return [
        n
        for n in run_now(node)
        if isinstance(n, (ast.Import, ast.ImportFrom, *_DEFINITIONS))
        or (isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Store))
    ]


class _Compiler:
    def __init__(self, sight: Sight, code: Code) -> None:
        self.sight, self.code = sight, code
        self.pad: Label | None = None
        # what is done on the way out, innermost last, each with where an exception in it goes on
        self.cleanup: list[tuple[ast.withitem | list[ast.stmt] | ast.stmt, Label | None]] = []
        self.loops: list[_Loop] = []
        self.bindings: dict[ast.stmt, list[ast.AST]] = {}
        self.turns: dict[ast.If, bool] = {}

    def emit(self, op: Op) -> None:
        op.pad = op.pad or self.pad
        self.code.ops.append(op)

    def mark(self, label: Label) -> None:
        label.at = len(self.code.ops)

    # ------------------------------------------------------------ statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for stmt in body:
            self.statement(stmt)

    def statement(self, stmt: ast.stmt) -> None:
        if isinstance(stmt, _DEFINITIONS):
            for part in header(stmt):
                self.expression(part)
            if self.sight.reads(stmt):
                self.emit(Op("read", stmt))
            self.emit(Op("define", stmt, name=stmt.name))
            return
        if not self.sight.relevant(stmt):
            self._fails(stmt, stmt)
            if isinstance(stmt, ast.If):
                self._changes(stmt.test)
                if ast.unparse(stmt.test) in self._asked or self._turns(stmt):
                    self._fork(stmt)
                else:
                    self._perhaps(stmt)
            else:
                self._changes(stmt)
                self._aside(stmt)
            return
        if self.sight.only_reads(stmt):
            self._fails(stmt, stmt)
            self._changes(stmt)
            read, cleared = self.sight.reading(stmt)
            if read:
                self.emit(Op("read", stmt))
            if cleared:
                self.emit(Op("clear", stmt))
            self._aside(stmt)
            return
        match stmt:
            case ast.If(test=test):
                self.header(stmt, test)
                self._fork(stmt)
            case ast.For() | ast.AsyncFor() | ast.While():
                self._loop(stmt)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                self._block(stmt, list(items), body)
            case ast.Match():
                self._match(stmt)
            case ast.Return(value=value):
                if value is not None:
                    self.header(stmt, value)
                self._leave(0)
                if not self.code.generator:
                    self.emit(Op("epilogue", stmt))
                self.emit(Op("return", stmt, value=value))
            case ast.Raise():
                if stmt.exc is not None:
                    self.header(stmt, stmt.exc)
                self.emit(Op("raise", stmt))
            case ast.Break() | ast.Continue():
                if self.loops:
                    loop = self.loops[-1]
                    self._leave(loop.depth)
                    self.emit(Op("jump", stmt, loop.end if isinstance(stmt, ast.Break) else loop.start))
            case ast.Assert(test=test):
                fine, wrong = Label(), Label()
                self.header(stmt, test)
                self.branch(test, wrong)
                self.emit(Op("jump", stmt, fine))
                self.mark(wrong)
                self.emit(Op("raise", stmt))
                self.mark(fine)
            case ast.Expr(value=ast.Yield() as value) | ast.Assign(value=ast.Yield() as value):
                self._yield(stmt, value)
                self._aside(stmt)
            case _ if isinstance(stmt, _TRIES):
                self._try(stmt)
            case _:
                self.header(stmt, stmt)
                self._aside(stmt)
                self.settle(stmt, stmt)

    def settle(self, stmt: ast.stmt, expr: ast.AST) -> None:
        """Results of calls have been used: with them, states that come here on other ways would not be the same."""
        if self.sight.calls(expr):
            self.emit(Op("settle", stmt))

    def header(self, stmt: ast.stmt, expr: ast.AST) -> None:
        """The events of a statement's own expressions."""
        self._fails(stmt, expr)
        if self.sight.reads_before(stmt):
            self.emit(Op("read", stmt))
        self.settle(stmt, expr)
        self._changes(expr)
        if self.sight.reads_where_raised(stmt):
            self._guarded(stmt, expr)
        else:
            self.expression(expr)
        if not isinstance(expr, ast.stmt):
            self._named(expr)
        if self.sight.clears(stmt):
            self.emit(Op("clear", stmt))
        elif self.sight.reads(stmt):
            self.emit(Op("read", stmt))
        if self.sight.calls(expr):
            self._fails(stmt, expr, "behind")

    def _guarded(self, stmt: ast.stmt, expr: ast.AST) -> None:
        """What a decorator calls, which looks at gradients where an exception leaves that."""
        around, self.pad = self.pad, Label(looks=True)
        mine, end = self.pad, Label()
        self.expression(expr)
        self.pad = around
        self.emit(Op("jump", stmt, end))
        self.mark(mine)
        self.emit(Op("read", stmt))
        self.emit(Op("raise", stmt))
        self.mark(end)

    def _fails(self, stmt: ast.AST, part: ast.AST, when: str = "ahead") -> None:
        """A piece of code may raise, and somebody looks at gradients then."""
        if self.sight.may_fail(part):
            self.emit(Op("fails", stmt, name=when))

    def _changes(self, node: ast.AST) -> None:
        """What code that nobody follows may have changed is not known any more."""
        if self.sight.changes(node):
            self.emit(Op("changed", node))

    def _named(self, node: ast.AST) -> None:
        """Bind what is assigned within an expression."""
        for inner in run_now(node):
            if isinstance(inner, ast.NamedExpr):
                self.emit(Op("bind", inner.target, value=inner.value))

    def _aside(self, stmt: ast.stmt) -> None:
        """Bind what a statement assigns."""
        if isinstance(stmt, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
            self._named(stmt)
        match stmt:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    set_by_call = isinstance(target, ast.Attribute) and self.sight.event(target)
                    self.emit(Op("call" if set_by_call else "bind", target, value=value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.emit(Op("bind", target, value=value))
            case ast.AugAssign(target=target, op=ast.Add(), value=ast.Constant() as more) if self.sight.counts(target):
                self.emit(Op("count", target, value=more))
            case ast.AugAssign(target=target):
                self.emit(Op("havoc", target))
            case ast.Import() | ast.ImportFrom():
                self.emit(Op("import", stmt))
            case ast.Global() | ast.Nonlocal() | ast.Pass() | ast.Expr():
                pass
            case ast.Delete(targets=targets):
                for target in targets:
                    self.emit(Op("havoc", target))
            case _:
                for node in self._bindings(stmt):
                    if isinstance(node, (ast.Name, ast.Attribute)):
                        self.emit(Op("havoc", node))
                    elif isinstance(node, (ast.Import, ast.ImportFrom)):
                        self.emit(Op("import", node))
                    else:
                        assert isinstance(node, _DEFINITIONS)
                        self.emit(Op("define", node, name=node.name))

    def _bindings(self, stmt: ast.stmt) -> list[ast.AST]:
        """What binds a name or an attribute in a statement, each name once; of arms that hold arms, as those of a long
        chain of ``elif`` do, what was found before is used again."""
        if stmt not in self.bindings:
            parts: list[ast.AST] = []
            if isinstance(stmt, ast.If):
                parts += _binding(stmt.test)
                for inner in (*stmt.body, *stmt.orelse):
                    parts += self._bindings(inner)
            else:
                parts += _binding(stmt)
            names = {node.id: node for node in reversed(parts) if isinstance(node, ast.Name)}
            first = set(names.values())
            self.bindings[stmt] = [node for node in parts if not isinstance(node, ast.Name) or node in first]
        return self.bindings[stmt]

    @cached_property
    def _asked(self) -> set[str]:
        """The conditions that training hangs on in this function. Where one is asked for the sake of a name first, it
        is the same question: were it asked later, only the program that runs second would know the name's value."""
        asked = [n for n in walk(self.code.node) if isinstance(n, ast.If) and self.sight.relevant(n)]
        return {ast.unparse(n.test) for n in asked if not self.sight.aside(n) and not isinstance(n.test, ast.Name)}

    @cached_property
    def _switches(self) -> set[str]:
        """What a condition of training asks in this function: flags, and what is compared with a word."""
        tests = [n.test for n in walk(self.code.node) if isinstance(n, ast.If) and self.sight.relevant(n)]
        parts = [part for test in tests for part in (test.values if isinstance(test, ast.BoolOp) else [test])]
        parts = [part.left if isinstance(part, ast.Compare) else part for part in parts]
        return {ast.unparse(part) for part in parts if isinstance(part, (ast.Name, ast.Attribute))}

    def _turns(self, stmt: ast.If) -> bool:
        """Whether an arm gives such a switch a value that is written out: were it not asked which arm runs, each run
        would leave another one, and what is set beside it were not known to belong to it. The arms of a long chain of
        ``elif`` are asked one by one: what the rest of it said is known."""
        if stmt not in self.turns:
            self.turns[stmt] = any(map(self._turned, (*stmt.body, *stmt.orelse)))
        return self.turns[stmt]

    def _turned(self, stmt: ast.stmt) -> bool:
        match stmt:
            case ast.Assign(targets=[target], value=ast.Constant()):
                return ast.unparse(target) in self._switches
            case ast.If():
                return self._turns(stmt)
            case _:
                return False

    def _fork(self, stmt: ast.If) -> None:
        other, end = Label(), Label()
        if self.sight.aside(stmt):
            self.emit(Op("aside", stmt, other))
        else:
            self.branch(stmt.test, other)
            self.settle(stmt, stmt.test)
        self.block(stmt.body)
        self.emit(Op("jump", stmt, end))
        self.mark(other)
        self.settle(stmt, stmt.test)
        self.block(stmt.orelse)
        self.mark(end)

    def _perhaps(self, stmt: ast.If) -> None:
        """A condition under which nothing happens but that names are bound: its arms count where they are known."""
        unknown, other, end, after = Label(), Label(), Label(), Label()
        self._named(stmt.test)
        self.emit(Op("known", stmt.test, unknown))
        self.emit(Op("perhaps", stmt.test, other))
        self.block(stmt.body)
        self.emit(Op("jump", stmt, end))
        self.mark(other)
        self.block(stmt.orelse)
        self.mark(end)
        self.emit(Op("unknown", stmt.test, after))  # an arm may have bound what is asked
        self.mark(unknown)
        self._aside(stmt)
        self.mark(after)

    def _loop(self, stmt: ast.For | ast.AsyncFor | ast.While) -> None:
        start, end, over = Label(), Label(), Label()
        if not isinstance(stmt, ast.While):
            self.header(stmt, stmt.iter)
            if self.sight.prepares(stmt):
                self.emit(Op("havoc", stmt.target))
                self.block(stmt.body)
                return
            if self.sight.resumes(stmt.iter):
                self.emit(Op("generate", stmt, value=stmt.iter))
                self.mark(start)
                self.emit(Op("resume", stmt, over))
            else:
                self.emit(Op("items", stmt, value=stmt.iter))
                self.settle(stmt, stmt.iter)
                self.mark(start)
                if self.sight.next_may_fail(stmt):
                    self.emit(Op("fails", stmt, name="next"))
                self.emit(Op("round", stmt, over))
        else:
            self.mark(start)
            self.emit(Op("head", stmt))
            self.header(stmt, stmt.test)
            self.branch(stmt.test, over)
            self.settle(stmt, stmt.test)
        between = not isinstance(stmt, ast.While) and self.sight.reads_each_round(stmt)
        again = Label() if between else start
        self.loops.append(_Loop(again, end, len(self.cleanup)))
        self.block(stmt.body)
        self.loops.pop()
        if between:
            self.mark(again)
            self.emit(Op("read", stmt))
        self.emit(Op("jump", stmt, start))
        self.mark(over)
        if isinstance(stmt, ast.While):
            self.settle(stmt, stmt.test)
        self.block(stmt.orelse)
        self.mark(end)
        if not isinstance(stmt, ast.While):
            self.emit(Op("left", stmt))

    def _block(self, stmt: ast.With | ast.AsyncWith, items: list[ast.withitem], body: list[ast.stmt]) -> None:
        """A block, and what is read of gradients as it is entered and left."""
        if self.sight.reads(stmt):
            self.emit(Op("read", stmt))
        if not self.sight.reads_at_end(stmt):
            self._with(stmt, items, body)
            return
        around, self.pad = self.pad, Label(looks=True)
        mine, end = self.pad, Label()
        self.cleanup.append((stmt, around))
        self._with(stmt, items, body)
        self.cleanup.pop()
        self.pad = around
        self.emit(Op("read", stmt))
        self.emit(Op("jump", stmt, end))
        self.mark(mine)
        self.emit(Op("read", stmt))
        self.emit(Op("raise", stmt))
        self.mark(end)

    def _with(self, stmt: ast.With | ast.AsyncWith, items: list[ast.withitem], body: list[ast.stmt]) -> None:
        if not items:
            self.block(body)
            return
        item, rest = items[0], items[1:]
        self._fails(item.context_expr, item.context_expr)
        self.expression(item.context_expr)
        if self.sight.manages(item):
            self._managed(stmt, item, rest, body)
            return
        if not self.sight.context(item):
            if item.optional_vars is not None:
                self.emit(Op("bind", item.optional_vars, value=item.context_expr, name="entered"))
            self.settle(stmt, item.context_expr)
            self._unfollowed(stmt, item, rest, body)
            return
        self.emit(Op("enter", item))
        self.settle(stmt, item.context_expr)
        before, self.pad = self.pad, Label()
        mine = self.pad
        self.cleanup.append((item, before))
        self._with(stmt, rest, body)
        self.cleanup.pop()
        self.pad = before
        self.emit(Op("leave", item))
        end = Label()
        self.emit(Op("jump", stmt, end))
        self.mark(mine)
        self.emit(Op("abandon", item))
        self.emit(Op("raise", stmt))
        self.mark(end)

    def _unfollowed(
        self, stmt: ast.With | ast.AsyncWith, item: ast.withitem, rest: list[ast.withitem], body: list[ast.stmt]
    ) -> None:
        """A block that is no part of training: what it sets as it is entered and left is not known."""
        block = item.context_expr
        if not self.sight.changes(block):
            self._with(stmt, rest, body)
            return
        before = self.pad
        mine, end = Label(looks=before is not None and before.looks), Label()
        if before is not None:
            self.pad = mine
        self._changes(block)
        self.cleanup.append((item, before))
        self._with(stmt, rest, body)
        self.cleanup.pop()
        self.pad = before
        self._changes(block)
        if before is not None:
            self.emit(Op("jump", stmt, end))
            self.mark(mine)
            self._changes(block)
            self.emit(Op("raise", stmt))
            self.mark(end)

    def _managed(
        self, stmt: ast.With | ast.AsyncWith, item: ast.withitem, rest: list[ast.withitem], body: list[ast.stmt]
    ) -> None:
        """A block of a context manager that is a generator of the program: it runs to its ``yield``, and behind the
        block to its end."""
        end, before, mine = Label(), self.pad, Label(looks=self.sight.looks([item.context_expr]))
        self.emit(Op("generate", item, value=item.context_expr))
        self.emit(Op("resume", item, end))
        self.pad = mine
        self.cleanup.append((item, before))
        self._with(stmt, rest, body)
        self.cleanup.pop()
        self.pad = before
        self._left(item)
        self.emit(Op("jump", stmt, end))
        self.mark(mine)
        self.emit(Op("thrown", item, end))
        self.mark(end)

    def _left(self, item: ast.withitem) -> None:
        """The end of a block."""
        if self.sight.manages(item):
            over = Label()
            self.emit(Op("resume", item, over, name="end"))
            self.emit(Op("raise", item))  # RuntimeError: it yields once more
            self.mark(over)
        elif self.sight.context(item):
            self.emit(Op("leave", item))
        else:
            self._changes(item.context_expr)

    def _leave(self, down_to: int) -> None:
        """Leave the blocks around a jump, innermost first."""
        kept, outer = list(self.cleanup), self.pad
        while len(self.cleanup) > down_to:
            last, self.pad = self.cleanup.pop()
            if isinstance(last, list):
                self.block(last)
            elif isinstance(last, ast.stmt):
                self.emit(Op("read", last))
            else:
                self._left(last)
        self.cleanup, self.pad = kept, outer

    def _try(self, stmt: ast.Try) -> None:
        end = Label()
        before, around = self.pad, len(self.cleanup)
        final = Label(looks=self.sight.looks(stmt.finalbody)) if stmt.finalbody else None
        caught = [part for handler in stmt.handlers for part in handler.body]
        handlers = Label(looks=self.sight.looks(caught)) if stmt.handlers else None
        if stmt.finalbody:
            self.cleanup.append((stmt.finalbody, before))
        self.pad = handlers or final
        self.block(stmt.body)
        self.pad = final or before
        self.block(stmt.orelse)
        self.emit(Op("jump", stmt, end))
        if handlers is not None:
            self.mark(handlers)
            for handler in stmt.handlers:
                other = Label()
                self.emit(Op("handler", handler, other))
                self.block(handler.body)
                self.emit(Op("jump", stmt, end))
                self.mark(other)
            self.emit(Op("raise", stmt))
        del self.cleanup[around:]
        self.pad = before
        if final is not None:
            self.mark(final)
            self.block(stmt.finalbody)
            self.emit(Op("raise", stmt))
            self.mark(end)
            self.block(stmt.finalbody)
        else:
            self.mark(end)

    def _match(self, stmt: ast.Match) -> None:
        end = Label()
        self.header(stmt, stmt.subject)
        for case in stmt.cases:
            other = Label()
            self.emit(Op("case", case, other))
            self.block(case.body)
            self.emit(Op("jump", stmt, end))
            self.mark(other)
        self.mark(end)

    def _yield(self, stmt: ast.stmt, value: ast.Yield) -> None:
        if value.value is not None:
            self.header(stmt, value.value)
        self.emit(Op("yield", stmt, value=value.value))

    # ------------------------------------------------------------ expressions

    def branch(self, test: ast.expr, other: Label) -> None:
        """Go on where ``test`` holds, else at ``other``; its events have run."""
        self.emit(Op("branch", test, other))

    def expression(self, root: ast.AST) -> None:
        """Events of an expression in the order in which they are evaluated."""
        if not self.sight.calls(root) or isinstance(root, (*_DEFINITIONS, ast.Lambda)):
            return
        match root:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.expression(test)
                other, end = Label(), Label()
                self.branch(test, other)
                self.expression(body)
                self.emit(Op("jump", root, end))
                self.mark(other)
                self.expression(orelse)
                self.mark(end)
            case ast.BoolOp(op=op, values=values):
                end = Label()
                for value in values[:-1]:
                    self.expression(value)
                    if isinstance(op, ast.And):
                        self.branch(value, end)
                    else:
                        go_on = Label()
                        self.branch(value, go_on)
                        self.emit(Op("jump", root, end))
                        self.mark(go_on)
                self.expression(values[-1])
                self.mark(end)
            case ast.Call(func=func, args=args, keywords=keywords):
                self.expression(func)
                for arg in args:
                    self.expression(arg)
                for keyword in keywords:
                    self.expression(keyword.value)
                if self.sight.exhausts(root):
                    self._exhaust(root)
                if self.sight.event(root):
                    self._called(root)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if self.sight.trains(root):
                self._comprehension(root)
            case _:
                for child in children(root):
                    self.expression(child)
                if isinstance(root, ast.Attribute) and isinstance(root.ctx, ast.Load) and self.sight.event(root):
                    self.emit(Op("call", root))

    def _called(self, call: ast.Call) -> None:
        """What a call does; what is handed to ``map`` runs no time, once or several times."""
        start, over = Label(), Label()
        mapped = self.sight.maps(call)
        if mapped:
            self.mark(start)
            self.emit(Op("again", call, over))
        self.emit(Op("call", call))
        if mapped:
            self.emit(Op("jump", call, start))
            self.mark(over)

    def _exhaust(self, reader: ast.Call) -> None:
        """``list(train(…))`` of a generator: round after round, to its end."""
        start, over = Label(), Label()
        self.emit(Op("generate", reader, value=reader.args[0]))
        self.mark(start)
        self.emit(Op("resume", reader, over))
        self.emit(Op("jump", reader, start))
        self.mark(over)

    def _comprehension(self, root: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        """A loop in which training happens: no round, one or several. What it goes over is evaluated once."""
        start, over = Label(), Label()
        first = root.generators[0]
        self.expression(first.iter)
        read = self.sight.resumes(first.iter)
        if read:
            self.emit(Op("generate", root, value=first.iter))
        self.mark(start)
        self.emit(Op("resume" if read else "again", root, over))
        for generator in root.generators:
            for part in (generator.iter, *generator.ifs)[generator is first :]:
                self.expression(part)
        for part in (root.key, root.value) if isinstance(root, ast.DictComp) else (root.elt,):
            self.expression(part)
        self.emit(Op("jump", root, start))
        self.mark(over)

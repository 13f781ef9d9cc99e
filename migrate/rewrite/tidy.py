"""What the wishes leave empty: an ``if`` without a body goes, a ``try`` whose body went goes with its handlers, a
function keeps a ``pass``."""

from __future__ import annotations

import ast

from ..facts.names import called_name
from ..facts.predicates import predicate
from ..facts.scopes import Block
from ..model import DeleteLines, Edit
from ..nodes import walk
from .comments import with_comments
from .draft import Draft
from .emptied import goes_unseen
from .places import else_line

_OPPOSITE: dict[type[ast.cmpop], str] = {ast.Is: "is not", ast.IsNot: "is", ast.Eq: "!=", ast.NotEq: "=="}


def tidy(draft: Draft) -> list[Edit]:
    """Adds to the wishes of a draft what they leave empty; gives what has to be cut besides (an ``else``)."""
    room = _Tidy(draft)
    room.run()
    return room.edits


class _Tidy:
    def __init__(self, draft: Draft) -> None:
        self.draft, self.m = draft, draft.m
        self.negated: set[ast.If] = set()
        self.edits: list[Edit] = []

    def run(self) -> None:
        """Delete what has no body left, innermost first; keep what still must stand with a ``pass``."""
        changed = True
        while changed:
            changed = False
            seen: set[int] = set()
            for stmt in [s for s in self.draft.rewritten if self.draft.rewritten[s] == ()]:
                block = self.m.block(stmt)
                if id(block) in seen or self.draft.dropped(stmt):
                    continue
                seen.add(id(block))
                if all(self.draft.empties(s) for s in block.body) and self._emptied(block):
                    changed = True

    def _emptied(self, block: Block) -> bool:
        """A block lost all its statements: decide what becomes of its owner. True if that changed anything."""
        owner = block.owner
        if isinstance(owner, ast.stmt) and self.draft.kept_arm(owner) is block.body:
            return self._once(owner)  # the only arm that was to stay went
        match owner:
            case ast.If() if block.field_name == "body":
                rest = owner.orelse
                if not rest or all(self.draft.empties(s) for s in rest):
                    goes = self._pure(owner.test) or self._asked_beside(owner)
                    return self._once(owner) if goes else self._pass(block)
                if len(rest) == 1 and isinstance(rest[0], ast.If) and self.m.is_elif(rest[0]):
                    return self._pass(block)
                if self.m.is_elif(owner):
                    return self._pass(block)
                return self._negate(owner)
            case ast.If() if block.field_name == "orelse":
                if self._emptied_before(owner.body) and self._pure(owner.test):
                    return self._once(owner)
                if self.m.is_elif(block.body[0]):
                    return self._cut(block, block.body[0].lineno)
                return self._cut_else(block)
            case ast.Try() if block.field_name == "body":
                if not owner.orelse and not owner.finalbody:
                    return self._once(owner)
                return self._pass(block)
            case ast.With() | ast.AsyncWith():
                return self._once(owner)
            case ast.For() | ast.While() if block.field_name == "orelse":
                return self._cut_else(block)
            case ast.For() if goes_unseen(self.m, owner):
                return self._once(owner)
            case ast.Module():
                return False
            case _:
                return self._pass(block)

    def _emptied_before(self, body: list[ast.stmt]) -> bool:
        """Whether an arm only stands with a ``pass`` because another came behind it."""
        return self.draft.rewritten.get(body[0]) == ("pass",) and all(self.draft.empties(s) for s in body[1:])

    def _pure(self, test: ast.expr) -> bool:
        return not any(
            isinstance(n, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr))
            or (isinstance(n, ast.Call) and not _harmless(n) and not self._predicate(called_name(n)))
            for n in walk(test)
        )

    def _asked_beside(self, stmt: ast.If) -> bool:
        """Whether what is written right beside an ``if`` asks its question: ``scaler = GradScaler(enabled=…)``."""
        lines = [*self.draft.lines_before.get(stmt, ()), *self.draft.lines_after.get(stmt, ())]
        return any(self.m.src(stmt.test) in line for line in lines)

    def _predicate(self, name: str) -> bool:
        """Whether the functions of the program that have a name all look something up and do nothing else."""
        functions = [node for node in self.m.all(ast.FunctionDef) if node.name == name]
        return bool(functions) and all(predicate(node) is not None for node in functions)

    def _once(self, stmt: ast.stmt) -> bool:
        if self.draft.rewritten.get(stmt) == ():
            return False
        self.draft.rewritten[stmt] = ()
        return True

    def _pass(self, block: Block) -> bool:
        first = block.body[0]
        if self.draft.rewritten.get(first) == ("pass",):
            return False
        self.draft.rewritten[first] = ("pass",)
        return True

    def _negate(self, stmt: ast.If) -> bool:
        """``if x: (gone) else: B`` becomes ``if not x: B``."""
        if stmt in self.negated:
            return False
        test = stmt.test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            text = self.m.src(test.operand)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
            left, right = self.m.src(test.left), self.m.src(test.comparators[0])
            text = f"{left} {_OPPOSITE[type(test.ops[0])]} {right}"
        else:
            simple = isinstance(test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Compare))
            text = f"not {self.m.src(test)}" if simple else f"not ({self.m.src(test)})"
        self.negated.add(stmt)
        rest = stmt.orelse[0]
        if self.m.owns_lines(rest) and rest.lineno > else_line(self.m, stmt):
            self.draft.replaced[test] = text
            self.edits.append(DeleteLines(stmt.body[0].lineno, else_line(self.m, stmt)))
            return True
        return self._pass(self.m.block(stmt.body[0]))

    def _cut(self, block: Block, first: int) -> bool:
        header = self.m.line_text(first)
        indent = header[: len(header) - len(header.lstrip())]
        edit = DeleteLines(first, with_comments(self.m, block.body[-1], indent))  # those of the arm go with it
        if edit in self.edits:
            return False
        self.edits.append(edit)
        return True

    def _cut_else(self, block: Block) -> bool:
        owner = block.owner
        assert isinstance(owner, (ast.If, ast.For, ast.While, ast.AsyncFor))
        return self._cut(block, else_line(self.m, owner))


def _harmless(call: ast.Call) -> bool:
    """Calls that a vanishing condition may take with it."""
    return called_name(call) in {
        "getattr", "hasattr", "isinstance", "len", "bool", "int", "str", "get", "is_available",
        "is_initialized", "get_rank", "get_world_size", "startswith", "lower", "upper", "any", "all",
        "is_apex_available",
    }  # fmt: skip

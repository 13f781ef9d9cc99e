"""Plants violations into right native code: what a judge of migrations has to find.

`planted` knows only the text: it looks for the scalers, regions, steps and backwards that stand in it, and makes one
mutant for each way to spoil each of them. Nothing of the migration is used, so that a fault there cannot hide here.

    drop-unscale, move-unscale      unscale_ is gone, or stands behind what reads the gradients
    unscale-twice                   a second unscale_ follows the first
    drop-update, duplicate-update   no update, or two
    update-before-step              step and update in the wrong order
    update-after-loop               one update for a whole loop of steps
    bare-step                       the optimizer steps without the scaler
    step-twice                      a second step without an update in between
    swap-steps                      two steps of different optimizers, in the other order
    drop-scale                      backward of the loss as it is
    backward-in-region              backward under autocast
    drop-region                     what stood under autocast stands outside
    forward-outside, loss-outside   the first or the last statement of a region stands outside
    drop-enabled                    a scaler or a region is always on
    drop-guard                      nothing keeps a bad batch from the step
    drop-condition                  a step under a condition is taken always
    scaler-in-loop                  every round of the loop has a scaler of its own
    scaler-behind-return            the function may end before the scaler is made, or has ended
    scaler-in-one-arm               the scaler is made under a condition
"""

from __future__ import annotations

import ast
import copy
import itertools
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeGuard

Statements = list[ast.stmt]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.While


def lot(text: str) -> int:
    """A number drawn for a text: a sample by it stays what it is where scripts come or go."""
    return zlib.crc32(text.encode())


class Planted(NamedTuple):
    """``line`` (of the new text) is where the violation stands; for something that went, where it stood."""

    kind: str
    line: int
    text: str


class Source:
    """A text and its statements. Edits are by whole lines and return the new text; the source stays as it is."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        if self.lines and not self.lines[-1].endswith(("\n", "\r")):
            self.lines[-1] += "\n"
        self.tree = ast.parse(text)
        self.block: dict[ast.stmt, Statements] = {}
        self.parent: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parent[child] = node
            for _, value in ast.iter_fields(node):
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    self.block |= dict.fromkeys(value, value)
        self.scalers = {_last_name(target) for one in self.statements() for target in _made_scaler(one)}

    def statements(self) -> list[ast.stmt]:
        """Those that have their lines to themselves, in order."""
        found = [one for one in self.block if self._alone(one)]
        return sorted(found, key=lambda one: (one.lineno, one.col_offset))

    def _alone(self, one: ast.stmt) -> bool:
        assert one.end_lineno is not None and one.end_col_offset is not None
        before = self.lines[one.lineno - 1].encode()[: one.col_offset].decode()
        after = self.lines[one.end_lineno - 1].encode()[one.end_col_offset :].decode()
        return not before.strip(" \t\ufeff") and not after.split("#")[0].strip() and not isinstance(one, ast.ClassDef)

    def siblings_after(self, one: ast.stmt) -> Statements:
        block = self.block[one]
        return block[block.index(one) + 1 :]

    def siblings_before(self, one: ast.stmt) -> Statements:
        block = self.block[one]
        return block[: block.index(one)]

    def above(self, one: ast.AST) -> Iterator[ast.AST]:
        """What holds it, from the inside, up to its function."""
        while (found := self.parent.get(one)) is not None:
            yield found
            if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return
            one = found

    # -- texts

    def indent(self, one: ast.stmt) -> str:
        line = self.lines[one.lineno - 1].lstrip("\ufeff")
        return line[: len(line) - len(line.lstrip(" \t"))]

    def unit(self, one: ast.stmt) -> str:
        return "\t" if self.indent(one).startswith("\t") else "    "

    def of(self, one: ast.stmt) -> list[str]:
        return self.lines[one.lineno - 1 : one.end_lineno]

    def at(self, one: ast.stmt, by: str) -> list[str]:
        """The lines of a statement, moved to the indentation ``by``."""
        cut = len(self.indent(one))
        return [by + line[cut:] if line.strip() else line for line in self.of(one)]

    # -- edits

    def edit(self, *changes: tuple[int, int, list[str]]) -> str:
        """Lines ``first`` to ``last`` (of the old text; ``last < first`` inserts before ``first``) become others."""
        lines = list(self.lines)
        for first, last, new in sorted(changes, key=lambda one: one[:2], reverse=True):
            lines[first - 1 : last] = new
        return "".join(lines)

    def gone(self, one: ast.stmt) -> tuple[int, int, list[str]]:
        assert one.end_lineno is not None
        rest = [] if len(self.block[one]) > 1 else [f"{self.indent(one)}pass\n"]
        return one.lineno, one.end_lineno, rest

    def instead(self, one: ast.stmt, lines: list[str]) -> tuple[int, int, list[str]]:
        assert one.end_lineno is not None
        return one.lineno, one.end_lineno, lines

    def before(self, one: ast.stmt, lines: list[str]) -> tuple[int, int, list[str]]:
        first = min([one.lineno, *(each.lineno for each in getattr(one, "decorator_list", ()))])
        return first, first - 1, lines

    def after(self, one: ast.stmt, lines: list[str]) -> tuple[int, int, list[str]]:
        assert one.end_lineno is not None
        return one.end_lineno + 1, one.end_lineno, lines

    # -- what is what

    def is_scaler(self, node: ast.expr) -> bool:
        return _last_name(node) in self.scalers

    def call(self, one: ast.stmt, method: str) -> ast.Call | None:
        """``scaler.method(…)`` as a statement, its result kept or not."""
        value = one.value if isinstance(one, (ast.Expr, ast.Assign)) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == method:
            if self.is_scaler(value.func.value):
                return value
        return None

    def calls(self, method: str) -> list[ast.stmt]:
        return [one for one in self.statements() if self.call(one, method)]

    def scaled_backwards(self) -> list[ast.stmt]:
        return [one for one in self.statements() if isinstance(one, ast.Expr) and self.scale_in(one.value)]

    def scale_in(self, node: ast.expr) -> ast.Call | None:
        """``scaler.scale(loss)`` in a call of backward."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"):
            return None
        for found in ast.walk(node):
            if isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and found.func.attr == "scale":
                if self.is_scaler(found.func.value):
                    return found
        return None

    def regions(self) -> list[ast.With]:
        return [one for one in self.statements() if isinstance(one, ast.With) and _is_region(one)]

    def holds(self, one: ast.AST, method: str) -> bool:
        return any(isinstance(each, ast.stmt) and self.call(each, method) for each in ast.walk(one))


def _last_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _made_scaler(one: ast.stmt) -> list[ast.expr]:
    """The targets of an assignment of a new scaler."""
    if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and _last_name(one.value.func) == "GradScaler":
        return one.targets
    return []


def _autocast(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and _last_name(node.func) == "autocast"


def _is_region(one: ast.With) -> bool:
    """One that may be on, and nothing else in its header."""
    if len(one.items) != 1 or not _autocast(one.items[0].context_expr):
        return False
    enabled = [word.value for word in one.items[0].context_expr.keywords if word.arg == "enabled"]
    return not any(isinstance(value, ast.Constant) and value.value is False for value in enabled)


# ---------------------------------------------------------------- unscale and update


def _drop(kind: str, method: str, s: Source) -> Iterator[Planted]:
    for one in s.calls(method):
        yield Planted(kind, one.lineno, s.edit(s.gone(one)))


def _twice(kind: str, method: str, s: Source) -> Iterator[Planted]:
    for one in s.calls(method):
        assert one.end_lineno is not None
        yield Planted(kind, one.end_lineno + 1, s.edit(s.after(one, s.of(one))))


def drop_unscale(s: Source) -> Iterator[Planted]:
    yield from _drop("drop-unscale", "unscale_", s)


def drop_update(s: Source) -> Iterator[Planted]:
    yield from _drop("drop-update", "update", s)


def unscale_twice(s: Source) -> Iterator[Planted]:
    yield from _twice("unscale-twice", "unscale_", s)


def duplicate_update(s: Source) -> Iterator[Planted]:
    yield from _twice("duplicate-update", "update", s)


def step_twice(s: Source) -> Iterator[Planted]:
    yield from _twice("step-twice", "step", s)


def move_unscale(s: Source) -> Iterator[Planted]:
    """Behind all that stands between it and the step, or the end of the block."""
    for one in s.calls("unscale_"):
        readers = list(itertools.takewhile(lambda each: not s.call(each, "step"), s.siblings_after(one)))
        if any(isinstance(n, ast.Call) for reader in readers for n in ast.walk(reader)):
            assert one.end_lineno is not None and readers[-1].end_lineno is not None
            line = readers[-1].end_lineno - (one.end_lineno - one.lineno)
            yield Planted("move-unscale", line, s.edit(s.gone(one), s.after(readers[-1], s.of(one))))


def update_before_step(s: Source) -> Iterator[Planted]:
    for one in s.calls("step"):
        update = next((each for each in s.siblings_after(one) if s.call(each, "update")), None)
        if update is not None:
            yield Planted("update-before-step", one.lineno, s.edit(s.before(one, s.of(update)), s.gone(update)))


def update_after_loop(s: Source) -> Iterator[Planted]:
    for one in s.calls("update"):
        loop = next((each for each in s.above(one) if isinstance(each, (ast.For, ast.While))), None)
        if loop is not None and s.holds(loop, "step"):
            assert loop.end_lineno is not None
            moved = s.after(loop, s.at(one, s.indent(loop)))
            yield Planted(
                "update-after-loop", loop.end_lineno - (len(s.block[one]) > 1) + 1, s.edit(s.gone(one), moved)
            )


# ---------------------------------------------------------------- steps and backwards


def bare_step(s: Source) -> Iterator[Planted]:
    for one in s.calls("step"):
        call = s.call(one, "step")
        assert call is not None
        if isinstance(one, ast.Expr) and call.args:
            plain = f"{s.indent(one)}{ast.unparse(call.args[0])}.step()\n"
            yield Planted("bare-step", one.lineno, s.edit(s.instead(one, [plain])))


def swap_steps(s: Source) -> Iterator[Planted]:
    for one in s.calls("step"):
        for following in s.siblings_after(one)[:1]:
            if s.call(following, "step"):
                text = s.edit(s.instead(one, s.of(following)), s.instead(following, s.of(one)))
                yield Planted("swap-steps", one.lineno, text)


def drop_scale(s: Source) -> Iterator[Planted]:
    for one in s.scaled_backwards():
        assert isinstance(one, ast.Expr)
        spoilt = copy.deepcopy(one.value)
        scale = s.scale_in(spoilt)
        assert scale is not None

        class Unscaled(ast.NodeTransformer):
            def visit_Call(self, node: ast.Call, scale: ast.Call = scale) -> ast.expr:
                self.generic_visit(node)
                return node.args[0] if node is scale else node

        plain = f"{s.indent(one)}{ast.unparse(Unscaled().visit(spoilt))}\n"
        yield Planted("drop-scale", one.lineno, s.edit(s.instead(one, [plain])))


def backward_in_region(s: Source) -> Iterator[Planted]:
    """The nearest region above, once more."""
    for one in s.scaled_backwards():
        above = [each for each in s.regions() if each.lineno < one.lineno]
        if above:
            head = f"{s.indent(one)}with {ast.unparse(above[-1].items[0])}:\n"
            text = s.edit(s.instead(one, [head, *s.at(one, s.indent(one) + s.unit(one))]))
            yield Planted("backward-in-region", one.lineno + 1, text)


# ---------------------------------------------------------------- regions


def _body_lines(s: Source, body: Statements, by: str) -> list[str]:
    """The lines of a block, comments between its statements with them."""
    first, last = body[0], body[-1]
    cut = len(s.indent(first))
    assert last.end_lineno is not None
    rows = s.lines[first.lineno - 1 : last.end_lineno]
    return [by + row[cut:] if row[:cut].isspace() and row.strip() else row for row in rows]


def _inline(s: Source, holder: ast.With | ast.If) -> str:
    """The body takes the place of the statement that holds it."""
    return s.edit(s.instead(holder, _body_lines(s, holder.body, s.indent(holder))))


def _starts_below(holder: ast.With | ast.If) -> bool:
    return holder.body[0].lineno > holder.lineno


def drop_region(s: Source) -> Iterator[Planted]:
    for one in s.regions():
        if _starts_below(one):
            yield Planted("drop-region", one.lineno, _inline(s, one))


def forward_outside(s: Source) -> Iterator[Planted]:
    for one in s.regions():
        first = one.body[0]
        if len(one.body) > 1 and _starts_below(one) and _calls_something(first):
            moved = s.before(one, s.at(first, s.indent(one)))
            yield Planted("forward-outside", one.lineno, s.edit(moved, s.gone(first)))


def loss_outside(s: Source) -> Iterator[Planted]:
    for one in s.regions():
        last = one.body[-1]
        if len(one.body) > 1 and _starts_below(one) and _calls_something(last):
            yield Planted("loss-outside", last.lineno, s.edit(s.instead(last, s.at(last, s.indent(one)))))


def _calls_something(one: ast.stmt) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(one))


# ---------------------------------------------------------------- conditions


def drop_enabled(s: Source) -> Iterator[Planted]:
    for one in s.statements():
        if _made_scaler(one):
            assert isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
            call, end = one.value, one.end_lineno
        elif isinstance(one, ast.With) and _is_region(one):
            found = one.items[0].context_expr
            assert isinstance(found, ast.Call)
            call, end = found, one.body[0].lineno - 1
        else:
            continue
        if any(word.arg == "enabled" for word in call.keywords):
            assert end is not None
            spoilt = copy.deepcopy(one)
            for node in ast.walk(spoilt):
                if isinstance(node, ast.Call) and node.lineno == call.lineno and node.col_offset == call.col_offset:
                    node.keywords = [word for word in node.keywords if word.arg != "enabled"]
            head = ast.unparse(spoilt).splitlines()[0]
            yield Planted("drop-enabled", one.lineno, s.edit((one.lineno, end, [f"{s.indent(one)}{head}\n"])))


def drop_guard(s: Source) -> Iterator[Planted]:
    """An `if` between forward and step that leaves."""
    for one in s.statements():
        if not (isinstance(one, ast.If) and not one.orelse and isinstance(one.body[-1], (ast.Continue, ast.Return))):
            continue
        forward = any(isinstance(each, ast.With) and _is_region(each) for each in s.siblings_before(one))
        if forward and any(s.holds(each, "step") for each in s.siblings_after(one)):
            yield Planted("drop-guard", one.lineno, s.edit(s.gone(one)))


def drop_condition(s: Source) -> Iterator[Planted]:
    for one in s.statements():
        if isinstance(one, ast.If) and not one.orelse and _starts_below(one):
            if any(s.call(each, "step") for each in one.body):
                yield Planted("drop-condition", one.lineno, _inline(s, one))


# ---------------------------------------------------------------- where the scaler is made


def _makings(s: Source) -> list[ast.stmt]:
    return [one for one in s.statements() if _made_scaler(one)]


def scaler_in_loop(s: Source) -> Iterator[Planted]:
    for one in _makings(s):
        for following in s.siblings_after(one):
            loops = [each for each in ast.walk(following) if isinstance(each, (ast.For, ast.While))]
            inner = [each for each in loops if s.holds(each, "step") and each.body[0].lineno > each.lineno]
            if inner:
                first = inner[-1].body[0]
                text = s.edit(s.gone(one), s.before(first, s.at(one, s.indent(first))))
                yield Planted("scaler-in-loop", first.lineno - (len(s.block[one]) > 1) * len(s.of(one)), text)


def scaler_behind_return(s: Source) -> Iterator[Planted]:
    """Who leaves early misses only what others use: a local name has to stand where it is never reached."""
    for one in _makings(s):
        local = all(isinstance(target, ast.Name) for target in _made_scaler(one))
        for following in s.siblings_after(one):
            if isinstance(following, ast.Return) or (not local and _may_return(following)):
                assert following.end_lineno is not None
                text = s.edit(s.gone(one), s.after(following, s.of(one)))
                yield Planted("scaler-behind-return", following.end_lineno - len(s.of(one)) + 1, text)
                break


def _may_return(one: ast.stmt) -> bool:
    if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    return any(isinstance(node, ast.Return) for node in ast.walk(one))


def scaler_in_one_arm(s: Source) -> Iterator[Planted]:
    for one in _makings(s):
        assert isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
        enabled = [ast.unparse(word.value) for word in one.value.keywords if word.arg == "enabled"]
        head = f"{s.indent(one)}if {(*enabled, 'torch.cuda.device_count() > 1')[0]}:\n"
        text = s.edit(s.instead(one, [head, *s.at(one, s.indent(one) + s.unit(one))]))
        yield Planted("scaler-in-one-arm", one.lineno + 1, text)


# ---------------------------------------------------------------- all of them

_MUTATORS: tuple[Callable[[Source], Iterator[Planted]], ...] = (
    drop_unscale,
    move_unscale,
    unscale_twice,
    drop_update,
    duplicate_update,
    update_before_step,
    update_after_loop,
    bare_step,
    step_twice,
    swap_steps,
    drop_scale,
    backward_in_region,
    drop_region,
    forward_outside,
    loss_outside,
    drop_enabled,
    drop_guard,
    drop_condition,
    scaler_in_loop,
    scaler_behind_return,
    scaler_in_one_arm,
)

KINDS = tuple(one.__name__.replace("_", "-") for one in _MUTATORS)


def planted(text: str) -> list[Planted]:
    """Every mutant of the text, each with one violation."""
    source = Source(text)
    found = [one for mutator in _MUTATORS for one in mutator(source)]
    for one in found:
        ast.parse(one.text)
    return found

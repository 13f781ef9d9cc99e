"""Programs that people wrote, changed at random: a line more, a line less, two in another order, a block around some.

The scripts of this folder, written by those who know the rules and by those who do not, say what research code does.
What they do *not* do is what a rule has not thought of: a loss that is halved inside of the ``scale_loss`` block, a
clip behind the step, a round that ends early, a helper function around half of it. Most changes make poor training
code and all the same a program; whatever it computes, the migrated one has to compute that, too.

    python -m tests.equivalence.many --changed --seeds 0:1000
"""

from __future__ import annotations

import ast
import functools
import random
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from migrate.model import Applicability, Settings

from .generate import MAIN, Program
from .harness import HERE, SCRIPTS, read_header, read_script

FRESH = HERE / "fresh"
ATTEMPTS = 200  # changes that may fail before a program is given up
_NEAR = re.compile(r"scale_loss|\.step\(|zero_grad|backward|clip")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_STAY = (ast.Import, ast.ImportFrom, ast.ClassDef, *_FUNCTIONS)
_LEAVE = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)

_NORM = "sum(float(p.grad.abs().sum()) for p in {m}.parameters() if p.grad is not None)"
INSERTED = (
    f"print('gradients', {_NORM})",
    "torch.nn.utils.clip_grad_norm_({m}.parameters(), 0.1)",
    "torch.nn.utils.clip_grad_norm_({amp}.master_params({o}), 0.1)",
    "torch.nn.utils.clip_grad_value_({m}.parameters(), 0.01)",
    "if float({l}) > 0.7:\n    continue",
    "if float({l}) > 0.9:\n    break",
    "if float({l}) > 0.7:\n    return",
    "if not torch.isfinite({l}):\n    continue",
    "if float({l}) > 0.7:\n    {o}.zero_grad()\n    continue",
    "norm_ = torch.nn.utils.clip_grad_norm_({m}.parameters(), 0.5)\nif norm_ > 1.0:\n    {o}.zero_grad()\n    continue",
    "norm_ = torch.nn.utils.clip_grad_norm_({m}.parameters(), 0.5)\nif torch.isfinite(norm_):\n    {o}.step()",
    "{o}.zero_grad()",
    "{o}.zero_grad(set_to_none=False)",
    "{m}.zero_grad()",
    "{o}.step()",
    "{l}.backward(retain_graph=True)",
    "for p_ in {m}.parameters():\n    p_.grad = None",
    "for p_ in {m}.parameters():\n    if p_.grad is not None:\n        p_.grad.mul_(0.5)",
    "for p_ in {m}.parameters():\n    if p_.grad is not None:\n        p_.grad.data.add_(0.01 * p_.data)",
    "for group_ in {o}.param_groups:\n    group_['lr'] *= 0.9",
    "{m}.load_state_dict({{k: v.clone() for k, v in {m}.state_dict().items()}})",
    "{o}.load_state_dict({o}.state_dict())",
    "next({m}.parameters()).register_hook(lambda grad: grad * 0.5)",
    "next({m}.parameters()).register_hook(lambda grad: print('hook', float(grad.sum())))",
    "print('loss', float({l}))",
    "{l} = {l} * 0.5",
    "{l} = {l} + 0.01 * sum(p.pow(2).sum() for p in {m}.parameters())",
    "with torch.no_grad():\n    for p_ in {m}.parameters():\n        p_.add_(0.001)",
    "{m}.eval()",
    "{m}.train()",
    "next({m}.parameters()).requires_grad_(False)",
    "seen_ = torch.autograd.grad({l}, list({m}.parameters()), retain_graph=True, allow_unused=True)\n"
    "print('seen', sum(float(g.abs().sum()) for g in seen_ if g is not None))",
    "with {amp}.scale_loss({l}, {o}) as again_:\n    again_.backward(retain_graph=True)",
    "with {amp}.disable_casts():\n    pass",
    "norms_ = {{n: float(p.grad.norm()) for n, p in {m}.named_parameters() if p.grad is not None}}\n"
    "print('norms', len(norms_), sum(norms_.values()))",
    "print('scale', {amp}.state_dict()['loss_scaler0']['loss_scale'])",
    "del {l}",
)
#: ``head|tail``: what stands ahead of some statements that move to the right, and what behind them.
AROUND = (
    "if torch.rand(1).item() > 0.3:",
    "for _ in range(2):",
    f"try:|finally:\n    print('gradients', {_NORM})",
    "try:|except RuntimeError:\n    pass",
    "try:|except RuntimeError:\n    {o}.zero_grad()\n    continue",
    "with torch.enable_grad():",
    "while True:|    break",
    "if {m}.training:",
    "with contextlib.suppress(ValueError):",
    "if float({l}) < 0.7:",
)


def program(seed: int) -> Program:
    """One of the scripts with one to three changes."""
    rng = random.Random(seed)
    for _ in range(ATTEMPTS):
        path = rng.choice(bases())
        text, said = read_script(path), []
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            made = _changed(text, rng)
            if made is not None:
                text, what = made
                said.append(what)
        if said and text != read_script(path):
            header = read_header(text)
            return Program(seed, {MAIN: text}, tuple(map(tuple, header.runs)), False, (path.stem, *said))
    raise AssertionError(f"seed {seed}: nothing could be changed")


@functools.cache
def bases() -> Sequence[Path]:
    """The scripts that are migrated as they are and compute the same, to the last digit."""
    every = [(path, read_header(read_script(path))) for path in sorted([*SCRIPTS.glob("*.py"), *FRESH.glob("*.py")])]
    same = [(path, header) for path, header in every if not (header.differs or header.casts or header.leaves)]
    usual = [(path, header.expect) for path, header in same if header.settings == Settings()]
    return [path for path, expect in usual if expect is not Applicability.MANUAL]


# ---------------------------------------------------------------- one change


@dataclass(frozen=True)
class _Place:
    """A statement on lines of its own: one of ``body``. ``names`` are what a line there may speak of."""

    body: Sequence[ast.stmt]
    index: int
    names: dict[str, list[str]]

    @property
    def first(self) -> ast.stmt:
        return self.body[self.index]


def _changed(text: str, rng: random.Random) -> tuple[str, str] | None:
    """A text with one change, and what that is; None where it is no Python then."""
    lines = text.split("\n")
    place = _place(text, lines, rng)
    if place is None:
        return None
    change = rng.choices(
        (_insert, _surround, _delete, _swap, _repeat, _extract, _into_the_block), (6, 2, 1, 2, 1, 1, 1)
    )[0]
    what = change(place, lines, rng)
    made = _with_imports("\n".join(lines))
    if what is None or made == text or not _compiles(made):
        return None
    return made, what


def _place(text: str, lines: list[str], rng: random.Random) -> _Place | None:
    """Where to change something: three times as often in a function that scales a loss, and near what it does then."""
    tree = ast.parse(text)
    functions: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)] or [tree]
    weights = [1 + 3 * ("scale_loss" in ast.unparse(f)) + (".step(" in ast.unparse(f)) for f in functions]
    function = rng.choices(functions, weights)[0]
    near = [n for n, line in enumerate(lines, 1) if _NEAR.search(line)]
    found = [(body, index) for body in _blocks(function) for index in range(len(body))]
    found = [one for one in found if _alone(one[0][one[1]], lines)]
    names = _names(tree, function, lines)
    if not found or not names["m"] or not names["o"]:
        return None
    weights = [4 if any(abs(body[at].lineno - n) <= 2 for n in near) else 1 for body, at in found]
    body, index = rng.choices(found, weights)[0]
    return _Place(body, index, names)


def _blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                yield body


def _alone(stmt: ast.stmt, lines: list[str]) -> bool:
    return not isinstance(stmt, _STAY) and not lines[stmt.lineno - 1][: stmt.col_offset].strip()


def _names(tree: ast.AST, function: ast.AST, lines: list[str]) -> dict[str, list[str]]:
    """Models, optimizers, losses and amp by the words of the text; those of the function, where it has any."""
    found: dict[str, list[str]] = {"m": [], "o": [], "l": [], "amp": []}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        if name.endswith("initialize") and call.args:
            found["m"] += _each(call.args[0])
            found["o"] += _each(call.args[1]) if len(call.args) > 1 else []
            found["amp"].append(name.rpartition(".")[0])
        elif name.endswith("scale_loss") and len(call.args) > 1:
            found["l"].append(ast.unparse(call.args[0]))
            found["o"] += _each(call.args[1])
        elif name.endswith(".step") and not call.args:
            found["o"].append(name.removesuffix(".step"))
        elif name.endswith((".parameters", ".train", ".eval")) and not call.args:
            found["m"].append(name.rpartition(".")[0])
    first = getattr(function, "lineno", 1) - 1
    text = "\n".join(lines[first : getattr(function, "end_lineno", len(lines))])
    own = {k: [w for w in words if re.search(rf"(?<![\w.]){re.escape(w)}(?!\w)", text)] for k, words in found.items()}
    return {kind: own[kind] or found[kind] for kind in found}


def _each(expr: ast.expr) -> list[str]:
    return [ast.unparse(e) for e in (expr.elts if isinstance(expr, (ast.List, ast.Tuple)) else [expr])]


def _filled(pattern: str, place: _Place, rng: random.Random) -> str:
    usual = {"l": "loss", "amp": "amp"}
    return pattern.format(**{k: rng.choice(words or [usual.get(k, k)]) for k, words in place.names.items()})


def _pad(stmt: ast.stmt, lines: list[str]) -> str:
    return lines[stmt.lineno - 1][: stmt.col_offset]


def _span(place: _Place, rng: random.Random) -> tuple[int, int]:
    """The lines of a statement and up to two behind it."""
    last = place.body[min(len(place.body), place.index + rng.randint(1, 3)) - 1]
    return place.first.lineno - 1, last.end_lineno or last.lineno


def _insert(place: _Place, lines: list[str], rng: random.Random) -> str | None:
    text = _filled(rng.choice(INSERTED), place, rng)
    at = place.first.lineno - 1 if rng.random() < 0.5 else place.first.end_lineno or 0
    lines[at:at] = textwrap.indent(text, _pad(place.first, lines)).split("\n")
    return f"a line more: {text}"


def _surround(place: _Place, lines: list[str], rng: random.Random) -> str | None:
    head, _, tail = _filled(rng.choice(AROUND), place, rng).partition("|")
    begin, end = _span(place, rng)
    pad = _pad(place.first, lines)
    moved = ["    " + line if line.strip() else line for line in lines[begin:end]]
    lines[begin:end] = [pad + head, *moved, *(textwrap.indent(tail, pad).split("\n") if tail else [])]
    return f"a block around: {head}"


def _delete(place: _Place, lines: list[str], rng: random.Random) -> str | None:
    begin, end = place.first.lineno - 1, place.first.end_lineno or 0
    what = lines[begin].strip()
    lines[begin:end] = [_pad(place.first, lines) + "pass"]
    return f"a statement less: {what}"


def _swap(place: _Place, lines: list[str], rng: random.Random) -> str | None:
    if place.index + 1 == len(place.body) or not _alone(place.body[place.index + 1], lines):
        return None
    one, other = place.first, place.body[place.index + 1]
    a, b, c, d = one.lineno - 1, one.end_lineno or 0, other.lineno - 1, other.end_lineno or 0
    what = lines[a].strip()
    lines[a:d] = lines[c:d] + lines[b:c] + lines[a:b]
    return f"behind the next: {what}"


def _repeat(place: _Place, lines: list[str], rng: random.Random) -> str | None:
    begin, end = place.first.lineno - 1, place.first.end_lineno or 0
    lines[end:end] = lines[begin:end]
    return f"twice: {lines[begin].strip()}"


def _extract(place: _Place, lines: list[str], rng: random.Random) -> str | None:
    """Some statements become a function of their own right there, which gives back what they set."""
    begin, end = _span(place, rng)
    inner = [n for stmt in place.body if begin < stmt.lineno <= end for n in ast.walk(stmt)]
    if any(isinstance(n, _LEAVE) for n in inner):
        return None
    names = [n for n in inner if isinstance(n, ast.Name)]
    stored = sorted({n.id for n in names if isinstance(n.ctx, ast.Store)})
    taken = sorted({n.id for n in names if isinstance(n.ctx, ast.Load)} & set(stored))
    pad, moved = _pad(place.first, lines), [f"    {line}" for line in lines[begin:end]]
    given = f"{', '.join(stored)} = " if stored else ""
    back = [f"{pad}    return {', '.join(stored)}"] if stored else []
    call = f"{pad}{given}piece_({', '.join(taken)})"
    lines[begin:end] = [f"{pad}def piece_({', '.join(taken)}):", *moved, *back, call]
    return f"a function of its own: {moved[0].strip()}"


def _into_the_block(place: _Place, lines: list[str], rng: random.Random) -> str | None:
    """The statement behind a ``with`` comes first or last in it."""
    blocks = [n for n, stmt in enumerate(place.body[:-1]) if isinstance(stmt, ast.With)]
    if not blocks:
        return None
    index = min(blocks, key=lambda n: abs(n - place.index))
    block, other = place.body[index], place.body[index + 1]
    assert isinstance(block, ast.With)
    inner = block.body[0]
    if not (_alone(other, lines) and _alone(inner, lines)):
        return None
    begin, end = other.lineno - 1, other.end_lineno or 0
    moved = ["    " + line if line.strip() else line for line in lines[begin:end]]
    del lines[begin:end]
    at = inner.lineno - 1 if rng.random() < 0.5 else block.end_lineno or 0
    lines[at:at] = moved
    return f"into the block: {moved[0].strip()}"


def _with_imports(text: str) -> str:
    """What changes take from the library is imported."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if re.match(r"(import|from) (?!__future__)", line)), 0)
    for name in ("contextlib", "torch"):
        if re.search(rf"\b{name}\.", text) and not re.search(rf"^import {name}\b", text, re.M):
            lines.insert(first, f"import {name}")
    return "\n".join(lines)


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<changed>", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True

"""What `plant.py` does not plant, as no run is needed to see it: an Apex call that stays beside a migrated unit, and a
call or a function with its old signature. The checks and the judge, as the engine asks them, reject all of it.

    apex-stays       a scaled backward is Apex's again, and so is its import
    name-stays       the same, and the import went
    old-call         a call does not hand over the scaler
    old-signature    a function does not take it
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from migrate.check.names import newly_undefined
from migrate.check.protocol import new_problems
from migrate.model import Applicability
from tests.effort import some
from tests.equivalence.plant import lot

from .support import SCRIPTS, script_case

KINDS = ("apex-stays", "name-stays", "old-call", "old-signature")
EACH = some(20, 5)
NAMES = sorted(
    one.stem
    for one in SCRIPTS.glob("*.py")
    if not one.stem.startswith("manual_") and lot(one.stem) % some(1, 4) == 0
)

_BACKWARD = re.compile(r"^( *)\w*scaler\w*\.scale\((\w+)\)\.backward\(\)$", re.M)
_STEP = re.compile(r"\bscaler\w*\.step\(([\w.]+)\)")
_SCALER = re.compile(r"\w*scaler\w*")


class Fault(NamedTuple):
    script: str
    kind: str
    line: int
    text: str


def faults_of(script: str, text: str) -> Iterator[Fault]:
    for found in _BACKWARD.finditer(text):
        if (step := _STEP.search(text)) is None:
            break
        indent, loss = found.groups()
        block = f"{indent}with legacy_amp.scale_loss({loss}, {step[1]}) as scaled_by_apex:\n"
        spoiled = f"{text[: found.start()]}{block}{indent}    scaled_by_apex.backward(){text[found.end() :]}"
        line = text.count("\n", 0, found.start()) + 1
        yield Fault(script, "name-stays", line, spoiled)
        yield Fault(script, "apex-stays", line, "from apex import amp as legacy_amp\n" + spoiled)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
            args = [one for one in node.args if not _is_scaler(ast.unparse(one))]
            keywords = [one for one in node.keywords if not _is_scaler(ast.unparse(one.value))]
            if len(args) + len(keywords) < len(node.args) + len(node.keywords):
                old = ast.unparse(ast.Call(node.func, args, keywords))
                yield Fault(script, "old-call", node.lineno, _instead(text, node, old))
        elif isinstance(node, ast.FunctionDef) and node.args.kwarg is None:
            for one in node.args.args:
                if _is_scaler(one.arg) and (taken := re.compile(rf", {one.arg}(?=[,)])").search(text, _at(text, node))):
                    cut = text[: taken.start()] + text[taken.end() :]
                    yield Fault(script, "old-signature", node.lineno, cut)


def _is_scaler(name: str) -> bool:
    return _SCALER.fullmatch(name) is not None


def _at(text: str, node: ast.AST) -> int:
    lines = text.splitlines(keepends=True)[: node.lineno - 1]  # type: ignore[attr-defined]
    return sum(map(len, lines))


def _instead(text: str, node: ast.Call, new: str) -> str:
    source, lines = text.encode(), text.encode().splitlines(keepends=True)
    assert node.end_lineno is not None and node.end_col_offset is not None
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    return (source[:start] + new.encode() + source[end:]).decode()


@functools.cache
def faults() -> dict[str, list[Fault]]:
    found: dict[str, list[Fault]] = {kind: [] for kind in KINDS}
    for name in NAMES:
        case = script_case(name)
        if case is not None and case.grade is not Applicability.MANUAL and case.verdict.unknown is None:
            for one in faults_of(name, case.text):
                found[one.kind].append(one)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_rejected(kind: str) -> None:
    chosen = sorted(faults()[kind], key=lambda one: lot(f"{one.script} {one.line}"))[:EACH]
    assert len(chosen) > 4
    for one in chosen:
        case = script_case(one.script)
        assert case is not None
        checks = (*newly_undefined(case.text, one.text), *new_problems(case.text, one.text))
        assert checks or case.judged(one.text) is not None, f"{one.script}, line {one.line}"

"""Who asks whether a model is wrapped, beside files that go on wrapping in Apex's class.

``isinstance(model, DistributedDataParallel)`` in a file of checkpoints asks for torch's class once that is changed.
Where the file that wraps stays with Apex, its models are no instances of torch's: each such question is told, as it
is answered otherwise now.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from .model import FileResult, Finding, Severity

RULE = "APX100"
_NAME = "DistributedDataParallel"
_STAYS = f"apex.parallel.{_NAME} stays "  # so begins what is said where it does


def still_wraps(result: FileResult) -> bool:
    """Whether a file goes on with Apex's class."""
    return any(_STAYS in finding.message.replace("distributed.", "", 1) for finding in result.findings)


def asking(result: FileResult, old: bytes, wraps: str) -> FileResult:
    """What is told of a changed file beside one, ``wraps``, that wraps in Apex's class."""
    if not any(change.rule == RULE for change in result.changes):
        return result
    said = (
        f"this asks for torch's wrapper now, and {wraps} still wraps in Apex's, so that it does not know those models: "
        "ask for both until that file is migrated"
    )
    found = [Finding(RULE, Severity.REVIEW, n.lineno, n.end_lineno or n.lineno, said) for n in _questions(old)]
    return replace(result, findings=(*result.findings, *found)) if found else result


def _questions(text: bytes) -> Iterator[ast.Call]:
    """The calls of ``isinstance`` that ask for Apex's wrapper by a name that an import gives it."""
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except (SyntaxError, ValueError):
        return
    names = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "apex"
        for alias in node.names
        if alias.name in (_NAME, "parallel")
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            for inner in ast.walk(node.args[1] if len(node.args) == 2 else node.func):
                plain = isinstance(inner, ast.Name) and inner.id in names
                if plain or (isinstance(inner, ast.Attribute) and "apex" in ast.unparse(inner) and inner.attr == _NAME):
                    yield node
                    break

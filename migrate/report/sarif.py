"""``--format sarif``: SARIF 2.1.0, as GitHub's code scanning and editors read it.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0. Findings are results; a file that would change has one
for each place, and the first of them carries the whole file's fix, as a training unit is changed as a whole or not at
all. Columns count UTF-16 units.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from .. import __version__, explain
from ..model import Change, Finding, Severity
from ..textio import Undecodable, decode
from .given import Given, places

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.MANUAL: "error", Severity.REVIEW: "warning", Severity.INFO: "note"}
_ROOT = "ROOT"
_IGNORED = "`# apex2native: ignore`"
_NUMBERS = re.compile(r"\d+")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def render(given: Given) -> Iterator[bytes]:
    """One log with one run."""
    yield (json.dumps(log(given), indent=2) + "\n").encode("utf-8")


def log(given: Given) -> dict[str, Any]:
    """The log as data."""
    results = _unique([*_findings(given), *([] if given.written else _changes(given))])
    rules = _rules({result["ruleId"] for result in results})
    number = {rule["id"]: at for at, rule in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = number[result["ruleId"]]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "apex2native", "semanticVersion": __version__, "rules": rules}},
        "columnKind": "utf16CodeUnits",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The top of the repository."}}},
        "invocations": [{"executionSuccessful": not given.outcome.crashed}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rules(used: set[str]) -> list[dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}
    for page in explain.pages():
        known[page.id] = _rule(page.id, page.title, explain.page_text(page.id, [page]))
        for name, title in page.notes.items():
            known[name] = _rule(name, title, explain.page_text(name, [page]))
    return [known.get(name, _rule(name, name, name)) for name in sorted(used)]


def _rule(name: str, title: str, page: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": page},
        "defaultConfiguration": {"level": "warning"},
    }


# ---------------------------------------------------------------- results


def _findings(given: Given) -> Iterator[dict[str, Any]]:
    for path, finding in given.findings():
        yield _finding(given.name(path), finding)


def _finding(path: str, finding: Finding) -> dict[str, Any]:
    cell = f"cell {finding.cell}, line {finding.line}: " if finding.cell is not None else ""
    text = cell + finding.message + (f"\n\n{finding.suggestion}" if finding.suggestion else "")
    first, *more = places(finding)
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(path, finding.cell, first, max(first, finding.end_line))],
        "partialFingerprints": {"apex2native/v1": _fingerprint(finding.rule, path, finding.message)},
    }
    if more:
        result["relatedLocations"] = [_location(path, finding.cell, line, line) for line in more]
    if finding.message.endswith(_IGNORED):
        result["suppressions"] = [{"kind": "inSource", "justification": "apex2native: ignore"}]
    return result


def _changes(given: Given) -> Iterator[dict[str, Any]]:
    for one in given.outcome.changed:
        path, fix = given.name(one.result.path), None
        texts = given.texts(one)
        if texts is not None:
            fix = _fix(path, *texts)
        for change in one.result.changes:
            result = _change(path, change)
            if fix is not None:
                result["fixes"], fix = [fix], None
            yield result


def _change(path: str, change: Change) -> dict[str, Any]:
    return {
        "ruleId": change.rule,
        "level": "note",
        "message": {"text": f"To change ({change.applicability.value}): {change.message}"},
        "locations": [_location(path, change.cell, change.line, max(change.line, change.end_line))],
        "partialFingerprints": {"apex2native/v1": _fingerprint(change.rule, path, change.message)},
    }


def _location(path: str, cell: int | None, line: int, end: int) -> dict[str, Any]:
    # The lines of a notebook are those of its cells: the file's own are not known.
    region = {"startLine": line, "endLine": end} if cell is None else {"startLine": 1}
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}


def _artifact(path: str) -> dict[str, Any]:
    if path.startswith("/"):
        return {"uri": "file://" + quote(path.encode("utf-8", "surrogateescape"))}
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": _ROOT}


def _fingerprint(rule: str, path: str, message: str) -> str:
    """The same wherever the lines have moved: numbers in the message do not count."""
    said = "\0".join((rule, path, _NUMBERS.sub("#", message)))
    return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _unique(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Equal fingerprints are told apart by their order."""
    seen: Counter[str] = Counter()
    for result in results:
        prints = result["partialFingerprints"]
        same = prints["apex2native/v1"]
        seen[same] += 1
        prints["apex2native/v1"] = f"{same}:{seen[same]}"
    return results


# ---------------------------------------------------------------- fixes


def _fix(path: str, old: bytes, new: bytes) -> dict[str, Any] | None:
    try:
        before, after = decode(old)[0], decode(new)[0]
    except Undecodable:
        return None
    replacements = list(_replacements(before, after))
    return {
        "description": {"text": "Migrate this file; files of one program belong together."},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
    }


def _replacements(before: str, after: str) -> Iterator[dict[str, Any]]:
    old, new = _LINE.findall(before), _LINE.findall(after)
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            yield {"deletedRegion": _region(old, i1, i2), "insertedContent": {"text": "".join(new[j1:j2])}}


def _region(lines: list[str], first: int, last: int) -> dict[str, int]:
    """Whole lines; the end is the start of the next line, or the end of the last one that has no line end."""
    start, end = _position(lines, first), _position(lines, last)
    return {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}


def _position(lines: list[str], index: int) -> tuple[int, int]:
    if index and index == len(lines) and not lines[-1].endswith(("\r", "\n")):
        return index, len(lines[-1].encode("utf-16-le")) // 2 + 1
    return index + 1, 1

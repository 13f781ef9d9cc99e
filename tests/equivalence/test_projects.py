"""Legacy projects of several files are migrated as a whole, and compute the same before and after.

Each folder of ``projects`` is one; ``case.py`` is what is run, and says in its first comments what is expected
(`harness.Header`).
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from migrate.model import Applicability
from tests.effort import long

from .checks import compiles
from .harness import HERE, Header, categories, compare, read_header, read_script, server

cli = pytest.importorskip("migrate.cli", reason="the command line is not there yet")
pytest.importorskip("torch", reason="the projects are run")

PROJECTS = sorted(path.parent for path in (HERE / "projects").glob("*/case.py"))
_SITE = re.compile(r"\b(?:amp|mixed_precision|mp)\.(?:initialize|scale_loss|master_params|state_dict|load_state_dict)$")


def _migrated(folder: Path, *options: str) -> dict[str, Any]:
    """Migrate a folder in place; the report."""
    told = folder.with_suffix(".json")
    assert cli.main([str(folder), "--write", "--report-json", str(told), *options]) in (0, 1)
    report: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
    return report


def _texts(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.py"))}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_project(project: Path, tmp_path: Path) -> None:
    header = read_header(read_script(project / "case.py"))
    new = tmp_path / "new"
    shutil.copytree(project, new)
    report = _migrated(new, "-j", "1")
    complaints = [*_graded(report, header), *_accounted(project, report), *_again(new)]
    for name, text in _texts(new).items():
        complaints += [f"{name}: {one}" for one in compiles(text.decode("utf-8"))]
    if header.expect is Applicability.MANUAL:
        if _texts(project) != _texts(new):
            complaints.append("text: a manual project was changed")
    elif not complaints:
        complaints += _differences(project, new, header)
    assert not complaints, "\n".join(complaints)


def _graded(report: dict[str, Any], header: Header) -> Iterator[str]:
    units = report["summary"]["units"]
    found = next((one for one in ("manual", "review", "safe") if units[one]), "none")
    findings = [one["message"] for file in report["files"] for one in file["findings"]]
    if found == "none" and header.expect is Applicability.MANUAL and findings:
        return
    if found == "none" and header.expect is Applicability.SAFE and any(file["changes"] for file in report["files"]):
        return  # what changed belongs to no unit, and needs no look
    if found != header.expect.value:
        yield "\n    ".join([f"units: expected {header.expect.value}, found {found}", *findings])
    yield from (f"findings: {one}" for one in findings if "internal error" in one)


def _accounted(project: Path, report: dict[str, Any]) -> Iterator[str]:
    """Every import of Apex stands in a change or a finding, and where something changes every use of amp does."""
    told = {file["path"]: [*file["changes"], *file["findings"]] for file in report["files"]}
    changed = any(file["changes"] for file in report["files"])
    for name, text in _texts(project).items():
        lines = {n for one in told.get(name, ()) for n in range(one["line"], one["end_line"] + 1)}
        lines |= {n for one in told.get(name, ()) for n in one.get("lines", ())}
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.ImportFrom(module=str() as module, level=0) if module.split(".")[0] == "apex":
                    pass
                case ast.Attribute() if changed and _SITE.search(ast.unparse(node)):
                    pass
                case _:
                    continue
            if node.lineno not in lines:
                yield f"{name}, line {node.lineno}: in no change and no finding: {ast.unparse(node)}"


def _again(folder: Path) -> Iterator[str]:
    before = _texts(folder)
    _migrated(folder, "-j", "1")
    after = _texts(folder)
    yield from (f"{name}: a second run changes it again" for name in after if after[name] != before[name])


def _differences(project: Path, new: Path, header: Header) -> Iterator[str]:
    left = any(b"apex" in text for text in _texts(new).values())
    before = server().run("legacy", project / "case.py")
    after = server().run("partly" if left else "native", new / "case.py")
    found = compare(before, after, header.settings)
    yield from (one for one in found if one.partition(":")[0] not in header.differs)
    yield from (f"runs: the header says that {one} differ, they do not" for one in header.differs - categories(found))


@long
def test_all_at_once_in_any_number_of_processes(tmp_path: Path) -> None:
    """Whatever the number of processes, the same bytes and the same report: a third of the projects as one tree."""
    told, texts = [], []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        for project in sorted((HERE / "projects").iterdir())[::3]:
            shutil.copytree(project, folder / project.name)
        report = _migrated(folder, "-j", str(jobs))
        told.append([*report["files"], report["summary"]])
        texts.append(_texts(folder))
    assert texts[0] == texts[1]
    assert told[0] == told[1]

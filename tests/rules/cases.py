"""Snippets before and after, one folder a rule.

``<name>.in.py`` with ``<name>.out.py`` beside it is a golden pair; ``<name>.in.py`` alone must stay byte
for byte. Comment lines at the very top of the ``.in.py`` belong to the test, not to the snippet:

    # expect: manual <part of a finding's message>     also review, info; several lines are several findings
    # expect: unparsed                                 the file does not parse
    # settings: dtype=bfloat16 target_torch=1.9
    # exported: amp HAS_APEX                           names that other files import from this one
    # rule: APX020                                     the rule that has to appear, where the folder's does not
    # bug: <what is wrong>                             the tool is wrong here today; strict: remove it once it is right

A pair whose header names no review is safe; a lone snippet whose header expects nothing is no Apex at
all, and the tool has nothing to say about it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

from migrate.model import ModuleResult, Settings, Severity

HERE = Path(__file__).parent / "cases"
_KEYS = ("expect", "settings", "exported", "rule", "bug")


@dataclass(frozen=True)
class Case:
    """One snippet and what is to become of it."""

    path: Path
    before: str
    after: str | None
    rule: str
    expect: tuple[tuple[str, str], ...] = ()
    settings: Settings = field(default_factory=Settings)
    exported: frozenset[str] = frozenset()
    bug: str | None = None

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name.removesuffix('.in.py')}"

    @property
    def unparsed(self) -> bool:
        return ("unparsed", "") in self.expect

    def wants(self, severity: str) -> bool:
        return any(one == severity for one, _ in self.expect)


def load(path: Path) -> Case:
    """The case whose ``.in.py`` is ``path``."""
    text = _read(path)
    header: dict[str, list[str]] = {key: [] for key in _KEYS}
    while text.startswith("# "):
        line, _, rest = text.partition("\n")
        key, colon, value = line.rstrip("\r")[2:].partition(": ")
        if not colon or key not in header:
            break
        header[key].append(value.strip())
        text = rest
    golden = path.with_name(path.name.replace(".in.py", ".out.py"))
    return Case(
        path,
        text,
        _read(golden) if golden.exists() else None,
        header["rule"][0] if header["rule"] else path.parent.name.upper(),
        tuple(_expectation(one) for one in header["expect"]),
        _settings(" ".join(header["settings"])),
        frozenset(" ".join(header["exported"]).split()),
        header["bug"][0] if header["bug"] else None,
    )


def load_all() -> list[Case]:
    return [load(path) for path in sorted(HERE.glob("*/*.in.py"))]


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def _expectation(text: str) -> tuple[str, str]:
    severity, _, message = text.partition(" ")
    assert severity == "unparsed" or severity in {one.value for one in Severity}, severity
    return severity, message.strip()


def _settings(text: str) -> Settings:
    values = dict(one.split("=", 1) for one in text.split())
    target = values.pop("target_torch", None)
    safe_only = values.pop("safe_only", None)
    chosen: dict[str, object] = dict(values)
    if target is not None:
        major, minor = target.split(".")
        chosen["target_torch"] = (int(major), int(minor))
    if safe_only is not None:
        chosen["safe_only"] = safe_only == "true"
    return Settings(**chosen)  # type: ignore[arg-type]


# ---------------------------------------------------------------- what the report has to account for


def apex_lines(text: str) -> dict[int, str]:
    """Lines that import Apex or use a name that such an import binds, with what stands there.

    Names are looked for by themselves, without the tool's own analysis: a function that has a parameter
    of that name means its own.
    """
    tree = ast.parse(text)
    found: dict[int, str] = {}
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [one for one in node.names if one.name.split(".")[0] == "apex"]
            bound |= {(one.asname or one.name).split(".")[0] for one in names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "apex":
            names = node.names
            bound |= {one.asname or one.name for one in names}
        else:
            continue
        if names:
            found[node.lineno] = ast.unparse(node)
    _uses(tree, bound, found)
    return found


def _uses(node: ast.AST, bound: set[str], found: dict[int, str]) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        bound = bound - {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in bound:
        found.setdefault(node.lineno, node.id)
    for child in ast.iter_child_nodes(node):
        _uses(child, bound, found)


def reported_lines(result: ModuleResult) -> set[int]:
    """Every line that stands in a change or a finding."""
    lines: set[int] = set()
    for change in result.changes:
        lines.update(range(change.line, change.end_line + 1))
    for finding in result.findings:
        lines.update((*range(finding.line, finding.end_line + 1), *finding.lines))
    return lines

"""What has to hold for the migration of any script. Every check returns its complaints."""

from __future__ import annotations

import ast
import difflib
import io
import itertools
import tokenize
from collections import Counter
from collections.abc import Callable, Sequence

from migrate.model import Applicability, ModuleResult, Settings, Severity, worst

from .harness import TOLERANCE, Header, categories, compare, legacy_run, server

Migrate = Callable[[str, Settings], ModuleResult]

#: Categories of `harness.compare` that a review unit may name in its header.
NAMEABLE = frozenset({"weights", "stdout", "steps", "scaling"})


def examine(text: str, header: Header, migrate: Migrate) -> list[str]:
    """Everything at once, the cheap checks first; nothing is run where they fail."""
    result = migrate(text, header.settings)
    complaints = applicability(result, header)
    if header.expect is Applicability.MANUAL:
        complaints += untouched(result)
        return complaints
    if result.new_text is None:
        return [*complaints, "text: nothing was changed", *[f"    {one.message}" for one in result.findings]]
    complaints += compiles(result.new_text)
    if complaints:
        return complaints
    complaints += apex_imports(result.new_text, header.leaves)
    complaints += second_run(result.new_text, header.settings, migrate)
    complaints += lost_comments(text, result)
    complaints += lost_lines(text, result)
    complaints += execution(text, result.new_text, header)
    return complaints


def applicability(result: ModuleResult, header: Header) -> list[str]:
    if not result.units:
        if header.expect is Applicability.MANUAL:
            return []  # a site outside of every unit; `untouched` asks for its finding
        return ["units: there is none", *[f"    {one.message}" for one in result.findings]]
    found = worst(*(unit.applicability for unit in result.units))
    if found is header.expect:
        return []
    reasons = [f"    line {one.line}: {one.message}" for one in result.findings if one.severity is not Severity.INFO]
    reasons += [
        f"    line {one.line}: {one.message}" for one in result.changes if one.applicability is not Applicability.SAFE
    ]
    return [f"units: expected {header.expect.value}, found {found.value}", *reasons]


def untouched(result: ModuleResult) -> list[str]:
    """A manual unit stays as it is, and the report says what to do."""
    complaints = [] if result.new_text is None else ["text: a manual unit was changed"]
    if not any(one.severity is Severity.MANUAL for one in result.findings):
        complaints.append("findings: none of them is manual")
    return complaints


def compiles(text: str) -> list[str]:
    try:
        compile(text, "migrated.py", "exec")
    except SyntaxError as error:
        return [f"text: does not compile: {error}"]
    return []


def apex_imports(text: str, leaves: Sequence[str]) -> list[str]:
    """Imports of Apex that are left, but for the parts that the script says stay."""

    def stays(module: str) -> bool:
        return any(module == leaf or module.startswith(leaf + ".") for leaf in leaves)

    left = []
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module if stays(node.module) else f"{node.module}.{one.name}" for one in node.names]
        left += [
            f"text: line {getattr(node, 'lineno', 0)} still imports {name}"
            for name in names
            if name.partition(".")[0] == "apex" and not stays(name) and not (name == "apex" and leaves)
        ]
    return left


def second_run(text: str, settings: Settings, migrate: Migrate) -> list[str]:
    again = migrate(text, settings).new_text
    return [] if again is None or again == text else ["text: a second run changes it again"]


def own_line_comments(text: str) -> Counter[str]:
    """Comments that stand alone on their line, without indentation."""
    lines = text.splitlines()
    return Counter(
        token.string.rstrip()
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1].lstrip().startswith("#")
    )


def lost_comments(old: str, result: ModuleResult) -> list[str]:
    """Comments on lines of their own stay, but for those inside a statement that goes as a whole."""
    deleting = {"APX010", "APX011", "APX020"}
    gone = {
        line for one in result.changes if one.rule in deleting for line in range(one.line, one.end_line + 1)
    }
    inside = Counter(row.strip() for number, row in enumerate(old.splitlines(), 1) if number in gone)
    lost = own_line_comments(old) - own_line_comments(result.new_text or "") - inside
    return [
        f"comments: lost {comment!r}"
        for comment in lost
        if "apex" not in comment.lower() and "amp" not in comment.lower()
    ]


def lost_lines(old: str, result: ModuleResult) -> list[str]:
    """Lines outside of every reported change stand in the new text, byte for byte and in order.

    Blank ones may go: where something went between two of them, one gap is left."""
    before = old.splitlines(keepends=True)
    after = (result.new_text or "").splitlines(keepends=True)
    changed = {line for change in result.changes for line in range(change.line, change.end_line + 1)}
    at = 0
    for number, line in enumerate(before, start=1):
        if number in changed or not line.strip():
            continue
        try:
            at = after.index(line, at) + 1
        except ValueError:
            break
    else:
        return []
    # A line that went may have been taken for a later one that reads the same: name the one that went.
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    gone = (one + 1 for tag, first, last, *_ in blocks if tag != "equal" for one in range(first, last))
    number = next((one for one in gone if one not in changed), number)
    return [f"lines: line {number} went or moved, and is in no reported change: {before[number - 1]!r}"]


def execution(old: str, new: str, header: Header) -> list[str]:
    """Run both, with every set of arguments; exactly what the header names may differ.

    A script that cannot run without arguments (the legacy version fails) is run with the others only.
    """
    if not header.differs <= NAMEABLE:
        return [f"header: `differs` may name {', '.join(sorted(NAMEABLE))}"]
    complaints = []
    seen: set[str] = set()
    for argv, casts in itertools.product(header.runs, (False, True) if header.casts else (False,)):
        legacy = legacy_run(old, argv, casts)
        if legacy.error and not argv and len(header.runs) > 1:
            continue
        native = server().run_text("native", new, argv, header.leaves, casts=casts)
        differences = compare(legacy, native, header.settings, TOLERANCE if casts else 0.0)
        seen |= categories(differences)
        run = f"run {list(argv)}{' with real casts' if casts else ''}"
        complaints += [f"{run}: {one}" for one in differences if one.partition(":")[0] not in header.differs]
    if not header.exact:
        return complaints
    complaints += [f"runs: the header says that {one} differ, they do not" for one in header.differs - seen]
    return complaints

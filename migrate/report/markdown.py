"""``--format markdown``: the text of a pull request. What changed, what to look at, what was proved."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from .. import explain, harmless
from ..model import Applicability, Finding, Severity
from .given import Given, places

LIMIT = 65_000
"""Characters: GitHub takes 65,536 in a comment or the text of a pull request."""

_SPECIAL = re.compile(r"[\\`*\[\]<>|~&#$]|(?<!\w)_|_(?!\w)")
_MANY = 8  # rows before a list is folded
_CUT = "\n\n*Cut here: the whole is in the JSON report (`--report-json`).*\n"


def render(given: Given) -> Iterator[bytes]:
    """The text, at most `LIMIT` characters long."""
    text = "\n".join(_parts(given)).rstrip() + "\n"
    if len(text) > LIMIT:
        text = _cut(text)
    yield text.encode("utf-8", "backslashreplace")


def _cut(text: str) -> str:
    kept = text[: LIMIT - len(_CUT) - 100].rpartition("\n")[0]
    open_ones = kept.count("<details>") - kept.count("</details>")
    return kept + "\n</details>" * open_ones + _CUT


def _parts(given: Given) -> Iterator[str]:
    outcome = given.outcome
    units = Counter(unit.applicability for file in outcome.results for unit in file.units)
    changed = len(outcome.changed)
    yield "## Apex to native PyTorch AMP"
    yield ""
    verb = "changes" if given.written else "would change"
    yield (
        f"`apex2native` {verb} {_number(changed, 'file')} of {_number(outcome.scanned, 'file')}. "
        f"Training units: {_units(units)}."
    )
    yield from _open(
        given, Severity.MANUAL, "Left by hand", "Nothing of these is changed; the reason stands beside it."
    )
    yield from _open(
        given, Severity.REVIEW, "To look at", "Applied, and may behave differently in the way that is named."
    )
    yield from _changes(given)
    yield from _proved(units)
    yield from _open(given, Severity.INFO, "Worth knowing", "")


def _units(units: Counter[Applicability]) -> str:
    said = [f"{units[one]} {one.value}" for one in Applicability if units[one]]
    return ", ".join(said) or "none"


def _open(given: Given, severity: Severity, title: str, what: str) -> Iterator[str]:
    rows = [_row(given.path(path), found) for path, found in given.findings() if found.severity is severity]
    if not rows:
        return
    yield f"\n### {title} ({len(rows)})"
    if what:
        yield f"\n{what}"
    yield ""
    yield from _folded(rows, f"{len(rows)} findings")


def _row(path: str, finding: Finding) -> str:
    lines = places(finding)
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    where = where if finding.cell is None else f"cell {finding.cell}, {where}"
    box = "- [ ] " if finding.severity is not Severity.INFO else "- "
    text = f"{box}{code(path)} {where}: {plain(finding.message)} ({finding.rule})"
    if finding.suggestion:
        text += "\n\n" + "\n".join(f"      {harmless.code(line)}" for line in finding.suggestion.splitlines()) + "\n"
    return text


def _folded(rows: list[str], title: str) -> Iterator[str]:
    if len(rows) <= _MANY:
        yield from rows
        return
    yield f"<details>\n<summary>{title}</summary>\n"
    yield from rows
    yield "\n</details>"


def _changes(given: Given) -> Iterator[str]:
    if not given.outcome.changed:
        return
    yield f"\n### {'Changed' if given.written else 'To change'} ({_number(len(given.outcome.changed), 'file')})\n"
    titles = {page.id: page.title for page in explain.pages()}
    titles.update((name, said) for page in explain.pages() for name, said in page.notes.items())
    rules: dict[str, set[str]] = defaultdict(set)
    rows = ["| file | places | rules |", "|---|---|---|"]
    for one in given.outcome.changed:
        path = given.path(one.result.path)
        used = sorted({change.rule for change in one.result.changes})
        for rule in used:
            rules[rule].add(path)
        rows.append(f"| {cell(path)} | {len(one.result.changes)} | {' '.join(used)} |")
    if len(rows) > _MANY + 2:
        yield f"<details>\n<summary>{_number(len(rows) - 2, 'file')}</summary>\n"
    yield from rows
    if len(rows) > _MANY + 2:
        yield "\n</details>"
    yield ""
    for rule, paths in sorted(rules.items()):
        yield f"- {rule}: {_title(titles.get(rule, ''))} ({_number(len(paths), 'file')})"


def _title(title: str) -> str:
    return title.rstrip(".")


def _proved(units: Counter[Applicability]) -> Iterator[str]:
    if not units[Applicability.SAFE] and not units[Applicability.REVIEW]:
        return
    yield "\n### What was proved\n"
    if units[Applicability.SAFE]:
        yield (
            f"- *Safe* ({units[Applicability.SAFE]}): the old and the new code were run side by side, symbolically, on "
            "every path: the same gradients for each step and reader, the same steps left out on an overflow, the same "
            "under casts. Equal but for rounding."
        )
    if units[Applicability.REVIEW]:
        yield (f"- *Review* ({units[Applicability.REVIEW]}): the same, but for the differences that are named above.")
    yield "- Every result compiles, leaves no name undefined, and changes nothing when it is migrated again."
    yield "- Not proved: what half precision rounds, and speed. `apex2native verify -- COMMAND` compares your own run."


def plain(text: str) -> str:
    """A sentence, in which nothing is markup or calls somebody; what stands in backquotes is code."""
    parts = harmless.line(text).split("`")
    if len(parts) % 2 == 0:
        return _escaped("`".join(parts))
    return "".join(code(part) if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    text = _SPECIAL.sub(lambda found: "\\" + found[0], text)
    return text.replace("@", "@\u200b").replace("://", ":\u200b//")  # calls nobody, leads nowhere


def code(text: str) -> str:
    """Code in a line, whatever it holds."""
    text = harmless.line(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{space}{text}{space}{fence}"


def cell(text: str) -> str:
    """Code in a cell of a table, where a bar would end it even within backquotes."""
    return code(text).replace("|", "\\|")


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

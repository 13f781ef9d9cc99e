"""The policy table for a terminal, as JSON and as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .network import NetworkTrace
from .probe import Observation
from .table import Case, PolicyTable, Row

_SHORT = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex32": "c32",
    "complex64": "c64",
}
_STYLES = {"different": "yellow", "same": "green", "not probed": "dim"}


def short(names: Iterable[str]) -> str:
    """Dtypes as `f16 f32`, equal ones once; integers only where there is nothing else."""
    all_names = tuple(dict.fromkeys(names))
    floating = tuple(name for name in all_names if name in _SHORT)
    return " ".join(_SHORT.get(name, name) for name in floating or all_names) or "-"


def outcome(seen: Observation) -> str:
    """What came out, as `f16`, `error` or `not probed`."""
    if seen.unprobed:
        return "not probed"
    return "error" if seen.error else short(seen.outputs)


def _columns(row: Row) -> tuple[str, str, str, str]:
    """Inputs, without amp, Apex, native: one part for each case, in the same order, slashes between."""

    def over(pick: str) -> str:
        return " / ".join(outcome(getattr(case, pick)) for case in row.cases)

    if row.verdict == "not probed":
        return "", "", "", ""
    return " / ".join(short(case.inputs) for case in row.cases), over("plain"), over("apex"), over("native")


def _chosen(table: PolicyTable, only_differences: bool) -> list[Row]:
    return [row for row in table.rows if row.matters or not only_differences]


def counts(table: PolicyTable) -> str:
    """One sentence: how many rows, how many differ."""
    inside = sum(row.verdict == "same" and row.matters for row in table.rows)
    return (
        f"{len(table.rows)} ops: {table.count('same')} give the same dtypes under O1 and native "
        f"({inside} of them differ inside), {table.count('different')} give others, "
        f"{table.count('not probed')} could not be probed."
    )


_NETWORK = "One forward pass of the comparison's ResNet50 with its loss"
_NARROW = 180  # columns; below them a row has two cells instead of six


def legend(table: PolicyTable) -> str:
    low = _SHORT[table.dtype]
    return f"{low} / f32 / {low} f32: all inputs {table.dtype}, all float32, both; the other columns in the same order."


def render_text(table: PolicyTable, console: Console, *, only_differences: bool) -> None:
    """Print the table, what stands under it, and the trace of the network."""
    wide = console.width >= _NARROW
    title = f"Apex O1 beside native autocast to {table.dtype}"
    grid = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("op", "inputs", "no amp", "Apex O1", "native") if wide else ("op",):
        grid.add_column(name, overflow="fold", max_width=None if wide else 34)
    grid.add_column("after a migration", overflow="fold", ratio=1)
    group = ""
    for row in _chosen(table, only_differences):
        if row.group != group:
            group = row.group
            grid.add_section()
            grid.add_row(f"[bold]{escape(group)}[/bold]")
        style = _STYLES["different" if row.matters else row.verdict]
        meaning = f"[{style}]{escape(row.meaning or 'same')}[/{style}]"
        inputs, plain, apex, native = (escape(column) for column in _columns(row))
        if wide:
            grid.add_row(escape(row.op), inputs, plain, apex, native, meaning)
        else:
            dtypes = f"{inputs}: O1 {apex}, native {native}\n" if inputs else ""
            grid.add_row(escape(row.op), dtypes + meaning)
    console.print(grid)
    for line in (legend(table), counts(table), *table.notes):
        console.print(escape(line), highlight=False)
    console.print()
    console.print(escape(f"{_NETWORK}: {table.network}"), highlight=False)
    for title, seen in (("Apex O1", table.apex_network), ("native", table.native_network)):
        console.print(escape(f"  {title}: {network_line(seen)}"), highlight=False)


def network_line(seen: NetworkTrace) -> str:
    """`convolutions: 53 in float16, …, casts: 57`; the dtype of an op is that of its first input."""
    parts = []
    for kind, dtypes in seen.summary().items():
        if kind == "casts":
            parts.append(f"casts: {sum(dtypes.values())}")
            continue
        firsts: Counter[str] = Counter()
        for signature, count in dtypes.items():
            firsts[signature.split(" ")[0]] += count
        parts.append(f"{kind}: " + " and ".join(f"{count} in {first}" for first, count in firsts.items()))
    return ", ".join(parts)


# ---------------------------------------------------------------- JSON


def _case_json(case: Case) -> dict[str, Any]:
    sides = {"no_amp": case.plain, "apex_o1": case.apex, "native": case.native}
    return {"inputs": list(case.inputs)} | {name: seen.to_json() for name, seen in sides.items()}


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "op": row.op,
        "group": row.group,
        "verdict": row.verdict,
        "inside": row.inside,
        "effects": list(row.effects),
        "matters": row.matters,
        "meaning": row.meaning,
        "cases": [_case_json(case) for case in row.cases],
    }


def to_json(table: PolicyTable, *, only_differences: bool = False) -> str:
    """The table with every observation, dtypes by torch's names."""
    data = {
        "schema": 1,
        "dtype": table.dtype,
        "torch": table.torch,
        "apex": {"version": table.apex, "torch": table.apex_torch, "source": table.source},
        "notes": list(table.notes),
        "network": {
            "conclusion": table.network,
            "apex_o1": table.apex_network.summary(),
            "native": table.native_network.summary(),
        },
        "rows": [_row_json(row) for row in _chosen(table, only_differences)],
    }
    return json.dumps(data, indent=1) + "\n"


# ---------------------------------------------------------------- Markdown


def markdown_rows(rows: Iterable[Row]) -> str:
    """A Markdown table of these rows; rows that say the same of the same dtypes share a line."""
    together: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        key = (row.group, *_columns(row), row.meaning or "same")
        together.setdefault(key, []).append(row.op)
    lines = ["| op | inputs | no amp | Apex O1 | native | after a migration |", "|---|---|---|---|---|---|"]
    for (_, *cells), names in together.items():
        ops = ", ".join(f"`{name}`" for name in names)
        lines.append("| " + " | ".join((ops, *cells)) + " |")
    return "\n".join(lines)


def to_markdown(table: PolicyTable, *, only_differences: bool = False) -> str:
    """The table by groups, with its notes."""
    rows = _chosen(table, only_differences)
    parts = [f"# Apex O1 beside native autocast to {table.dtype}", counts(table), " ".join(table.notes)]
    parts.append(legend(table))
    for group in dict.fromkeys(row.group for row in rows):
        parts += [f"## {group[0].upper()}{group[1:]}", markdown_rows(row for row in rows if row.group == group)]
    parts += ["## The network", table.network]
    for title, seen in (("Apex O1", table.apex_network), ("Native", table.native_network)):
        parts.append(f"{title}: {network_line(seen)}.")
    return "\n\n".join(parts) + "\n"

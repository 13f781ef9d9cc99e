"""The policy table: every op without amp, under Apex O1 and under native autocast, side by side."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Literal

import torch

from . import meanings, recorded
from .meanings import Effect, Inside
from .native import probe_native, probe_plain
from .network import NetworkTrace, conclusion, trace
from .ops import OPS, Op
from .probe import Observation
from .recorded import ApexSide

Source = Literal["recorded", "live"]
Verdict = Literal["same", "different", "not probed"]
DTYPES = ("float16", "bfloat16")


@dataclass(frozen=True)
class Case:
    """One combination of input dtypes."""

    inputs: tuple[str, ...]
    plain: Observation
    apex: Observation
    """Where the table's dtype is bfloat16, Apex still had float16 inputs in the place of bfloat16 ones."""
    native: Observation


@dataclass(frozen=True)
class Row:
    """One op. `cases` leaves out combinations that give it the same inputs."""

    op: str
    group: str
    cases: tuple[Case, ...]
    verdict: Verdict
    """On the output dtypes alone."""
    effects: tuple[Effect, ...]
    inside: Inside
    """On what runs below equal outputs, over all cases: the one that matters most."""
    meaning: str
    """What is different after a migration, or why it was not probed; empty where nothing is."""

    @property
    def matters(self) -> bool:
        """Whether a migration changes dtypes that change values."""
        return self.verdict == "different" or self.inside in ("less precise", "more precise", "other ops")


@dataclass(frozen=True)
class PolicyTable:
    """All rows, with what they were found on."""

    dtype: str
    """What native autocast casts to. Apex O1 always casts to float16."""
    torch: str
    """The torch that native and plain were probed with, now."""
    source: Source
    apex: str
    apex_torch: str
    rows: tuple[Row, ...]
    apex_network: NetworkTrace
    native_network: NetworkTrace
    notes: tuple[str, ...]

    @property
    def network(self) -> str:
        """One sentence on the forward pass of the comparison's ResNet50."""
        return conclusion(self.apex_network, self.native_network, self.dtype)

    def count(self, verdict: Verdict) -> int:
        return sum(row.verdict == verdict for row in self.rows)


def policy_table(apex: Source = "recorded", dtype: str = "float16") -> PolicyTable:
    """Probe native autocast to `dtype` now (some seconds) and put Apex beside it, as recorded or live.

    Raises UserError with `apex="live"` where no Apex can be imported.
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}; it can be {' or '.join(DTYPES)}")
    if apex == "live":
        from .apex_o1 import observe_apex

        side = observe_apex()
    else:
        side = recorded.load()
    plain, native = probe_plain(dtype), probe_native(dtype)
    rows = tuple(_row(op, plain[op.name], _apex_of(side, op), native[op.name], dtype) for op in OPS)
    return PolicyTable(
        dtype=dtype,
        torch=torch.__version__,
        source=apex,
        apex=side.apex,
        apex_torch=side.torch,
        rows=rows,
        apex_network=side.network,
        native_network=trace(dtype=dtype),
        notes=tuple(_notes(side, apex, dtype)),
    )


def _apex_of(side: ApexSide, op: Op) -> tuple[Observation, ...]:
    missing = Observation((), unprobed="the recorded table does not hold it: record again")
    return side.ops.get(op.name, (missing,) * 3)


def _row(
    op: Op, plain: tuple[Observation, ...], apex: tuple[Observation, ...], native: tuple[Observation, ...], low: str
) -> Row:
    cases: list[Case] = []
    for without, ours, theirs in zip(plain, apex, native, strict=True):
        inputs = max(without.inputs, theirs.inputs, key=len)  # an error may end a call before all are made
        if all(inputs != case.inputs for case in cases):
            cases.append(Case(inputs, without, ours, theirs))
    probed = [case for case in cases if not (case.apex.unprobed or case.native.unprobed)]
    if not probed:
        reasons = dict.fromkeys(reason for case in cases for reason in (case.native.unprobed, case.apex.unprobed))
        meaning = "not probed: " + "; ".join(reason for reason in reasons if reason)
        return Row(op.name, op.group, tuple(cases), "not probed", (), "not compared", meaning)
    if all(each.error for case in probed for each in (case.plain, case.apex, case.native)):
        meaning = f"not probed: it fails with and without amp ({probed[0].plain.error})"
        return Row(op.name, op.group, tuple(cases), "not probed", (), "not compared", meaning)
    clauses, insides = [], []
    for case in probed:
        found = meanings.clause(case.plain, case.apex, case.native, low=low, in_place=op.in_place)
        if found:
            clauses.append(found)
        else:
            insides.append(meanings.compare_inside(case.apex, case.native, low))
    inside, ops = min(insides, key=lambda each: _WEIGHT[each[0]], default=("not compared", ()))
    below = "" if clauses else meanings.inside_text(inside, ops, low)
    note = meanings.NOTES.get(op.name, "") if clauses or below else ""
    effects = tuple(dict.fromkeys(each.effect for each in clauses))
    text = meanings.sentence(clauses, below, note)
    return Row(op.name, op.group, tuple(cases), "different" if clauses else "same", effects, inside, text)


_WEIGHT: dict[Inside, int] = {
    "less precise": 0,
    "more precise": 1,
    "other ops": 2,
    "same values": 3,
    "same": 4,
    "not compared": 5,
}


def _notes(side: ApexSide, source: Source, dtype: str) -> list[str]:
    where = "recorded, not observed here" if source == "recorded" else "observed now"
    notes = [f"Apex O1: Apex {side.apex} with torch {side.torch}, {where}."]
    notes.append(f"Native and no amp: torch {torch.__version__}, Python {platform.python_version()}, observed now.")
    if side.torch.partition("+")[0] != torch.__version__.partition("+")[0]:
        notes.append("The two torch versions differ: so may what an op runs inside.")
    if dtype != meanings.APEX_LOW:
        notes.append(f"O1 knows float16 only: its float16 stands beside native's {dtype} as the same choice.")
    notes.append("Forward pass only, on fake CUDA tensors: no GPU was used.")
    return notes

"""The Apex side of the table, as data: recorded once from real Apex, or observed now."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .network import NetworkTrace
from .probe import Observation

RECORDED = Path(__file__).with_name("recorded.json")
SCHEMA = 1


def _without_repeats(found: tuple[Observation, ...]) -> list[dict[str, Any] | int]:
    """An observation that an earlier case gave already is replaced by that case's number."""
    return [at if (at := found.index(each)) < number else each.to_json() for number, each in enumerate(found)]


def _with_repeats(found: list[dict[str, Any] | int]) -> tuple[Observation, ...]:
    seen: list[Observation] = []
    for each in found:
        seen.append(seen[each] if isinstance(each, int) else Observation.from_json(each))
    return tuple(seen)


@dataclass(frozen=True)
class ApexSide:
    """What Apex O1 does. `ops` holds, by op name, one observation for each case of `probe.cases("float16")`."""

    apex: str
    """Version of Apex, or the digest of its files if that is unknown."""
    torch: str
    python: str
    lists: dict[str, tuple[str, ...]]
    """Apex's own lists: `functional.FP16_FUNCS`, `torch.CASTS`, …"""
    patched: tuple[str, ...]
    """Every name it really replaced: `torch.mm`, `functional.conv2d`, `tensor.__add__`, `rnn.lstm_cell`, …"""
    ops: dict[str, tuple[Observation, ...]]
    network: NetworkTrace

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "apex": self.apex,
            "torch": self.torch,
            "python": self.python,
            "lists": {name: list(entries) for name, entries in self.lists.items()},
            "patched": list(self.patched),
            "network": self.network.to_json(),
            "ops": {name: _without_repeats(found) for name, found in self.ops.items()},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ApexSide:
        return cls(
            data["apex"],
            data["torch"],
            data["python"],
            {name: tuple(entries) for name, entries in data["lists"].items()},
            tuple(data["patched"]),
            {name: _with_repeats(found) for name, found in data["ops"].items()},
            NetworkTrace.from_json(data["network"]),
        )

    def dumps(self) -> str:
        """JSON with one line for each op, so that two recordings can be compared by eye."""
        data = self.to_json()
        ops = data.pop("ops")
        head = json.dumps(data, indent=1)[:-2]
        lines = ((json.dumps(name), json.dumps(found, separators=(",", ":"))) for name, found in ops.items())
        rows = ",\n".join(f"  {name}: {found}" for name, found in lines)
        return f'{head},\n "ops": {{\n{rows}\n }}\n}}\n'


def load(path: Path = RECORDED) -> ApexSide:
    """The recording that comes with the package."""
    return ApexSide.from_json(json.loads(path.read_text(encoding="utf-8")))

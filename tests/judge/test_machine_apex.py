"""The judge's Apex machine beside the project's double of Apex, and beside Apex's own Python where its sources are
at hand (``APEX_SRC=/path/to/apex``), on made-up sequences of calls.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from migrate.judge import machines
from migrate.judge.state import Key, LegacyRaises, State
from tests.effort import some

pytest.importorskip("torch")

HERE = Path(__file__).resolve().parent
DOUBLE = HERE.parents[1] / "migrate" / "verify" / "double"
SOURCE = os.environ.get("APEX_SRC", "")
ROOM = 16  # backwards in a sequence, one component each; behind those there is one each for its overflow
OPTIMIZERS = range(2)
Op = list[Any]
History = dict[str, Any]
needs_apex = [
    pytest.mark.apex,
    pytest.mark.skipif(
        not (Path(SOURCE) / "apex" / "amp").is_dir() if SOURCE else True, reason="APEX_SRC names no copy of Apex"
    ),
]


def history(seed: int) -> History:
    rng = random.Random(seed)
    init = rng.choice([{}] * 8 + [{"loss_scale": 1.0}, {"enabled": False}, None])
    rare = rng.choice(("plain", "delayed", "interrupted", "interrupted before"))
    ops: list[Op] = []
    while len(ops) < ROOM - 1:
        group = sorted(rng.sample(OPTIMIZERS, rng.choice((1, 2))))
        kind = rng.random()
        if kind < 0.55:
            ops.append(["backward", group, rng.random() < 0.2, rng.choice(("scaled", "scaled", rare))])
        elif kind < 0.8:
            ops += [["step", one] for one in group]
        else:
            ops += [["zero_grad", one, rng.random() < 0.5] for one in group]
    return {"room": ROOM, "init": init, "ops": ops[: ROOM - 1]}


def played(side: str, histories: list[History], place: Path) -> list[list[dict[str, Any]]]:
    given, out = place / "histories.json", place / f"{side}.json"
    given.write_text(json.dumps(histories), encoding="utf-8")
    where = str(DOUBLE) if side == "double" else SOURCE
    environment = dict(os.environ, PYTHONPATH=where, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    words = [sys.executable, str(HERE / "play_apex.py"), side, str(given), str(out)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results: list[list[dict[str, Any]]] = json.loads(out.read_text(encoding="utf-8"))
    return results


class Model:
    def __init__(self, init: dict[str, Any] | None) -> None:
        self.state = State([])
        if init is not None and init.get("enabled", True):
            machines.apex_initialize(self.state, casts=True, active="loss_scale" not in init)
        elif init is not None:
            self.state.initialized = True

    def do(self, op: Op, number: int) -> dict[Key, str]:
        state = self.state
        match op:
            case ["backward", group, overflow, how]:
                group = frozenset(map(key, group))
                if how == "plain":
                    state.add(group, (number, "1", overflow))
                    return {}
                delay = how == "delayed"
                machines.apex_enter(state, group, delay)
                if how != "interrupted before":
                    state.add(group, (number, "S" if state.active else "1", overflow))
                if not how.startswith("interrupted"):
                    machines.apex_leave(state, group, delay)
            case ["step", one]:
                return machines.apex_step(state, [key(one)])
            case ["zero_grad", one, to_none]:
                state.clear([key(one)], to_none)
        return {}


def key(optimizer: int) -> Key:
    return ("optimizer", optimizer)


def compare(given: History, shown: list[dict[str, Any]]) -> str | None:
    """Where the machine and what really happened part; None where they do not."""
    model = Model(given["init"])
    for number, (op, one) in enumerate(zip(given["ops"], shown, strict=True), start=1):
        here = f"after {given['ops'][:number]}"
        try:
            taken = model.do(op, number)
        except LegacyRaises:
            return None if one["raised"] == "RuntimeError" else f"{here}: nothing was raised"
        if one["raised"] == "RuntimeError":
            return f"{here}: the machine does not raise"
        for said in taken.values():
            stepped = one["stepped"][op[1]]
            if said.startswith("skipped") != (stepped is None):
                return f"{here}: {said}, stepped with {stepped}"
        for optimizer in OPTIMIZERS:
            said_seen, found = dict(model.state.seen(key(optimizer))), dict(one["seen"][optimizer])
            if said_seen.keys() != found.keys():
                return f"{here}: optimizer {optimizer} has {found}, said is {said_seen}"
            for at, factor in said_seen.items():
                is_one, is_scale = (math.isclose(found[at], value) for value in (1.0, one["scale"]))
                if is_one != (factor == "1") or (is_scale and not is_one) != (factor == "S"):
                    return f"{here}: {at} of optimizer {optimizer} is multiplied by {found[at]}, said is {factor}"
    return None


@pytest.mark.parametrize("side", ["double", pytest.param("kernels", marks=needs_apex)])
def test_the_machine_does_what_apex_does(side: str, tmp_path: Path) -> None:
    histories = [history(seed) for seed in range(some(300, 100))]
    shown = played(side, histories, tmp_path)
    found = [wrong for one, what in zip(histories, shown, strict=True) if (wrong := compare(one, what))]
    assert not found, f"{len(found)} of {len(histories)} differ, the shortest: {min(found, key=len)}"

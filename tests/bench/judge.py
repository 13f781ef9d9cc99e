"""What the judge costs: its share of the time of a migration, over the scripts of the equivalence tests.

    python tests/bench/judge.py [FILE…] [--runs N]

Each file is migrated N times (3) in this process; of each the fastest run counts. Printed are the sums, their
ratio, how many pairs of states were looked at, and the files in which the judge took longest. It is a twentieth
of a second for an ordinary file, and should not be more than the rest of the migration takes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from migrate import engine
from migrate.judge.verdict import Verdict
from migrate.model import Settings
from migrate.validate import validate

SCRIPTS = Path(__file__).resolve().parents[1] / "equivalence" / "scripts"


class Cost(NamedTuple):
    total: float
    judge: float
    pairs: int

    @property
    def share(self) -> float:
        return self.judge / self.total


def measure(text: str) -> Cost:
    judging, pairs = 0.0, 0

    def timed(*args: Any) -> Verdict:
        nonlocal judging, pairs
        begun = time.perf_counter()
        verdict = validate(*args)
        judging += time.perf_counter() - begun
        pairs += verdict.pairs
        return verdict

    begun = time.perf_counter()
    with mock.patch.object(engine, "validate", timed):
        engine.migrate_module(text, Settings())
    return Cost(time.perf_counter() - begun, judging, pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description="What the judge costs.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    costs: dict[str, Cost] = {}
    for file in options.files or sorted(SCRIPTS.glob("*.py")):
        text = file.read_text(encoding="utf-8", errors="replace")
        costs[file.name] = min(measure(text) for _ in range(options.runs))
    judged = {name: cost for name, cost in costs.items() if cost.judge}
    total, judge = sum(one.total for one in judged.values()), sum(one.judge for one in judged.values())
    print(f"{len(judged)} of {len(costs)} files came before the judge")
    print(f"migration {total:.2f} s, of that the judge {judge:.2f} s ({judge / total:.0%})")
    print(f"judge / the rest: {judge / (total - judge):.2f}")
    print("longest:")
    for name, cost in sorted(judged.items(), key=lambda one: -one[1].judge)[:5]:
        print(f"  {name:<40}{cost.judge:8.3f} s {cost.share:5.0%} {cost.pairs:7} pairs")


if __name__ == "__main__":
    main()

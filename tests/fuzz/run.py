"""Whatever stands in a file, there is an answer: ``make fuzz``.

Of every made-up file (`mutate`): the run ends, within its bounds and without a crash; what is written compiles where
the old text did, and a second run says the same of the same text.

    python -m tests.fuzz.run [--seconds 3600] [--seed 0] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

from migrate.engine import migrate_module
from migrate.errors import Tangled
from migrate.model import Settings
from tests.equivalence.harness import read_script
from tests.fuzz.mutate import mutated

PROJECT = Path(__file__).resolve().parents[2]
SCRIPTS = (PROJECT / "tests" / "equivalence" / "scripts", PROJECT / "tests" / "equivalence" / "fresh")
ENOUGH = 30  # seconds that no file of this size may take


def legacy() -> list[str]:
    """What is mutated."""
    return [read_script(path) for folder in SCRIPTS for path in sorted(folder.glob("*.py"))]


def complaint(text: str) -> str | None:
    """What is wrong with what the tool makes of a text; None where all is right."""
    begun = time.process_time()
    try:
        result = migrate_module(text, Settings())
    except (RecursionError, Tangled):
        return None  # the shell says so in a finding
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if time.process_time() - begun > ENOUGH:
        return f"took {time.process_time() - begun:.0f} s"
    if result.new_text is None:
        return None
    if _compiles(text) and not _compiles(result.new_text):
        return "what was written does not compile"
    if migrate_module(text, Settings()) != result:
        return "a second run says something else"
    return None


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "x.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--out", type=Path, help="a folder for the files that failed")
    options = parser.parse_args()
    texts, end, seed, failures = legacy(), time.monotonic() + options.seconds, options.seed, 0
    while time.monotonic() < end:
        text = mutated(seed, texts)
        wrong = complaint(text)
        if wrong is not None:
            failures += 1
            print(f"seed {seed}: {wrong}", flush=True)
            if options.out is not None:
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / f"{seed}.py").write_text(text, encoding="utf-8")
        seed += 1
    print(f"{seed - options.seed} files, {failures} failures (seeds {options.seed} to {seed - 1})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""Kill the real command at random moments while it changes many files, and look at what it leaves.

``python -m tests.shell.torture --kills 200`` ends a run of ``apex2native --write`` over 60 files by
SIGKILL or SIGTERM, then looks: every file is wholly old or wholly new, no process lives on, the
journal settles what was begun, and a second run finishes the work. That second run is killed too,
every third time. It prints what it saw; the exit code tells whether anything failed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from migrate import journal
from migrate.errors import UserError
from tests.shell.support import PROJECT, environment, leftovers

SCRIPT = """\
import torch
from apex import amp

model = torch.nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range({at}):
    loss = model(torch.ones(2, 4).cuda()).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
_NUMBERS = (signal.SIGKILL, signal.SIGTERM)


@dataclass
class Seen:
    """What became of the runs that were killed."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def claim(self, holds: bool, what: str) -> None:
        if not holds:
            self.failures.append(what)


@dataclass(frozen=True)
class Tree:
    """A tree to migrate, with its files before and after."""

    root: Path
    old: dict[str, bytes]
    new: dict[str, bytes]

    def refill(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        for name, text in self.old.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_bytes(text)

    def written(self) -> int | None:
        """How many files are new; None if one is neither old nor new."""
        texts = {name: (self.root / name).read_bytes() for name in self.old}
        if any(text not in (self.old[name], self.new[name]) for name, text in texts.items()):
            return None
        return sum(text == self.new[name] for name, text in texts.items())


def start(root: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "migrate", str(root), "--write", "-j", "2"]
    # What is compiled is kept beside the tree, or every run would begin with that.
    kept = environment(PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX=str(root.parent / "compiled"))
    return subprocess.Popen(
        words, cwd=PROJECT, env=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def migrated(folder: Path, files: int) -> tuple[Tree, float, float]:
    """A tree, its texts after a run that nobody kills, and when that run began to write and ended."""
    old = {f"{'sub/' * (at % 3)}train_{at}.py": SCRIPT.format(at=at).encode() for at in range(files)}
    tree = Tree(folder / "tree", old, old)
    tree.refill()
    begun = time.monotonic()
    child = start(tree.root)
    while child.poll() is None and not leftovers(tree.root):
        time.sleep(0.002)
    writes = time.monotonic() - begun
    child.communicate()
    if child.returncode != 0:
        raise SystemExit(f"the run that nobody killed ended with {child.returncode}")
    new = {name: (tree.root / name).read_bytes() for name in old}
    assert all(new[name] != old[name] for name in old)
    return Tree(tree.root, old, new), writes, time.monotonic() - begun


def kill(tree: Tree, number: signal.Signals, moment: float, *, once_it_writes: bool) -> int:
    """End a run after so many seconds, counted from its start or from its first trace in the tree."""
    child = start(tree.root)
    traces = [tree.root / name for name in (journal.STAGING, journal.JOURNAL)]
    while once_it_writes and child.poll() is None and not any(trace.exists() for trace in traces):
        time.sleep(0.0005)
    time.sleep(moment)
    child.send_signal(number)
    child.communicate(timeout=60)  # at its end only once no process holds the pipes any more
    return child.returncode


def one(tree: Tree, number: signal.Signals, moment: float, *, once_it_writes: bool, again: bool, seen: Seen) -> None:
    """One run that is killed, what it leaves, and the runs after it."""
    tree.refill()
    try:
        code = kill(tree, number, moment, once_it_writes=once_it_writes)
        if again:
            kill(tree, number, moment / 2, once_it_writes=once_it_writes)
            seen.counts["killed a second time"] += 1
    except subprocess.TimeoutExpired:
        seen.failures.append(f"{number.name} after {moment:.3f} s: a process lives on")
        return
    what = f"{number.name} after {moment:.3f} s (exit code {code})"
    written, left = tree.written(), leftovers(tree.root)
    seen.claim(written is not None, f"{what}: a file is neither old nor new")
    seen.claim(number == signal.SIGKILL or not left, f"{what}: {len(left)} files are left over")
    seen.counts[_moment(code, written, bool(left), len(tree.old))] += 1
    if seen.counts.total() % 2:  # by turns: the journal on its own, and the tool's next run
        _settle(tree, what, seen)
    child = start(tree.root)
    _, errors = child.communicate(timeout=60)
    seen.claim(child.returncode == 0, f"{what}: the next run ended with {child.returncode}: {errors.decode()}")
    seen.claim(tree.written() == len(tree.old), f"{what}: the next run did not finish the work")
    seen.claim(not leftovers(tree.root), f"{what}: the next run left something over")


def _settle(tree: Tree, what: str, seen: Seen) -> None:
    before = tree.written()
    staged = (tree.root / journal.STAGING).exists()
    try:
        for name in (journal.STAGING, journal.JOURNAL):
            journal.recover(tree.root / name)
    except UserError as error:
        seen.failures.append(f"{what}: the journal cannot be settled: {error}")
        return
    after = tree.written()
    seen.claim(after in ((before,) if staged else (before, len(tree.old))), f"{what}: {before} became {after}")
    seen.claim(not leftovers(tree.root), f"{what}: the journal left something over")


def _moment(code: int, written: int | None, left: bool, files: int) -> str:
    if written == files and not left:
        return "ended after the last file was written"
    if written or left:
        return "ended while it wrote"
    return "ended before it wrote" if code else "ended with nothing to do"


def torture(
    folder: Path, *, kills: int, files: int, seed: int, progress: Callable[[int], None] = lambda done: None
) -> Seen:
    chance = random.Random(seed)
    tree, writes, whole = migrated(folder, files)
    seen = Seen()
    for at in range(kills):
        once_it_writes = at % 4 != 0  # most of them in the short while that matters
        span = max(whole - writes, 0.05) if once_it_writes else whole
        moment, again = chance.uniform(0, span), at % 3 == 2
        one(tree, _NUMBERS[at % 2], moment, once_it_writes=once_it_writes, again=again, seen=seen)
        progress(at + 1)
    return seen


def _every_tenth(done: int) -> None:
    if done % 10 == 0:
        print(f"{done} killed", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seen = torture(
            Path(folder), kills=options.kills, files=options.files, seed=options.seed, progress=_every_tenth
        )
    print(f"{options.kills} runs killed, {options.files} files each, {len(seen.failures)} failures")
    for what, count in sorted(seen.counts.items()):
        print(f"  {count:>4} {what}")
    for failure in seen.failures:
        print(f"FAILED {failure}")
    return bool(seen.failures)


if __name__ == "__main__":
    sys.exit(main())

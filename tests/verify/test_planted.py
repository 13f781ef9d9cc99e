"""Mistakes that people make in a migration by hand are found, and named right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from migrate.verify import causes, comparing
from migrate.verify.comparing import Noise, Parted, Seen
from migrate.verify.history import History, read
from migrate.verify.running import Bounds
from migrate.verify.verdict import REFUSED
from tests.verify.planted import CLASSIFIER, GAN, MISTAKES, Mistake
from tests.verify.play import Player, settings

BOUNDS = Bounds(50, 60.0, 1 << 34)
COMMAND = ("python", "train.py")


class Bench:
    """The legacy programs' records, each made once, and their migrated texts."""

    def __init__(self, player: Player, folder: Path) -> None:
        self.player, self.folder = player, folder
        self.known: dict[str, tuple[tuple[History, ...], int | None, str]] = {}
        self.number = 0

    def tree(self, text: str) -> Path:
        self.number += 1
        tree = self.folder / f"tree{self.number}"
        tree.mkdir()
        (tree / "train.py").write_text(text)
        return tree

    def legacy(self, text: str) -> tuple[tuple[History, ...], int | None, str]:
        if text not in self.known:
            tree = self.tree(text)
            run = self.player.run(COMMAND, settings("old", tree, chooses=True), BOUNDS)
            old = read(run.records)
            subprocess.run([sys.executable, "-m", "migrate", str(tree), "--write"], capture_output=True, check=False)
            overflow = next((one.overflow for one in old if one.overflow is not None), None)
            self.known[text] = old, overflow, (tree / "train.py").read_text()
        return self.known[text]

    def native(self, text: str, overflow: int | None) -> tuple[History, ...]:
        tree = self.tree(text)
        asked = settings("new", tree, overflow=overflow, refused=REFUSED)
        return read(self.player.run(COMMAND, asked, BOUNDS).records)

    def parted(self, program: str, *changes: tuple[str, str]) -> tuple[Parted | None, causes.Cause | None, Seen]:
        old, overflow, text = self.legacy(program)
        for before, after in changes:
            assert before in text, f"{before!r} is not in\n{text}"
            text = text.replace(before, after, 1)
        new = self.native(text, overflow)
        seen = Seen()
        found = comparing.compare(old, new, Noise(1e-6), seen)
        return found, causes.cause(found, old, new) if found else None, seen


@pytest.fixture(scope="module")
def bench(player: Player, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(player, tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("program", [CLASSIFIER, GAN], ids=["classifier", "gan"])
def test_the_migration_itself_is_equal(bench: Bench, program: str) -> None:
    parted, _, seen = bench.parted(program)
    assert parted is None
    assert seen.exact
    assert seen.counts["backwards"] and seen.counts["weights"] and seen.counts["forwards"]
    old, overflow, _ = bench.legacy(program)
    assert overflow is not None
    assert not all(event["taken"] for event in old[0].of("step")), "an overflow is part of every comparison"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name.replace(" ", "-"))
def test_a_mistake_is_found_and_named(bench: Bench, mistake: Mistake) -> None:
    parted, cause, _ = bench.parted(mistake.program, *mistake.changes)
    assert parted is not None, "the mistake was not seen"
    assert cause is not None, parted.differences
    assert cause.name == mistake.cause, (cause, parted.differences)


def test_a_norm_and_a_limit_that_are_both_scaled_are_the_same_clip(bench: Bench) -> None:
    """What the migration writes where a clip acts after every micro-batch."""
    clip = "                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.5)\n"
    early = CLASSIFIER.replace(clip, "").replace(
        "            if (i + 1) % args.accumulate == 0:\n",
        "            norm = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.5)\n"
        '            print("norm", "%.6f" % norm)\n'
        "            if (i + 1) % args.accumulate == 0:\n",
    )
    parted, _, seen = bench.parted(early)
    assert parted is None, parted.differences
    assert seen.counts["clips"] > seen.counts["weights"]

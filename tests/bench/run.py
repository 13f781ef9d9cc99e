"""How fast the migration is, and how its time and memory grow: ``make bench``.

One run on one tree of Python files prints, side by side:

* ``apex2native --check`` with as many processes as there are cores, and with one (``-j 1``);
* torchfix, the linter and codemod for PyTorch that is built on libcst, on the same tree, and on
  nothing but the files that mention apex. Its rules are others: what is compared is the time that
  two tools of this kind take for the same tree;
* the parse floor: one process that only parses the files that mention apex, by CPython's own
  ``ast.parse`` and (where it is installed) by ``libcst.parse_module``;
* one process that reads the bytes of every file, and one that does nothing.

Then the migration runs on 1, 4 and 16 copies of the tree: the time should grow with the number of
files, the memory should not grow at all.

Everything is measured as a whole process, start-up and imports included, after one run that is not
counted, so that files and compiled modules are in the caches. Seconds are the median of ``--runs``
runs (3); torchfix runs once, as it takes minutes on a large tree. CPU seconds are those of all
processes of a run, memory is the peak of the largest one of them (not their sum).

The tree is that of ``--tree`` or the environment variable ``BENCH_TREE``; nothing in it is changed.
Without one a tree of 400 files is made in a temporary folder, of which 2 % mention apex: scripts
of the equivalence tests among modules that are generated, the same ones every time.
``--quick`` leaves out torchfix and the 16 copies.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

PROJECT = Path(__file__).resolve().parents[2]
SCRIPTS = PROJECT / "tests" / "equivalence" / "scripts"
MIGRATE = (sys.executable, "-m", "migrate", "--check")

SYNTHETIC_FILES = 400
SYNTHETIC_LEGACY = 8  # 2 %

PARSE = """\
import sys
{imports}
for line in open(sys.argv[1], encoding="utf-8"):
    with open(line[:-1], "rb") as stream:
        data = stream.read()
    try:
        {parse}(data)
    except Exception:
        pass
"""
READ = """\
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith(".py"):
            with open(os.path.join(folder, name), "rb") as stream:
                stream.read()
"""


@dataclass(frozen=True)
class Cost:
    """What one process and all it started took."""

    seconds: float
    cpu: float
    megabytes: float


@dataclass(frozen=True)
class Bench:
    """How processes are run: where compiled modules are kept, and how often each is measured."""

    caches: Path
    runs: int

    def measure(self, command: Sequence[str], *, runs: int | None = None, warm: bool = True) -> Cost:
        """The median of several runs of ``command``, after one that is not counted."""
        if warm:
            self._once(command)
        costs = [self._once(command) for _ in range(runs or self.runs)]
        return Cost(
            median(one.seconds for one in costs),
            median(one.cpu for one in costs),
            median(one.megabytes for one in costs),
        )

    def _once(self, command: Sequence[str]) -> Cost:
        environment = dict(os.environ, PYTHONPYCACHEPREFIX=str(self.caches))
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        complaint = process.stderr.read()
        # unlike a wait through subprocess, this one says what the process and its children used
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):  # both tools say 1 where they found something
            raise SystemExit(f"{' '.join(command)} failed with {process.returncode}:\n{complaint}")
        unit = 1 if sys.platform == "darwin" else 1024
        return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6)


# ---------------------------------------------------------------- trees


@dataclass(frozen=True)
class Tree:
    """Python files below ``root``: how many, their bytes, and those that mention apex."""

    root: Path
    files: int
    size: int
    legacy: tuple[Path, ...]


def look_at(root: Path) -> Tree:
    """Count the Python files below ``root``."""
    files, size, legacy = 0, 0, []
    for file in python_files(root):
        data = file.read_bytes()
        files += 1
        size += len(data)
        if b"apex" in data:
            legacy.append(file)
    return Tree(root, files, size, tuple(legacy))


def python_files(root: Path) -> Iterator[Path]:
    """Every Python file below ``root`` that is no link, in a fixed order."""
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            if name.endswith(".py") and file.is_file() and not file.is_symlink():
                yield file


def synthesize(root: Path) -> None:
    """Write the tree that is measured where none is given."""
    scripts = sorted(SCRIPTS.glob("*.py"))
    step = len(scripts) // SYNTHETIC_LEGACY
    for number in range(SYNTHETIC_FILES):
        folder = root / f"package_{number // 20:02}"
        folder.mkdir(parents=True, exist_ok=True)
        if number % (SYNTHETIC_FILES // SYNTHETIC_LEGACY) == 0:
            script = scripts[number * SYNTHETIC_LEGACY // SYNTHETIC_FILES * step]
            shutil.copyfile(script, folder / script.name)
        else:
            (folder / f"module_{number:03}.py").write_text(filler(number), encoding="utf-8")


def filler(seed: int) -> str:
    """A module of about 200 lines that defines layers, as most files of a training repository do."""
    chance = random.Random(seed)
    parts = ['"""Layers."""\n\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n']
    for number in range(chance.randint(6, 12)):
        width, depth = chance.choice((64, 128, 256)), chance.randint(2, 6)
        layers = "".join(f"        self.layer_{at} = nn.Linear({width}, {width})\n" for at in range(depth))
        calls = "".join(f"        x = F.relu(self.layer_{at}(x)) + self.scale * x\n" for at in range(depth))
        parts.append(
            f"\n\nclass Block{number}(nn.Module):\n"
            f'    """{depth} layers of {width}."""\n\n'
            f"    def __init__(self, scale={chance.random():.3f}):\n"
            f"        super().__init__()\n        self.scale = scale\n{layers}\n"
            f"    def forward(self, x):\n{calls}        return x\n\n"
            f"    def describe(self):\n"
            f"        sizes = {{name: tuple(p.shape) for name, p in self.named_parameters()}}\n"
            f"        for name, size in sorted(sizes.items()):\n"
            f"            if len(size) > 1 and size[0] != {width}:\n"
            f'                raise ValueError(f"{{name}} has {{size}}")\n'
            f"        return sizes\n"
        )
    return "".join(parts)


def copies_of(tree: Tree, count: int, into: Path) -> Path:
    """Copies of the tree's Python files side by side below ``into``."""
    for number in range(count):
        for file in python_files(tree.root):
            target = into / f"copy_{number:02}" / file.relative_to(tree.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    return into


# ---------------------------------------------------------------- tables


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first one to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def line(name: str, cost: Cost, ours: Cost) -> tuple[str, ...]:
    share = cost.seconds / ours.seconds
    return (name, f"{cost.seconds:.2f}", f"{share:.2f}", f"{cost.cpu:.2f}", f"{cost.megabytes:.0f}")


def compare(bench: Bench, tree: Tree, folder: Path, *, quick: bool) -> None:
    """The migration beside torchfix and the floors, on one tree."""
    names = folder / "legacy.txt"
    names.write_text("".join(f"{file}\n" for file in tree.legacy), encoding="utf-8")
    python = (sys.executable, "-c")
    parsers = {"ast.parse": "import ast"}
    if subprocess.run((*python, "import libcst"), capture_output=True).returncode == 0:
        parsers["libcst.parse_module"] = "import libcst"

    ours = bench.measure((*MIGRATE, str(tree.root)))
    rows = [("", "seconds", "of ours", "CPU s", "MB"), line("apex2native --check", ours, ours)]
    rows.append(line("apex2native --check -j 1", bench.measure((*MIGRATE, "-j", "1", str(tree.root))), ours))
    others: dict[str, Cost] = {}
    if not quick:
        others |= torchfix(bench, tree)
    for parse, imports in parsers.items():
        code = PARSE.format(imports=imports, parse=parse)
        others[f"{parse} of the files that mention apex"] = bench.measure((*python, code, str(names)))
    others["reading every file"] = bench.measure((*python, READ, str(tree.root)))
    others["an empty Python process"] = bench.measure((*python, ""))
    rows += [line(name, cost, ours) for name, cost in others.items()]
    print(table(rows))
    print()
    for name, cost in others.items():
        if name.startswith("torchfix"):
            print(f"{name} / ours: {cost.seconds / ours.seconds:.1f}")
        elif ".parse" in name:
            print(f"ours / {name}: {ours.seconds / cost.seconds:.1f}")
    print(flush=True)


def torchfix(bench: Bench, tree: Tree) -> dict[str, Cost]:
    """The time of torchfix, where it is installed beside this Python or on the path."""
    beside = Path(sys.executable).with_name("torchfix")
    program = str(beside) if beside.exists() else shutil.which("torchfix")
    if program is None:
        print("torchfix is not installed, so it is left out (make bench installs it).\n")
        return {}
    legacy = [str(file) for file in tree.legacy]
    return {
        # the small run also warms what the large one imports
        "torchfix, only the files that mention apex": bench.measure((program, *legacy)),
        "torchfix (one run)": bench.measure((program, str(tree.root)), runs=1, warm=False),
    }


def grow(bench: Bench, tree: Tree, folder: Path, counts: Sequence[int]) -> None:
    """Time and memory on several copies of the tree."""
    head = ("copies", "files", "seconds", "of 1 copy", "per copy", "CPU s", "of 1 copy", "MB", "of 1 copy")
    rows: list[tuple[str, ...]] = [head]
    first: Cost | None = None
    for count in counts:
        place = folder / f"x{count}"
        cost = bench.measure((*MIGRATE, str(copies_of(tree, count, place))))
        shutil.rmtree(place)
        first = first or cost
        times = cost.seconds / first.seconds
        row = [f"{count}", f"{tree.files * count}", f"{cost.seconds:.2f}", f"{times:.2f}", f"{times / count:.2f}"]
        row += [f"{cost.cpu:.2f}", f"{cost.cpu / first.cpu:.2f}"]
        row += [f"{cost.megabytes:.0f}", f"{cost.megabytes / first.megabytes:.2f}"]
        rows.append(tuple(row))
    print(table(rows), flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure how fast the migration is.")
    parser.add_argument("--tree", default=os.environ.get("BENCH_TREE"), help="a folder of Python files")
    parser.add_argument("--runs", type=int, default=3, help="of which the median counts")
    parser.add_argument("--quick", action="store_true", help="without torchfix and 16 copies")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs is 1 or more")
    if options.tree is not None and not Path(options.tree).is_dir():
        parser.error(f"there is no folder {options.tree}")
    with tempfile.TemporaryDirectory(prefix="apex2native-bench-") as name:
        folder = Path(name)
        if options.tree is None:
            synthesize(folder / "tree")
        tree = look_at(Path(options.tree).resolve() if options.tree is not None else folder / "tree")
        if not tree.legacy:
            parser.error("no Python file in the tree mentions apex")
        print(
            f"{tree.files} Python files, {tree.size / 1e6:.1f} MB, {len(tree.legacy)} mention apex; "
            f"{os.cpu_count()} cores, Python {platform.python_version()}, {date.today()}\n",
            flush=True,
        )
        bench = Bench(folder / "caches", options.runs)
        compare(bench, tree, folder, quick=options.quick)
        grow(bench, tree, folder, (1, 4) if options.quick else (1, 4, 16))


if __name__ == "__main__":
    main()

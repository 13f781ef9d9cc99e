"""Why a script could not run, in its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.verify import lacking
from migrate.verify.running import Bounds
from tests.verify.play import Player, settings


@pytest.mark.parametrize(
    ("script", "lacks"),
    [
        ("import torch\nimport nosuch.layers\n", "the module nosuch is missing"),
        (
            "import torch\nimport apex.transformer\n",
            "the double of Apex that stands in for it here has no apex.transformer",
        ),
        (
            "import torch, subprocess\nsubprocess.check_output(['nosuch-smi', '-L'])\n",
            "it starts the program nosuch-smi, which is not here",
        ),
        (
            "import torch, io, sys\nsys.stdin = io.StringIO()\ninput('really? ')\n",
            "it asks for input at run.py:3 and gets none",
        ),
        ("import torch\nopen('data/train.txt')\n", "data/train.txt is not in the tree"),
        ("import torch\nopen('/nowhere/train.txt')\n", "/nowhere/train.txt is not there"),
        (
            "import torch, urllib.request\nurllib.request.urlopen('http://127.0.0.1:1/x')\n",
            "it wants the network (URLError",
        ),
        ("import torch\nraise RuntimeError('NCCL error')\n", "it needs a GPU"),
        ("import torch\nraise ValueError('bad')\n", "it raises before its first step at run.py:2: ValueError: bad"),
        (
            "import torch, sys\nprint('sorry', file=sys.stderr)\nsys.exit(4)\n",
            "exit code 4 before its first step: sorry",
        ),
        ("import torch\n", "without a single step of an optimizer"),
        (
            "import torch, argparse\nargparse.ArgumentParser().parse_args(['--x'])\n",
            "the command line is not accepted: run.py: error: unrecognized arguments: --x",
        ),
    ],
)
def test_what_a_script_lacks(player: Player, tmp_path: Path, script: str, lacks: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "run.py").write_text(script)
    run = player.run(["python", "run.py"], settings("old", tree, chooses=True), Bounds(10, 60.0, 1 << 34))
    assert lacks in (lacking.lacks(run, "1 m") or "")

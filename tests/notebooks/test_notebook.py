"""Notebooks through the whole command: what is written, what is said, and what stays byte for byte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

SCHEMA = Path(__file__).parents[2] / "migrate" / "report" / "schema.json"
SETUP = ["%matplotlib inline\n", "import torch\n", "from apex import amp"]
MODEL = [
    "model = torch.nn.Linear(4, 2).cuda()\n",
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n",
    'model, optimizer = amp.initialize(model, optimizer, opt_level="O1")',
]
LOOP = [
    "for x, y in loader:\n",
    "    optimizer.zero_grad()\n",
    "    loss = criterion(model(x), y)\n",
    "    with amp.scale_loss(loss, optimizer) as scaled_loss:\n",
    "        scaled_loss.backward()\n",
    "    optimizer.step()\n",
    "!nvidia-smi",
]


def written(path: Path, *cells: list[str], kinds: str = "") -> bytes:
    made: list[dict[str, Any]] = [
        {
            "cell_type": {"m": "markdown"}.get(kinds[at : at + 1], "code"),
            "execution_count": at,
            "metadata": {"tags": ["é"]},
            "outputs": [{"data": {"image/png": "apexAAAA"}, "output_type": "display_data"}],
            "source": source,
        }
        for at, source in enumerate(cells)
    ]
    text = json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False)
    path.write_bytes((text + "\n").encode())
    return path.read_bytes()


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "migrate", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def sources(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_bytes())["cells"]]


def test_a_loop_over_several_cells(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    before = written(path, SETUP, ["apex is deleted"], MODEL, LOOP, kinds=".m..")
    done = run(path, "--write")
    assert done.returncode == 0, done.stdout + done.stderr
    setup, words, model, loop = sources(path)
    assert setup == "%matplotlib inline\nimport torch" and words == "apex is deleted"
    assert model.endswith('scaler = torch.amp.GradScaler("cuda")')
    assert "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n" in loop and loop.endswith("!nvidia-smi")
    after, old = json.loads(path.read_bytes()), json.loads(before)
    for new, was in zip(after["cells"], old["cells"], strict=True):
        was["source"] = new["source"]
    assert after == old
    lines, had = path.read_bytes().splitlines(), before.splitlines()
    assert [line for line in had if line in lines] == [line for line in lines if line in had]
    again = path.read_bytes()
    assert run(path, "--write").returncode == 0 and path.read_bytes() == again


def test_the_report_says_cell_and_line(tmp_path: Path) -> None:
    path, report = tmp_path / "train.ipynb", tmp_path / "report.json"
    written(path, SETUP, MODEL, LOOP)
    run(path, "--check", "--report-json", report)
    told = json.loads(report.read_bytes())
    jsonschema.validate(told, json.loads(SCHEMA.read_bytes()))
    (file,) = told["files"]
    places = {(change["cell"], change["line"]) for change in file["changes"]}
    assert {(0, 3), (1, 3), (2, 3), (2, 4), (2, 6)} <= places
    assert all(change["cell"] is not None for change in file["changes"])


def test_each_cell_has_a_region_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    forward = ["x, y = batch\n", "out = model(x)"]
    backward = [
        "loss = criterion(out, y)\n",
        "with amp.scale_loss(loss, optimizer) as scaled_loss:\n",
        "    scaled_loss.backward()\n",
        "optimizer.step()",
    ]
    written(path, SETUP, MODEL, forward, backward)
    done = run(path, "--write")
    assert done.returncode == 0, done.stdout + done.stderr
    *_, first, second = sources(path)
    region = 'with torch.autocast("cuda", dtype=torch.float16):\n    '
    assert first == f"x, y = batch\n{region}out = model(x)"
    assert second.startswith(f"{region}loss = criterion(out, y)\nscaler.scale(loss).backward()\n")


@pytest.mark.parametrize(
    "cells",
    [
        (["import torch"], ["model = 1"]),
        (["%%bash\n", "git clone https://github.com/NVIDIA/apex"],),
        (["!pip install ./apex"],),
        (["cd apex"], ["pip install apex"], ["!python -c \\\n", "  'from apex import amp'"]),  # also without a %
        (["def broken(:\n", "    pass  # apex"],),
    ],
)
def test_what_stays(tmp_path: Path, cells: tuple[list[str], ...]) -> None:
    path = tmp_path / "train.ipynb"
    before = written(path, *cells)
    assert run(path, "--write").returncode == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("cells", "unread"),
    [
        ((["def broken(:\n", "    from apex import amp"],), "cell 0, line 2"),
        ((SETUP, [*MODEL, "\n", "print 'Python 2'"], LOOP), "cell 1, line 3"),
        ((SETUP, ["%time " + MODEL[-1]], LOOP), "cell 1, line 1"),
    ],
    ids=["broken", "python two", "a command"],
)
def test_what_uses_apex_and_is_not_read_keeps_all_of_it(
    tmp_path: Path, cells: tuple[list[str], ...], unread: str
) -> None:
    path = tmp_path / "train.ipynb"
    before = written(path, *cells)
    done = run(path, "--write")
    assert done.returncode == 1 and path.read_bytes() == before
    assert f"manual  APX001  {unread}: this uses Apex and is not read as Python" in done.stdout
    if len(cells) > 1:
        assert "manual  APX001  cell 0, line 3: left as it is" in done.stdout
        assert "manual  APX001  cell 2, line 4: left as it is" in done.stdout


def test_what_is_no_notebook_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    path.write_text("from apex import amp")
    done = run(path)
    assert done.returncode == 1 and "no notebook of format 4" in done.stdout


def test_a_notebook_that_calls_what_takes_more_now_is_told(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(
        "from apex import amp\n\n\n"
        "def setup(model, optimizer):\n    return amp.initialize(model, optimizer)\n\n\n"
        "def train(model, optimizer, loader):\n"
        "    for x in loader:\n        optimizer.zero_grad()\n        loss = model(x).mean()\n"
        "        with amp.scale_loss(loss, optimizer) as scaled_loss:\n            scaled_loss.backward()\n"
        "        optimizer.step()\n"
    )
    (tmp_path / "main.py").write_text(
        "import torch\nfrom engine import setup, train\n\n"
        "model = torch.nn.Linear(2, 1).cuda()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "model, optimizer = setup(model, optimizer)\ntrain(model, optimizer, loader)\n"
    )
    assert "this notebook calls" not in run(tmp_path, "--check").stdout
    written(tmp_path / "other.ipynb", ["from engine import setup\n", "setup(model, optimizer)"])
    written(tmp_path / "try.ipynb", ["from engine import train\n", "train(model, optimizer, loader)"])
    done = run(tmp_path, "--write", "--allow-dirty")
    assert done.stdout.count("which this notebook calls, takes scaler now") == 1, done.stdout
    assert "def train(model, optimizer, scaler, loader)" in (tmp_path / "engine.py").read_text()


def test_a_notebook_that_calls_a_method_which_takes_more_now_is_told(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(
        "from apex import amp\n\n\nclass Engine:\n"
        "    def setup(self, model, optimizer):\n        return amp.initialize(model, optimizer)\n\n"
        "    def train(self, model, optimizer, loader):\n"
        "        for x in loader:\n            optimizer.zero_grad()\n            loss = model(x).mean()\n"
        "            with amp.scale_loss(loss, optimizer) as scaled_loss:\n                scaled_loss.backward()\n"
        "            optimizer.step()\n"
    )
    (tmp_path / "making.py").write_text("from engine import Engine\n\n\ndef make():\n    return Engine()\n")
    (tmp_path / "main.py").write_text(
        "import torch\nfrom making import make\n\nengine = make()\n"
        "model = torch.nn.Linear(2, 1).cuda()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "model, optimizer = engine.setup(model, optimizer)\nengine.train(model, optimizer, loader)\n"
    )
    written(tmp_path / "away.ipynb", ["import torch\n", "engine.train(model, optimizer, loader)"])
    written(tmp_path / "other.ipynb", ["from making import make\n", "make().setup(model, optimizer)"])
    assert "this notebook calls" not in run(tmp_path, "--check").stdout
    written(tmp_path / "try.ipynb", ["from making import make\n", "make().train(model, optimizer, loader)"])
    done = run(tmp_path, "--check")
    assert done.stdout.count("Engine.train() of engine.py, which this notebook calls, takes") == 1, done.stdout

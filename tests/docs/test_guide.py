"""Every snippet of the guide runs, behind the lines that it begins with."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide.md"
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def snippets() -> list[tuple[str, str]]:
    """The snippets with the heading that each stands under."""
    text = GUIDE.read_text()
    found = []
    for match in CODE.finditer(text):
        heading = re.findall(r"^#+ (.*)$", text[: match.start()], re.M)[-1]
        found.append((heading, match[1]))
    return found


(_, PRELUDE), *SNIPPETS = snippets()


def test_the_guide_has_its_questions() -> None:
    text = GUIDE.read_text()
    for word in ("O2", "Clipping", "Accumulation", "GANs", "Gradient penalty", "BCELoss", "Evaluation", "Checkpoints",
                 "DistributedDataParallel", "torch.compile", "bfloat16", "not faster", "inf and NaN"):  # fmt: skip
        assert word in text
    assert len(SNIPPETS) >= 12


@pytest.mark.parametrize(("heading", "code"), SNIPPETS, ids=[heading for heading, _ in SNIPPETS])
def test_a_snippet_runs(heading: str, code: str) -> None:
    space: dict[str, object] = {"__name__": "snippet"}
    state = torch.random.get_rng_state()
    try:
        exec(compile(PRELUDE + code, f"guide: {heading}", "exec"), space)
    finally:
        torch.random.set_rng_state(state)


def test_the_loop_is_what_the_migration_writes(tmp_path: Path) -> None:
    """The guide's loop beside the tool's own."""
    legacy = tmp_path / "legacy.py"
    legacy.write_text(
        "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nfrom apex import amp\n\n\n"
        "def train(model, loader):\n"
        "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        '    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")\n'
        "    for x, y in loader:\n"
        "        optimizer.zero_grad()\n"
        "        loss = F.cross_entropy(model(x), y)\n"
        "        with amp.scale_loss(loss, optimizer) as scaled_loss:\n"
        "            scaled_loss.backward()\n"
        "        nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)\n"
        "        optimizer.step()\n"
    )
    subprocess.run([sys.executable, "-m", "migrate", str(legacy), "--write"], cwd=GUIDE.parents[1], check=True)
    written = [line.strip() for line in legacy.read_text().splitlines()]
    loop = next(code for heading, code in SNIPPETS if heading == "The loop")
    said = [line.partition("  #")[0].strip().replace("(device,", '("cuda",') for line in loop.splitlines()]
    at = written.index(said[0])
    assert written[at : at + len(said)] == said

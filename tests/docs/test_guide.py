"""Every snippet of the guide runs, behind the lines that it begins with, and every question has its source."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (the codemod itself needs none)")

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide.md"
_CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
_HEADING = re.compile(r"^#{2,3} (.*)$", re.M)
_LINK = re.compile(r"\]\(#([^)]*)\)")


@dataclass(frozen=True)
class Section:
    heading: str
    text: str
    snippets: tuple[str, ...]


def sections() -> tuple[Section, ...]:
    # Code is no place for headings: a comment in it looks like one.
    text = GUIDE.read_text(encoding="utf-8")
    code = [match.span() for match in _CODE.finditer(text)]
    heads = [head for head in _HEADING.finditer(text) if not any(a <= head.start() < b for a, b in code)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return tuple(
        Section(head[1], text[head.end() : end], tuple(_CODE.findall(text[head.end() : end])))
        for head, end in zip(heads, ends, strict=True)
    )


SECTIONS = sections()
PRELUDE = _CODE.findall(GUIDE.read_text(encoding="utf-8"))[0]
SNIPPETS = [(f"{one.heading} {at}", code) for one in SECTIONS for at, code in enumerate(one.snippets, 1)]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.heading)
def test_a_question_has_an_answer_code_and_a_source(section: Section) -> None:
    prose = _CODE.sub("", section.text)
    assert section.snippets
    assert re.search(r"^Sources: ", prose, re.M)
    answer, _, sources = prose.rpartition("Sources: ")
    assert len(answer.split()) > 3 and "https://" in sources


def test_the_list_at_the_top_leads_to_every_question() -> None:
    anchors = [re.sub(r"[^\w\- ]", "", section.heading.lower()).replace(" ", "-") for section in SECTIONS]
    text = GUIDE.read_text(encoding="utf-8")
    listed = _LINK.findall(text[: text.index("\n## ")])
    assert sorted(listed) == sorted(anchors)
    assert set(_LINK.findall(text)) <= set(anchors)


@pytest.mark.filterwarnings("ignore:Error detected in SqrtBackward0")  # one snippet is about just that
@pytest.mark.parametrize(("name", "code"), SNIPPETS, ids=[name for name, _ in SNIPPETS])
def test_a_snippet_runs(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the GPU where there is one, else on the CPU: the first lines of the guide choose, nothing is replaced here."""
    module = ModuleType("snippet")
    monkeypatch.setitem(sys.modules, "snippet", module)  # torch.compile looks its globals up there
    state = torch.random.get_rng_state()
    try:
        exec(compile(f"{PRELUDE}\n{code}", f"guide: {name}", "exec"), module.__dict__)
    finally:
        torch.random.set_rng_state(state)
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def test_most_snippets_assert_what_the_text_claims() -> None:
    without = [name for name, code in SNIPPETS if "assert" not in code]
    assert without == ["The loop 1"]


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
    (loop,) = next(section.snippets for section in SECTIONS if section.heading == "The loop")
    said = [line.partition("  #")[0].strip().replace("(device,", '("cuda",') for line in loop.splitlines()]
    at = written.index(said[0])
    assert written[at : at + len(said)] == said

"""Ordinary code that once was called nested too deeply, never ended or broke a check is migrated, or told of."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from migrate import answers
from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from migrate.notebooks import callers
from tests.shell.support import tool, tree

TRAIN = """\
import torch
from apex import amp


{before}def train(model, optimizer, loader, args):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
{scaled}        optimizer.step()
"""
SCALED = "        with amp.scale_loss(loss, optimizer) as scaled:\n            scaled.backward()\n"
ONE_LINE = (
    "        try:\n"
    "            with amp.scale_loss(loss, optimizer) as scaled, torch.no_grad() as other: scaled.backward()\n"
    "        except RuntimeError:\n            raise\n"
)
TWO_OF_ONE_NAME = "class LayerNorm(LayerNorm):\n    pass\n\n\nclass LayerNorm(LayerNorm):\n    pass\n\n\n"
CIRCLE = "class A(B):\n    pass\n\n\nclass B(A):\n    pass\n\n\n"
ONWARD = "def onward(x):\n    while x:\n        x = x.next\n    return amp if x else onward(amp)\n\n\n"
OF_ITSELF = "from functools import partial\n\np = print\nwhile p:\n    p = partial(p, p, 1)\n\n\n"
SELF_LEVEL = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, args, model):
        self.opt_level = args.opt_level
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(model, self.optimizer, opt_level=self.opt_level)

    def train(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.model(x), y)
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
            self.optimizer.step()
"""


@pytest.mark.parametrize("before", [TWO_OF_ONE_NAME, CIRCLE], ids=["two of one name", "a circle"])
def test_classes_that_are_their_own_bases(before: str) -> None:
    result = migrate_module(TRAIN.format(before=before, scaled=SCALED), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]


def test_a_level_that_an_attribute_keeps() -> None:
    result = migrate_module(SELF_LEVEL, Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.REVIEW]
    assert result.new_text is not None and 'self.opt_level != "O0"' in result.new_text


@pytest.mark.parametrize(
    "text",
    [
        TRAIN.format(before="", scaled=ONE_LINE),
        TRAIN.format(before=ONWARD, scaled=SCALED),
        TRAIN.format(before="", scaled=SCALED) + "\n\ndef odd():\n    from __future__ import annotations\n",
        "import apex\napex = apex.amp\n",
        "from apex import amp\nx = amp\nwhile x:\n    x = x.next\n",
        TRAIN.format(before=OF_ITSELF, scaled=SCALED),
    ],
    ids=["a block on one line", "amp handed round", "a future inside", "apex of apex", "next of next", "partial of it"],
)
def test_it_ends_in_words(text: str) -> None:
    result = migrate_module(text, Settings())
    assert result.new_text is not None or result.findings
    assert "nested" not in " ".join(finding.message for finding in result.findings)


# More than Python's parser takes: it says so with a MemoryError, which is none.
TOO_DEEP = b"import apex\nx = " + b"-" * 200_000 + b"1\n"


def test_a_text_that_is_nested_too_deeply_beside_the_ones_that_change() -> None:
    assert answers._imports_bare(TOO_DEEP)
    assert callers._more(TOO_DEEP, TOO_DEEP) == {}


@pytest.mark.parametrize("warnings", ["default", "error"])
def test_what_python_has_to_say_of_a_target_is_kept_to_itself(tmp_path: Path, warnings: str) -> None:
    tree(tmp_path, {"x.py": "import apex\nx = 1or 2\nprint 'x'\n", "y.py": "import apex\nx = '\\d' is 1\n"})
    run = tool(tmp_path, "--check", PYTHONWARNINGS=warnings)
    assert run.stderr == ""
    assert "line 3: this file mentions apex and is written in Python 2" in run.stdout


def test_many_ways_to_one_base() -> None:
    layers = "".join(
        f"class L{i}(D{i}):\n    pass\n\n\nclass R{i}(D{i}):\n    pass\n\n\nclass D{i + 1}(L{i}, R{i}):\n    pass\n\n\n"
        for i in range(40)
    )
    begun = time.process_time()
    result = migrate_module(TRAIN.format(before=f"class D0:\n    pass\n\n\n{layers}", scaled=SCALED), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert time.process_time() - begun < 20

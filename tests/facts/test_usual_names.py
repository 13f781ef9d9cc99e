"""What a file calls torch and its functional does not matter."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.facts.text import parsed
from migrate.facts.usual_names import dotted, home, usual_names
from migrate.model import Settings

SCRIPTS = Path(__file__).parents[1] / "equivalence" / "scripts"
FUNCTIONAL = re.compile(r"import torch\.nn\.functional as F\b")


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("import torch.nn.functional as fn\ny = fn.softmax(x)\n", "y = F.softmax(x)"),
        ("from torch.nn import init, functional as TF\ny = TF.softmax(x)\n", "y = functional.softmax(x)"),
        ("import torch as th\ny = th.mm(x, x)\n", "y = torch.mm(x, x)"),
        ("import torch.nn as tnn\ny = self.tnn.x, tnn.Linear(3, 3)\n", "y = self.tnn.x, nn.Linear(3, 3)"),
        ("import os, torch as th\ny = th.mm(x, x)\n", "y = torch.mm(x, x)"),
        ("from torch.nn import (\n    functional as TF,\n)\ny = TF.softmax(x)\n", "y = functional.softmax(x)"),
        ("from torch import nn as tnn\ny = tnn.Linear(3, 3)\n", "y = nn.Linear(3, 3)"),
        ("import torch as t\ndef f(t):\n    return t.cpu()\n", "    return t.cpu()"),
        ("import torch as t\nt = t.ones(3)\n", "t = t.ones(3)"),
        ("import torch as t\nfor i, t in x:\n    t.cpu()\n", "    t.cpu()"),
        ("import torch as t\na, t = x\nt.cpu()\n", "t.cpu()"),
        ("import torch as t\nwith x() as t:\n    t.cpu()\n", "    t.cpu()"),
        ("import torch as t\nself.t = t.ones(3)\n", "self.t = torch.ones(3)"),
        ("import torch.nn.functional as F\ny = F.softmax(x)\n", "y = F.softmax(x)"),
        ("import jax as fn\ny = fn.softmax(x)\n", "y = fn.softmax(x)"),
    ],
)
def test_usual_names(text: str, usual: str) -> None:
    assert usual_names(text).splitlines()[-1] == usual


def test_a_tree_says_the_usual_names() -> None:
    tree = parsed("import torch.nn.functional as fn\nfn.softmax(x)\na[0].fn.softmax(x)\nself.fn.softmax(x)\n")
    assert tree is not None
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert [dotted(func) for func in calls] == ["F.softmax", "", "self.fn.softmax"]
    assert [home(func) for func in calls] == ["F", "", "fn"]


def test_another_file_is_read_by_the_usual_names() -> None:
    text = "import torch\nimport torch.nn.functional as fn\n\ndef f(x):\n    return fn.softmax(x, 1), fn.linear(x, x)\n"
    found = elsewhere([outline(text)])
    assert found.widening == found.multiplying == {"f"}


@pytest.mark.parametrize(
    "name", ["half_behind_the_region", "half_handed_around", "half_left_behind", "bce_functional", "disable_casts"]
)
def test_a_migration_is_the_same_by_another_name(name: str) -> None:
    """Before, results that O1 had made float32 stayed half, and the change was called safe."""
    text = (SCRIPTS / f"{name}.py").read_text()
    other = re.sub(r"(?<![\w.])F(?=\.)", "fnl", FUNCTIONAL.sub("import torch.nn.functional as fnl", text))
    assert other != text
    usual, renamed = (migrate_module(one, Settings()) for one in (text, other))
    assert usual.new_text and (renamed.new_text or "").replace("fnl", "F") == usual.new_text
    assert [unit.applicability for unit in renamed.units] == [unit.applicability for unit in usual.units]

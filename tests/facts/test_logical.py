"""Texts with one line a logical line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.facts.elsewhere import elsewhere, outline
from migrate.facts.logical import logical_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a = (\n    x.detach()\n    .cpu()\n)\nb\n", "a = ( x.detach().cpu())\nb\n"),
        ("f(x,  # the (first\n  y)\n", "f(x,   y)\n"),
        ("a = x \\\n    @ y\r\nb\r\n", "a = x  @ y\r\nb\r\n"),
        ('print("(", ":\\"(")\nb\n', 'print("(", ":\\"(")\nb\n'),
        ('def f():\n    """Says (\n    more."""\n    return 1\n', "def f():\n    \n    return 1\n"),
        ("a = [\ndef f(x):\n    return x\n", "a = [\ndef f(x):\n    return x\n"),
        ('f(r"""(""", x)\n', "f(, x)\n"),
        (")\na = (1,\n2)\n", ")\na = (1, 2)\n"),
    ],
)
def test_logical_lines(text: str, lines: str) -> None:
    assert logical_lines(text) == lines


def test_a_table_stays_as_it_is_written() -> None:
    text = "table = [\n" + "    1,\n" * 5000 + "]\nx = f(\n1)\n"
    found = logical_lines(text).splitlines()
    assert len(found) > 4900 and max(map(len, found)) < 1000 and found[-1] == "x = f( 1)"


@pytest.mark.parametrize("path", sorted(Path(ast.__file__).parent.glob("a*.py")), ids=lambda path: path.name)
def test_real_programs_stay_the_same_programs(path: Path) -> None:
    """All but texts of three quotes, which are left out."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if "'''" in text or text.count('"""') % 2:
        pytest.skip("its quotes are of other kinds")
    assert _accesses(logical_lines(text)) == _accesses(text)


def _accesses(text: str) -> list[str]:
    return sorted(ast.dump(node) for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Name, ast.Attribute)))


BANK = """\
import torch

class Bank:
    def compute(self, loss):
        return {}
"""


@pytest.mark.parametrize(
    "value",
    ["(\n            torch.cat(self.kept)\n            .sum()\n        )", "torch.cat(\n    self.kept\n).sum()"],
)
def test_what_a_file_computes_over_several_lines_is_seen(value: str) -> None:
    assert elsewhere([outline(BANK.format(value))]).widening == {"Bank.compute"}
    assert elsewhere([outline(BANK.format("self.w \\\n            @ self.v"))]).multiplying == {"Bank.compute"}
    taken = "import torch\n\ndef f(x):\n    return (\n        x\n        .detach()\n        .cpu()\n    )\n"
    assert elsewhere([outline(taken)]).leaving == {"f": {(0, "x")}}

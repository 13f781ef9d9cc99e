"""Networks that ``nn.ModuleList`` and the like hold: what is called of them runs their own ``forward``."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.flow.values import Values

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Cell(nn.Module):
    def forward(self, x, weights=None):
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = MADE
        self.alphas = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        weights = F.softmax(self.alphas, -1)
        RUN


net = Net()
net(data)
"""


@pytest.mark.parametrize(
    "made",
    [
        "nn.ModuleList([Cell(), Cell()])",
        "nn.ModuleList([Cell() for _ in range(3)])",
        "nn.ModuleList(Cell() for _ in range(3))",
        "nn.Sequential(Cell(), Cell())",
        "nn.Sequential(*[Cell() for _ in range(3)])",
        "torch.nn.ModuleDict({'0': Cell()})",
    ],
)
@pytest.mark.parametrize(
    "run",
    [
        "return self.cells[0](x, weights)",
        "for cell in self.cells: x = cell(x, weights)",
        "for i, cell in enumerate(self.cells): x = cell(x, weights)",
        "return sum(cell(x, weights) for cell, w in zip(self.cells, weights))",
        "return [cell(x, weights=weights) for cell in self.cells][-1]",
    ],
)
def test_a_call_runs_what_it_holds(made: str, run: str) -> None:
    if "ModuleDict" in made:
        run = run.replace("self.cells[0]", "self.cells['0']").replace("in self.cells", "in self.cells.values()")
        run = run.replace("(self.cells", "(self.cells.values()")
    module = Module(TEXT.replace("MADE", made).replace("RUN", run))
    values = Values(module)
    forward = next(f for f in module.all(ast.FunctionDef) if f.name == "forward")
    assert len(values.calls[forward]) == 1
    handed = values.variable("weights", module.scope_of[forward])
    assert [one.label for one in handed if one.kind != "param"] == ["softmax"]


def test_items_of_one_class_are_two() -> None:
    text = TEXT.replace("MADE", "nn.ModuleList([Cell(), Cell()])").replace("RUN", "self.cells[0], self.cells[1]")
    module = Module(text)
    values = Values(module)
    one, other = (values.of(node) for node in module.all(ast.Subscript))
    assert one and other and one.isdisjoint(other)


def test_an_attribute_of_the_list_is_no_item() -> None:
    module = Module(TEXT.replace("MADE", "nn.ModuleList([Cell()])").replace("RUN", "self.cells.zero_grad()"))
    call = next(iter(module.calls("zero_grad")))
    assert not Values(module).callees(call)

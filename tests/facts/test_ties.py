"""What gives one network a parameter, or a part, of another one."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.ties import tied, ties

TIES = [
    "dec.out.weight = enc.embed.weight",
    "self.decoder.out.weight = self.encoder.embed.weight",
    "self.out.weight = weight",
    "b.head.weight = a.embed[0].weight  # shared",
    "student.backbone = teacher.backbone",
    "self.target.encoder = self.online.encoder",
]
NONE = [
    "self.weight = weight",
    "self.encoder = encoder",
    "dec.out.weight.data = enc.embed.weight.data",
    "dec.out.weight = nn.Parameter(torch.zeros(3))",
    "dec.out.weight.data.copy_(enc.embed.weight)",
    "args.model.lr = cfg.model.lr",
    "w = enc.embed.weight",
    "args.backbone = cfg.backbone",
    "self.encoder = model.encoder",
    "self.fc.bias = self.fc.weight",
]


@pytest.mark.parametrize("line", TIES)
def test_ties(line: str) -> None:
    (stmt,) = ast.parse(line).body
    assert isinstance(stmt, ast.Assign)
    assert tied(stmt) and ties(f"    x = 3\n    {line}\n    return x\n")


@pytest.mark.parametrize("line", NONE)
def test_what_ties_nothing(line: str) -> None:
    (stmt,) = ast.parse(line).body
    assert not (isinstance(stmt, ast.Assign) and tied(stmt)) and not ties(f"    {line}\n")

"""A name of torch in a file's own words."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from migrate.parts.words import native
from migrate.rewrite.templates import Templates
from tests.asking import context


@pytest.mark.parametrize(
    ("imports", "dotted", "said"),
    [
        ("import torch", "torch.nn.LayerNorm", "torch.nn.LayerNorm"),
        ("import torch\nimport torch.nn as nn", "torch.nn.LayerNorm", "nn.LayerNorm"),
        ("import torch\nfrom torch import nn, optim", "torch.optim.AdamW", "optim.AdamW"),
        ("from torch.nn import LayerNorm as Norm", "torch.nn.LayerNorm", "Norm"),
        ("import torch\nimport torch.nn as nn\nnn = other()", "torch.nn.LayerNorm", "torch.nn.LayerNorm"),
        ("import torch", "FP16_Optimizer", "FP16_Optimizer"),
        ("import torch", "lamb.Lamb", "lamb.Lamb"),
        ("import torch", "", ""),
    ],
)
def test_a_file_says_a_name_as_it_does(imports: str, dotted: str, said: str) -> None:
    ctx = context(imports + "\n")
    file = ctx.m.files[0]
    assert native(ctx.m, file, Templates(ctx.m, file, Settings()), dotted) == said


def test_a_class_that_is_written_out_is_asked_for() -> None:
    """`isinstance` beside a class that torch does not have: the search for its name has to end."""
    text = """\
import torch
from apex.optimizers import FP16_Optimizer, FusedAdam


def main(model, optimizer):
    optimizer = FusedAdam(model.parameters(), lr=0.1)
    optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
    if isinstance(model, torch.nn.DataParallel):
        print("parallel")
    return optimizer
"""
    assert "from apex" not in (migrate_module(text, Settings()).new_text or "")

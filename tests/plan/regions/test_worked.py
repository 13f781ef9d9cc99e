"""What a function hands back that no cast behind it touches: evaluation has its region there, not around callers."""

from __future__ import annotations

import ast

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from migrate.plan.regions.worked import is_number

NUMBERS = {
    "1": True,
    "out.item()": True,
    "out.argmax(1)": True,
    "torch.argsort(out)": True,
    "out.sort(descending=True).indices": True,
    "out.topk(5)[1]": False,
    "out.argmax(1).cpu()": True,
    "out.argmax(1) == y": True,
    "out.cpu().numpy()": True,
    "out.cpu()": False,
    "out.float()": False,
    "out.argmax(1), out": False,
}

TEXT = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, model, level):
        self.model, self.level = model, level
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if level:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def backward(self, loss):
        self.optimizer.zero_grad()
        if self.level:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.optimizer.step()

    def train(self, batches):
        for x in batches:
            self.backward(self.model(x).pow(2).mean())

    def rank(self, x):
        with torch.no_grad():
            return RESULT


def main(model, level, batches):
    trainer = Trainer(model, level)
    trainer.train(batches)
    return trainer.rank(batches[0])
"""


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers(text: str) -> None:
    assert is_number(ast.parse(text, mode="eval").body) is NUMBERS[text]


@pytest.mark.parametrize(
    ("result", "region"),
    [
        ("self.model(x).sort().indices", "with torch.no_grad(), torch.autocast("),
        ("self.model(x)", 'enabled=trainer.scaler.is_enabled()):\n        return trainer.rank(batches[0])'),
    ],
)
def test_whole_numbers_are_handed_back(result: str, region: str) -> None:
    found = migrate_module(TEXT.replace("RESULT", result), Settings())
    assert found.new_text is not None and region in found.new_text

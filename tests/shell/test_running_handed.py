"""Files without amp that run what users of amp hand on or make objects with, whatever it is called there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell.test_components import _results, _written

MAIN = """\
from functools import partial
import torch
from torch import nn
from apex import amp
from other import IMPORTED

model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
MADE
for x, y in data:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
ASKED
"""
COLLATE = """\
import torch


def collate(encode, samples):
    with torch.no_grad():
        return encode(torch.stack(samples)).float()
"""
MINER = """\
import heapq


class Miner:
    def __init__(self, scorer, data, size=4):
        self._scorer, self.data = scorer, data
        self.size = size

    def _key(self, i):
        return self._scorer(self.data[i]).item()

    def pick(self):
        return heapq.nlargest(self.size, range(len(self.data)), key=self._key)
"""
ASKS = "print(miner.pick())"
# What makes its network itself, behind a table or a call by another name; and what its own file hands on.
OWN = """\
from torch import nn


def evaluate(x):
    return nn.Linear(4, 2)(x)
"""
FEATURES = """\
from functools import partial


def embed(net, scale, x):
    return net(x) * scale


def features(net, xs):
    return map(partial(embed, net, 0.5), xs)
"""


def _text(imported: str, made: str, asked: str) -> str:
    return MAIN.replace("IMPORTED", imported).replace("MADE", made).replace("ASKED", asked)


@pytest.mark.parametrize(
    ("imported", "other", "made", "asked"),
    [
        ("collate", COLLATE, "batches = DataLoader(data, collate_fn=partial(collate, model[0]))", ""),
        ("collate as join", COLLATE, "run(partial(join, model[0]), data)", ""),
        ("Miner", MINER, "miner = Miner(model, data)", ASKS),
        ("Miner", MINER, "miner = Miner(data=load(3), scorer=model[0], size=max(2, 3))", ASKS),
        ("Miner", MINER.replace("_scorer(", "_scorer.forward("), "miner = Miner(model, data)", ASKS),
        ("evaluate", OWN, "COMMANDS = {'evaluate': evaluate, 'other': print}", "COMMANDS[name](data)"),
        ("features", FEATURES, "kept = features(model, data)", "print(list(kept))"),
    ],
)
def test_the_region_stands_where_it_is_run(tmp_path: Path, imported: str, other: str, made: str, asked: str) -> None:
    files = _written(tmp_path, {"main.py": _text(imported, made, asked), "other.py": other})
    behind = files["main.py"].rpartition(b"scaler.update()")[2]
    assert b"torch.autocast(" in files.get("other.py", b"") or b"autocast" in behind


@pytest.mark.parametrize(
    ("imported", "other", "made"),
    [
        ("collate", COLLATE.replace("encode(", "dict(a="), "run(partial(collate, model))"),
        ("Miner", MINER, "miner = Miner(score_by_length, data)"),
        ("Miner", MINER.replace("self._scorer(self.data[i]).item()", "self.data[i]"), "miner = Miner(model, data)"),
    ],
)
def test_what_runs_nothing_stays_apart(tmp_path: Path, imported: str, other: str, made: str) -> None:
    results = _results(tmp_path, {"main.py": _text(imported, made, ""), "other.py": other})
    assert not any(name.endswith("other.py") for name in results)

"""What trains is only handed on: to another process, a launcher, a pool. It is run all the same."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """\
import torch
import torch.multiprocessing as mp
from torch import nn
from launcher import launch
from apex import amp


class Watch:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        print(self.model.weight.grad)


def train(rank, args):
    model = nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in args.batches:
        with Watch(model):
            optimizer.zero_grad()
            loss = model(x).sum()
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            if x.late:
                JUMP
            optimizer.step()


def main(args):
    RUN


if __name__ == "__main__":
    main(args)
"""
RUNS = {
    "a function of the file": "mp.spawn(train, nprocs=2, args=(args,))",
    "by a keyword": "mp.Process(target=train, args=(0, args)).start()",
    "a function in a function": "def run(rank):\n        train(rank, args)\n    mp.spawn(run, nprocs=2)",
    "two of them": (
        "def run(rank):\n        def inner():\n            train(rank, args)\n        launch(inner)\n    launch(run)"
    ),
    "a lambda": "launch(lambda rank: train(rank, args))",
    "a lambda of the file": "pass\n\nlaunch(lambda rank: train(rank, options))",
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("jump", "grade"), [("break", "manual"), ("print(x)", "safe")])
def test_who_trains(run: str, jump: str, grade: str) -> None:
    """What the block reads as it is left by a jump is still scaled."""
    text = TEXT.replace("RUN", RUNS[run]).replace("JUMP", jump)
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]

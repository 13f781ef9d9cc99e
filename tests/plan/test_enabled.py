"""What says whether a region is on."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

PROGRAM = """\
import torch
import torch.nn.functional as F
from apex import amp


def evaluate(net, loader):
BODY

def train(net, args):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x, y in args.data:
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()


def main(args):
    net = torch.nn.Linear(4, 1)
    if args.fp16:
        evaluate(net, args.train)
    elif args.test:
        evaluate(net, args.test)
    else:
        train(net, args)


if __name__ == "__main__":
    main(parse())
"""
SWITCHES = 'net = amp.initialize(net, opt_level="O1")\n'
ALWAYS = 'with torch.autocast("cuda", dtype=torch.float16):'


@pytest.mark.parametrize(
    ("body", "on", "grade"),
    [
        (SWITCHES + "return net(loader[0])", True, "safe"),
        (SWITCHES + "for x in loader:\n    print(net(x))", True, "safe"),  # further in, and behind it
        ("if loader.half:\n    " + SWITCHES + "return net(loader[0])", False, "safe"),  # train() is of another run
        ("print(net(loader[0]))\n" + SWITCHES, False, "safe"),  # ahead of it
    ],
)
def test_an_evaluation_that_switches_casts_on_itself(body: str, on: bool, grade: str) -> None:
    """Whoever calls it, and whatever other callers do."""
    result = migrate_module(PROGRAM.replace("BODY", indent(body, "    ") + "\n"), Settings())
    body_now = (result.new_text or "").split("def train")[0]
    assert (ALWAYS in body_now) is on, body_now
    assert [unit.applicability.value for unit in result.units] == [grade]


WORKER = """\
import torch
import torch.multiprocessing as mp
from apex import amp


def main(args):
START


def worker(gpu, given):
    global args
    args = given
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    if args.half:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = model(x, y)
        optimizer.zero_grad()
        if args.half:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()
    validate(model)


def validate(model):
    for x, y in loader:
        print(model(x, y))


main(parse())
"""


@pytest.mark.parametrize(
    ("start", "enabled"),
    [
        ("if args.multi:\n    mp.spawn(worker, args=(args,))\nelse:\n    worker(0, args)", "bool(args.half)"),
        ("if args.multi:\n    mp.spawn(worker, args=(args,))\nworker(0, args)", "bool(args.half)"),
        ("if args.multi:\n    worker(1, args)\nelse:\n    worker(0, args)", "bool(args.half)"),
        ("if args.single:\n    worker(0, args)", "bool(args.single and args.half)"),
        ("if args.a:\n    mp.spawn(worker, args=(args,))\nif args.b:\n    worker(0, args)", "scaler.is_enabled()"),
    ],
)
def test_an_evaluation_of_a_worker_that_is_called_and_handed_on(start: str, enabled: str) -> None:
    """Processes of their own run it too: it was taken to run only where it is called."""
    result = migrate_module(WORKER.replace("START", indent(start, "    ")), Settings())
    assert f"enabled={enabled})" in (result.new_text or "").split("def validate")[1]

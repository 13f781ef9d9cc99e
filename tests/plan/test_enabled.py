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


TEACHER = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, cfg, net, teacher, fp16, x):
        self.fp16, self.net, self.teacher = fp16, net, None
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        if cfg["teacher"] != "":
            self.teacher = teacher
            if self.fp16:
                self.teacher = amp.initialize(self.teacher, opt_level="O1")
        BETWEEN
        if CONDITION:
            self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")

    def look(self, x):
        with torch.no_grad():
            return self.teacher(x)

    def step(self, x, y):
        loss = (self.net(x) - y).pow(2).mean()
        self.opt.zero_grad()
        if self.fp16:
            with amp.scale_loss(loss, self.opt) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.opt.step()
"""


@pytest.mark.parametrize(
    ("between", "condition", "enabled"),
    [
        ("self.x = x", "self.fp16", "bool(self.fp16)"),
        # ahead of the second there are no casts without a teacher
        ("self.x = self.look(x)", "self.fp16", 'bool(cfg["teacher"] != "" and self.fp16)'),
        ("self.x = x", 'self.fp16 and cfg["train"]', ""),  # a teacher's casts hold where that does not
    ],
)
def test_a_network_that_is_initialized_under_a_condition_more(between: str, condition: str, enabled: str) -> None:
    """What runs later is under casts where the initialize ran that hangs on less, and that can be said."""
    result = migrate_module(TEACHER.replace("BETWEEN", between).replace("CONDITION", condition), Settings())
    assert {unit.applicability.value for unit in result.units} == {"safe" if enabled else "manual"}
    text = (result.new_text or "").partition("def step")[0]
    assert (f"dtype=torch.float16, enabled={enabled}" in text) is bool(enabled)
    assert text.count("autocast(") == bool(enabled)


ONE_PROCESS = """\
import torch
import torch.nn.functional as F
from apex import amp
from options import read


def train(cfg):
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    mixed = cfg.dtype == "float16"
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1" if mixed else "O0")
    for x, y in cfg.data:
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
    return net


def score(net, data):
    with torch.no_grad():
        return sum(float(F.mse_loss(net(x), y)) for x, y in data)


def evaluate(cfg):
    net = torch.nn.Linear(4, 1)
    mixed = cfg.dtype == "float16"
    SWITCH
    return score(net, cfg.data)


def run(name):
    cfg = read(name)
    net = train(cfg)
    return score(net, cfg.data)


def main():
    run("train.yaml")
    evaluate(read("test.yaml"))
    run("finetune.yaml")


main()
"""


@pytest.mark.parametrize(
    "switch", ["handle = amp.init(enabled=mixed)", 'net = amp.initialize(net, opt_level="O1" if mixed else "O0")']
)
def test_what_another_part_of_the_process_left_on_is_named(switch: str) -> None:
    """An evaluation behind a training is on as that training is, whatever ran before; that is told."""
    result = migrate_module(ONE_PROCESS.replace("SWITCH", switch), Settings())
    text = result.new_text or ""
    assert 'enabled=cfg.dtype == "float16"):\n        return score(net, cfg.data)' in text
    assert "enabled=mixed):\n        return score(net, cfg.data)" in text
    assert any("Apex before" in one.message for one in result.findings)
    assert {str(unit.applicability.value) for unit in result.units} == {"review"}

"""What has nothing to do with training changes nothing, however it is written and wherever it stands."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

SCRIPT = """\
import argparse
import torch
ODD
try:
    from apex import amp
    from apex.contrib.sparsity import ASP
    print(ASP)
    AMP = True
    ODD
except ImportError:
    AMP = False
parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--level", default="O1", choices=["O1"])
ODD
args = parser.parse_args()
model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16 and AMP:
    model, optimizer = amp.initialize(model, optimizer, opt_level=args.level)
ODD
for x in range(3):
    ODD
    loss = model(x).pow(2).mean()
    ODD
    optimizer.zero_grad()
    if args.fp16 and AMP:
        with amp.scale_loss(loss, optimizer) as scaled:
            ODD
            scaled.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
    else:
        loss.backward()
    ODD
    optimizer.step()
    ODD
torch.save({"model": model.state_dict(), "amp": amp.state_dict()}, "x.pt")
ODD
"""

TRAINER = """\
import torch
from apex import amp
from apex.parallel import DistributedDataParallel as DDP


class Trainer:
    ODD

    def __init__(self, model, cfg):
        ODD
        self.cfg, self.use_amp = cfg, cfg.fp16
        self.optimizer = torch.optim.Adam(model.parameters())
        self.model = model
        if self.use_amp:
            self.model, self.optimizer = amp.initialize(model, self.optimizer, opt_level="O1", loss_scale=128.0)
        self.model = DDP(self.model)

    def backward(self, loss):
        ODD
        if self.use_amp:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        ODD

    def train(self, batches):
        ODD
        for step, (x, y) in enumerate(batches):
            ODD
            loss = torch.nn.functional.cross_entropy(self.model(x), y)
            self.backward(loss / 2)
            ODD
            if step % 2:
                ODD
                self.optimizer.step()
                self.optimizer.zero_grad()
            ODD

    def evaluate(self, batches):
        self.model.eval()
        with torch.no_grad():
            return [self.model(x).argmax(1) for x, _ in batches]


def main(cfg, batches):
    ODD
    trainer = Trainer(torch.nn.Linear(4, 2), cfg)
    trainer.train(batches)
    print(trainer.evaluate(batches))
"""

FUNCTIONS = """\
import torch
import apex

ODD


def build(args):
    ODD
    model = torch.nn.Linear(4, 2)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1)]
    model, optimizers = apex.amp.initialize(model, optimizers, opt_level=args.level, num_losses=1)
    ODD
    return model, optimizers[0]


def update(loss, optimizer, parameters, limit=None):
    ODD
    optimizer.zero_grad()
    with apex.amp.scale_loss(loss, optimizer) as scaled:
        ODD
        scaled.backward()
    ODD
    if limit is not None:
        torch.nn.utils.clip_grad_norm_(parameters, limit)
    optimizer.step()


def main(args, batches):
    model, optimizer = build(args)
    ODD
    while batches:
        x = batches.pop()
        ODD
        update(model(x).sum(), optimizer, model.parameters(), limit=1.0)
        ODD
"""
PROGRAMS = {"script": SCRIPT, "trainer": TRAINER, "functions": FUNCTIONS}

ODD = {
    "an attribute": "odd.kept = True",
    "an item": "odd['kept'] = True",
    "several": "odd, (other_odd, *odds) = 1, (2, 3)",
    "a list": "[odd] = odds = [1]",
    "with its type": "odd: int = 1",
    "a type alone": "odd.kept: int",
    "in place": "odd.kept += 1",
    "an item in place": "odd[0] -= 1",
    "a loop over attributes": "for odd.kept, odd[0] in ((1, 2),): pass",
    "a loop without a name": "for (odd, *_), _ in []: continue",
    "blocks": "with open(odd) as odd.file, open(odd) as (other_odd, _), odd: pass",
    "what goes": "del odd, odd.kept, odd[0]",
    "an import": "import odd.parts as odd, os.path",
    "an import from here": "from . import odd as other_odd",
    "a function": "def odd(a, /, b: int = 1, *c, d=(), **e) -> None: return a",
    "a coroutine": "async def odd(a): return [b async for b in a if await b]",
    "a generator": "def odd(): other_odd = yield from odd",
    "a class": "class Odd(odd.Base, metaclass=odd.Meta): kept, other = 1, 2",
    "a lambda": "odd = lambda *a, b=1, **c: (a, b, c)",
    "comprehensions": "odd = {a: {b for b in a if b if not a} for a, *_ in odd for _ in a}",
    "a call of all": "odd(*odds, odd, **odd, kept=1)",
    "a call of a call": "odd.kept[3].other().more",
    "a call of a choice": "(odd or other_odd)((lambda: odd)())",
    "an item called": "{'a': odd}['a'](kept=odd if odd else None)",
    "a loop that ends": "for odd in range(3): break",
    "a string": "'odd'.join(f'{odd!r:>{odd}}' for odd in odds)",
    "a name on the way": "print(odd := 1, (other_odd := odd)[0])",
    "comparisons": "odd = not odd < 1 <= odd is not None in odds",
    "slices": "odd = odds[1:, ..., ::2][-1]",
    "numbers": "odd = -1 ** 2 % odd // 3j",
    "an assertion": "assert odd or True, odd",
    "nothing": "...",
    "in one line": "odd = 1; odd.kept = 2; pass",
    "a condition": "if odd.kept: odd = 1",
    "an import at times": "if odd: import odd.parts as odd, other_odd",
    "a block that is none": "if odd: pass",
    "a dictionary of all": "odd = {**odd, 'kept': 1, None: 2}",
    "a type of its own": "odd = type('Odd', (), {})()",
    "by name": "setattr(odd, 'kept', getattr(odd, 'other', None))",
}


def without(text: str) -> list[str]:
    return [line for line in text.splitlines() if "odd" not in line.lower() and line.strip()]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_stands_everywhere_and_does_nothing(name: str, odd: str) -> None:
    alone = migrate_module("\n".join(without(PROGRAMS[name])) + "\n", Settings())
    beside = migrate_module(PROGRAMS[name].replace("ODD", ODD[odd]), Settings())
    grades = [[unit.applicability.value for unit in result.units] for result in (alone, beside)]
    assert grades[0] == grades[1], [finding.message for finding in beside.findings]
    assert alone.new_text is not None and beside.new_text is not None
    left = without(beside.new_text.replace(ODD[odd], "odd"))
    assert [line.split() for line in left] == [line.split() for line in without(alone.new_text)]

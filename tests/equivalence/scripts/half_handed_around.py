# expect: safe
# shape: half results reach softmax and sums by map, *args, **kwargs, records, tuples in a list and .values()
# casts: real

from collections import deque, namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

Row = namedtuple("Row", ["scores", "number"])


class Output(NamedTuple):
    logits: torch.Tensor
    labels: torch.Tensor


@dataclass
class Batch:
    logits: torch.Tensor
    step: int

    @property
    def centred(self):
        return self.logits - self.logits.mean()

    def power(self):
        return (self.centred**2).sum().item()


class Meter:
    def __init__(self, weight, *given):
        self.weight, self.given = weight, given

    def value(self):
        return sum(self.weight * one.pow(2).sum().item() for one in self.given)


class Bank:
    def __init__(self):
        self.kept = deque(maxlen=2)

    def add(self, logits, y):
        self.kept.append((logits, y))

    def __getitem__(self, index):
        return self.kept[index][0]

    def __iter__(self):
        return iter([one for one, _ in self.kept])


def numbered(several):
    for number, one in enumerate(several):
        yield number, one


def entropy(logits):
    p = F.softmax(input=logits, dim=1)
    return -(p * p.log()).sum(1).mean().item()


def all_entropies(*several, **named):
    return sum(entropy(one) for one in [*several, *named.values()])


def divergence(student, teacher, temperature=1.0):
    a, b = F.softmax(student / temperature, 1), F.softmax(teacher / temperature, 1)
    return (a * (a.log() - b.log())).sum(1).mean().item()


def evaluate(rows):
    total = 0.0
    for number, (logits, y) in enumerate(rows):
        total += (logits**2).sum().item() + number + y.sum().item()
    logits, targets = zip(*rows)
    return total + torch.cat(logits).pow(2).sum().item() + torch.cat(targets).sum().item()


def main():
    torch.manual_seed(29)
    model = nn.Linear(6, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    kept, rows, outputs, bank, table = [], [], [], Bank(), {}
    for step in range(3):
        x, y = torch.randn(8, 6).cuda(), (torch.arange(8) % 3).cuda()
        out = model(30 * x)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        logits = out.detach()
        kept.append(logits)
        bank.add(100 * logits, y)
        table.setdefault("all", []).append(100 * logits)
        rows.append((100 * logits, y))
        outputs.append({"student": logits, "teacher": 0.5 * logits})
        done, batch, row = Output(logits, y), Batch(100 * logits, step), Row(100 * logits, step)
        print("%.3e %.3e" % (entropy(done.logits), batch.power()))
        print("%.3e %.3e" % (row.scores.pow(2).sum().item(), row.number))
        print("%.3e" % Meter(0.5, 100 * logits, 200 * logits).value())
    print("%.3e" % sum(map(entropy, kept)))
    print("%.3e" % sum(map(lambda one: (100 * one).pow(2).sum().item(), kept)))
    print("%.3e" % all_entropies(*kept, more=kept[0]))
    print("%.3e" % sum(divergence(**one) for one in outputs))
    print("%.3e" % evaluate(rows))
    print("%.3e %.3e" % (bank[-1].pow(2).sum().item(), sum(one.pow(2).sum().item() for one in bank)))
    print("%.3e" % torch.cat(table["all"]).pow(2).sum().item())
    print("%.3e" % sum((100 * one).pow(2).sum().item() for _, one in numbered(kept)))
    by_name = {str(number): one for number, one in enumerate(kept)}
    print("%.3e" % sum((100 * one).pow(2).sum().item() for one in by_name.values()))


main()

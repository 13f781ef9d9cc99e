"""DistributedDataParallel in two real processes, beside a double that plays both in one.

Apex sent the weights of process 0 when the model was wrapped, averaged what gradients there were after each backward
(those that had gathered since `zero_grad`), and sent buffers never.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from .support import migrated
from .worker import PROCESSES, Net, made

HERE = Path(__file__).resolve().parent
IMPORT = "import torch\nfrom apex.parallel import DistributedDataParallel as DDP\n\n"
STEP = """
for inputs, targets in batches:
    optimizer.zero_grad()
    (model(inputs) - targets).pow(2).mean().backward()
    optimizer.step()
"""
ACCUMULATED = """
for number, (inputs, targets) in enumerate(batches):
    loss = (model(inputs) - targets).pow(2).mean() / 2
    loss.backward()
    if number % 2:
        optimizer.step()
        optimizer.zero_grad()
"""
UNUSED = """
for number, (inputs, targets) in enumerate(batches):
    optimizer.zero_grad()
    (model(inputs, spare=number % 3 == 0) - targets).pow(2).mean().backward()
    optimizer.step()
"""
TWICE = """
for inputs, targets in batches:
    optimizer.zero_grad()
    (model(inputs) - targets).pow(2).mean().backward()
    model(inputs).abs().mean().backward()
    optimizer.step()
"""
GROUPS = """
import apex
import torch

size = 0
pair = apex.parallel.create_syncbn_process_group(2)
alone = apex.parallel.create_syncbn_process_group(1)
every = apex.parallel.create_syncbn_process_group(size)
said = [torch.distributed.get_process_group_ranks(pair), torch.distributed.get_process_group_ranks(alone), every]
"""
REDUCED = """
import torch
from apex.parallel import Reducer

reducer = Reducer(model)
for inputs, targets in batches:
    optimizer.zero_grad()
    (model(inputs) - targets).pow(2).mean().backward()
    reducer.reduce()
    optimizer.step()
"""
PROGRAMS = {
    "plain": f"{IMPORT}model = DDP(model)\n{STEP}",
    "positional": f"{IMPORT}model = DDP(model, 10, False)\n{STEP}",
    "accumulated": f"{IMPORT}model = DDP(model, message_size=1)\n{ACCUMULATED}",
    "unused": f"{IMPORT}model = DDP(model, delay_allreduce=True)\n{UNUSED}",
    "reduced": REDUCED,
    "twice": f"{IMPORT}model = DDP(model, allreduce_always_fp32=False)\n{TWICE}",
}


@dataclass
class Run:
    """What both processes came to, by program."""

    states: dict[str, list[dict[str, torch.Tensor]]]
    said: dict[str, list[Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("processes")
    for name, text in {**PROGRAMS, "groups": GROUPS}.items():
        (folder / f"{name}.py").write_text(migrated(text), encoding="utf-8")
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.parts.worker", str(rank), str(PROCESSES), str(folder)],
            cwd=HERE.parents[1],
            env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(PROCESSES)
    ]
    try:
        said = [one.communicate(timeout=120)[0] for one in workers]
    finally:
        for one in workers:
            one.kill()
    assert all(one.returncode == 0 for one in workers), said
    names = [*PROGRAMS, "groups"]
    left = {n: [torch.load(folder / f"{n}.{rank}.pt") for rank in range(PROCESSES)] for n in names}
    return Run(
        {name: [one["state"] for one in both] for name, both in left.items()},
        {name: [one["said"] for one in both] for name, both in left.items()},
    )


class Both:
    """Two processes played in one: each with its own data and buffers, and the weights of the first."""

    def __init__(self) -> None:
        begun = [made(rank) for rank in range(PROCESSES)]
        self.models = [model for model, _, _ in begun]
        self.batches = [batches for _, _, batches in begun]
        for model in self.models[1:]:
            for mine, sent in zip(model.parameters(), self.models[0].parameters(), strict=True):
                mine.data.copy_(sent)
        self.grads: list[list[torch.Tensor | None]] = [[None] * len(list(m.parameters())) for m in self.models]
        self.velocity: list[dict[int, torch.Tensor]] = [{} for _ in self.models]

    def backward(self, losses: list[torch.Tensor]) -> None:
        """Gradients gather on each, and all that a process holds are averaged."""
        for model, loss, held in zip(self.models, losses, self.grads, strict=True):
            new = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
            for n, grad in enumerate(new):
                if grad is not None:
                    old = held[n]
                    held[n] = grad if old is None else old + grad
        for n in range(len(self.grads[0])):
            found = [one for held in self.grads if (one := held[n]) is not None]
            if len(found) == PROCESSES:
                mean = torch.stack(found).mean(0)
                for held in self.grads:
                    held[n] = mean.clone()

    def step(self) -> None:
        for model, held, velocity in zip(self.models, self.grads, self.velocity, strict=True):
            with torch.no_grad():
                for n, (p, grad) in enumerate(zip(model.parameters(), held, strict=True)):
                    if grad is not None:
                        velocity[n] = grad if n not in velocity else 0.9 * velocity[n] + grad
                        p.sub_(0.1 * velocity[n])

    def zero(self) -> None:
        self.grads = [[None] * len(held) for held in self.grads]

    def losses(self, number: int, **options: Any) -> list[torch.Tensor]:
        pairs = [batches[number] for batches in self.batches]
        return [((m(x, **options) - y) ** 2).mean() for m, (x, y) in zip(self.models, pairs, strict=True)]


def play(name: str) -> list[Net]:
    both = Both()
    for number in range(len(both.batches[0])):
        if name == "accumulated":
            both.backward([loss / 2 for loss in both.losses(number)])
            if number % 2:
                both.step()
                both.zero()
            continue
        both.zero()
        both.backward(both.losses(number, **({"spare": number % 3 == 0} if name == "unused" else {})))
        if name == "twice":
            inputs = [batches[number][0] for batches in both.batches]
            both.backward([m(x).abs().mean() for m, x in zip(both.models, inputs, strict=True)])
        both.step()
    return both.models


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_processes_train_as_with_apex(run: Run, name: str) -> None:
    models = play(name)
    for model, found in zip(models, run.states[name], strict=True):
        wanted = model.state_dict()
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            torch.testing.assert_close(found[key], value, rtol=1e-9, atol=1e-9, msg=f"{key} differs")


def test_weights_are_shared_and_statistics_are_not(run: Run) -> None:
    """Else the comparison would not see whether buffers are sent."""
    one, other = run.states["plain"]
    assert torch.equal(one["first.weight"], other["first.weight"])
    assert not torch.allclose(one["norm.running_mean"], other["norm.running_mean"])
    begun = copy.deepcopy(made(0)[0]).state_dict()
    assert not torch.allclose(one["first.weight"], begun["first.weight"])


def test_groups_for_batch_norm(run: Run) -> None:
    assert run.said["groups"] == [[[0, 1], [0], None], [[0, 1], [1], None]]

"""Workloads for the tests: a network of a few weights, and the same with a fault built in."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from compare.workloads import Job, Setting
from tests.compare.eager import leave_dynamo_out

SAMPLES, TESTED, FEATURES, CLASSES = 64, 24, 6, 3


@dataclass
class Batches:
    """Random points in three clouds, in an order that the seed and the epoch decide."""

    setting: Setting
    train_samples: int = SAMPLES
    test_samples: int = TESTED
    description: str = "clouds"

    @property
    def steps_per_epoch(self) -> int:
        return SAMPLES // (self.setting.batch * self.setting.world)

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(1000 * self.setting.seed + number))
        mine = order[self.setting.rank :: self.setting.world]
        for start in range(0, self.steps_per_epoch * self.setting.batch, self.setting.batch):
            yield points(mine[start : start + self.setting.batch], self.setting.device)

    def test(self, batch: int) -> Iterator[tuple[Tensor, Tensor]]:
        for start in range(0, TESTED, batch):
            yield points(SAMPLES + torch.arange(start, min(start + batch, TESTED)), self.setting.device)

    def order_digest(self) -> str:
        return hashlib.sha256(f"{self.setting.seed}".encode()).hexdigest()


def points(numbers: Tensor, device: torch.device) -> tuple[Tensor, Tensor]:
    noise = torch.randn(SAMPLES + TESTED, FEATURES, generator=torch.Generator().manual_seed(0))
    labels = numbers % CLASSES
    return (noise[numbers] + 4.0 * nn.functional.one_hot(labels, FEATURES)).to(device), labels.to(device)


def build(setting: Setting) -> Job:
    leave_dynamo_out()
    model = nn.Sequential(nn.Linear(FEATURES, 8), nn.ReLU(), nn.Linear(8, CLASSES)).to(setting.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return Job(model, optimizer, nn.functional.cross_entropy, Batches(setting), lambda step: 0.05)


def _with_loss(setting: Setting, change: object) -> Job:
    job = build(setting)

    def criterion(output: Tensor, target: Tensor) -> Tensor:
        return change(job.criterion(output, target))  # type: ignore[operator,no-any-return]

    return replace(job, criterion=criterion)


def crashes(setting: Setting) -> Job:
    def fail(loss: Tensor) -> Tensor:
        raise RuntimeError("a fault that was built in\nwith a second line")

    return _with_loss(setting, fail)


def out_of_memory(setting: Setting) -> Job:
    """Out of memory above a batch of 11."""
    job = build(setting)

    def criterion(output: Tensor, target: Tensor) -> Tensor:
        if len(target) > 11:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB.")
        return job.criterion(output, target)

    return replace(job, criterion=criterion)


def out_of_memory_at_once(setting: Setting) -> Job:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB.")


def diverges(setting: Setting) -> Job:
    return _with_loss(setting, lambda loss: loss * float("nan"))


def diverges_in_the_second_process(setting: Setting) -> Job:
    return _with_loss(setting, lambda loss: loss if setting.rank == 0 else loss.detach() * float("nan") + 0 * loss)


def dies(setting: Setting) -> Job:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def hangs(setting: Setting) -> Job:
    def wait(loss: Tensor) -> Tensor:
        if begun := os.environ.get("TINY_BEGUN"):
            Path(begun).touch()
        time.sleep(3600)
        return loss

    return _with_loss(setting, wait)


def overflows(setting: Setting) -> Job:
    """Gradients too large for float16 at the first loss scales, and small enough at later ones."""
    return replace(_with_loss(setting, lambda loss: loss * 100), learning_rate=lambda step: 0.0005)


def broken_by_a_variable(setting: Setting) -> Job:
    if os.environ.get("TINY_BROKEN"):
        raise RuntimeError("a fault that a variable turned on")
    return build(setting)


def sets_tf32(setting: Setting) -> Job:
    torch.backends.cudnn.allow_tf32 = True
    return build(setting)


def sets_tf32_by_its_newer_name(setting: Setting) -> Job:
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    return build(setting)


def sets_tf32_for_all_of_cudnn(setting: Setting) -> Job:
    torch.backends.cudnn.fp32_precision = "tf32"
    return build(setting)


def sets_tf32_everywhere(setting: Setting) -> Job:
    torch.backends.fp32_precision = "tf32"
    return build(setting)


def accumulates_in_half(setting: Setting) -> Job:
    torch.backends.cuda.matmul.allow_fp16_accumulation = True
    return build(setting)


def sets_determinism(setting: Setting) -> Job:
    torch.use_deterministic_algorithms(True)
    return build(setting)


def looks_for_anomalies(setting: Setting) -> Job:
    torch.autograd.set_detect_anomaly(True)
    return build(setting)


def sets_a_switch_later(setting: Setting) -> Job:
    def change(loss: Tensor) -> Tensor:
        torch.backends.cudnn.benchmark = False
        return loss

    return _with_loss(setting, change)

"""One arm, ready to train: model, optimizer, data and arm on their device, equal in all arms of a seed."""

from __future__ import annotations

import hashlib
import inspect
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from .. import env
from ..arms import ARMS, RECIPES, Arm, Recipe, load
from ..errors import UserError
from ..measure.gradients import StepCounter
from ..measure.memory import held
from ..records import Record, Started
from ..spec import Spec, Task
from ..switches import enforce, flags, set_flags
from ..workloads import Job, Setting, digest, load_workload

Emit = Callable[[Record], None]
Progress = Callable[[int, int, str], None]


class NotFinite(Exception):
    """Training left the finite numbers; the message says when."""


@dataclass(frozen=True)
class Place:
    """Where this process runs among those of its task."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @classmethod
    def of_environment(cls, spec: Spec) -> Place:
        """From what torchrun sets, alone without it."""
        local = int(os.environ.get("LOCAL_RANK", "0"))
        device = torch.device("cuda", local) if spec.device == "cuda" else torch.device("cpu")
        return cls(device, int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


@dataclass(frozen=True)
class Prepared:
    """What a task works with."""

    spec: Spec
    task: Task
    place: Place
    recipe: Recipe
    job: Job
    arm: Arm
    counter: StepCounter
    started: Started
    data_bytes: int
    """Device memory that the data set holds."""
    switches: Mapping[str, Any]
    """What the arm demands of torch's switches."""

    @property
    def device(self) -> torch.device:
        return self.place.device

    @property
    def peak_rate(self) -> float:
        """The learning rate the optimizer was built with."""
        rate: float = self.job.optimizer.defaults["lr"]
        return rate

    def set_rate(self, rate: float) -> None:
        """Set the learning rate. A scheduler would warn at each skipped first step and knows nothing of skips."""
        for group in self.job.optimizer.param_groups:
            group["lr"] = rate

    def enforce_switches(self) -> None:
        """Raise UserError where the arm ran with other switches than it demands."""
        enforce(ARMS[self.task.arm].tf32, self.switches, "after the run")

    def step(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        return self.arm.train_step(*batch)


def prepare(
    spec: Spec, task: Task, place: Place, cache: Path | None = None, weights: Path | None = None
) -> Prepared:
    """Build the task's model, data and arm; the model begins with `weights`, a state dict, where they are named.

    Raises UserError for data or a workload that cannot be had, ImportError for an arm whose library is missing.
    """
    info, recipe = ARMS[task.arm], RECIPES[task.recipe]
    demanded = set_flags(tf32=info.tf32)
    if place.device.type == "cuda":
        torch.cuda.set_device(place.device)
    elif info.precision == "float16":
        # oneDNN's backward of a float16 convolution takes ten times as long as torch's own (torch 2.11).
        torch.backends.mkldnn.set_flags(False)
    torch.manual_seed(task.seed)
    setting = Setting(
        device=place.device,
        batch=task.batch,
        seed=task.seed,
        data=spec.data,
        cache=cache,
        stem=spec.stem,
        fused=info.fused_optimizer,
        epochs=spec.epochs,
        epoch_steps=spec.epoch_steps,
        rank=place.rank,
        world=place.world,
    )
    job = load_workload(task.workload)(setting)
    if weights is not None:
        _load(job.model, weights, task)
    initial = digest(job.model)
    states = [*job.model.parameters(), *job.model.buffers()]
    data_bytes = max(0, held(place.device) - sum(state.numel() * state.element_size() for state in states))
    target = info.target(recipe, spec.device)
    if target is None:
        raise ValueError(f"{task.arm} has no {task.recipe} recipe on {spec.device}.")
    make = load(target)
    arm = (
        make(job.criterion, penalty=recipe.penalty)
        if recipe.penalty
        else make(job.criterion, max_norm=recipe.max_norm, accumulate=recipe.accumulate)
    )
    enforce(info.tf32, demanded, "after the workload was built")
    gpu = env.gpu_state()
    arm.setup(job.model, job.optimizer)
    if place.world > 1:
        arm.model = DistributedDataParallel(
            arm.model, device_ids=[place.device.index] if place.device.type == "cuda" else None
        )
    file = Path(inspect.getfile(make))
    source = file.read_text(encoding="utf-8")
    started = Started(
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        world=place.world,
        flags=flags(),
        arm_file=file.name,
        arm_sha256=hashlib.sha256(source.encode()).hexdigest(),
        arm_source=source,
        parameters=sum(weight.numel() for weight in job.model.parameters()),
        initial_weights=initial,
        data=job.batches.description,
        train_samples=job.batches.train_samples,
        test_samples=job.batches.test_samples,
        order=job.batches.order_digest(),
        gpu=gpu,
    )
    # Counted on the optimizer that `setup` was given: no arm replaces it.
    counter = StepCounter(job.optimizer)
    return Prepared(spec, task, place, recipe, job, arm, counter, started, data_bytes, demanded)


def _load(model: torch.nn.Module, weights: Path, task: Task) -> None:
    """Put trained weights into a model. Raises UserError where there are none, or others."""
    try:
        model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    except Exception as error:  # torch raises what its unpickler happens to raise
        why = "there is no such file" if not weights.exists() else str(error).strip().partition("\n")[0]
        raise UserError(
            f"The weights that the training with seed {task.seed} ended with cannot be read ({why}): see how it ended."
        ) from error


def wait_for_all(place: Place) -> None:
    """Where several processes train one model: until all are here."""
    if place.world > 1:
        dist.barrier()


def in_any(place: Place, true: bool) -> bool:
    """Whether it is true in any process of the task: all have to leave together, or the others wait for ever."""
    if place.world == 1:
        return true
    seen = torch.tensor(float(true), device=place.device)
    dist.all_reduce(seen)
    return bool(seen > 0)


def check_finite(loss: float, when: str) -> None:
    """Raise NotFinite for a loss that is not."""
    if not math.isfinite(loss):
        raise NotFinite(f"the loss was {loss} {when}")

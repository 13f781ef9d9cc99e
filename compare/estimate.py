"""About how long tasks take, before anything has run.

The step time is the arithmetic of the step over what a large matrix product reaches on this device, measured
here and now, times what the network reaches of that, plus a floor for issuing its kernels. It is a guess,
and is said to be one; once every arm has been timed, a budget goes by those times.
"""

from __future__ import annotations

from collections.abc import Iterable

from .arms import ARMS, RECIPES, Precision
from .cores import loader_workers
from .spec import Device, Spec, Task
from .workloads.known import KNOWN, loads
from .workloads.sizes import resnet50_forward

# Assumptions, all four. The one session on a GPU (an H200, reports/) took 10 minutes where they say 11; its host
# issued a step of ResNet50 in 26 to 31 ms. An arm with torch.compile was not at its first window when it was cut off
# after 85 seconds: how long it takes is not known.
START = 15.0
"""Seconds until a process on a GPU does its first step."""
START_CPU = 8.0
COMPILE = 100.0
REACHED = {"float32": 0.5, "tf32": 0.3, "float16": 0.2, "bfloat16": 0.2}
"""Share of the matrix product's rate that ResNet50 reaches at 32x32, taken for every network."""
ISSUE = 0.02
"""Seconds a host needs to issue one step of ResNet50."""
LOADED = 3e-4
"""Seconds a worker needs to decode and augment one image: measured with one worker on a cloud machine."""
TRAIN_SAMPLES = 50_000
CPU_STEP = {"float32": 0.5, "bfloat16": 0.3, "float16": 9.0}
"""Seconds of a ResNet50 step with 8 images on two cores, by type: measured on a cloud machine, rounded up."""


def rates(device: Device) -> dict[Precision, float]:
    """Operations per second of a matrix product in each type, measured in about a second; empty on a CPU."""
    if device != "cuda":
        return {}
    return {precision: _rate(precision) for precision in ("float32", "tf32", "float16", "bfloat16")}


def _rate(precision: Precision) -> float:
    import torch

    from .measure.timing import Stopwatch

    dtype = {"float16": torch.float16, "bfloat16": torch.bfloat16}.get(precision, torch.float32)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    size, repeats = 4096, 10
    left = torch.randn(size, size, device="cuda", dtype=dtype)
    left @ left
    watch = Stopwatch(left.device)
    for _ in range(repeats):
        left @ left
    return 2.0 * size**3 * repeats / watch.stop()


def known(workload: str) -> bool:
    """Whether the arithmetic of its step is known here; of others only the start of a process is."""
    return workload in KNOWN


def seconds(task: Task, spec: Spec, rate: dict[Precision, float]) -> float:
    """About how long one task takes."""
    info = ARMS[task.arm]
    step = _step(task, spec, rate)
    start = (START if rate else START_CPU) + (COMPILE if info.compiled else 0.0)
    if task.kind == "capacity":
        return 10 * start
    if task.kind == "after":
        return start + 10 * step
    if task.kind == "speed":
        return start + max(step * spec.warmup, spec.warmup_s) + step * (spec.windows * spec.window_steps + 25)
    steps = spec.epoch_steps or TRAIN_SAMPLES // (task.batch * spec.world)
    return start + 1.15 * step * steps * spec.epochs


def _step(task: Task, spec: Spec, rate: dict[Precision, float]) -> float:
    if not known(task.workload):
        return 0.0
    precision = ARMS[task.arm].precision
    work = 3 * KNOWN[task.workload].forward(spec.stem) * task.batch
    if RECIPES[task.recipe].penalty:
        work *= 2.5
    if not rate:
        return CPU_STEP.get(precision, CPU_STEP["float32"]) * work / (3 * resnet50_forward("cifar") * 8)
    step = work / (REACHED[precision] * rate[precision]) + ISSUE
    # A loader works beside the steps: the slower of the two is what is waited for.
    loaded = LOADED * task.batch / loader_workers(spec.processes) if loads(task.workload) else 0.0
    return max(step, loaded)


def total(tasks: Iterable[Task], spec: Spec, rate: dict[Precision, float]) -> float:
    """About how long the tasks take together, in seconds."""
    return sum(seconds(task, spec, rate) for task in tasks)


if __name__ == "__main__":
    import json

    print(json.dumps(rates("cuda")))

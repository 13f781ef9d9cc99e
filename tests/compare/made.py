"""Sessions that never ran: folders of JSONL with made-up numbers, for the tests of analysis and report.

Nothing in them was measured. The numbers are plausible, known (the tables below) and the same each
time, so that a test can say what has to come out.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compare import plan
from compare.arms import ARMS
from compare.records import (
    Asked,
    Busy,
    Capacity,
    Decision,
    Ended,
    Environment,
    Epoch,
    Finished,
    InputCost,
    Memory,
    Planned,
    Record,
    Started,
    Status,
    Step0,
    Trace,
    Unavailable,
    Window,
    encode,
)
from compare.spec import LOADER, MLP, RESNET50, VIT, Spec, Task
from compare.workloads.known import loads

GIB = 2**30

ARM_SETS: dict[str, tuple[str, ...]] = {
    "smoke": ("fp32", "apex-o1", "native-fp16", "native-bf16"),
    "quick": ("fp32", "tf32", "apex-o1", "native-fp16"),
    "standard": ("fp32", "tf32", "apex-o1", "native-fp16"),
    "full": tuple(ARMS),
}
TRAINED = ("fp32", "apex-o1", "native-fp16")

# Milliseconds of one step at batch 128 (on the CPU of a smoke run: 200 times that).
STEP_MS: dict[str, float] = {
    "fp32": 54.0,
    "tf32": 30.0,
    "apex-o1": 21.6,
    "apex-o2": 20.9,
    "native-fp16": 20.0,
    "native-bf16": 20.1,
    "native-fp16-channels-last": 15.5,
    "native-fp16-compile": 16.0,
    "native-best": 12.5,
}
# What the loader needs for a batch: faster arms wait for it.
LOADER_MS = 27.0
# Peak allocated memory at batch 128, GiB.
MEMORY_GIB: dict[str, float] = {
    "fp32": 6.0,
    "tf32": 6.0,
    "apex-o1": 3.6,
    "apex-o2": 3.4,
    "native-fp16": 3.5,
    "native-bf16": 3.5,
    "native-fp16-channels-last": 3.4,
    "native-fp16-compile": 3.0,
    "native-best": 2.9,
}
BUSY = {"apex-o1": 0.86, "apex-o2": 0.91, "native-fp16": 0.97}
SAMPLES_PER_STEP = 128
TRAIN_SAMPLES = 50_000
TEST_SAMPLES = 10_000
FINAL_ACCURACY = {"fp32": 94.30, "apex-o1": 94.25, "native-fp16": 94.28}
# What a seed adds to the accuracy of every arm, and what it adds to that of one arm: percentage points.
SEED_EFFECT = (0.10, -0.15, 0.05, -0.08, 0.12, 0.00, -0.11, 0.07, -0.04, 0.09)
ARM_EFFECT: dict[str, tuple[float, ...]] = {
    "fp32": (0.00, 0.04, -0.06, 0.02, 0.01, -0.03, 0.05, -0.02, 0.01, -0.02),
    "apex-o1": (0.08, -0.05, 0.02, -0.07, 0.03, 0.06, -0.06, 0.01, -0.04, 0.02),
    "native-fp16": (-0.04, 0.06, 0.05, -0.02, -0.06, 0.01, 0.03, -0.07, 0.05, -0.01),
}
# What a second training with the same seed adds.
AGAIN_EFFECT = (0.05, -0.04, 0.06, 0.03, -0.05, 0.02, -0.03, 0.04, -0.06, 0.01)
LARGEST_BATCH = {arm: int(128 * 2 ** (1 + (memory < 4) + (memory < 3.1))) * 8 for arm, memory in MEMORY_GIB.items()}
NO_APEX = "NVIDIA Apex is not installed: `make apex` builds it."


@dataclass(frozen=True)
class Fails:
    """A task that does not end well. `index` is the seed of a `train` task, the block of any other."""

    kind: str
    arm: str
    index: int | None
    """None for every one."""
    status: Status | str = "failed"
    """A status of `Ended`, or `incomplete` for a file without that record."""
    reason: str = "made-up failure"
    batch: int | None = None
    """Only the task with this batch, else every one of that kind, arm and index."""


NAN = Fails("train", "apex-o1", 2, "nan", "the training loss became NaN in epoch 3")
OUT_OF_MEMORY = Fails("speed", "fp32", None, "oom", "CUDA out of memory at batch 2048", batch=2048)


def make_session(
    folder: Path,
    *,
    profile: str = "standard",
    arms: Sequence[str] | None = None,
    trained: Sequence[str] | None = None,
    seeds: int = 5,
    epochs: int = 6,
    blocks: int = 8,
    apex: bool = True,
    failures: Sequence[Fails] = (),
    smoke: bool = False,
    noise: float = 0.003,
    margin: float = 0.5,
    target_accuracy: float | None = 90.0,
    step_ms: Mapping[str, float] | None = None,
    memory_gib: Mapping[str, float] | None = None,
    accuracy: Mapping[str, Sequence[float]] | None = None,
    not_run: Sequence[str] = (),
    finished: bool = True,
    decision: Decision | None = None,
) -> Path:
    """Write a whole session into `folder` and return it.

    `noise` is the standard deviation of a process's log step time (0: every ratio is that of the tables);
    `step_ms` and `memory_gib` replace entries of the tables; `accuracy` gives an arm's final accuracy by seed.
    `profile="full"` adds every arm, a batch sweep, the largest batch, other workloads and recipes; `smoke` (or that
    profile) makes a session of the CPU, without Apex and memory. Without `apex`, Apex arms are unavailable. Tasks named
    in `not_run` have no file; with a `decision` the session has the blocks, seeds and epochs it names.
    """
    if smoke or profile == "smoke":
        profile, apex, seeds, epochs, blocks = "smoke", False, 1, 1, 1
    smoke, full = profile == "smoke", profile == "full"
    names = tuple(arms if arms is not None else ARM_SETS[profile])
    spec = Spec(
        profile=profile,
        device="cpu" if smoke else "cuda",
        arms=names,
        trained=tuple(trained if trained is not None else [arm for arm in names if arm in TRAINED]),
        repeated=() if smoke else tuple(arm for arm in ("apex-o1", "native-fp16") if arm in names),
        data="synthetic" if smoke else "/data/cifar10",
        batch=8 if smoke else 128,
        seeds=seeds,
        again=0 if smoke else seeds,
        trained_again=() if smoke else tuple(arm for arm in names if arm in TRAINED and arm == "native-fp16"),
        after=0 if smoke else min(3, seeds),
        epochs=epochs,
        epoch_steps=4 if smoke else None,
        blocks=blocks,
        settling_blocks=0 if smoke else 1,
        warmup=1 if smoke else 50,
        windows=2 if smoke else 5,
        window_steps=2 if smoke else 20,
        extra_blocks=3,
        sweep=(256, 512, 2048) if full else (),
        capacity=full,
        extra_recipes=("clip", "accumulate", "gradient-penalty") if full else (),
        extra_workloads=(VIT, LOADER, MLP) if full else (),
        margin=margin,
        target_accuracy=None if smoke else target_accuracy,
    )
    maker = _Maker(spec, noise, {**STEP_MS, **(step_ms or {})}, {**MEMORY_GIB, **(memory_gib or {})}, accuracy or {})
    available = [arm for arm in names if apex or not ARMS[arm].apex]
    unavailable = [Unavailable(arm, NO_APEX) for arm in names if arm not in available]
    session: list[Record] = [
        Asked(spec.to_json(), "2026-01-02T03:04:05Z", f"python -m compare run --profile {profile}"),
        Environment(environment(smoke, apex)),
        *unavailable,
    ]
    if decision is not None:
        session.append(decision)
        spec = decision.within(spec)
        maker = replace(maker, spec=spec)
    if finished:
        session.append(Finished("2026-01-02T05:06:07Z", list(not_run)))
    write(folder / "session.jsonl", session)
    for task in plan.tasks(spec, available):
        if task.name not in not_run:
            write(folder / "runs" / f"{task.name}.jsonl", maker.records(task, _failure(task, failures)))
    return folder


def environment(smoke: bool = False, apex: bool = True) -> dict[str, object]:
    """A made-up machine."""
    return {
        "gpu": None if smoke else "Made-up GPU 80GB",
        "driver": None if smoke else "570.00",
        "torch": "2.11.0+cu130",
        "cuda": None if smoke else "13.0",
        "cudnn": None if smoke else "9.13.0",
        "apex": {"version": "0.1", "commit": "0123456", "source": "tag 25.05"} if apex else None,
        "python": "3.11.2",
        "cpu": "Made-up CPU",
        "cores": 2 if smoke else 16,
    }


def write(path: Path, records: Sequence[Record]) -> None:
    """One file of records; unlike the suite's own writer it does not wait for the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(encode(record) + "\n" for record in records), encoding="utf-8")


def _failure(task: Task, failures: Sequence[Fails]) -> Fails | None:
    if task.replica or task.settling or task.workload != RESNET50 or task.recipe != "plain":
        return None
    index = task.seed if task.kind == "train" else task.block
    for failure in failures:
        if (failure.kind, failure.arm) == (task.kind, task.arm) and failure.index in (None, index):
            if failure.batch in (None, task.batch):
                return failure
    return None


@dataclass(frozen=True)
class _Maker:
    """Makes the records of one task."""

    spec: Spec
    noise: float
    step_ms: Mapping[str, float]
    memory_gib: Mapping[str, float]
    accuracy: Mapping[str, Sequence[float]]

    def records(self, task: Task, failure: Fails | None) -> list[Record]:
        makers = {"speed": self.speed, "train": self.train, "after": self.after, "capacity": self.capacity}
        body = makers[task.kind](task)
        records: list[Record] = [Planned(vars(task).copy()), self.started(task), *body]
        if failure is None:
            return [*records, Ended("ok", None, 60.0, self.gpu(41))]
        if failure.status == "nan":
            records = _turn_to_nan(records)
        else:
            # It ended early: after its first steps, before anything that a statistic uses.
            records = [record for record in records if isinstance(record, (Planned, Started, Step0))]
        if failure.status == "incomplete":
            return records
        return [*records, Ended(failure.status, failure.reason, 12.0)]  # type: ignore[arg-type]

    @property
    def cuda(self) -> bool:
        return self.spec.device == "cuda"

    def gpu(self, temperature: int) -> dict[str, object] | None:
        if not self.cuda:
            return None
        clocks: dict[str, object] = {"sm_mhz": 1980, "memory_mhz": 2619, "temperature_c": temperature}
        return {**clocks, "power_w": 400.0, "utilization_percent": 97, "pstate": "P0", "throttle": []}

    def started(self, task: Task) -> Started:
        tf32 = ARMS[task.arm].tf32
        source = f'"""Made-up source of the arm {task.arm}."""\n\nclass Arm: ...\n'
        flags = {
            "cuda_matmul_allow_tf32": tf32,
            "cudnn_allow_tf32": tf32,
            "float32_matmul_precision": "high" if tf32 else "highest",
            "allow_fp16_reduced_precision_reduction": True,
            "cudnn_benchmark": True,
            "cudnn_deterministic": False,
        }
        return Started(
            started="2026-01-02T03:10:00Z",
            world=self.spec.processes,
            flags=flags,
            arm_file=f"{task.arm.replace('-', '_')}.py",
            arm_sha256=_digest(source),
            arm_source=source,
            parameters=23_520_842,
            initial_weights=_digest(f"weights {task.workload} {task.seed}{' after' * (task.kind == 'after')}"),
            data=self.spec.data,
            train_samples=TRAIN_SAMPLES,
            test_samples=TEST_SAMPLES,
            order=_digest(f"order {task.workload} {task.batch} {task.seed}"),
            gpu=self.gpu(38),
        )

    def step0(self, task: Task) -> Step0:
        base = random.Random(f"step0 {task.workload} {task.seed}")
        own = random.Random(f"step0 {task.workload} {task.seed} {task.arm}")
        noise = random.Random(f"again {task.workload} {task.seed} {task.arm} {task.replica}")
        error = {"float32": 0.0, "tf32": 3e-4, "float16": 1e-3, "bfloat16": 8e-3}[ARMS[task.arm].precision]

        def near(size: int, more: float) -> list[float]:
            again = 1e-4 if task.kind == "after" else 0.0
            return [
                base.gauss(0, 1) * (1 + error * more * own.gauss(0, 1) + again * noise.gauss(0, 1)) for _ in range(size)
            ]

        scaled = ARMS[task.arm].precision == "float16"
        return Step0(logits=near(80, 1.0), gradients=near(64, 4.0), loss=2.3026, attempts=3 if scaled else 1)

    def after(self, task: Task) -> list[Record]:
        return [self.step0(task)]

    def speed(self, task: Task) -> list[Record]:
        own = random.Random(task.name)
        drift = random.Random(f"block {task.settling} {task.block}").gauss(0, 2 * self.noise)
        step = self.step_ms[task.arm] * math.exp(drift + own.gauss(0, self.noise))
        step *= 200 * task.batch / 128 if not self.cuda else (0.15 + 0.85 * task.batch / 128)
        if task.workload == MLP:
            step /= 12
        if loads(task.workload):
            step = max(step, LOADER_MS * math.exp(drift + own.gauss(0, self.noise)))
        step *= {"plain": 1.0, "clip": 1.05, "accumulate": 0.97, "gradient-penalty": 2.6}[task.recipe]
        records: list[Record] = [self.step0(task)]
        for index in range(self.spec.windows):
            times = [step * math.exp(own.gauss(0, self.noise)) for _ in range(self.spec.window_steps)]
            if self.noise:
                # Now and then a step is held up: the distribution has a tail, as real ones have.
                times = [time * (1.2 if own.random() < 0.02 else 1.0) for time in times]
            else:
                times = [step] * self.spec.window_steps
            host = step * (0.95 if task.arm == "apex-o1" else 0.6)
            records.append(Window(index, times, host, "cuda-events" if self.cuda else "host"))
        if self.cuda:
            allocated = int(self.memory_gib[task.arm] * GIB * (0.1 + 0.9 * task.batch / 128))
            records.append(Memory(allocated, int(allocated * 1.1), int(allocated * 1.1) + 600 * 2**20))
        if not loads(task.workload):
            records.append(InputCost([0.4 + 0.02 * own.random() for _ in range(10)]))
        if self.cuda:
            records.append(Busy(BUSY.get(task.arm, 0.98), None, 1400))
        else:
            records.append(Busy(None, "the profiler gives no kernels on a CPU"))
        scale = 65536.0 if ARMS[task.arm].precision == "float16" else None
        for step_index in range(4):
            skipped = scale is not None and step_index < 2
            if scale is not None and skipped:
                scale /= 2
            records.append(Trace(step_index, 2.3 - 0.01 * step_index, None if skipped else 1.5, scale, skipped))
        return records

    def capacity(self, task: Task) -> list[Record]:
        largest = LARGEST_BATCH[task.arm]
        batches = [128 * 2**power for power in range(8)]
        return [
            Capacity(batch, batch <= largest, int(self.memory_gib[task.arm] * GIB * batch / 128))
            for batch in batches
            if batch <= 2 * largest
        ]

    def final_accuracy(self, arm: str, seed: int) -> float:
        if arm in self.accuracy:
            return self.accuracy[arm][seed]
        effect = ARM_EFFECT.get(arm, ARM_EFFECT["fp32"])
        at = seed % len(SEED_EFFECT)
        return round(FINAL_ACCURACY.get(arm, 94.3) + SEED_EFFECT[at] + effect[at], 2)

    def train(self, task: Task) -> list[Record]:
        own = random.Random(task.name)
        spec = self.spec
        steps = spec.epoch_steps or TRAIN_SAMPLES // spec.batch
        final = 12.5 if spec.profile == "smoke" else self.final_accuracy(task.arm, task.seed)
        if task.replica:
            final += AGAIN_EFFECT[task.seed % len(AGAIN_EFFECT)]
        # Drawing a batch is part of a training's step.
        step_s = (self.step_ms[task.arm] + 0.41) / 1000 * math.exp(own.gauss(0, self.noise))
        scale: float | None = 65536.0 if ARMS[task.arm].precision == "float16" else None
        good = 0
        records: list[Record] = []
        for epoch in range(1, spec.epochs + 1):
            skipped: list[int] = []
            scales: list[tuple[int, float]] = []
            for step in range(steps):
                if scale is None:
                    break
                # The first steps overflow until the scale fits; later ones do after it has grown too far.
                if (epoch == 1 and step < 2) or (scale >= 2.0**16 and own.random() < 0.01):
                    scale, good = scale / 2, 0
                    skipped.append(step)
                else:
                    good += 1
                    if good == 500:
                        scale, good = min(scale * 2, 2.0**24), 0
                if step in (0, steps - 1) or step in skipped:
                    scales.append((step, scale))
            done = epoch / spec.epochs
            last = epoch == spec.epochs
            accuracy = final if last else round(final - (final - 40.0) * math.exp(-5 * done), 2)
            losses = [0.05 + 2.2 * math.exp(-4 * (epoch - 1 + i / 10) / spec.epochs) for i in range(10)]
            records.append(
                Epoch(
                    epoch=epoch,
                    steps=steps,
                    train_s=step_s * steps,
                    eval_s=1.5,
                    losses=[loss * math.exp(own.gauss(0, 0.01)) for loss in losses],
                    test_accuracy=accuracy,
                    test_loss=0.2 + losses[-1],
                    learning_rate=0.05 * (1 + math.cos(math.pi * done)),
                    gradient_norm=1.0 + own.random(),
                    loss_scale=scale,
                    skipped=skipped,
                    scales=scales,
                    first_losses=first_losses(task) if epoch == 1 else [],
                )
            )
        return records


def first_losses(task: Task) -> list[float]:
    """A hundred losses: arms part from each other ten times as fast as one does from itself."""
    shared = random.Random(f"losses {task.seed}")
    apart = {"float32": 0.0, "tf32": 1e-6}.get(ARMS[task.arm].precision, 2e-5 if ARMS[task.arm].apex else 1e-5)
    apart += 1e-6 if task.replica else 0.0
    return [(2.3 - 0.01 * step + 0.01 * shared.random()) * (1 + apart * math.exp(0.05 * step)) for step in range(100)]


def _turn_to_nan(records: list[Record]) -> list[Record]:
    """A training run that ends with its second epoch, whose losses are NaN."""
    kept = [record for record in records if not isinstance(record, Epoch) or record.epoch <= 2]
    return [
        replace(record, losses=[math.nan] * 10, test_accuracy=10.0, test_loss=math.nan, gradient_norm=math.nan)
        if isinstance(record, Epoch) and record.epoch == 2
        else record
        for record in kept
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

"""Results made by hand for the tests of figures and report: plausible numbers, none of them measured."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from compare.results import (
    Accuracy,
    ArmResult,
    Claim,
    Control,
    EpochPoint,
    Equivalence,
    Failure,
    Interval,
    Machine,
    MemoryUse,
    Moment,
    OtherSpeed,
    Pair,
    Results,
    RunToRun,
    ScalePoint,
    Step0Difference,
    StepTimes,
    SweepPoint,
    TrainingRun,
)
from compare.spec import Spec

NINE = (
    "fp32",
    "tf32",
    "apex-o1",
    "apex-o2",
    "native-fp16",
    "native-bf16",
    "native-fp16-channels-last",
    "native-fp16-compile",
    "native-best",
)
_SPEED = dict(zip(NINE, (1480.0, 2890.0, 3610.0, 3700.0, 3720.0, 3690.0, 4900.0, 5200.0, 6900.0), strict=True))
_GIB = 2**30


def make_results(
    arms: tuple[str, ...] = NINE,
    *,
    trained: tuple[str, ...] = ("fp32", "apex-o1", "native-fp16"),
    seeds: int = 5,
    epochs: int = 30,
    smoke: bool = False,
    nan: bool = False,
    sweep: bool = True,
    spread: float = 1.0,
    unavailable: tuple[str, ...] = (),
    reason: str = "Apex is not installed.",
) -> Results:
    """`spread` multiplies the slow arm's time; `nan` makes one run of native-fp16 stop midway."""
    here = [arm for arm in arms if arm not in unavailable]
    spec = Spec(
        profile="smoke" if smoke else "standard",
        device="cpu" if smoke else "cuda",
        arms=arms,
        trained=tuple(arm for arm in trained if arm in arms),
        repeated=("apex-o1", "native-fp16"),
        seeds=seeds,
        epochs=epochs,
        blocks=5,
        settling_blocks=1,
        batch=8 if smoke else 128,
        sweep=(256, 512, 1024) if sweep else (),
        target_accuracy=90.0,
        capacity=True,
    )
    measured = [_arm(arm, spec, arm in here, reason, nan, spread) for arm in arms]
    pairs = tuple(
        _pair(arm, base, spec, measured) for base in ("fp32", "apex-o1") for arm in here if base in here and arm != base
    )
    verdict = (
        "native AMP (float16) is 1.03 times as fast as Apex O1 at 0.99 times the memory; its accuracy is "
        "equivalent within 0.5 points."
    )
    return Results(
        spec=spec,
        environment={
            "gpu": None if smoke else "NVIDIA H200",
            "driver": "570.86.15",
            "torch": "2.11.0+cu130",
            "cuda": "13.0",
            "cudnn": "9.12.0",
            "apex": {"version": "25.05", "commit": "0da3ffb92ee6fbe5336602f0e3989db1cd16f880"},
            "clocks": {"sm_mhz": 1980, "memory_mhz": 3201},
            "python": "3.11.9",
            "cpu": "an example, 16 cores",
            "temperature_c": 41,
        },
        started="2026-01-02T03:04:05+00:00",
        command="python -m compare run --profile standard",
        arms=tuple(measured),
        pairs=pairs,
        controls=()
        if smoke
        else tuple(
            Control(
                arm,
                "resnet50-cifar10",
                "plain",
                128,
                Interval(1.001, 0.996, 1.006, 5, "Student t on logarithms"),
                0.003,
                True,
            )
            for arm in spec.repeated
            if arm in here
        ),
        run_to_run=() if smoke else _run_to_run(here),
        sweep=_sweep(here) if sweep else (),
        others=tuple(
            OtherSpeed(
                "mlp",
                recipe,
                arm,
                Interval(90000.0, 88000.0, 92000.0, 3, "bootstrap"),
                3 * _GIB,
                Interval(1.4, 1.35, 1.46, 3, "paired bootstrap") if arm != "fp32" else None,
            )
            for recipe in ("plain", "clip")
            for arm in here[:3]
        )
        + ((OtherSpeed("mlp", "plain", "native-best", None, None, None, None, "out of memory"),) if not smoke else ()),
        claims=(
            Claim("at least twice as fast", "NVIDIA, Apex README", "2.51x FP32 with native-fp16", "yes"),
            Claim("1.5x to 5.5x", "PyTorch blog", "2.51x FP32, 1.29x TF32", "yes"),
            Claim("half the memory", "NVIDIA blog", "0.58x FP32", "no"),
            Claim("no loss of accuracy", "Micikevicius et al. 2018", "not measured in this profile", "not measured"),
        ),
        failures=(
            Failure(
                "train-resnet50-cifar10-plain-bs128-b00-s2-native-fp16",
                "native-fp16",
                "nan",
                "The loss was NaN at epoch 13.",
            ),
        )
        if nan
        else (),
        notices=("runs/x.jsonl, line 7, cannot be read and is left out (a cut line).",),
        headline="SMOKE run: everything works; no conclusion on speed, memory or accuracy." if smoke else verdict,
        smoke=smoke,
        machine=None if smoke else Machine((1400, 1965, 1980), (38, 61, 66), (310, 640, 699), (0, 0.2, 0.9), 150, 4, 2),
        moments=() if smoke else _moments(here),
        flags={"allow_tf32": False, "cudnn_benchmark": True},
    )


def _arm(name: str, spec: Spec, here: bool, reason: str, nan: bool, spread: float) -> ArmResult:
    title, precision = f"{name} by its long title", "float32" if name == "fp32" else "float16"
    if not here:
        return ArmResult(name, title, precision, "unavailable", reason)
    chance = random.Random(name)
    speed = _SPEED.get(name, 2000.0) / (100 if spec.profile == "smoke" else 1)
    if name == "native-fp16" and spread != 1.0:
        speed /= spread
    median = spec.batch / speed * 1000
    times = sorted(
        median * (1 + abs(chance.gauss(0, 0.012)) + (0.15 if chance.random() < 0.02 else 0)) for _ in range(400)
    )
    runs = tuple(_run(name, seed, spec, nan and name == "native-fp16" and seed == 2) for seed in range(spec.seeds))
    finals = tuple(run.final_accuracy for run in runs if run.final_accuracy is not None)
    mean = sum(finals) / len(finals) if finals else 0.0
    many = len(finals) > 2
    accuracy = Interval(mean, mean - 0.21 if many else None, mean + 0.21 if many else None, len(finals), "t over seeds")
    trained = name in spec.trained
    cpu = spec.device == "cpu"
    allocated = int((11.3 if name in ("fp32", "tf32") else 6.6 - 0.1 * len(name) / 10) * _GIB)
    return ArmResult(
        name,
        title,
        precision,
        "ok",
        images_per_s=Interval(speed, speed * 0.985, speed * 1.012, spec.blocks, "bootstrap over processes"),
        steps=StepTimes(
            times[200],
            times[100],
            times[300],
            times[380],
            tuple(times),
            median * (0.97 if "apex" in name else 0.4),
            None if cpu else 0.86,
            None if cpu else "apex" in name,
            0.004,
            "host" if cpu else "cuda-events",
        ),
        memory=None if cpu else MemoryUse(allocated, int(allocated * 1.14), int(allocated * 1.2)),
        accuracy=Accuracy(accuracy, finals) if trained and finals else None,
        training=runs if trained else (),
        step0=() if name == "fp32" else (Step0Difference("fp32", 1.3e-3, 4.1e-3, True, True, 2e-4),),
        after=(Step0Difference("fp32", 1e-3, 4e-3, True, True, 2e-4, 5e-5, 8e-4),) if trained else (),
        largest_batch=None if cpu else 4096 + 64 * len(name),
        arm_file=f"compare/arms/{name}.py",
        arm_source=f'"""{name}"""\n\nclass Arm:\n    if 1 < 2: pass\n',
        arm_sha256="ab" * 32,
    )


def _run(name: str, seed: int, spec: Spec, nan: bool) -> TrainingRun:
    chance = random.Random(f"{name}{seed}")
    epochs, scales, skipped = [], [], 0
    scale, scaled = 65536.0, "16" in name or "apex" in name
    pace = 8.1 if name != "fp32" else 19.0
    top = 93.4 + chance.gauss(0, 0.15)
    for epoch in range(1, spec.epochs + 1):
        if scaled and (epoch <= 2 or chance.random() < 0.1):
            skipped += 1
            scale /= 2
            scales.append(ScalePoint((epoch - 1) * 390 + chance.randint(0, 380), scale, True))
        elif scaled and epoch % 5 == 0:
            scale *= 2
        if scaled:
            scales.append(ScalePoint(epoch * 390 - 1, scale, False))
        part = epoch / spec.epochs
        losses = [
            2.1 * math.exp(-4.5 * (part - (9 - k) / 10 / spec.epochs)) + 0.02 + abs(chance.gauss(0, 0.01))
            for k in range(10)
        ]
        reached = top - 55 * math.exp(-5 * part) + chance.gauss(0, 1.5) * (1 - part)
        if nan and epoch == 13:
            epochs.append(EpochPoint(epoch, epoch * pace, (*losses[:4], math.nan), None, math.nan, 0.5))
            return TrainingRun(
                seed,
                "nan",
                "The loss was NaN at epoch 13.",
                tuple(epochs),
                tuple(scales),
                skipped,
                13 * 390,
                None,
                None,
            )
        epochs.append(EpochPoint(epoch, epoch * pace, tuple(losses), reached, 1.0 / epoch, scale if scaled else None))
    hit = next((e.train_s for e in epochs if e.test_accuracy is not None and e.test_accuracy >= 90.0), None)
    return TrainingRun(
        seed, "ok", None, tuple(epochs), tuple(scales), skipped, spec.epochs * 390, epochs[-1].test_accuracy, hit
    )


def _pair(arm: str, base: str, spec: Spec, arms: list[ArmResult]) -> Pair:
    one, other = (next(entry for entry in arms if entry.name == name) for name in (arm, base))
    assert one.images_per_s and other.images_per_s
    ratio = one.images_per_s.value / other.images_per_s.value
    memory = one.memory.allocated / other.memory.allocated if one.memory and other.memory else None
    test = None
    if one.accuracy and other.accuracy:
        difference = one.accuracy.mean.value - other.accuracy.mean.value
        enough = spec.seeds >= 3
        test = Equivalence(
            arm,
            base,
            spec.seeds,
            difference,
            difference - 0.19 if enough else None,
            difference + 0.19 if enough else None,
            spec.margin,
            0.004 if enough else None,
            0.012 if enough else None,
            1.0 if enough else None,
            "equivalent" if enough else "no verdict",
            0.93 if enough else None,
            4 if enough else None,
        )
    speed = Interval(ratio, ratio * 0.99, ratio * 1.01, spec.blocks, "paired bootstrap")
    return Pair(arm, base, speed, abs(ratio - 1) > 0.01, 1.013, memory, test)


def _run_to_run(arms: list[str]) -> tuple[RunToRun, ...]:
    """Native AMP trained twice, beside the two others."""
    if "native-fp16" not in arms:
        return ()
    apart = tuple(1e-6 * math.exp(0.08 * step) for step in range(100))
    within, between = (0.05, -0.08, 0.11, 0.02, -0.04), (0.09, -0.05, 0.12, -0.1, 0.03)
    return tuple(
        RunToRun("native-fp16", arm, between, within, 1.23, 0.44, 3.3, False, tuple(3 * one for one in apart), apart)
        for arm in ("fp32", "apex-o1")
        if arm in arms
    )


def _moments(arms: list[str]) -> tuple[Moment, ...]:
    chance = random.Random(0)
    return tuple(
        Moment(
            arms[at // 40 % len(arms)],
            1.0 * at,
            1980 - 15 * chance.randint(0, 3),
            40 + at % 25,
            600 + 90 * chance.random(),
            throttled=at % 97 == 0,
            shared=at % 131 == 0,
        )
        for at in range(720 if arms else 0)
    )


def _sweep(arms: list[str]) -> tuple[SweepPoint, ...]:
    points = []
    for arm in arms:
        for batch in (128, 256, 512, 1024):
            if arm == "fp32" and batch == 1024:
                points.append(SweepPoint(arm, batch, None, None, reason="out of memory"))
                continue
            speed = _SPEED.get(arm, 2000.0) * (1.3 - 0.3 * 128 / batch)
            points.append(
                SweepPoint(
                    arm,
                    batch,
                    Interval(speed, 0.99 * speed, 1.01 * speed, 3, "Student t on logarithms"),
                    int(batch / 128 * 6 * _GIB),
                    Interval(1.0 if arm == "fp32" else 1.4, 0.99, 1.46, 3, "Student t on logarithms"),
                    None if arm == "fp32" else False,
                )
            )
    return tuple(points)


def without_arms(results: Results) -> Results:
    """The same session with nothing run: what is left when every task was killed at once."""
    return replace(
        results,
        arms=(),
        pairs=(),
        controls=(),
        run_to_run=(),
        sweep=(),
        others=(),
        failures=(),
        machine=None,
        moments=(),
        complete=False,
    )

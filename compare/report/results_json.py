"""`results.json`: the results for other programs. `results.schema.json` beside this file describes it."""

from __future__ import annotations

import json
import math
import os
import statistics
from importlib import resources
from pathlib import Path
from typing import Any

from ..results import (
    Accuracy,
    ArmResult,
    EpochPoint,
    Equivalence,
    Interval,
    OtherSpeed,
    Pair,
    Results,
    RunToRun,
    StepTimes,
    SweepPoint,
    TrainingRun,
)

SCHEMA_VERSION = 1
NAME = "results.json"
ENVIRONMENT = ("gpu", "driver", "torch", "cuda", "cudnn", "apex")
"""Keys of the environment that are always there, null where nothing is known."""


def to_json(results: Results) -> dict[str, Any]:
    """The results as plain data that JSON can hold: a number that is not finite becomes null."""
    plain: dict[str, Any] = _finite(
        {
            "schema": SCHEMA_VERSION,
            "profile": results.spec.profile,
            "smoke": results.smoke,
            "complete": results.complete,
            "headline": results.headline,
            "started": results.started,
            "command": results.command,
            "environment": {**dict.fromkeys(ENVIRONMENT), **results.environment},
            "flags": results.flags,
            "spec": results.spec.to_json(),
            "arms": [_arm(arm) for arm in results.arms],
            "pairs": [_pair(pair) for pair in results.pairs],
            "controls": [{**vars(control), "ratio": _interval(control.ratio, "value")} for control in results.controls],
            "run_to_run": [_run_to_run(one) for one in results.run_to_run],
            "sweep": [_sweep(point) for point in results.sweep],
            "others": [_other(other) for other in results.others],
            "claims": [vars(claim).copy() for claim in results.claims],
            "machine": vars(results.machine).copy() if results.machine else None,
            "seconds": results.seconds,
            "gpu_hours": results.gpu_hours,
            "failures": [vars(failure).copy() for failure in results.failures],
            "notices": list(results.notices),
        }
    )
    return plain


def render(results: Results) -> str:
    """The file's text; the same results give the same bytes."""
    return json.dumps(to_json(results), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(results: Results, folder: Path) -> Path:
    """Write `results.json` into the folder, whole or not at all. Raises OSError where it cannot be written."""
    target = folder / NAME
    temporary = folder / f".{NAME}.{os.getpid()}.tmp"
    try:
        temporary.write_text(render(results), encoding="utf-8")
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def schema() -> dict[str, Any]:
    """The published JSON Schema of the file."""
    text = resources.files(__package__).joinpath("results.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _arm(arm: ArmResult) -> dict[str, Any]:
    accuracy = arm.accuracy
    return {
        "name": arm.name,
        "title": arm.title,
        "precision": arm.precision,
        "status": arm.status,
        "reason": arm.reason,
        "seeds": len(accuracy.runs) if accuracy else 0,
        "images_per_s": _arm_speed(arm),
        "sustained": arm.sustained,
        "memory": vars(arm.memory).copy() if arm.memory else None,
        "joules_per_image": _interval(arm.joules_per_image, "value"),
        "accuracy": _accuracy(accuracy) if accuracy else None,
        "steps": _steps(arm.steps) if arm.steps else None,
        "training": [_training(run) for run in arm.training],
        "step0": [vars(difference).copy() for difference in arm.step0],
        "after": [vars(difference).copy() for difference in arm.after],
        "largest_batch": arm.largest_batch,
        "arm_file": arm.arm_file,
        "arm_sha256": arm.arm_sha256,
    }


def _arm_speed(arm: ArmResult) -> dict[str, Any] | None:
    """Samples over time, its interval, and the speed of every process; `median` is the mean over processes of the
    speed at their median step."""
    speed = _interval(arm.images_per_s, "value")
    if speed is None:
        return None
    medians = [process.median_images_per_s for process in arm.processes]
    return {
        **speed,
        "median": statistics.geometric_mean(medians) if medians else None,
        "processes": [vars(process).copy() for process in arm.processes],
    }


def _accuracy(accuracy: Accuracy) -> dict[str, Any]:
    mean = _interval(accuracy.mean, "mean") or {}
    mean.pop("bootstrap")
    return {**mean, "runs": list(accuracy.runs)}


def _steps(steps: StepTimes) -> dict[str, Any]:
    return {key: value for key, value in vars(steps).items() if key != "samples_ms"}


def _training(run: TrainingRun) -> dict[str, Any]:
    return {
        "seed": run.seed,
        "status": run.status,
        "reason": run.reason,
        "final_accuracy": run.final_accuracy,
        "time_to_target_s": run.time_to_target_s,
        "steps": run.steps,
        "skipped_steps": run.skipped_steps,
        "epochs": [_epoch(point) for point in run.epochs],
    }


def _epoch(point: EpochPoint) -> dict[str, Any]:
    return {**vars(point), "losses": list(point.losses)}


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "arm": pair.arm,
        "baseline": pair.baseline,
        "speed_ratio": _interval(pair.speed, "value"),
        "speed_differs": pair.speed_differs,
        "detectable": pair.detectable,
        "training_speed_ratio": _interval(pair.training_speed, "value"),
        "time_to_target_ratio": _interval(pair.time_to_target, "value"),
        "memory_ratio": pair.memory,
        "accuracy_difference": pair.equivalence.difference if pair.equivalence else None,
        "equivalence": _equivalence(pair.equivalence) if pair.equivalence else None,
    }


def _equivalence(test: Equivalence) -> dict[str, Any]:
    return {key: value for key, value in vars(test).items() if key not in ("arm", "baseline", "difference")}


def _run_to_run(one: RunToRun) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in vars(one).items()}


def _sweep(point: SweepPoint) -> dict[str, Any]:
    return {
        **vars(point),
        "images_per_s": _interval(point.images_per_s, "value"),
        "speed_ratio": _interval(point.speed_ratio, "value"),
    }


def _other(other: OtherSpeed) -> dict[str, Any]:
    return {
        **vars(other),
        "images_per_s": _interval(other.images_per_s, "value"),
        "speed_ratio": _interval(other.speed_ratio, "value"),
    }


def _interval(interval: Interval | None, estimate: str) -> dict[str, Any] | None:
    """An interval, its estimate under the name that the contract gives it."""
    if interval is None:
        return None
    return {
        estimate: interval.value,
        "low": interval.low,
        "high": interval.high,
        "n": interval.n,
        "method": interval.method,
        "bootstrap": list(interval.bootstrap) if interval.bootstrap else None,
    }


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return value

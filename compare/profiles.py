"""The profiles: how much a session measures, from a smoke test on a CPU to everything."""

from __future__ import annotations

from .arms import ARMS, RECIPES
from .errors import UserError
from .spec import LOADER, MLP, VIT, Device, Spec

COMPARED = ("fp32", "apex-o1", "native-fp16")
"""The arms that are trained over seeds: the migration and what it is measured against."""
FOUR = ("fp32", "tf32", "apex-o1", "native-fp16")
PROFILES = ("smoke", "quick", "standard", "full")

WARMUP_S = 5.0
"""Seconds that a GPU works before it is timed: its clocks settle in seconds, however many steps that is."""


def profile(name: str, device: Device) -> Spec:
    """The specification of a profile. Raises UserError for one that does not fit the device."""
    if name not in PROFILES:
        raise UserError(f"There is no profile {name!r}: choose one of {', '.join(PROFILES)}.")
    if name == "smoke":
        # On a CPU, autocast to float16 is some twenty times slower than float32: everything is small.
        return Spec(
            profile="smoke",
            device="cpu",
            arms=("fp32", "apex-o1", "native-fp16", "native-bf16"),
            trained=("fp32", "native-fp16", "native-bf16"),
            repeated=("fp32",),
            batch=2,
            seeds=1,
            epochs=2,
            epoch_steps=2,
            warmup=1,
            windows=2,
            window_steps=2,
            timeout=600.0,
        )
    if device != "cuda":
        raise UserError(f"The profile {name} needs a CUDA GPU, and there is none here: PROFILE=smoke runs on the CPU.")
    if name == "quick":
        return Spec(
            profile="quick",
            device="cuda",
            arms=FOUR,
            trained=COMPARED,
            repeated=(),
            blocks=3,
            warmup_s=WARMUP_S,
            seeds=1,
            after=1,
            epochs=3,
            target_accuracy=60.0,
        )
    return Spec(
        profile=name,
        device="cuda",
        arms=FOUR if name == "standard" else tuple(ARMS),
        trained=COMPARED,
        repeated=("apex-o1", "native-fp16"),
        blocks=5,
        settling_blocks=1,
        warmup_s=WARMUP_S,
        seeds=5,
        again=5,
        trained_again=("native-fp16",),
        after=3,
        epochs=30,
        target_accuracy=90.0,
        extra_blocks=3,
        sweep=() if name == "standard" else (32, 64, 256, 512, 1024, 2048),
        capacity=name == "full",
        extra_recipes=() if name == "standard" else tuple(recipe for recipe in RECIPES if recipe != "plain"),
        extra_workloads=() if name == "standard" else (VIT, LOADER, MLP),
    )

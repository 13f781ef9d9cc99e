"""The arms: one way of training each, and what each needs to run.

`apex_o1.py` is legacy code on purpose. `native_amp.py` and its twin for the CPU are what the codemod makes
of it, for the two devices; a test holds them together, so that what is compared here is what users get.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from ..spec import Device

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

Precision = Literal["float32", "tf32", "float16", "bfloat16"]


class Arm(Protocol):
    """One way of training. `model` may be wrapped by the caller after `setup` (DistributedDataParallel)."""

    model: nn.Module

    def setup(self, model: nn.Module, optimizer: Optimizer) -> None:
        """Compile, convert, initialize. The model already lies on the device."""

    def train_step(self, images: Tensor, labels: Tensor) -> Tensor:
        """Forward, loss, backward, clip, step. The loss, detached; nothing waits for the device."""

    def evaluate(self, images: Tensor) -> Tensor:
        """Logits, without gradients."""

    def loss_scale(self) -> float | None:
        """The present loss scale (waits for the device), None without one."""

    def state_dict(self) -> dict[str, object]:
        """What a checkpoint of this arm holds."""


@dataclass(frozen=True)
class Recipe:
    """What a step does beside forward, backward and step."""

    name: str
    max_norm: float | None = None
    """Clip the gradient's norm to this."""
    accumulate: int = 1
    """Batches whose gradients are added up before a step."""
    penalty: float = 0.0
    """Weight of the gradient penalty; above zero only arms with a class for it can run."""


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("plain"),
        Recipe("clip", max_norm=1.0),
        Recipe("accumulate", accumulate=4),
        Recipe("gradient-penalty", penalty=0.1),
    )
}


@dataclass(frozen=True)
class ArmInfo:
    """An arm by name: where its code is, and what it needs."""

    name: str
    title: str
    precision: Precision
    cuda: str | None
    """`module:Class` on CUDA."""
    cpu: str | None = None
    """`module:Class` on a CPU, None where there is no such arm."""
    penalty: str | None = None
    """`module:Class` with the gradient penalty, on any device that the arm knows."""
    apex: bool = False
    compiled: bool = False
    fused_optimizer: bool = False

    @property
    def tf32(self) -> bool:
        """Whether TensorFloat-32 is on; it is off in every other arm."""
        return self.precision == "tf32"

    def target(self, recipe: Recipe, device: Device) -> str | None:
        """`module:Class` for this recipe on this device, None if there is none."""
        if recipe.penalty:
            return self.penalty if device == "cuda" or self.cpu else None
        return self.cuda if device == "cuda" else self.cpu


_FP32 = f"{__name__}.fp32:Fp32"
_PENALTY = f"{__name__}.gradient_penalty"

ARMS: dict[str, ArmInfo] = {
    arm.name: arm
    for arm in (
        ArmInfo("fp32", "FP32, TF32 off", "float32", _FP32, _FP32, f"{_PENALTY}:Fp32"),
        ArmInfo("tf32", "FP32 with TF32", "tf32", _FP32, None, f"{_PENALTY}:Fp32"),
        ArmInfo("apex-o1", "Apex amp O1", "float16", f"{__name__}.apex_o1:ApexO1", apex=True),
        ArmInfo("apex-o2", "Apex amp O2", "float16", f"{__name__}.apex_o2:ApexO2", apex=True),
        ArmInfo(
            "native-fp16",
            "native AMP, float16",
            "float16",
            f"{__name__}.native_amp:NativeAmp",
            f"{__name__}.native_amp_cpu:NativeAmp",
            f"{_PENALTY}:NativeFp16",
        ),
        ArmInfo(
            "native-bf16",
            "native AMP, bfloat16",
            "bfloat16",
            f"{__name__}.native_bf16:NativeBf16",
            f"{__name__}.native_bf16:NativeBf16",
            f"{_PENALTY}:NativeBf16",
        ),
        ArmInfo(
            "native-fp16-channels-last",
            "native AMP, float16, channels last",
            "float16",
            f"{__name__}.unlocked:NativeFp16ChannelsLast",
        ),
        ArmInfo(
            "native-fp16-compile",
            "native AMP, float16, torch.compile",
            "float16",
            f"{__name__}.unlocked:NativeFp16Compile",
            compiled=True,
        ),
        ArmInfo(
            "native-best",
            "native AMP, bfloat16, channels last, torch.compile, fused optimizer",
            "bfloat16",
            f"{__name__}.unlocked:NativeBest",
            compiled=True,
            fused_optimizer=True,
        ),
    )
}


def load(target: str) -> Callable[..., Arm]:
    """The class that `module:Class` names."""
    module, _, name = target.partition(":")
    found: Callable[..., Arm] = getattr(importlib.import_module(module), name)
    return found

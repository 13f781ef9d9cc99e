"""What the migration unlocks: memory layout, compilation and fused optimizers, which Apex O1 does not go with.

Apex replaces torch's Python functions, so `torch.compile` breaks its graph at every one of them; its
casts hide what a fused optimizer needs to know. Autocast is part of the dispatcher and goes with all three.
"""

from __future__ import annotations

import torch
import torch._functorch.config as functorch_config
from torch import Tensor, nn
from torch.optim import Optimizer

from .native_amp import NativeAmp
from .native_bf16 import NativeBf16


class NativeFp16ChannelsLast(NativeAmp):
    """Images and weights in the layout that tensor cores read without a transposition."""

    def setup(self, model: nn.Module, optimizer: Optimizer) -> None:
        super().setup(_weights_channels_last(model), optimizer)

    def train_step(self, images: Tensor, labels: Tensor) -> Tensor:
        return super().train_step(_channels_last(images), labels)

    def evaluate(self, images: Tensor) -> Tensor:
        return super().evaluate(_channels_last(images))


class NativeFp16Compile(NativeAmp):
    """The model compiled."""

    def setup(self, model: nn.Module, optimizer: Optimizer) -> None:
        super().setup(_compiled(model), optimizer)


class NativeBest(NativeBf16):
    """Channels last, compiled, in bfloat16; its optimizer is built fused (`ArmInfo.fused_optimizer`)."""

    def setup(self, model: nn.Module, optimizer: Optimizer) -> None:
        super().setup(_compiled(_weights_channels_last(model)), optimizer)

    def train_step(self, images: Tensor, labels: Tensor) -> Tensor:
        return super().train_step(_channels_last(images), labels)

    def evaluate(self, images: Tensor) -> Tensor:
        return super().evaluate(_channels_last(images))


def _channels_last(images: Tensor) -> Tensor:
    """The batch in channels-last layout; what has no channels stays as it is (the MLP)."""
    return images.contiguous(memory_format=torch.channels_last) if images.dim() == 4 else images


def _weights_channels_last(model: nn.Module) -> nn.Module:
    converted: nn.Module = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return converted


def _compiled(model: nn.Module) -> nn.Module:
    """The model, compiled in place, so that its parameters keep their names.

    `Module.compile` would leave a container of torch's own, such as `nn.Sequential`, uncompiled without a word: it
    starts at `_call_impl`, and dynamo skips torch's own files (torch 2.11).

    Autocast surrounds the forward only, as PyTorch teaches it, so the compiled backward must not be
    traced as if it ran under autocast too, which is the default (torch 2.11).
    """
    functorch_config.backward_pass_autocast = "off"
    model.forward = torch.compile(model.forward)
    return model

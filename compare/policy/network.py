"""The aten ops, with their dtypes, that one forward pass of the comparison's network runs.

Like the probe of single ops it needs no GPU: model, images and labels are fake CUDA tensors. The loss belongs
to the trace, since it is there that O1 and native autocast part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from .meanings import same_as_apex
from .probe import Call, Guard, Log, cuda_autocast, dtype_name, fake_cuda, quiet

BATCH = 2

_KINDS = {
    "convolution": "convolutions",
    "batch_norm": "batch norms",
    "mm": "matrix products",
    "addmm": "matrix products",
    "bmm": "matrix products",
    "linear": "matrix products",
    "relu": "activations",
    "relu_": "activations",
    "add": "additions",
    "add_": "additions",
}


@dataclass(frozen=True)
class NetworkTrace:
    """One forward pass and its loss. `calls` counts equal aten ops; casts are among them, views are not."""

    calls: tuple[tuple[Call, int], ...]
    logits: str
    loss: str

    def summary(self) -> dict[str, dict[str, int]]:
        """By kind of op (`convolutions`, `batch norms`, `casts`, …): how many by `inputs -> outputs`."""
        kinds: dict[str, dict[str, int]] = {}
        for call, count in self.calls:
            kind = "casts" if call.is_cast else _KINDS.get(call.op, call.op)
            dtypes = f"{' x '.join(call.inputs)} -> {', '.join(call.outputs)}"
            group = kinds.setdefault(kind, {})
            group[dtypes] = group.get(dtypes, 0) + count
        return kinds

    def to_json(self) -> dict[str, Any]:
        return {"logits": self.logits, "loss": self.loss, "calls": {str(call): count for call, count in self.calls}}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> NetworkTrace:
        calls = tuple((Call.parse(text), count) for text, count in data["calls"].items())
        return cls(calls, data["logits"], data["loss"])


def resnet50() -> nn.Module:
    """The network of the comparison: torchvision's ResNet50 with a CIFAR stem, ten classes."""
    from torchvision.models import resnet50 as build

    model: Any = build(weights=None, num_classes=10)
    model.conv1 = nn.Conv2d(3, 64, kernel_size=3, stride=1, padding=1, bias=False)
    model.maxpool = nn.Identity()
    network: nn.Module = model
    return network


def trace(
    model_builder: Callable[[], nn.Module] = resnet50,
    *,
    dtype: str | None = "float16",
    image: tuple[int, int, int] = (3, 32, 32),
    below: Guard = nullcontext,
) -> NetworkTrace:
    """A training forward with cross entropy under native autocast to `dtype`; None: without autocast.

    `model_builder` makes a model for images (channels, height, width) and at least one class; batch 2. `below`
    is for patched processes (see `probe.Log`).
    """
    log = Log(below)
    cast = cuda_autocast(getattr(torch, dtype)) if dtype else nullcontext()
    with quiet(), fake_cuda():
        with torch.device("cuda"):
            model = model_builder().train()
            images, labels = torch.empty(BATCH, *image), torch.empty(BATCH, dtype=torch.int64)
        with log, cast:
            logits = model(images)
            loss = F.cross_entropy(logits, labels)
    counts = Counter(call for call in log.calls if call.is_cast or call.computes)
    return NetworkTrace(tuple(counts.items()), dtype_name(logits.dtype), dtype_name(loss.dtype))


def _without_casts(seen: NetworkTrace) -> Counter[Call]:
    return Counter({call: count for call, count in seen.calls if not call.is_cast})


def _in_apex_terms(seen: NetworkTrace, low: str) -> dict[Call, Call]:
    """By the call with float16 in the place of `low`: the call as it was."""
    calls = (call for call, _ in seen.calls)
    return {Call(each.op, same_as_apex(each.inputs, low), same_as_apex(each.outputs, low)): each for each in calls}


def _parted(apex: NetworkTrace, native: NetworkTrace, low: str) -> tuple[int, list[str]]:
    """How many ops are the same, and a line for each that is not."""
    names = _in_apex_terms(native, low)
    left, native_calls = _without_casts(apex), _without_casts(native)
    right = Counter({mapped: native_calls[call] for mapped, call in names.items() if native_calls[call]})
    lines = [f"Apex O1 only: {count} x {call}" for call, count in (left - right).items()]
    lines += [f"native only: {count} x {names[call]}" for call, count in (right - left).items()]
    return (left & right).total(), lines


def differences(apex: NetworkTrace, native: NetworkTrace, low: str = "float16") -> tuple[str, ...]:
    """Each op that one of the two runs more often in these dtypes; casts are left out. Empty: the same ops.

    `low` is what native casts to: it stands for O1's float16.
    """
    return tuple(_parted(apex, native, low)[1])


def conclusion(apex: NetworkTrace, native: NetworkTrace, low: str = "float16") -> str:
    """One sentence: whether O1 and native run the same ops in the same dtypes."""
    shared, lines = _parted(apex, native, low)
    dtypes = "in the same dtypes" if low == "float16" else f"in the same dtypes but for {low} in the place of float16"
    if not lines:
        return f"O1 and native run the same {shared} ops {dtypes}."
    total = _without_casts(native).total()
    return f"O1 and native run {shared} of {total} ops {dtypes}; they differ in: {'; '.join(lines)}."

"""The workloads that come with the comparison: what the rest of it has to know of each without building it.

Nothing here imports torch. A workload of the user's own (`package.module:function`) has no entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..spec import LOADER, MLP, RESNET50, VIT
from . import sizes


@dataclass(frozen=True)
class Known:
    """One workload by name."""

    name: str
    target: str
    """`package.module:function` that builds it."""
    title: str
    """The network in words."""
    forward: Callable[[str], float]
    """Operations (a product and a sum are two) of a forward for one sample, by the stem."""
    images: bool = True
    """Whether it classifies the images of the session's data; else it makes random numbers, which have no accuracy."""
    stems: bool = False
    """Whether the network has a choice of stems."""
    batch: int | None = None
    """Its batch where none is asked for, None for the session's."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """By recipe that it cannot be trained with: why, as a clause."""
    loads: str | None = None
    """The workload that it is but for its batches: these come from a loader within the timed steps."""


_HERE = __name__.rpartition(".")[0]

KNOWN: dict[str, Known] = {
    one.name: one
    for one in (
        Known(
            RESNET50,
            f"{_HERE}.resnet50_cifar10:build",
            "torchvision's ResNet50",
            sizes.resnet50_forward,
            stems=True,
        ),
        Known(
            VIT,
            f"{_HERE}.vit_cifar10:build",
            f"torchvision's vision transformer ({sizes.VIT.layers} layers, {sizes.VIT.width} wide, "
            f"{sizes.VIT.heads} heads, patches of {sizes.VIT.patch}x{sizes.VIT.patch})",
            lambda stem: sizes.vit_forward(sizes.VIT),
            # pytorch/pytorch issue 116350. The plain kernel has one, but is not what a training runs.
            cannot={"gradient-penalty": "torch's fused kernels of attention have no second derivative"},
        ),
        Known(
            LOADER,
            f"{_HERE}.resnet50_cifar10_loader:build",
            "torchvision's ResNet50 with batches from a DataLoader, whose workers decode JPEG and augment on the CPU",
            sizes.resnet50_forward,
            stems=True,
            loads=RESNET50,
        ),
        Known(
            MLP,
            f"{_HERE}.mlp:build",
            "the three-layer perceptron of PyTorch's AMP recipe",
            lambda stem: sizes.mlp_forward(),
            images=False,
            batch=512,
        ),
    )
}


def known(workload: str) -> Known | None:
    """What is known of a workload, None for a user's own."""
    return KNOWN.get(workload)


def takes_images(workload: str) -> bool:
    """Whether it is known to train on the images of the session's data."""
    found = KNOWN.get(workload)
    return found is not None and found.images


def loads(workload: str) -> bool:
    """Whether its batches come from a loader within the timed steps."""
    found = KNOWN.get(workload)
    return found is not None and found.loads is not None


def batch_of(workload: str, session: int) -> int:
    """The batch it is measured with beside a session whose batch is `session`."""
    found = KNOWN.get(workload)
    return found.batch if found is not None and found.batch is not None else session

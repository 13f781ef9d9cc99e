"""ResNet50 on CIFAR-10: torchvision's network, SGD with Nesterov momentum, cosine schedule, crop and flip."""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import SGD
from torchvision.models import ResNet, resnet50

from ..data import load
from ..errors import UserError
from . import WARMUP, BatchSource, Job, Setting, cosine
from .images import on_device

LEARNING_RATE = 0.1
"""Peak for `REFERENCE_BATCH` samples in a step, scaled linearly with the samples of all processes."""
REFERENCE_BATCH = 128
SETTLING, AT_MOST = 390, 1 / 3
"""Steps in which the learning rate rises at least, and the share of all steps that they take at most. With a twentieth
of two epochs, and blocks that did not begin as the identity, the loss went from 2.5 to 17 in nine steps, in every arm:
where each ended was then chance."""
MOMENTUM = 0.9
WEIGHT_DECAY = 5e-4


def build(setting: Setting) -> Job:
    """The job. `setting.stem` is `cifar` or `imagenet`. Raises UserError for other stems and wrong data."""
    images = load(setting.data, setting.cache)
    return job(setting, on_device(images, setting), classes=len(images.classes))


def job(setting: Setting, batches: BatchSource, classes: int) -> Job:
    """The network and its training on these batches. Raises UserError for a stem that there is not."""
    # On the CPU first: its generator gives equal weights whatever the device.
    torch.manual_seed(setting.seed)
    model = network(setting.stem, classes).to(setting.device)
    peak = LEARNING_RATE * setting.batch * setting.world / REFERENCE_BATCH
    optimizer = SGD(
        model.parameters(),
        lr=peak,
        momentum=MOMENTUM,
        weight_decay=WEIGHT_DECAY,
        nesterov=True,
        fused=True if setting.fused else None,  # None leaves torch its own choice, which is foreach on CUDA
    )
    steps = setting.epochs * batches.steps_per_epoch
    schedule = cosine(peak, steps, warmup(steps))
    return Job(model, optimizer, nn.CrossEntropyLoss(), batches, schedule)


def warmup(steps: int) -> float:
    """The share of all steps in which the learning rate rises."""
    return max(WARMUP, min(SETTLING / steps, AT_MOST))


def network(stem: str, classes: int) -> ResNet:
    """ResNet50 with untrained weights from torch's global generator.

    The stem `imagenet` (7x7 with stride 2, then a max-pool) would leave 32x32 images 8x8 pixels at the first
    block and 1x1 at the last; `cifar` (3x3 with stride 1, no max-pool) keeps all 32x32 of them. Each block begins as
    the identity (`zero_init_residual`; Goyal et al., arXiv 1706.02677), without which the first steps are unstable.
    """
    if stem not in ("cifar", "imagenet"):
        raise UserError(f"There is no stem {stem}: choose cifar or imagenet.")
    model = resnet50(num_classes=classes, zero_init_residual=True)
    if stem == "cifar":
        model.conv1 = nn.Conv2d(3, 64, kernel_size=3, stride=1, padding=1, bias=False)
        nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")  # as torchvision's others
        model.maxpool = nn.Identity()
    return model

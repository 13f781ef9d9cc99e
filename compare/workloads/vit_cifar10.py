"""A small vision transformer on CIFAR-10: torchvision's network, AdamW, cosine schedule, crop and flip.

It has what ResNet50 has not and what the policies of Apex O1 and native AMP differ in: attention, layer norm, GELU.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import AdamW
from torchvision.models import VisionTransformer

from ..data import load
from . import Job, Setting, cosine
from .images import on_device
from .sizes import VIT, VitSizes

SIZES = VIT
LEARNING_RATE = 5e-4
"""Peak for `REFERENCE_BATCH` samples in a step. With Adam it goes with the root of their number
(Malladi et al. 2022, arXiv:2205.10287)."""
REFERENCE_BATCH = 128
WEIGHT_DECAY = 0.05
"""Of DeiT (arXiv:2012.12877), as are torch's own betas."""
WARMUP = 0.1
"""Share of all steps in which the learning rate rises: DeiT's 5 of 300 epochs would be 200 steps here, too few for
Adam's second moments to settle before the peak."""
HEAD_STD = 0.02
"""Standard deviation of the classifier's first weights."""


def build(setting: Setting) -> Job:
    """The job. `setting.stem` is not looked at. Raises UserError for wrong data."""
    images = load(setting.data, setting.cache)
    batches = on_device(images, setting)
    # On the CPU first: its generator gives equal weights whatever the device.
    torch.manual_seed(setting.seed)
    model = network(SIZES, len(images.classes)).to(setting.device)
    peak = LEARNING_RATE * (setting.batch * setting.world / REFERENCE_BATCH) ** 0.5
    optimizer = AdamW(
        model.parameters(),
        lr=peak,
        weight_decay=WEIGHT_DECAY,
        fused=True if setting.fused else None,  # None leaves torch its own choice, which is foreach on CUDA
    )
    schedule = cosine(peak, setting.epochs * batches.steps_per_epoch, WARMUP)
    return Job(model, optimizer, nn.CrossEntropyLoss(), batches, schedule)


def network(sizes: VitSizes, classes: int) -> VisionTransformer:
    """The transformer with untrained weights from torch's global generator. It drops nothing out: every arm would drop
    other values.

    torchvision starts the classifier at zero. Then the first logits are zero, and so are all gradients before it:
    nothing of step 0 could be compared. So it starts at small random values here, as DeiT's does.
    """
    model = VisionTransformer(
        image_size=sizes.image,
        patch_size=sizes.patch,
        num_layers=sizes.layers,
        num_heads=sizes.heads,
        hidden_dim=sizes.width,
        mlp_dim=sizes.mlp,
        num_classes=classes,
    )
    nn.init.trunc_normal_(model.heads.head.weight, std=HEAD_STD)
    return model

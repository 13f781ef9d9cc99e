"""Sizes of the networks, and the arithmetic that follows from them: what an estimate needs, without torch.

A product and the sum it goes into count as two operations. Norms, activations and softmax are left out, as is usual:
they cost memory traffic, not arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass

MLP_WIDTH = 4096
MLP_LAYERS = 3
"""Of PyTorch's AMP recipe."""


@dataclass(frozen=True)
class VitSizes:
    """Sizes of a vision transformer, by torchvision's meanings."""

    image: int = 32
    """Height and width of an image, in pixels."""
    patch: int = 4
    width: int = 384
    heads: int = 6
    mlp: int = 1536
    layers: int = 6
    classes: int = 10

    @property
    def tokens(self) -> int:
        """Patches of an image, and the class token."""
        return (self.image // self.patch) ** 2 + 1


VIT = VitSizes()
"""The block is ViT-S's (DeiT, arXiv:2012.12877: 384 wide, 6 heads of 64, MLP four times as wide), so that operations
stand in the proportion of networks in use, and heads of 64 are what the fused kernels of attention are made for. It has
half of ViT-S's twelve layers, 10.7 million parameters: more do not help on 50,000 images of 32x32. Patches of 4x4 give
65 tokens; those of 16x16 would give five, and no attention to speak of."""


def vit_forward(sizes: VitSizes) -> float:
    """Operations of a forward for one image: exact for products of matrices, the convolution of the patches among them.

    A layer has four projections of width x width and two of width x mlp for each token, and two products of
    tokens x tokens x width for the attention.
    """
    tokens, width = sizes.tokens, sizes.width
    patches = 2 * (tokens - 1) * 3 * sizes.patch**2 * width
    layer = 2 * tokens * (4 * width**2 + 2 * width * sizes.mlp) + 2 * 2 * tokens**2 * width
    return float(patches + sizes.layers * layer + 2 * width * sizes.classes)


def resnet50_forward(stem: str) -> float:
    """Operations of a forward for one image of 32x32 and ten classes, as torch's `FlopCounterMode` counts them."""
    return 2.0 * {"cifar": 1_297_829_888, "imagenet": 83_431_424}[stem]


def mlp_forward() -> float:
    return 2.0 * MLP_LAYERS * MLP_WIDTH**2

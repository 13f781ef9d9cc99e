"""Stands for a compiled extension: it has no kernels for half."""

import torch


def nms(scores, threshold):
    assert scores.dtype == torch.float32
    return (scores > threshold).float().mean()


def pool(features, size):
    assert features.dtype == torch.float32
    return torch.nn.functional.adaptive_max_pool2d(features, size)

"""A stand-in for torchvision: a few made-up pictures and a network that is small."""

from . import datasets, models, transforms

__all__ = ["datasets", "models", "transforms"]

"""A stand-in for torchvision: a few made-up pictures."""

from . import datasets, transforms

__all__ = ["datasets", "transforms"]

"""Moves legacy training code from NVIDIA Apex amp to native PyTorch AMP."""

__version__ = "0.1.0"

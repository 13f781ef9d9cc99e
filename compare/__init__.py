"""Compares training with NVIDIA Apex amp and with native PyTorch AMP."""

__version__ = "0.1.0"

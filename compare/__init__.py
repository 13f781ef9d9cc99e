"""Compares training with NVIDIA Apex amp and with native PyTorch AMP."""

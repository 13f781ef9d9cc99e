"""The tested pair of torch and torchvision loads, and runs the network that the comparison trains."""

from __future__ import annotations

import pytest


def test_torchvision_runs_its_resnet50() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed (the codemod itself needs none)")
    models = pytest.importorskip("torchvision.models", reason="torchvision is not installed")
    network = models.resnet50(weights=None, num_classes=10).eval()
    with torch.no_grad():
        assert network(torch.zeros(1, 3, 32, 32)).shape == (1, 10)

"""On a GPU with Apex itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch

from tests.verify.planted import CLASSIFIER
from tests.verify.test_command import verify


def _lacking() -> str | None:
    if not torch.cuda.is_available():
        return "torch can use no CUDA device here"
    try:
        import amp_C  # noqa: F401
        import apex.amp  # noqa: F401
    except ImportError as error:
        return f"no Apex that is built for this torch: {error}"
    return None


@pytest.mark.gpu
@pytest.mark.apex
@pytest.mark.skipif(_lacking() is not None, reason=str(_lacking()))
def test_apex_itself_beside_the_migration(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CLASSIFIER)
    done = verify("--json", "--", sys.executable, "train.py", cwd=tmp_path)
    said = json.loads(done.stdout)
    assert (said["device"], said["apex"]) == ("cuda", "real")
    assert said["skipped"] >= 1
    assert said["verdict"] in ("equal", "within noise"), said["parted"]

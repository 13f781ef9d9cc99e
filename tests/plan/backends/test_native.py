"""A native class that serves in the place of one that scales as Apex does, both imported by other names."""

from __future__ import annotations

import shutil
from pathlib import Path

from migrate import cli
from tests.equivalence.harness import HERE


def _migrated(tmp_path: Path, more: str) -> tuple[str, str]:
    folder = tmp_path / "project"
    shutil.copytree(HERE / "projects" / "backends_by_other_names", folder)
    scalers = folder / "scalers.py"
    scalers.write_text(scalers.read_text(encoding="utf-8") + more, encoding="utf-8")
    assert cli.main([str(folder), "--write", "-j", "1"]) == 0
    return (folder / "case.py").read_text(encoding="utf-8"), scalers.read_text(encoding="utf-8")


def test_what_nobody_makes_any_more_goes_with_its_import(tmp_path: Path) -> None:
    case, scalers = _migrated(tmp_path, "")
    assert "apex" not in scalers.lower() and "ApexScalerAccum" not in case and "import NativeScalerAccum" in case


def test_a_class_that_is_named_elsewhere_stays_and_is_native_inside(tmp_path: Path) -> None:
    """Nothing that runs it is known to initialize, which is no reason to overlook its step."""
    case, scalers = _migrated(tmp_path, '\n\nNAMES = ["ApexScalerAccum"]\n')
    assert "class ApexScalerAccum:" in scalers and ".scaler.step(optimizer)" in scalers
    assert "import amp" not in case + scalers

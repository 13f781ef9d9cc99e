"""What a dry run prints of folders and its report are what they were: one folder for each shape of program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileAmberSnapshotExtension

from migrate import cli

PROJECTS = Path(__file__).parents[1] / "equivalence" / "projects"
FOLDERS = [
    "amp_as_argument",
    "args_amp_attribute",
    "availability_from_import",
    "casts_by_another_name",
    "circular_imports",
    "compat_star",
    "deit_main_engine",
    "evaluation_hands_on_half",
    "gan_optimizer_dict",
    "get_amp_lazy",
    "mm_hooks",
    "noam_wrapper_file",
    "o2_with_masters",
    "own_switch_stops",
    "package_reexports",
    "reid_processor",
    "subclass_overrides_step",
    "swin_utils_checkpoint",
    "timm_apex_scaler",
    "trainer_mixin_saver",
    "two_scripts_one_engine",
]


@pytest.mark.parametrize("name", FOLDERS)
def test_folder(
    name: str,
    snapshot: SnapshotAssertion,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(PROJECTS)
    code = cli.main([name, "-j", "1", "--report-json", str(tmp_path / "report.json")])
    printed = capsys.readouterr()
    assert printed.err == ""
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    lines = [f"exit code {code}", printed.out.replace(str(tmp_path), "TMP"), json.dumps(report, indent=1)]
    assert "\n".join(lines) == snapshot.use_extension(SingleFileAmberSnapshotExtension)

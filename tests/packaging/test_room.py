"""The whole command on trees: findings, edits, and that nothing else happens."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from migrate.cli import main
from migrate.report import json_report
from tests.shell.support import environment, leftovers, tree

TRAIN = """\
import torch
from apex import amp


def train(model, loader, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
BY_HAND = "from apex.contrib.sparsity import ASP\n\nASP.prune_trained_model(model, optimizer)\n"
NATIVE = "import torch\n"
DOCKER = "FROM pytorch/pytorch\n# Install apex\nRUN pip install git+https://github.com/NVIDIA/apex\nCOPY . .\n"
SETUP = "from setuptools import setup\n\nsetup(name='x', install_requires=['torch', 'apex'])\n"
AROUND = {
    "requirements.txt": "torch\napex\n",
    "setup.py": SETUP,
    "Dockerfile": DOCKER,
    "environment.yml": "name: x\ndependencies:\n  - pytorch\n  - nvidia-apex\n",
    "pyproject.toml": '[project]\nname = "x"\ndependencies = ["torch", "apex"]\n',
    "setup.cfg": "[options]\ninstall_requires =\n    torch\n    apex\n",
    "run.sh": "python train.py --opt-level O1\n",
    "README.md": "Install [apex](https://github.com/NVIDIA/apex).\n",
    ".gitmodules": '[submodule "apex"]\n\tpath = apex\n\turl = https://github.com/NVIDIA/apex\n',
}


def run(root: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the report of a run, which has to fit the schema."""
    output = io.StringIO()
    with redirect_stdout(output):
        code = main([str(root), "--format", "json", "-j", "1", *options])
    report: dict[str, Any] = json.loads(output.getvalue())
    jsonschema.validate(report, json_report.schema())
    return code, report


def printed(root: Path, *options: str) -> str:
    output = io.StringIO()
    with redirect_stdout(output):
        main([str(root), "--check", "-j", "1", *options])
    return output.getvalue()


def around(report: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found = {f["path"]: [one for one in f["findings"] if one["rule"] == "APX190"] for f in report["files"]}
    return {path: findings for path, findings in found.items() if findings}


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_what_surrounds_the_code_is_told_and_stays(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, **AROUND})
    before = contents(root)
    code, report = run(root)
    assert code == 1  # train.py is to change
    assert sorted(around(report)) == sorted(AROUND)
    for findings in around(report).values():
        for finding in findings:
            assert finding["severity"] == "info"
            assert "no file needs Apex any more" in finding["message"]
    assert contents(root) == before
    run(root, "--write")
    assert {name: data for name, data in contents(root).items() if name != "train.py"} == {
        name: data for name, data in before.items() if name != "train.py"
    }


def test_infos_are_no_reason_for_an_exit_code(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": NATIVE, **AROUND})
    code, report = run(root)
    assert code == 0
    assert around(report)
    assert "no file imports Apex" in json.dumps(report)


@pytest.mark.parametrize("option", ["--safe-only", "--keep-fused"])
def test_other_options_do_not_lose_them(tmp_path: Path, option: str) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, **AROUND})
    assert sorted(around(run(root, option)[1])) == sorted(AROUND)


def test_packaging_is_fixed(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, **AROUND})
    before = contents(root)
    code, report = run(root, "--fix-packaging")
    assert code == 1
    assert contents(root) == before
    changed = {file["path"] for file in report["files"] if file["status"] == "changed"}
    assert changed == {*AROUND, "train.py"} - {"run.sh", "README.md", ".gitmodules"}
    assert {change["rule"] for f in report["files"] for change in f["changes"] if f["path"] in AROUND} == {"APX191"}

    code, _ = run(root, "--fix-packaging", "--write")
    assert code == 0
    assert leftovers(root) == []
    after = contents(root)
    assert after["requirements.txt"] == b"torch\n"
    assert after["setup.py"] == SETUP.replace(", 'apex'", "").encode()
    assert after["Dockerfile"] == b"FROM pytorch/pytorch\nCOPY . .\n"
    assert after["environment.yml"] == b"name: x\ndependencies:\n  - pytorch\n"
    assert after["pyproject.toml"] == b'[project]\nname = "x"\ndependencies = ["torch"]\n'
    assert after["setup.cfg"] == b"[options]\ninstall_requires =\n    torch\n"
    for name in ("run.sh", "README.md", ".gitmodules"):
        assert after[name] == before[name]

    code, _ = run(root, "--fix-packaging", "--write")
    assert code == 0
    assert contents(root) == after


def test_a_dry_run_shows_the_diff(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, "requirements.txt": "torch\napex\n"})
    main([str(root), "--fix-packaging", "-j", "1"])
    assert (
        b"--- a/requirements.txt\n+++ b/requirements.txt\n@@ -1,2 +1 @@\n torch\n-apex\n"
        in capfdbinary.readouterr().out
    )


def test_code_may_be_migrated_first_and_packaging_later(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, "requirements.txt": "torch\napex\n"})
    run(root, "--write")
    assert (root / "requirements.txt").read_bytes() == b"torch\napex\n"
    run(root, "--write", "--fix-packaging")
    assert (root / "requirements.txt").read_bytes() == b"torch\n"


def test_nothing_goes_while_a_file_needs_apex(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, "prune.py": BY_HAND, **AROUND})
    before = contents(root)
    _, report = run(root, "--fix-packaging", "--write")
    after = contents(root)
    assert {name for name in after if after[name] != before[name]} <= {"train.py", "prune.py"}
    (found,) = around(report)["requirements.txt"]
    assert found["message"] == (
        "Apex is listed among what is installed; 1 file still needs Apex: prune.py, line 1, "
        "so --fix-packaging leaves this"
    )


@pytest.mark.parametrize(
    "files",
    [
        {"conf/adam.yaml": "optimizer:\n  _target_: apex.optimizers.FusedAdam\n"},
        {"run.sh": "python -m apex.parallel.multiproc train.py\n"},
        {"late.py": "def f():\n    import importlib\n    return importlib.import_module('apex.amp')\n"},
        {"old.py": "print 'python 2'\nfrom apex import amp\n"},
        {"large.py": "import apex\n" + "#\n" * 3_000_000},
        {"guard.py": "try:\n    import amp_C\nexcept ImportError:\n    amp_C = None  # apex\n"},
    ],
)
def test_who_else_needs_it(tmp_path: Path, files: dict[str, str]) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, "requirements.txt": "torch\napex\n", **files})
    run(root, "--fix-packaging", "--write")
    assert (root / "requirements.txt").read_bytes() == b"torch\napex\n"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("requirements.txt", b"torch\r\napex\r\ntqdm\r\n", b"torch\r\ntqdm\r\n"),
        ("requirements.txt", b"torch\napex", b"torch"),
        ("requirements.txt", b"\xef\xbb\xbfapex\ntorch\n", b"\xef\xbb\xbftorch\n"),
        ("requirements.txt", b"# na\xefve\ntorch\napex\n", b"# na\xefve\ntorch\n"),
        ("requirements.txt", "torch\r\napex\r\n".encode("utf-16"), "torch\r\n".encode("utf-16")),
        (
            "setup.py",
            b"\xef\xbb\xbfinstall_requires = ['apex', 'torch']\r\n",
            b"\xef\xbb\xbfinstall_requires = ['torch']\r\n",
        ),
        (
            "setup.py",
            b"# coding: latin-1\nrequires = ['\xe9', 'apex', 'torch']\n",
            b"# coding: latin-1\nrequires = ['\xe9', 'torch']\n",
        ),
    ],
)
def test_bytes_are_kept(tmp_path: Path, name: str, old: bytes, new: bytes) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, name: old})
    run(root, "--fix-packaging", "--write")
    assert (root / name).read_bytes() == new


def test_setup_py_may_be_code_too(tmp_path: Path) -> None:
    text = TRAIN.replace("import torch\n", "import torch\nfrom setuptools import setup\n")
    root = tree(tmp_path, {"setup.py": text + "\n\nsetup(install_requires=['apex', 'torch'])\n"})
    _, report = run(root, "--fix-packaging", "--write")
    after = (root / "setup.py").read_text()
    assert "setup(install_requires=['torch'])" in after
    assert "apex" not in after
    (file,) = report["files"]
    assert {"APX191", "APX020"} <= {change["rule"] for change in file["changes"]}


@pytest.mark.parametrize(
    "files",
    [
        {"requirements.txt": "pyramid\napex\n"},
        {"requirements.txt": "apex\n"},
        {"app.py": "from apex.models import AuthUser\n", "requirements.txt": "pyramid\napex==0.9.10dev\n"},
        {"web/package.json": '{"dependencies": {"apexcharts": "3"}}\n'},
        {"README.md": "The apex of the tree. Apex Legends on a GPU.\n"},
        {"docs/index.md": "Install Apex for fp16.\n"},
        {"run.sh": "gcc -O2 x.c\npython main.py --opt-level O1\n"},
        {"conf.json": '{"opt_level": "O1"}\n'},
        {"vocab.txt": "apart\napex\napple\n", "train.py": TRAIN},
        {"vocab.json": '{"apex": 13451}\n', "train.py": TRAIN},
        {"labels.json": '{"3": "apex"}\n', "train.py": TRAIN},
        {"text.txt": "converging at the apex of the triangle\n", "train.py": TRAIN},
        {"CHANGELOG.md": "- use NVIDIA apex\n", "train.py": TRAIN},
        {"ds.json": '{"fp16": {"loss_scale": 0, "initial_scale_power": 16}}\n', "train.py": TRAIN},
        {"far/away/in/tf/run.sh": "python x.py --loss-scale 128\n", "torch/train.py": TRAIN},
        {"node_modules/x/README.md": "https://github.com/NVIDIA/apex\n", "train.py": TRAIN},
    ],
)
def test_trees_with_nothing_to_say(tmp_path: Path, files: dict[str, str]) -> None:
    root = tree(tmp_path, files)
    before = contents(root)
    assert around(run(root, "--fix-packaging")[1]) == {}
    run(root, "--fix-packaging", "--write")
    assert {k: v for k, v in contents(root).items() if k != "train.py"} == {
        k: v for k, v in before.items() if k != "train.py"
    } or "torch/train.py" in files


def test_a_copy_of_apex_is_not_told_of_itself(tmp_path: Path) -> None:
    files = {"apex/__init__.py": "", "apex/amp/__init__.py": "", "README.md": "NVIDIA Apex\n", "setup.py": SETUP}
    assert around(run(tree(tmp_path, files))[1]) == {}


def test_only_what_is_named_is_looked_at(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, **AROUND})
    assert around(run(root / "train.py")[1]) == {}
    found = around(run(root / "train.py", str(root / "requirements.txt"))[1])
    assert [Path(path).name for path in found] == ["requirements.txt"]
    found = around(run(root, "--exclude", "requirements.txt")[1])
    assert "requirements.txt" not in found and "Dockerfile" in found


def test_without_python_files_nothing_goes(tmp_path: Path) -> None:
    root = tree(tmp_path, {"requirements.txt": "torch\ngit+https://github.com/NVIDIA/apex\n"})
    _, report = run(root / "requirements.txt", "--fix-packaging", "--write")
    assert "torch\ngit" in (root / "requirements.txt").read_text()
    assert "is not known" in next(iter(around(report).values()))[0]["message"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, "there/requirements.txt": "torch\napex\n"})
    os.mkfifo(root / "requirements.txt")
    (root / "a").mkdir()
    os.mkfifo(root / "a" / "setup.cfg")
    outside = tree(tmp_path.parent / f"{tmp_path.name}-outside", {"requirements.txt": "torch\napex\n"})
    (root / "requirements-dev.txt").symlink_to(outside / "requirements.txt")
    (root / "README.md").mkdir()
    _, report = run(root, "--fix-packaging", "--write")
    assert sorted(around(report)) == []
    assert (outside / "requirements.txt").read_text() == "torch\napex\n"
    assert (root / "there" / "requirements.txt").read_text() == "torch\n"


def test_large_files_are_no_text(tmp_path: Path) -> None:
    line = "https://github.com/NVIDIA/apex\n"
    root = tree(tmp_path, {"train.py": TRAIN, "a.txt": line * 20_000, "b.md": line * 200_000, "c.md": line})
    assert sorted(around(run(root)[1])) == ["c.md"]


def test_the_console_never_fills_more_than_a_screen(tmp_path: Path) -> None:
    few = tree(tmp_path / "few", {"train.py": NATIVE, **AROUND})
    text = printed(few)
    block = text[text.index("Around the code") :]
    assert "requirements.txt: line 2" in block
    many = {f"scripts/{number:03}.md": "NVIDIA Apex\n" * 30 for number in range(200)}
    text = printed(tree(tmp_path / "many", {"train.py": NATIVE, **many, **AROUND}))
    block = text[text.index("Around the code") :]
    assert len(block.splitlines()) < 30
    assert "and 200 more files; the JSON report (--report-json FILE) has all of them" in block
    assert "Nothing is left to do." in block


def test_one_finding_for_each_kind_of_mention(tmp_path: Path) -> None:
    text = "NVIDIA Apex\n\n    git clone https://github.com/NVIDIA/apex\n    cd apex\n\nNVIDIA Apex is fast\n"
    root = tree(tmp_path, {"train.py": TRAIN, "README.md": text})
    found = around(run(root)[1])["README.md"]
    assert [(one["line"], one["lines"]) for one in found] == [(1, [6]), (3, [4])]


def test_the_seed_of_hashes_makes_no_difference(tmp_path: Path) -> None:
    root = tree(tmp_path, {"train.py": TRAIN, "prune.py": BY_HAND, **AROUND})
    command = [sys.executable, "-m", "migrate", str(root), "--format", "json", "-j", "1"]
    outputs = {
        subprocess.run(
            command, env=environment(PYTHONHASHSEED=seed), capture_output=True, text=True, check=False
        ).stdout
        for seed in ("0", "1", "7")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("name", [name for name, text in AROUND.items() if "apex" in text])
def test_a_line_without_an_end_is_read_in_time(tmp_path: Path, name: str) -> None:
    root = tree(tmp_path, {"x.py": NATIVE, name: AROUND[name].replace("apex", f"apex{' ' * 100_000}x")})
    begun = time.process_time()
    run(root)
    assert time.process_time() - begun < 3

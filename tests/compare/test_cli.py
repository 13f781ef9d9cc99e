"""The command line as a user meets it: real processes, exit codes, one sentence for each wrong word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from compare import commands
from compare.analyse import analyse_folder
from compare.cli import _parser, main
from compare.errors import UserError
from compare.request import specification
from tests.compare.doubles import fake_smi
from tests.compare.made import NAN, OUT_OF_MEMORY, make_session

PROJECT = Path(__file__).parents[2]
TINY = ("--workload", "tests.compare.tiny:build", "--batch", "8")


def compare(*words: str, cwd: Path = PROJECT, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "compare", *words],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(PROJECT), **variables},
        capture_output=True,
        text=True,
    )


def test_a_whole_smoke_comparison_from_command_to_report(tmp_path: Path) -> None:
    out = tmp_path / "session"
    done = compare("run", "--profile", "smoke", "--out", str(out), *TINY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "apex-o1 is unavailable:" in done.stdout and "SMOKE" in done.stdout
    assert done.stdout.rstrip().endswith("report.html")
    results = json.loads((out / "results.json").read_text())
    assert results["schema"] == 1 and results["profile"] == "smoke"
    assert {arm["name"]: arm["status"] for arm in results["arms"]} == {
        "fp32": "ok",
        "apex-o1": "unavailable",
        "native-fp16": "ok",
        "native-bf16": "ok",
    }
    page = (out / "report.html").read_text()
    assert "SMOKE" in page and "no conclusion" in page.lower()
    assert (out / "report.md").exists() and list((out / "figures").glob("*.svg"))

    again = compare("report", str(out))
    assert again.returncode == 0 and (out / "report.html").read_text() == page


def test_an_arm_that_fails_is_exit_1_with_a_report(tmp_path: Path) -> None:
    out = tmp_path / "session"
    words = ("--arms", "fp32", "--seeds", "0", "--workload", "tests.compare.tiny:crashes", "--batch", "8")
    done = compare("run", "--profile", "smoke", "--out", str(out), *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "a fault that was built in" in done.stdout and (out / "report.html").exists()


def test_one_failed_run_of_several_is_a_failure_and_a_batch_that_does_not_fit_is_none(tmp_path: Path) -> None:
    """Of five trainings one diverges: the arm has a result, and still not all that was asked for."""
    diverged = analyse_folder(make_session(tmp_path / "diverged", failures=[NAN]))
    assert {arm.status for arm in diverged.arms} == {"ok"} and commands._failed(diverged)
    too_large = analyse_folder(make_session(tmp_path / "large", profile="full", failures=[OUT_OF_MEMORY]))
    assert too_large.failures and not commands._failed(too_large)
    at_its_own = replace(OUT_OF_MEMORY, batch=None)
    assert commands._failed(analyse_folder(make_session(tmp_path / "own", failures=[at_its_own])))


@pytest.mark.parametrize(
    ("words", "trained"),
    [
        (("--arms", "native-bf16,fp32"), ("fp32", "native-bf16")),
        (("--arms", "apex-o1"), ("apex-o1",)),
        (("--train", "none"), ()),
        (("--train", "native-bf16"), ("native-bf16",)),
    ],
)
def test_an_arm_that_no_profile_trains_is_trained_where_it_is_named(
    words: tuple[str, ...], trained: tuple[str, ...]
) -> None:
    asked = _parser().parse_args(["run", "--profile", "smoke", *words])
    assert specification(asked, "cpu").trained == trained


def test_an_arm_that_is_not_of_the_session_cannot_be_trained() -> None:
    asked = _parser().parse_args(["run", "--profile", "smoke", "--arms", "fp32", "--train", "native-bf16"])
    with pytest.raises(UserError, match=r"--train takes arms of this session \(fp32\) or none"):
        specification(asked, "cpu")


def test_the_plan_runs_nothing_and_writes_nothing(tmp_path: Path) -> None:
    done = compare("run", "--plan", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "about" in done.stdout and "processes" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "--profile", "large"), "There is no profile 'large'"),
        (("run", "--data", "/nowhere/at/all"), "/nowhere/at/all does not exist"),
        (("run", "--plan", "--data", "/nowhere/at/all"), "/nowhere/at/all does not exist"),
        (("run", "--plan", "--out", "/etc/passwd/session"), "is a file"),
        (("run", "--workload", "tests.compare.tiny:absent"), "absent"),
        (("report", "/nowhere/at/all"), "/nowhere/at/all"),
        (("run", "--out", "/proc/session"), "cannot be written"),
    ],
)
def test_a_wrong_word_is_one_sentence_and_exit_2(
    words: tuple[str, ...],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process: a new one imports torch first. That the command is a process of its own is tried above."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert main(list(words)) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") <= 2
    assert said.startswith("amp-compare: ")
    assert list(tmp_path.iterdir()) == [], "something was written before the refusal"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--profile", "standard"), "needs a CUDA GPU"),
        (("--arms", "fp32,apex-o7"), "There is no arm apex-o7"),
        (("--arms", "help"), "These arms are there"),
        (("--recipe", "cake"), "There is no recipe 'cake'"),
        (("--budget", "soon"), "--budget takes a time such as"),
        (("--budget", "0m"), "--budget takes a time such as"),
        (("--epochs", "0"), "--epochs takes a whole number of at least 1"),
        (("--seeds", "-1"), "--seeds takes a whole number of at least 0"),
        (("--margin", "-0.5"), "--margin takes a number above 0"),
        (("--sweep", "1,two"), "--sweep takes batch sizes"),
        (("--leave-out", "slow"), "--leave-out takes throttled or shared"),
        (("--nnodes", "2"), "which --engine slurm hands out"),
    ],
)
def test_a_wrong_word_is_refused_with_the_specification(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        specification(_parser().parse_args(["run", *words]), "cpu")
    assert sentence in str(refused.value)


def test_the_console_script_finds_a_network_in_the_folder_it_is_started_in(tmp_path: Path) -> None:
    folder = tmp_path / "a b \u00e4"
    folder.mkdir()
    (folder / "mine.py").write_text("def build(setting): ...", encoding="utf-8")
    script = "import sys; sys.path.remove(''); from compare.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "--workload", "mine:build", "--profile", "smoke", "--plan"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "CUDA_VISIBLE_DEVICES": "", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "how long a step of your network takes is not known" in done.stdout


def test_a_reader_that_goes_away_is_no_error_of_the_policy(tmp_path: Path) -> None:
    command = f"{sys.executable} -m compare policy --all; echo $? >{tmp_path / 'code'}"
    subprocess.run(["bash", "-c", f"({command}) | true"], cwd=PROJECT, check=False, capture_output=True)
    assert (tmp_path / "code").read_text().strip() == "0"


def test_no_command_is_wrong_usage() -> None:
    assert compare().returncode == 2


def test_help_and_version_are_no_errors() -> None:
    assert compare("--version").stdout.startswith("amp-compare ")
    for words in (("--help",), ("run", "--help"), ("policy", "--help")):
        assert compare(*words).returncode == 0


def test_a_missing_library_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'matplotlib' else find(name, *rest)\n"
    )
    done = compare("run", "--plan", PYTHONPATH=f"{tmp_path}{os.pathsep}{PROJECT}")
    assert done.returncode == 2 and "matplotlib cannot be imported: install the extra" in done.stderr


def asked_of_make(words: list[str], given: dict[str, str], before: bool) -> subprocess.CompletedProcess[str]:
    """make with words, given behind it or in the environment."""
    own = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    command = ["make", *words]
    if before:
        own |= given
    else:
        command += [f"{name}={value}" for name, value in given.items()]
    if "PYTHON" not in given:
        command.append(f"PYTHON={sys.executable}")
    return subprocess.run(command, cwd=PROJECT, env=own, capture_output=True, text=True)


@pytest.mark.parametrize("before", [False, True], ids=["behind make", "before it"])
@pytest.mark.parametrize(("word", "sentence"), [("SEED=3", "SEED"), ("profile=quick", "profile")])
def test_make_refuses_a_word_that_nothing_reads(word: str, sentence: str, before: bool) -> None:
    done = asked_of_make(["compare", "DATA=/a folder"], dict([word.split("=")]), before)
    assert done.returncode == 2 and f"{sentence}: make compare knows no such word" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("before", [False, True], ids=["word", "environment"])
@pytest.mark.parametrize(
    ("target", "word"),
    [
        ("generated", "SEED=3"),
        ("fuzz", "seconds=60"),
        ("mutants", "SEEDS=3"),
        ("torture", "seed=3"),
        ("migrate", "target=train.py"),
    ],
)
def test_make_refuses_a_word_that_a_long_run_does_not_read(target: str, word: str, before: bool) -> None:
    done = asked_of_make([target], dict([word.split("=")]), before)
    assert done.returncode == 2 and done.stdout == ""
    assert f"{word.partition('=')[0]}: make {target} knows no such word" in done.stderr


@pytest.mark.parametrize("target", ["compare", "generated", "fuzz", "mutants", "torture", "migrate"])
def test_make_refuses_a_misspelt_word_and_names_the_right_ones(target: str) -> None:
    done = asked_of_make(["-n", target], {"SEDE": "3"}, before=False)
    assert done.returncode == 2 and f"SEDE: make {target} knows no such word; it knows " in done.stderr
    known = done.stderr.partition("it knows ")[2].partition(".")[0].split()
    assert "PYTHON" in known
    right = asked_of_make(["-n", target], dict.fromkeys(known, "1"), before=False)
    assert right.returncode == 0, right.stderr
    somebody_elses = asked_of_make(["-n", target], {"SEDE": "3"}, before=True)
    assert somebody_elses.returncode == 0, somebody_elses.stderr


def test_two_long_runs_take_the_words_of_both() -> None:
    words = {"KILLS": "3", "SECONDS": "1", "SEED": "2"}
    assert asked_of_make(["-n", "fuzz", "torture"], words, before=False).returncode == 0
    assert asked_of_make(["-n", "fuzz"], words, before=False).returncode == 2


def test_a_gpu_that_torch_cannot_use_is_never_a_smoke_run(tmp_path: Path) -> None:
    """A driver that sees a GPU (a script in the place of nvidia-smi) beside a torch that can use none."""
    fake = fake_smi(tmp_path / "bin").parent
    done = compare("run", "--plan", cwd=tmp_path, PATH=f"{fake}:{os.environ['PATH']}")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "550.54.15" in done.stderr and "torch" in done.stderr
    assert not (tmp_path / "reports").exists()


def test_the_policy_command_needs_no_gpu() -> None:
    done = compare("policy", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)

"""The one command for a GPU machine: run to its end with CUDA faked, cut short, and gone on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from compare import folders, home
from compare.analyse import analyse_folder
from compare.records import Busy, Ended, Memory, Run, Sample, Started, Window, read_session
from tests.compare import real_run
from tests.compare.doubles import H100, fake_smi
from tests.compare.real_run import KEPT, Step, carry_out, steps
from tests.effort import long

PROJECT = Path(__file__).parents[2]
DOUBLES = (PROJECT / "tests" / "compare" / "cuda_double", PROJECT / "migrate" / "verify" / "double")


def with_cuda_on_a_cpu(folder: Path) -> dict[str, str]:
    """The environment of a machine whose GPU is a double, with the double of Apex."""
    fake_smi(folder / "bin")
    own = folder / "tmp"  # the lock of the GPU lies there: another process of the tests has a machine of its own
    own.mkdir(exist_ok=True)
    return {
        **os.environ,
        "TMPDIR": str(own),
        "CUDA_ON_CPU": "1",
        "PYTHONPATH": os.pathsep.join(map(str, (*DOUBLES, PROJECT))),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
    }


# ------------------------------------------------------------------ with CUDA faked


@pytest.fixture(scope="module")
def dry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`quick` by the one command, real processes, three arms."""
    folder = tmp_path_factory.mktemp("dry")
    words = ["--work", str(folder / "work"), "--copy", str(folder / "kept"), "--data", "synthetic:96,32"]
    words += ["--only", "quick", "--arms", "apex-o1,native-fp16,fp32"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.compare.real_run", *words],
        cwd=PROJECT,
        env=with_cuda_on_a_cpu(folder),
        capture_output=True,
        text=True,
    )
    log = folder / "work" / "quick.log"
    assert done.returncode == 0, (done.stdout, done.stderr, log.read_text() if log.exists() else "")
    return folder / "work" / "reports" / "quick"


@long
def test_every_task_ends_well_on_the_branches_of_cuda(dry: Path) -> None:
    session = read_session(dry)
    assert session.spec.device == "cuda" and session.spec.profile == "quick"
    kinds = {"speed", "train", "after"}
    expected = {(kind, arm) for kind in kinds for arm in ("fp32", "apex-o1", "native-fp16")}
    assert {(run.task.kind, run.task.arm) for run in session.runs} == expected
    assert {run.status for run in session.runs} == {"ok"}
    timed = [run for run in session.runs if run.task.kind == "speed"]
    assert {window.clock for run in timed for window in run.of(Window)} == {"cuda-events"}
    for run in timed:
        _measured(run)
    states = [state.gpu for run in session.runs for state in (*run.of(Started), *run.of(Ended))]
    assert all(state and state["power_w"] == 71.53 for state in states)


def _measured(run: Run) -> None:
    memory, busy = run.last(Memory), run.last(Busy)
    assert memory is not None and 0 < memory.allocated < memory.reserved < (memory.device_used or 0) < 80 * 2**30
    assert memory.data > 96 * 3 * 32 * 32, "the images lie on the device"
    assert busy is not None and busy.share is not None and 0 < busy.share <= 1 and busy.launches
    assert all(0 < time_ms < 60_000 for window in run.of(Window) for time_ms in window.step_ms)


def test_its_report_knows_the_machine_and_says_what_went_on(dry: Path) -> None:
    results = analyse_folder(dry)
    assert results.complete and results.failures == () and not results.smoke
    assert results.environment["gpu"] == "NVIDIA H100 80GB HBM3" and results.environment["driver"] == "550.54.15"
    assert results.environment["gpu_memory"] == 80 * 2**30 and results.environment["compute_capability"] == "9.0"
    native = results.arm("native-fp16")
    assert native is not None and native.memory is not None and native.steps is not None
    assert native.steps.busy_share is not None and native.images_per_s is not None
    assert [one.baseline for one in native.after] == ["fp32", "apex-o1"]
    assert 0 < (native.after[0].gradients or 0) < 1, "float16 was not cast to"
    pair = results.pair("native-fp16", "apex-o1")
    assert pair is not None and pair.speed is not None and pair.memory is not None
    assert (dry / "report.html").stat().st_size > 100_000
    kept = dry.parents[2] / "kept"
    assert {path.name for path in kept.iterdir()} == {KEPT, "summary.md"}
    with tarfile.open(kept / KEPT) as archive:
        names = archive.getnames()
    assert "./reports/quick/results.json" in names and "./reports/quick/session.jsonl" in names
    assert not [name for name in names if name.endswith(".pt") or "/checkpoints" in name]
    assert not list((dry / "checkpoints").iterdir())


def test_the_machine_is_sampled_by_the_number_of_the_gpu(dry: Path) -> None:
    samples = [sample for found in read_session(dry).samples.values() for sample in found]
    assert samples and all(isinstance(sample, Sample) for sample in samples)
    assert {sample.sm_mhz for sample in samples if sample.sm_mhz is not None} == {345}


# ------------------------------------------------------------------ what a machine with a GPU refuses


def on_the_double(folder: Path, *others: tuple[dict[str, str], tuple[str, ...]]) -> subprocess.CompletedProcess[str]:
    """`compare run` of one arm, which would run in a moment, once for each pair of variables and words."""
    command = [sys.executable, "-c", RUNS, "run", "--profile", "quick", "--arms", "fp32"]
    where = ["--data", "synthetic:96,32", "--out", str(folder / "session")]
    return subprocess.run(
        [*command, *where],
        cwd=PROJECT,
        env={**with_cuda_on_a_cpu(folder), "OTHERS": json.dumps(others or [({}, ())])},
        capture_output=True,
        text=True,
    )


#: All in one process: torch takes longer to import than all refusals together.
RUNS = """
import json, os, sys
from compare.cli import main
ends = []
for more, words in json.loads(os.environ.pop("OTHERS")):
    os.environ |= more
    ends.append(main([*sys.argv[1:], *words]))
    for name in more:
        del os.environ[name]
print(ends)
"""


def test_what_cannot_be_is_refused_before_anything_runs(tmp_path: Path) -> None:
    blocking = ({"CUDA_LAUNCH_BLOCKING": "1"}, ())
    done = on_the_double(tmp_path, blocking, ({}, ("--nproc", "2")), ({}, ("--gpus", "0,7")))
    assert done.stdout.endswith("[2, 2, 2]\n"), done.stdout + done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("amp-compare: ")]
    sentences = [
        "CUDA_LAUNCH_BLOCKING=1 is set",
        "--nproc 2 takes a GPU a process, and torch sees 1 GPU here",
        "--gpus names GPU 7, and the driver's last is GPU 0",
    ]
    assert all(sentence in one for sentence, one in zip(sentences, said, strict=True)), done.stderr
    assert not (tmp_path / "session").exists()


def test_a_gpu_that_another_session_holds_is_not_computed_on(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with folders.gpu_alone(H100["uuid"], tmp_path / "tmp"):
        done = on_the_double(tmp_path)
    assert done.stdout.endswith("[2]\n") and "Another comparison is running on this GPU" in done.stderr
    assert not (tmp_path / "session" / "runs").exists()


# ------------------------------------------------------------------ the double itself


def test_events_of_the_double_are_as_strict_as_cudas(tmp_path: Path) -> None:
    script = """
import torch
one, two = (torch.cuda.Event(enable_timing=True) for _ in range(2))
one.record(); two.record()
try:
    one.elapsed_time(two)
except RuntimeError as error:
    print(error)
torch.cuda.synchronize(torch.device("cuda", 0))
assert one.elapsed_time(two) >= 0
try:
    torch.cuda.synchronize(torch.device("cpu"))
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env=with_cuda_on_a_cpu(tmp_path), capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [
        "CUDA error: device not ready",
        "Expected a cuda device, but got: cpu",
    ], done.stderr


# ------------------------------------------------------------------ the command itself


def python(name: str, script: str, **options: object) -> Step:
    return Step(name, (sys.executable, "-c", script), **options)  # type: ignore[arg-type]


def states(work: Path) -> dict[str, str]:
    return {name: state["status"] for name, state in json.loads((work / "state.json").read_text()).items()}


def test_steps_come_in_order_of_value() -> None:
    names = [step.name for step in steps(Path("work"), None, "12m", ["fp32", "apex-o1"], "")]
    assert names == ["apex", "tests", "quick", "standard", "sweep", "clip", "accumulate", "gradient-penalty"]
    words = {step.name: step.command for step in steps(Path("work"), "/data", "12m", ["fp32", "apex-o1"], "")}
    assert words["standard"][-4:] == ("--seeds", "3", "--budget", "12m")
    assert "gpu or apex" in words["tests"] and "/data" in words["sweep"]


def test_what_is_done_is_not_done_again_and_a_failure_stops_nothing(tmp_path: Path) -> None:
    note = f"open({str(tmp_path / 'ran')!r}, 'a').write"
    todo = [python("one", f"{note}('1'); print('said'); raise SystemExit(4)"), python("two", f"{note}('2')")]
    until = time.monotonic() + 600
    assert carry_out(todo, tmp_path / "work", until, tmp_path / "kept", retry=False) == 1
    assert states(tmp_path / "work") == {"one": "failed", "two": "done"}
    with tarfile.open(tmp_path / "kept" / KEPT) as archive:
        said = archive.extractfile("./one.log")
        assert said is not None and b"said" in said.read()
    assert carry_out(todo, tmp_path / "work", until, None, retry=False) == 1
    assert (tmp_path / "ran").read_text() == "12"
    assert carry_out(todo, tmp_path / "work", until, None, retry=True) == 1
    assert (tmp_path / "ran").read_text() == "121"
    assert "| one | failed | 4 |" in (tmp_path / "work" / "summary.md").read_text()


def test_what_is_cut_is_begun_again_and_ends_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_run, "LEAST", 0.0)
    monkeypatch.setattr(real_run, "REPORT", 0.0)
    flag = tmp_path / "flag"
    todo = [
        python("slow", f"import os, time; os.path.exists({str(flag)!r}) or time.sleep(600)"),
        python("next", "pass"),
    ]
    assert carry_out(todo, tmp_path, time.monotonic() + 1.5, None, retry=False) == 3
    assert states(tmp_path) == {"slow": "cut"}
    flag.touch()
    assert carry_out(todo, tmp_path, time.monotonic() + 600, None, retry=False) == 0
    assert states(tmp_path) == {"slow": "done", "next": "done"}


def test_a_step_with_a_time_of_its_own_does_not_keep_the_others_from_their_turn(tmp_path: Path) -> None:
    todo = [python("slow", "import time; time.sleep(600)", most=1.0), python("next", "pass")]
    assert carry_out(todo, tmp_path, time.monotonic() + 600, None, retry=False) == 1
    assert states(tmp_path) == {"slow": "failed", "next": "done"}


def test_a_session_in_which_a_run_failed_is_done_and_told(tmp_path: Path) -> None:
    session = tmp_path / "quick"
    session.mkdir()
    (session / "results.json").write_text(json.dumps({"headline": "a | verdict"}))
    todo = [python("quick", "raise SystemExit(1)", session=session)]
    assert carry_out(todo, tmp_path, time.monotonic() + 600, None, retry=False) == 1
    assert states(tmp_path) == {"quick": "done"}
    assert "a \\| verdict" in (tmp_path / "summary.md").read_text()


def test_the_double_is_no_part_of_the_product() -> None:
    assert not [path for path in (home.FOLDER / "compare").rglob("*.py") if "cuda_on_cpu" in path.read_text()]


def test_a_folder_that_is_not_there_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        real_run.main(["--work", str(tmp_path / "work"), "--data", str(tmp_path / "none")])
    assert ended.value.code == 2 and "there is no folder" in capsys.readouterr().err
    assert not (tmp_path / "work").exists()

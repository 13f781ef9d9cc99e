"""The machine is watched while tasks run: what is sampled, how it is judged, and who may use a GPU at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from compare import commands, folders, nvidia
from compare.analyse import analyse_folder
from compare.analysis import machine
from compare.errors import UserError
from compare.process import run_task
from compare.records import Asked, Sample, Window, read, read_session
from compare.results import Results
from compare.sampling import Sampler, busy_seconds, elsewhere, foreign
from compare.spec import Spec, Task
from compare.worker import Request
from tests.compare.doubles import H100, fake_smi
from tests.compare.made import make_session, write

BUSY = "while True: pass"


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "bin"


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own that keeps a core busy."""
    process = subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def sampled(
    session: int, watched: nvidia.Stream | None = None, enough: Callable[[Sample], bool] = lambda one: True
) -> list[Sample]:
    """What is sampled until there is enough: on a busy machine that takes its time."""
    kept: list[Sample] = []
    deadline = time.monotonic() + 300
    with Sampler(session, kept.append, watched, interval=0.2):
        while not (kept and enough(kept[-1])):
            assert time.monotonic() < deadline, kept
            time.sleep(0.05)
    return kept


# ------------------------------------------------------------------ what is sampled


def test_the_gpu_is_sampled_while_a_task_runs(smi: Path, busy: subprocess.Popen[bytes]) -> None:
    fake_smi(smi, [H100 | {"index": "1", "uuid": "GPU-2", "clocks.sm": "1"}, H100], computing=[1, 2])
    watched = nvidia.stream(milliseconds=100)
    assert watched is not None and watched.uuid == "GPU-2"
    samples = sampled(busy.pid, watched, lambda one: one.sm_mhz is not None)
    last = samples[-1]
    assert (last.sm_mhz, last.power_w, last.temperature_c) == (1, 71.53, 31)
    assert last.throttle == ["idle", "power cap"]
    assert last.sharing == 1, "two compute, one of them is the task"
    assert abs(last.at - time.time()) < 60


def test_nothing_of_the_watching_is_left(smi: Path, busy: subprocess.Popen[bytes]) -> None:
    fake_smi(smi)
    sampled(busy.pid, nvidia.stream(milliseconds=100))
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(smi) not in listed


def test_cores_that_others_keep_busy_are_told_from_the_tasks_own(busy: subprocess.Popen[bytes]) -> None:
    if not Path("/proc/stat").exists():
        pytest.skip("there is no /proc here")
    # Both look at the same time, as others use this machine too, and until half a second of a core was used.
    own, others = [busy_seconds(busy.pid)], [busy_seconds(os.getsid(0) + 10_000_000)]
    deadline = time.monotonic() + 300
    while own[-1] is None or own[0] is None or own[-1][2] - own[0][2] < 0.5:
        assert time.monotonic() < deadline, own
        time.sleep(0.1)
        own.append(busy_seconds(busy.pid))
        others.append(busy_seconds(os.getsid(0) + 10_000_000))
    without, everything = elsewhere(own[0], own[-1]), elsewhere(others[0], others[-1])
    assert without is not None and everything is not None
    # As others' the busy core is counted, as the task's own it is not.
    seconds = own[-1][0] - own[0][0]
    assert everything - without == pytest.approx((own[-1][2] - own[0][2]) / seconds, abs=0.1 / seconds + 0.05)
    assert everything > 0.4 / seconds
    assert sampled(busy.pid)[-1].busy_elsewhere is not None


@pytest.mark.parametrize(("computing", "others"), [([], 0), ([10], 0), ([10, 11], 1), ([1_000_000_000], 0)])
def test_in_a_container_all_but_one_process_are_others(computing: list[int], others: int) -> None:
    assert foreign(computing, session=-5) == others


def test_where_the_task_is_seen_everything_else_is_others(busy: subprocess.Popen[bytes]) -> None:
    assert foreign([busy.pid], busy.pid) == 0
    assert foreign([busy.pid, 1, 2], busy.pid) == 2


def test_a_task_leaves_its_samples_and_the_time_of_its_windows(tmp_path: Path, smi: Path) -> None:
    spec = Spec("smoke", "cpu", ("fp32",), (), (), batch=8, warmup=1, windows=1, window_steps=2, timeout=600.0)
    task = Task("speed", "fp32", workload="tests.compare.tiny:build", batch=8)
    records = tmp_path / "runs" / f"{task.name}.jsonl"
    ended = run_task(Request(replace(spec, workload=task.workload), task, records), lambda *_: None)
    assert ended.status == "ok"
    (window,) = [record for record in read(records)[0] if isinstance(record, Window)]
    assert window.begun is not None and window.ended is not None and 0 < window.ended - window.begun < 60
    samples = [record for record in read(tmp_path / "machine" / records.name)[0] if isinstance(record, Sample)]
    assert samples and all(sample.sm_mhz is None for sample in samples)
    assert samples == sorted(samples, key=lambda sample: sample.at)


# ------------------------------------------------------------------ how it is judged


def analysed(folder: Path, samples: dict[str, dict[str, object]], leave_out: tuple[str, ...] = ()) -> Results:
    """A session whose windows last a second each; `samples` are what the machine did in the tasks of an arm."""
    make_session(folder, blocks=5)
    session = folder / "session.jsonl"
    records, _ = read(session)
    asked = next(record for record in records if isinstance(record, Asked))
    changed = replace(asked, spec={**asked.spec, "leave_out": list(leave_out)})
    write(session, [changed if record is asked else record for record in records])
    for number, run in enumerate(read_session(folder).runs):
        if run.task.kind != "speed":
            continue
        begun = 1000.0 * number
        windows = [record for record in run.records if isinstance(record, Window)]
        timed = {
            window.index: replace(window, begun=begun + 10 * window.index, ended=begun + 10 * window.index + 1)
            for window in windows
        }
        write(
            folder / "runs" / f"{run.task.name}.jsonl",
            [timed[record.index] if isinstance(record, Window) else record for record in run.records],
        )
        good = Sample(begun + 0.5, 1980, 2619, 60, 650.0, [], 0, 0.1)
        # In the first window alone something is wrong.
        first = replace(good, **samples.get(run.task.arm, {}))  # type: ignore[arg-type]
        later = [replace(good, at=begun + 10 * index + 0.5) for index in range(1, len(windows))]
        write(folder / "machine" / f"{run.task.name}.jsonl", [first, *later])
    return analyse_folder(folder)


def test_windows_that_were_held_down_are_named_and_counted(tmp_path: Path) -> None:
    results = analysed(tmp_path, {"apex-o1": {"throttle": ["idle", "thermal (hardware)"], "sm_mhz": 1200}})
    (notice,) = [notice for notice in results.notices if "throttled" in notice]
    # Ten processes of Apex O1, one window in five.
    assert notice.startswith("10 of 150 timed windows ran throttled (thermal (hardware); apex-o1) and were counted")
    assert results.machine is not None
    assert (results.machine.windows, results.machine.throttled, results.machine.shared) == (150, 10, 0)
    assert results.machine.sm_mhz == (1200, 1980, 1980)


@pytest.mark.parametrize("fault", [{"sharing": 1}, {"busy_elsewhere": 3.0}])
def test_windows_that_were_shared_are_named(tmp_path: Path, fault: dict[str, object]) -> None:
    results = analysed(tmp_path, {"fp32": fault})
    assert any("5 of 150 timed windows ran shared" in notice for notice in results.notices)


def test_only_a_rule_that_was_fixed_before_leaves_them_out(tmp_path: Path) -> None:
    fault: dict[str, dict[str, object]] = {"apex-o1": {"throttle": ["power cap"]}}
    counted, left = analysed(tmp_path / "a", fault), analysed(tmp_path / "b", fault, ("throttled",))
    assert any("left out, by the rule this session was started with" in notice for notice in left.notices)
    before, after = counted.arm("apex-o1"), left.arm("apex-o1")
    assert before is not None and after is not None and before.steps is not None and after.steps is not None
    assert len(after.steps.samples_ms) == len(before.steps.samples_ms) * 4 // 5
    assert before.images_per_s != after.images_per_s


def test_of_many_samples_those_that_were_not_as_they_should_be_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "MOST_MOMENTS", 60)
    results = analysed(tmp_path, {"apex-o1": {"throttle": ["power cap"]}, "fp32": {"sharing": 1}})
    assert 0 < len(results.moments) <= 60
    assert {one.arm for one in results.moments if one.throttled} == {"apex-o1"}
    assert {one.arm for one in results.moments if one.shared} == {"fp32"}
    # One sample in five of ten processes, and of five; a settling block's count here as well.
    assert sum(one.throttled for one in results.moments) == 11 and sum(one.shared for one in results.moments) == 6


def test_energy_is_power_over_speed(tmp_path: Path) -> None:
    results = analysed(tmp_path, {})
    for arm in results.arms:
        assert arm.joules_per_image is not None and arm.images_per_s is not None
        assert arm.joules_per_image.value == pytest.approx(650.0 / arm.images_per_s.value, rel=0.01)


def test_a_session_that_was_not_sampled_has_no_machine(tmp_path: Path) -> None:
    results = analyse_folder(make_session(tmp_path))
    assert results.machine is None and results.moments == ()
    assert {arm.joules_per_image for arm in results.arms} == {None}


# ------------------------------------------------------------------ one session a GPU


def test_two_sessions_do_not_share_a_gpu(tmp_path: Path) -> None:
    with folders.gpu_alone("GPU-1", tmp_path):
        with folders.gpu_alone("GPU-2", tmp_path):
            pass
        refused = pytest.raises(UserError, match="Another comparison is running on this GPU")
        with refused, folders.gpu_alone("GPU-1", tmp_path):
            raise AssertionError
    with folders.gpu_alone("GPU-1", tmp_path):
        pass


def test_every_gpu_of_a_session_is_held(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One, those that trainings are spread over, or one a process."""
    fake_smi(smi, [H100 | {"index": str(number), "uuid": f"GPU-{number}"} for number in range(4)])
    cuda = Spec("quick", "cuda", ("fp32",), (), ())
    assert commands._gpus_in_use(cuda, ()) == ["GPU-0"]
    assert commands._gpus_in_use(cuda, ("1", "GPU-3")) == ["GPU-1", "GPU-3"]
    assert commands._gpus_in_use(replace(cuda, processes=3), ()) == ["GPU-0", "GPU-1", "GPU-2"]
    assert commands._gpus_in_use(replace(cuda, device="cpu"), ()) == []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1,2")
    assert commands._gpus_in_use(cuda, ()) == ["GPU-3"]
    assert commands._gpus_in_use(replace(cuda, processes=2), ()) == ["GPU-3", "GPU-1"]


def test_without_a_gpu_nothing_is_held(tmp_path: Path) -> None:
    with folders.gpu_alone(None, tmp_path), folders.gpu_alone("GPU-1", tmp_path / "not there"):
        assert not list(tmp_path.iterdir())


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "amp-compare-GPU-1.lock").symlink_to(tmp_path / "somebody's file")
    with folders.gpu_alone("GPU-1", tmp_path):
        assert not (tmp_path / "somebody's file").exists()

"""Signals end a run cleanly, and with the first process its workers end, however it ended itself."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from migrate import cli, stops
from tests.shell import fake
from tests.shell.support import LEGACY, NATIVE, environment, leftovers, tool, tree

STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
SAID = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "stopped by SIGTERM",
    signal.SIGHUP: "stopped by SIGHUP",
    signal.SIGKILL: "",
}

PATIENCE = 90  # seconds, on a machine that has much else to do

# An engine that tells that it runs and then sleeps, waits for ever, or returns at once.
SLOW = """
import os, pathlib, sys, time
from migrate import cli, stops
from tests.shell import fake
def slow(text, settings, outside, standing):
    pathlib.Path(sys.argv[1], f"{os.getpid()}.started").touch()
    if "BUSY" in text:
        while True:
            pass
    time.sleep(0.05 if "FAST" in text else 60)
    return fake.engine(text, settings)
sys.exit(cli.main(sys.argv[1:], slow))
"""


_BEGUN: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _nothing_goes_on() -> Iterator[None]:
    """A test that fails leaves no process behind that waits, or spins, for ever."""
    yield
    while _BEGUN:
        with suppress(ProcessLookupError):
            os.killpg(_BEGUN.pop().pid, signal.SIGKILL)


def started(program: str, root: Path, *options: str, **more: object) -> subprocess.Popen[str]:
    child: subprocess.Popen[str] = subprocess.Popen(  # type: ignore[call-overload]
        [sys.executable, "-c", program, str(root), "--write", *options],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **more,
    )
    _BEGUN.append(child)
    return child


def workers(root: Path, count: int) -> list[int]:
    """The numbers of the processes that analyse, once there are so many."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = [int(path.stem) for path in root.glob("*.started")]
        if len(found) >= count:
            return found
        time.sleep(0.02)
    raise AssertionError("no worker began")


def ended(child: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and errors; the pipes reach their end only when no process holds them any more."""
    _, errors = child.communicate(timeout=PATIENCE)
    return child.returncode, errors


def alive(number: int) -> bool:
    """Whether a process runs; one that nobody has asked about yet (a zombie) does not."""
    try:
        with open(f"/proc/{number}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(numbers: list[int]) -> bool:
    """Pipes are closed a moment before a process is gone."""
    deadline = time.monotonic() + 10
    while any(map(alive, numbers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(alive, numbers))


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [*STOPS, signal.SIGKILL])
def test_during_the_analysis(tmp_path: Path, number: signal.Signals, jobs: str) -> None:
    texts = {f"{at}.py": LEGACY + ("# FAST\n" if at < 4 else "# BUSY\n" if at % 2 else "") for at in range(12)}
    root = tree(tmp_path, texts)
    child = started(SLOW, root, "-j", jobs)
    pids = workers(root, int(jobs))
    os.kill(child.pid, number)  # the first process alone
    code, errors = ended(child)
    if number == signal.SIGKILL:
        assert (code, errors) == (-9, "")
    else:
        assert (code, errors) == (128 + number, f"apex2native: {SAID[number]}.\n")
    assert gone(pids)
    assert {path.name: path.read_text() for path in root.glob("*.py")} == texts
    assert not leftovers(root)


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_to_the_whole_group_is_answered_once(tmp_path: Path, number: signal.Signals) -> None:
    """As a terminal does with Ctrl-C and when it is closed, and `timeout` with SIGTERM."""
    root = tree(tmp_path, {f"{at}.py": LEGACY for at in range(12)})
    child = started(SLOW, root, "-j", "2")
    pids = workers(root, 2)
    os.killpg(child.pid, number)
    assert ended(child) == (128 + number, f"apex2native: {SAID[number]}.\n")
    assert gone(pids)
    assert {path.read_text() for path in root.glob("*.py")} == {LEGACY}


def test_idle_workers_end_with_their_parent(tmp_path: Path) -> None:
    """They wait for work and hold the pipes: a step of a CI would never end."""
    root = tree(tmp_path, {f"{at}.py": LEGACY + "# FAST\n" for at in range(11)} | {"slow.py": LEGACY})
    child = started(SLOW, root, "-j", "3")
    pids = workers(root, 3)
    time.sleep(0.5)
    os.kill(child.pid, signal.SIGKILL)
    assert ended(child)[0] == -9
    assert gone(pids)


def test_a_worker_that_is_ended_costs_nothing_but_its_work(tmp_path: Path) -> None:
    root = tree(tmp_path, {f"{at}.py": LEGACY + "# FAST\n" for at in range(12)})
    child = started(SLOW, root, "-j", "2")
    os.kill(workers(root, 2)[0], signal.SIGTERM)
    assert ended(child) == (0, "")
    assert {path.read_text() for path in root.glob("*.py")} == {NATIVE + "# FAST\n"}


@pytest.mark.parametrize("number", STOPS)
def test_workers_that_were_stopped_end_as_well(tmp_path: Path, number: signal.Signals) -> None:
    root = tree(tmp_path, {f"{at}.py": LEGACY for at in range(12)})
    child = started(SLOW, root, "-j", "2")
    pids = workers(root, 2)
    for one in pids:
        os.kill(one, signal.SIGSTOP)
    os.kill(child.pid, number)
    assert ended(child) == (128 + number, f"apex2native: {SAID[number]}.\n")
    assert gone(pids)


def test_nohup_is_respected(tmp_path: Path) -> None:
    root = tree(tmp_path, {f"{at}.py": LEGACY + "# FAST\n" for at in range(12)})
    child = started(SLOW, root, "-j", "2", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    workers(root, 2)
    os.killpg(child.pid, signal.SIGHUP)
    assert ended(child) == (0, "")
    assert {path.read_text() for path in root.glob("*.py")} == {NATIVE + "# FAST\n"}


# ---------------------------------------------------------------- while it writes

AT = """
import os, signal, sys
from migrate import cli, journal
from tests.shell import fake
where, at, number = sys.argv.pop(), int(sys.argv.pop()), int(sys.argv.pop())
module = os if where in ("replace", "rename") else journal.Tree if where == "sync" else journal
real, calls = getattr(module, where), []
def counted(*words, **more):
    done = real(*words, **more)
    calls.append(1)
    if len(calls) == at:
        os.kill(os.getpid(), number)
        if number == signal.SIGHUP:
            os.kill(os.getpid(), signal.SIGTERM)  # as some service managers do: one is answered
    return done
setattr(module, where, counted)
sys.exit(cli.main(sys.argv[1:], fake.engine))
"""


def stopped_at(root: Path, number: int, where: str, at: int) -> tuple[int, str]:
    return ended(started(AT, root, "-j", "1", str(number), str(at), where))


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize(
    ("where", "at", "written"),
    [
        ("_write_all", 1, 0),  # the list of what is going to be written
        ("_stage", 3, 0),
        ("_stage", 6, 0),
        ("_refuse_if_changed", 2, None),
        ("rename", 1, None),  # the moment that counts
        ("replace", 1, 1),
        ("replace", 4, 4),
        ("replace", 6, 6),
        ("sync", 9, 6),
    ],
)
def test_while_it_writes(tmp_path: Path, number: signal.Signals, where: str, at: int, written: int | None) -> None:
    root = tree(tmp_path, {f"{one}.py": LEGACY for one in range(6)})
    code, errors = stopped_at(root, number, where, at)
    assert code == 128 + number
    states = [(root / f"{one}.py").read_text() for one in range(6)]
    count = states.count(NATIVE)
    assert written in (None, count) and set(states) <= {LEGACY, NATIVE}
    done = {
        0: "( after 0 of 6 files were written; run again for the rest)?",
        6: " after every file was written",
    }.get(count, f" after {count} of 6 files were written; run again for the rest")
    assert re.fullmatch(f"apex2native: {SAID[number]}{done}\\.\n", errors)
    assert not leftovers(root)
    assert tool(root, "--write").returncode == 0
    assert {path.read_text() for path in root.glob("*.py")} == {NATIVE}


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize("where", ["_discard", "_digest_of"])
def test_while_it_settles_an_interrupted_run(tmp_path: Path, number: signal.Signals, where: str) -> None:
    root = tree(tmp_path, {f"{one}.py": LEGACY for one in range(6)})
    assert stopped_at(root, signal.SIGKILL, "replace", 3) == (-9, "")
    assert leftovers(root)
    code, errors = stopped_at(root, number, where, 1)
    assert (code, errors) == (128 + number, f"apex2native: {SAID[number]}.\n")
    assert {path.read_text() for path in root.glob("*.py")} == {NATIVE}
    assert not leftovers(root)


# ---------------------------------------------------------------- as a guest in another program


def test_the_handlers_of_the_caller_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tree(tmp_path, {"x.py": LEGACY})
    before = [signal.getsignal(number) for number in STOPS]
    assert cli.main([str(root)], fake.engine) == 1
    assert [signal.getsignal(number) for number in STOPS] == before

    def stop(text: str, settings: object, outside: object, standing: object) -> object:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError

    assert cli.main([str(root)], stop) == 143  # type: ignore[arg-type]
    assert [signal.getsignal(number) for number in STOPS] == before
    assert "stopped by SIGTERM" in capsys.readouterr().err


def test_a_thread_may_call_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tree(tmp_path, {f"{at}.py": LEGACY for at in range(12)})
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(cli.main([str(root), "--write", "-j", "2"], fake.engine)))
    thread.start()
    thread.join(60)
    assert codes == [0]
    assert {path.read_text() for path in root.glob("*.py")} == {NATIVE}


def test_a_signal_just_before_they_are_held_leaves_nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    real = signal.pthread_sigmask

    def masked(how: int, signals: Iterable[int]) -> set[int]:
        before = real(how, signals)
        if how == signal.SIG_BLOCK and list(signals):
            raise stops.Stopped(signal.SIGINT)
        return before

    monkeypatch.setattr(signal, "pthread_sigmask", masked)
    with pytest.raises(stops.Stopped), stops.held():
        pass
    assert not real(signal.SIG_BLOCK, ())


def test_what_is_told_of_the_files() -> None:
    assert stops.written(0) == " after every file was written"
    assert stops.written(2) == " after every file was written but 2, changed in the moment of writing"


IMPORTED = """\
import signal, sys

class Finder:
    def find_spec(self, name, *rest):
        if name == "{name}":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
from migrate.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["migrate.cli", "migrate.journal", "migrate.engine"])
def test_while_modules_are_imported(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {"x.py": LEGACY})
    command = [sys.executable, "-c", IMPORTED.format(name=name), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "apex2native: interrupted.\n")

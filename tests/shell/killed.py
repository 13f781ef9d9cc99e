"""Kill writers at every moment and look at what they leave: a program of its own, for its processes.

Every call of the operating system that changes files is a moment: the audit hook of Python sees
them, so the code under test knows nothing of it. Each run is a forked process that ends in SIGKILL.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from migrate import journal

GROUPS = [["a.py", "sub/b.py", "sub/c.py"], ["d.py"]]
OLD = {name: f"old {name}\n".encode() for group in GROUPS for name in group}
NEW = {name: f"new {name}\n".encode() * 3 for name in OLD}

_AUDITED = {"open", "os.rename", "os.remove", "os.chmod", "os.chown"}


def kill_at(moment: int) -> None:
    """End this process, as hard as can be, right before its ``moment``-th change of the disk."""
    passed = 0

    def tick() -> None:
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _AUDITED and not (event == "open" and arguments[2] & 3 == os.O_RDONLY):
            tick()

    real_write = os.write

    def torn_write(descriptor: int, data: bytes) -> int:
        tick()
        half = real_write(descriptor, data[: len(data) // 2]) if len(data) > 1 else 0
        tick()  # with half of it on the disk
        return half + real_write(descriptor, data[half:])

    sys.addaudithook(hook)
    os.write = torn_write  # type: ignore[assignment]
    os.fsync = lambda descriptor: tick()  # type: ignore[assignment]


def write(root: Path) -> None:
    """Bring what is still old to new, as a run of the tool would."""
    groups = []
    for names in GROUPS:
        old = [name for name in names if (root / name).read_bytes() == OLD[name]]
        groups.append([_replacement(root, name) for name in old])
    journal.write(root, [group for group in groups if group])


def recover(root: Path) -> None:
    for name in (journal.STAGING, journal.JOURNAL):
        journal.recover(root / name)


def _replacement(root: Path, name: str) -> journal.Replacement:
    return journal.Replacement(root / name, journal.digest(OLD[name]), lambda: NEW[name])


def forked(action: Callable[[Path], None], root: Path, moment: int) -> bool:
    """Whether ``action`` came to its end before its ``moment``."""
    child = os.fork()
    if child == 0:
        try:
            kill_at(moment)
            action(root)
            os._exit(0)
        except BaseException as error:
            print(f"{action.__name__} at {moment}: {error!r}", flush=True)
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    if os.WEXITSTATUS(status):
        raise SystemExit(1)
    return True


def check(root: Path, *, settled: bool) -> None:
    """Every file is old or new; once settled, every group is, and nothing else lies about."""
    for group in GROUPS:
        states = set()
        for name in group:
            content = (root / name).read_bytes()
            assert content in (OLD[name], NEW[name]), (name, content)
            states.add(content == NEW[name])
        assert not settled or len(states) == 1, (group, states)
    assert not settled or not list(root.rglob(".apex2native*")), list(root.rglob("*"))


def fresh(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    for name, content in OLD.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def main(root: Path) -> None:
    """Kill the writer at every moment, and the recovery at every moment of its own."""
    moment = recoveries = 0
    done = False
    while not done:
        moment += 1
        second, recovered = 0, False
        while not recovered:
            second += 1
            fresh(root)
            done = forked(write, root, moment)
            check(root, settled=done)
            recovered = forked(recover, root, second)
            check(root, settled=False)
            recover(root)
            check(root, settled=True)
            recoveries += 1
        write(root)
        check(root, settled=True)
        assert all((root / name).read_bytes() == NEW[name] for name in NEW)
    print(f"{moment} moments, {recoveries} recoveries")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

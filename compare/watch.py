"""What the terminal shows while a session runs: a bar for it, one for the task, a line for each that ended."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .format import duration
from .records import Ended
from .spec import Task


class Terminal:
    """A `runner.Watcher`. Without a terminal it prints only the lines."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._session = self._bars.add_task("tasks", total=None, note="")
        self._task = self._bars.add_task("", total=None, note="")

    def __enter__(self) -> Terminal:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def starts(self, number: int, of: int, task: Task) -> None:
        self._bars.update(self._session, completed=number - 1, total=of)
        self._bars.reset(self._task, description=escape(describe(task)), total=None, note="starting")

    def remaining(self, seconds: float) -> None:
        self._bars.update(self._session, note=f"about {duration(seconds)} left")

    def progress(self, done: int, total: int, note: str) -> None:
        self._bars.update(self._task, completed=done, total=total or None, note=escape(note))

    def ended(self, task: Task, ended: Ended) -> None:
        seconds = f"{ended.seconds:.0f} s" if ended.seconds is not None else ""
        outcome = "ok" if ended.status == "ok" else f"{ended.status}: {ended.reason}"
        self.says(f"{describe(task)}  {seconds}  {outcome}")

    def says(self, sentence: str) -> None:
        self._bars.console.print(escape(sentence), highlight=False, soft_wrap=True)


def describe(task: Task) -> str:
    """A task in a few words."""
    words = [f"{task.kind:<8}", f"{task.arm:<26}"]
    words.append(f"seed {task.seed}" if task.kind in ("train", "after") else f"block {task.block}")
    if task.settling:
        words.append("settling")
    if task.replica:
        words.append("again (A/A)")
    words += [f"{task.workload} {task.recipe}, batch {task.batch}"]
    return "  ".join(words)

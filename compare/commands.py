"""The commands `run` and `report`: from a specification to a printed verdict."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from . import estimate, folders, home, nvidia, plan, runner
from .arms import ARMS, Precision
from .cluster import Jobs, interruptible, machine, parameters
from .engine import Engine, Here
from .errors import UserError
from .format import plural
from .refusals import refuse_early
from .request import DEFAULT_DATA, gpus, specification
from .results import Results
from .spec import Device, Spec
from .watch import Terminal
from .workloads import load_workload
from .workloads.known import takes_images

REPORTS = Path("reports")


def run(asked: Namespace) -> int:
    """Run what was asked for, write the report, print the verdict. Raises UserError."""
    from .env import inspect_machine

    begun = time.monotonic()
    console = Console()
    cluster = _cluster(asked)
    device, environment = cluster.call(machine) if cluster else inspect_machine()
    spec = specification(asked, device)
    spread = gpus(asked.gpus, spec)
    load_workload(spec.workload)
    unavailable = _unavailable(spec, environment)
    gpu = environment["gpu"] if spec.device == "cuda" else None
    folder = asked.out or folders.choose(REPORTS, spec, gpu, datetime.now().astimezone().date(), asked.retry)
    refuse_early(spec, folder, spread, None if cluster else environment["gpu_count"])
    rate = cluster.call(partial(estimate.rates, spec.device)) if cluster else _rates(spec.device)
    _announce(console, spec, folder, unavailable, rate)
    if asked.plan:
        return 0
    engine: Engine = replace(cluster, folder=folder.absolute() / "jobs") if cluster else Here(spread)
    around = runner.Surroundings(environment, unavailable, rate, _data(console, spec), engine, begun)
    with ExitStack() as held:
        held.enter_context(folders.alone(folder))
        for uuid in () if cluster else _gpus_in_use(spec, spread):
            held.enter_context(folders.gpu_alone(uuid))
        terminal = held.enter_context(Terminal(console))
        runner.run(spec, folder, around, shlex.join(["amp-compare", *sys.argv[1:]]), terminal, asked.retry)
    return report(folder)


def report(folder: Path) -> int:
    """Write the report of what is recorded in a folder and print its verdict. Raises UserError."""
    from .report.build import build

    results = build(folder)
    console = Console()
    console.print()
    console.print(results.headline, highlight=False, markup=False, soft_wrap=True)
    for failure in results.failures:
        line = f"  {failure.status}: {failure.task}: {failure.reason}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(f"{folder / 'report.html'}", highlight=False, markup=False, soft_wrap=True)
    return 1 if _failed(results) else 0


def _cluster(asked: Namespace) -> Jobs | None:
    """The cluster that was asked for, None for this machine. Raises UserError."""
    if asked.engine == "here":
        if asked.slurm or asked.jobs is not None:
            raise UserError("--slurm and --jobs go with --engine slurm.")
        return None
    if asked.budget or asked.gpus:
        raise UserError("--budget and --gpus are for this machine: a cluster decides when a job runs, and where.")
    if asked.jobs is not None and asked.jobs < 1:
        raise UserError(f"--jobs takes a whole number of at least 1, not {asked.jobs}.")
    interruptible()
    # Before the session's folder is known, jobs lie below the reports: they only look at a node.
    folder = (asked.out or REPORTS).absolute() / "jobs"
    return Jobs(asked.engine, folder, asked.jobs or 8, parameters(asked.slurm))


def _gpus_in_use(spec: Spec, spread: Sequence[str]) -> list[str]:
    """The numbers of all GPUs that this session computes on: one, those it is spread over, or one a process."""
    if spec.device != "cuda":
        return []
    visible = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if word.strip()]
    of_processes = (visible or list(map(str, range(spec.processes))))[: spec.processes]
    named: Sequence[str | None] = spread or (of_processes if spec.processes > 1 else [None])
    watched = [nvidia.stream(visible=gpu) for gpu in named]
    return list(dict.fromkeys(one.uuid for one in watched if one and one.uuid))


def _failed(results: Results) -> bool:
    """Whether a run that was asked for did not end well. Other batch sizes are there to find out what does not fit."""
    main = f"-bs{results.spec.batch}-"
    return any(failure.status != "oom" or main in failure.task for failure in results.failures)


def _unavailable(spec: Spec, environment: dict[str, Any]) -> dict[str, str]:
    """The arms of the specification that cannot run here, and why."""
    reasons: dict[str, str] = {}
    for name in spec.arms:
        arm = ARMS[name]
        if arm.apex and environment["apex_reason"]:
            reasons[name] = environment["apex_reason"]
        elif reason := plan.cannot(name, spec.recipe, spec.device):
            reasons[name] = reason
        elif arm.compiled and not (shutil.which("cc") or shutil.which("gcc")):
            reasons[name] = "torch.compile needs a C compiler, and there is none here."
    return reasons


def _rates(device: Device) -> dict[Precision, float]:
    """How fast this GPU is, measured in a process of its own: this one shall hold none of its memory."""
    if device != "cuda":
        return {}
    finished = subprocess.run(home.process("estimate"), capture_output=True, text=True)
    if finished.returncode:
        words = (finished.stderr.strip() or "it said nothing").splitlines()[-1]
        raise UserError(f"The GPU cannot be used: a matrix product on it failed ({words}).")
    found: dict[Precision, float] = json.loads(finished.stdout.splitlines()[-1])
    return found


def _announce(
    console: Console, spec: Spec, folder: Path, unavailable: dict[str, str], rate: dict[Precision, float]
) -> None:
    """Say what will run, where it goes and about how long it takes."""
    tasks = plan.tasks(spec, [arm for arm in spec.arms if arm not in unavailable])
    needed = estimate.total(tasks, spec, rate)
    counted = Counter(task.kind for task in tasks)
    time = (
        f"about {_duration(needed)}: a guess until they run"
        if estimate.known(spec.workload)
        else f"about {_duration(needed)} to start them; how long a step of your network takes is not known yet"
    )
    kinds = ", ".join(f"{count} {kind}" for kind, count in counted.items()) or "none"
    lines = [
        f"profile   {spec.profile}: {spec.workload}, {spec.recipe}, batch {spec.batch}"
        + (f" in each of {spec.world} processes" if spec.world > 1 else ""),
        f"arms      {', '.join(arm for arm in spec.arms if arm not in unavailable) or 'none'}",
        *(f"          {arm} is unavailable: {reason}" for arm, reason in unavailable.items()),
        f"trained   {', '.join(spec.trained)}: {plural(spec.seeds, 'seed')}, {plural(spec.epochs, 'epoch')}"
        if spec.trained and spec.seeds
        else "trained   none: speed and memory only",
        f"tasks     {len(tasks)} processes ({kinds}), {time}",
        f"folder    {folder}" + (" (goes on with what is there)" if folders.unfinished(folder, spec) else ""),
    ]
    if spec.budget:
        lines.append(f"budget    {_duration(spec.budget)}: blocks, seeds and epochs are cut to it after one block")
    if spec.profile == "smoke":
        lines.append("SMOKE     a few steps on a CPU: it shows that everything runs; no figure of it means anything")
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _data(console: Console, spec: Spec) -> Path | None:
    """The file of decoded images; CIFAR-10 is downloaded where no data were named."""
    if spec.data.startswith("synthetic") or not takes_images(spec.workload):
        return None
    from . import data

    if Path(spec.data) == DEFAULT_DATA.absolute() and not Path(spec.data).exists():
        console.print(f"data      downloading CIFAR-10 to {spec.data}", highlight=False, markup=False)
        data.download(Path(spec.data))
    console.print(f"data      {spec.data}", highlight=False, markup=False, soft_wrap=True)
    return data.prepare(spec.data)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

"""The sections of how it was measured: environment, method, threats to validity, sources, how to rebuild."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from .. import format as fmt
from ..results import Machine, Results
from ..spec import Spec
from ..workloads.known import known, loads, takes_images
from .blocks import Block, Cell, Code, Items, Section, Text, number, table

_FIRST = ("gpu", "driver", "torch", "cuda", "cudnn", "apex", "clocks")
_NAMES = {
    "gpu": "GPU",
    "cuda": "CUDA",
    "cudnn": "cuDNN",
    "cpu": "CPU",
    "apex": "Apex",
    "nccl": "NCCL",
    "os": "OS",
    "mig": "MIG",
}
_ALWAYS = ("gpu", "driver", "torch", "cuda", "cudnn", "apex")
_BYTES = ("memory", "gpu_memory")
_FEW_SEEDS = 3
_BLOCK_IS_NOISY = 3


def environment(results: Results) -> Section:
    """What it ran on, with the switches that were set."""
    ranked = sorted(results.environment, key=lambda key: (_FIRST.index(key) if key in _FIRST else len(_FIRST), key))
    rows = [
        (Cell(name), Cell(value))
        for key in ranked
        if _worth_a_row(key, results)
        for name, value in _flat(_NAMES.get(key, key.replace("_", " ")), _in_words(key, results.environment[key]))
    ]
    blocks: list[Block] = table(("What", "Value"), rows)
    flags = [
        (Cell(name), Cell(value)) for key in sorted(results.flags) for name, value in _flat(key, results.flags[key])
    ]
    blocks += table(("Switch", "Value"), flags, "Switches as torch reports them")
    blocks += table(("State", "Least", "Median", "Greatest"), _states(results.machine), "During the timed windows")
    if results.machine is not None:
        blocks.append(Text(_spoilt(results.machine)))
    return Section("environment", "Environment", tuple(blocks or [Text("No environment was recorded.")]))


def _states(machine: Machine | None) -> list[tuple[Cell, ...]]:
    named = (
        ("SM clock (MHz)", machine and machine.sm_mhz),
        ("Temperature (°C)", machine and machine.temperature_c),
        ("Power (W)", machine and machine.power_w),
        ("Cores busy with other processes", machine and machine.busy_elsewhere),
    )
    return [
        (Cell(name), *(number(fmt.significant(value) if value else "0") for value in values))
        for name, values in named
        if values
    ]


def _spoilt(machine: Machine) -> str:
    return (
        f"Of {fmt.plural(machine.windows, 'timed window')} {machine.throttled} ran with a clock that the driver held "
        f"down, {machine.shared} beside other processes on the GPU or on more than a core."
    )


def method(results: Results) -> Section:
    """How it was measured."""
    spec = results.spec
    blocks: list[Block] = [Items(tuple(_how(results)))]
    asked = [
        (Cell(name), Cell(value)) for key, raw in spec.to_json().items() for name, value in _flat(key, _short(key, raw))
    ]
    blocks += table(("Setting", "Value"), asked, "The specification of the session")
    methods = sorted(
        {interval.method for arm in results.arms if (interval := arm.images_per_s)}
        | {pair.speed.method for pair in results.pairs if pair.speed}
        | {arm.accuracy.mean.method for arm in results.arms if arm.accuracy}
    )
    if methods:
        blocks.insert(1, Text(f"Intervals: {'; '.join(methods)}."))
    sensitivity = [
        f"{pair.arm} to {pair.baseline} {fmt.between(*pair.speed.bootstrap, lambda value: f'{value:.3f}')}"
        for pair in results.pairs
        if pair.speed and pair.speed.bootstrap
    ]
    if sensitivity:
        text = f"Sensitivity: by a symmetric bootstrap-t instead the speed ratios would be {'; '.join(sensitivity)}."
        blocks.insert(2, Text(text))
    return Section("method", "Method", tuple(blocks))


def threats(results: Results) -> Section:
    """What the numbers cannot show."""
    return Section("threats", "Threats to validity: what this cannot show", (Items(tuple(_threats(results))),))


def sources(results: Results) -> Section:
    """The code of each arm, as it ran."""
    blocks: list[Block] = [
        Code(
            f"{arm.name}: {arm.arm_file or 'source'}" + (f", SHA-256 {arm.arm_sha256[:12]}…" if arm.arm_sha256 else ""),
            arm.arm_source,
        )
        for arm in results.arms
        if arm.arm_source
    ]
    return Section("sources", "Source of each arm", tuple(blocks or [Text("No arm recorded its source.")]))


def rebuild(results: Results) -> Section:
    """How to get this report, and the session, again."""
    blocks: tuple[Block, ...] = (
        Text(
            "This report is made of the JSONL files in its folder (session.jsonl, runs/, machine/) alone; no GPU is "
            "needed. From that folder:"
        ),
        Code("Rebuild the report", "python -m compare report .", folded=False),
        Text(f"The session was started {results.started} by:"),
        Code("Run the session", results.command, folded=False),
        Text("results.json holds every number of this page; tensorboard/ the training runs, for those who want them."),
    )
    return Section("rebuild", "How to rebuild it", blocks)


def data_name(spec: Spec) -> str:
    """The data without the path of someone's machine."""
    its = known(spec.workload)
    if not its.images if its is not None else _synthetic(spec):
        return "what the workload makes itself"
    return "synthetic data" if _synthetic(spec) else f"the images in the folder “{PurePath(spec.data).name}”"


def _synthetic(spec: Spec) -> bool:
    """Whether the images are made up; after a colon stands how many."""
    return spec.data.partition(":")[0] == "synthetic"


def workload_name(spec: Spec) -> str:
    """The network in words."""
    its = known(spec.workload)
    if its is None:
        return spec.workload
    stem = "CIFAR stem (3x3, stride 1, no max-pool)" if spec.stem == "cifar" else f"{spec.stem} stem"
    return f"{its.title}, with the {stem}" if its.stems else its.title


def _how(results: Results) -> Iterator[str]:
    spec = results.spec
    yield f"Network: {workload_name(spec)}; data: {data_name(spec)}; recipe “{spec.recipe}”, batch {spec.batch}."
    yield (
        "One fresh process for each arm and seed, since Apex O1 patches torch for a whole process. Equal "
        "initial weights, data order, augmentation and switches in every arm; their checksums are compared."
    )
    settling = (
        f" {fmt.plural(spec.settling_blocks, 'block')} before that, left out of the statistics, let the device settle."
        if spec.settling_blocks
        else ""
    )
    yield f"Speed: {fmt.plural(spec.blocks, 'block')}, in each every arm once, in a random order of its own.{settling}"
    clocks = sorted({arm.steps.clock for arm in results.arms if arm.steps})
    words = {"cuda-events": "CUDA events", "host": "the host's clock"}
    clock = f", timed by {fmt.listed([words.get(one, one) for one in clocks])}" if clocks else ""
    drawing = " and the drawing of their batches" if loads(spec.workload) else ""
    yield (
        f"Each process: {fmt.plural(spec.warmup, 'step')} of warm-up{_at_least(spec.warmup_s)}, then "
        f"{fmt.plural(spec.windows, 'window')} of {fmt.plural(spec.window_steps, 'step')}{clock}. Its speed is all "
        f"samples of them over all of their time. Nothing but steps{drawing} runs in a timed window: losses, gradient "
        "norms and loss scales come from steps that are not timed."
    )
    if any(arm.memory for arm in results.arms):
        yield "Memory: largest peak that PyTorch's allocator reports over the timed windows, warm-up excluded."
    if spec.repeated:
        yield (
            f"A/A control: {fmt.listed(spec.repeated)} ran twice in each block; both runs count. Their mean ratio has "
            "to be 1, or no difference of speed is judged."
        )
    if spec.again and spec.trained_again:
        yield (
            f"Training A/A: {fmt.listed(spec.trained_again)} trained a second time with "
            f"{fmt.plural(spec.again, 'seed')}."
        )
    if spec.trained:
        yield (
            f"Accuracy: {fmt.listed(spec.trained)} trained over {fmt.plural(spec.seeds, 'seed')} for "
            f"{fmt.plural(spec.epochs, 'epoch')}{f' of {spec.epoch_steps} steps' if spec.epoch_steps else ''}; "
            "the last epoch counts, never the best. All other arms are there for speed and memory."
        )
        yield (
            f"Parity is a test of equivalence (paired, two one-sided t tests, margin ±{spec.margin:g} "
            "percentage points, fixed beforehand), since “no significant difference” is no proof of "
            "equality. Holm's correction over the pairs."
        )
    yield "Every run is reported, those that crashed or went NaN too."


def _at_least(seconds: float) -> str:
    return f" and {fmt.duration(seconds)} at least" if seconds else ""


def _threats(results: Results) -> Iterator[str]:
    spec = results.spec
    if results.smoke:
        yield (
            "This is a smoke run: it shows that every part works. Its few steps on a CPU say nothing about "
            "speed, memory or accuracy on a GPU."
        )
    gpu = results.environment.get("gpu")
    yield (
        f"One machine{f' with {_text(gpu)}' if gpu else ''}: other devices, drivers and versions of torch "
        "have other ratios."
    )
    yield f"One network ({workload_name(spec)}): others, and larger images, gain more or less."
    if takes_images(spec.workload) and _synthetic(spec):
        yield "Synthetic data: the accuracy shows that training works, not what real images would give."
    elif takes_images(spec.workload):
        yield (
            "The images may be a copy that was compressed again (JPEG): accuracies then differ a little from "
            "published ones on the original CIFAR-10, for all arms alike."
        )
    if spec.trained and spec.seeds < _FEW_SEEDS:
        yield (
            f"{fmt.plural(spec.seeds, 'seed').capitalize()}: too few for any verdict on accuracy; the "
            "difference between arms cannot be told from that between seeds."
        )
    elif spec.trained:
        yield (
            f"{fmt.plural(spec.seeds, 'seed')}: the power beside each test says how small a difference they "
            f"can exclude; the margin of {spec.margin:g} points is a choice, not a law."
        )
        yield f"{fmt.plural(spec.epochs, 'epoch')}: a longer schedule may separate arms that are equal here."
    bound = [arm.name for arm in results.arms if arm.steps and arm.steps.launch_bound]
    if bound:
        yield (
            f"Launch bound at batch {spec.batch}: {fmt.listed(bound)}. Images of 32x32 are small; with larger "
            "ones the share of the host shrinks and the ratios change."
        )
    if spec.device == "cuda":
        yield (
            "Clocks were sampled, not locked, unless the environment says so: temperature and power limits "
            "move them. Blocks in random order spread that over all arms; the A/A control shows whether that held."
        )
    if not results.controls:
        yield "No A/A pair ran: nothing shows that equal code is equally fast on this machine."
    if spec.blocks < _BLOCK_IS_NOISY:
        yield f"{fmt.plural(spec.blocks, 'block')}: intervals over so few processes are wide or missing."
    if spec.world > 1:
        yield f"{spec.world} processes with DistributedDataParallel: communication is part of every step."
    yield (
        "Strict FP32 (TF32 off) is the baseline. On Ampere and later GPUs PyTorch's default lets "
        "convolutions use TF32, against which every speed-up is smaller; the arm tf32, where it ran, shows "
        "by how much."
    )
    if loads(spec.workload):
        yield (
            "A loader is part of every step: where it is slower than the network, speeds tell of the cores and their "
            "images, not of the precision."
        )
    else:
        yield (
            "Data loading is kept out of the steps on purpose: a training that waits for its loader gains less "
            "from any precision."
        )


def _worth_a_row(key: str, results: Results) -> bool:
    """What is not known is left out, but for what every reader looks for; the switches have a table of their own."""
    return not (key == "flags" and results.flags) and (key in _ALWAYS or results.environment[key] is not None)


def _in_words(key: str, value: Any) -> Any:
    return fmt.memory(value) if key in _BYTES and isinstance(value, (int, float)) else value


def _short(key: str, value: Any) -> Any:
    return PurePath(value).name if key == "data" and isinstance(value, str) else value


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Nested values as lines of name and text."""
    if isinstance(value, Mapping):
        for key in value:
            yield from _flat(f"{name}: {key}", value[key])
    else:
        yield name, _text(value)


def _text(value: Any) -> str:
    if value is None or value == "":
        return fmt.NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(entry) for entry in value) or fmt.NONE
    return str(value)

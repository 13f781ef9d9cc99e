"""The results of a session as plain data: what the figures draw and the report prints.

`compare.analyse.analyse(session)` makes a `Results` of what was recorded; nothing in it needs a GPU.
Units: times in milliseconds where a name ends in `_ms` and seconds where it ends in `_s`, memory in
bytes, accuracy in percent, differences of accuracy in percentage points, speed in samples per second.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from .spec import Spec

ArmStatus = Literal["ok", "unavailable", "failed"]
Verdict = Literal["equivalent", "different", "inconclusive", "no verdict"]


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % confidence interval."""

    value: float
    low: float | None
    """None where too few runs allow no interval."""
    high: float | None
    n: int
    """Independent runs (processes) behind it."""
    method: str
    """How the interval was made, for the report's method section."""
    bootstrap: tuple[float, float] | None = None
    """The interval of a symmetric bootstrap-t, to see how much hangs on the method; None of few runs."""


@dataclass(frozen=True)
class ProcessSpeed:
    """One process of an arm: the unit of the statistics."""

    block: int
    replica: int
    images_per_s: float
    """Samples over the time of its timed windows."""
    median_images_per_s: float
    """At its median step: what it would be without stalls."""


@dataclass(frozen=True)
class StepTimes:
    """Distribution of the step time over all timed steps of an arm, and where the time goes."""

    median_ms: float
    q1_ms: float
    q3_ms: float
    p95_ms: float
    samples_ms: tuple[float, ...]
    """All timed steps, or an even thinning of them to at most 2000."""
    host_ms: float
    """Median time the host took to issue a step."""
    busy_share: float | None
    """Share of a step in which a kernel ran on the device."""
    launch_bound: bool | None
    """Whether the device waited for the host more than a tenth of the time; None where it is not known."""
    input_share: float | None
    """Time to draw and augment a batch, as a share of the step that does not include it."""
    clock: str


@dataclass(frozen=True)
class MemoryUse:
    """Largest peak over the arm's runs."""

    allocated: int
    reserved: int
    device_used: int | None


@dataclass(frozen=True)
class EpochPoint:
    epoch: int
    train_s: float
    """Training time up to the end of this epoch, evaluation excluded."""
    losses: tuple[float, ...]
    test_accuracy: float | None
    gradient_norm: float | None
    loss_scale: float | None


@dataclass(frozen=True)
class ScalePoint:
    step: int
    """Counted from the start of training."""
    loss_scale: float
    skipped: bool


@dataclass(frozen=True)
class TrainingRun:
    """One seed of one arm, trained."""

    seed: int
    status: str
    reason: str | None
    epochs: tuple[EpochPoint, ...]
    scales: tuple[ScalePoint, ...]
    skipped_steps: int
    steps: int
    final_accuracy: float | None
    """Of the last epoch, never of the best one; None unless every epoch was run."""
    time_to_target_s: float | None
    """Training time to the end of the first epoch that reached the target; None if none did."""


@dataclass(frozen=True)
class Accuracy:
    mean: Interval
    runs: tuple[float, ...]


@dataclass(frozen=True)
class Step0Difference:
    """Relative difference to the baseline at a first step: norm of the difference over the baseline's norm."""

    baseline: str
    """The arm itself for a second run of it: what equal code differs by."""
    logits: float
    gradients: float | None
    same_weights: bool
    same_order: bool
    loss: float | None = None
    logits_noise: float | None = None
    """What `logits` is where one of the two arms runs twice: the larger of theirs, None if neither did."""
    gradients_noise: float | None = None


@dataclass(frozen=True)
class ArmResult:
    name: str
    title: str
    precision: str
    status: ArmStatus
    reason: str | None = None
    images_per_s: Interval | None = None
    """Samples over the time of all timed windows, over the processes."""
    processes: tuple[ProcessSpeed, ...] = ()
    sustained: float | None = None
    """Speed of training epochs over that of the timed windows, the drawing of batches allowed for."""
    steps: StepTimes | None = None
    memory: MemoryUse | None = None
    joules_per_image: Interval | None = None
    """Energy the GPU drew for an image in the timed windows."""
    accuracy: Accuracy | None = None
    training: tuple[TrainingRun, ...] = ()
    step0: tuple[Step0Difference, ...] = ()
    """From the initial weights."""
    after: tuple[Step0Difference, ...] = ()
    """From the weights that the baseline's training ended with."""
    largest_batch: int | None = None
    arm_file: str | None = None
    arm_source: str | None = None
    arm_sha256: str | None = None


@dataclass(frozen=True)
class Control:
    """What two runs of the same arm in a block differ by (A/A): on the average by nothing, or nothing here is sound."""

    arm: str
    workload: str
    recipe: str
    batch: int
    ratio: Interval
    """Speed of the second run over that of the first."""
    spread: float | None
    """Standard deviation of the log ratios: about the relative spread of one comparison."""
    holds: bool | None
    """Whether the mean ratio agrees with 1 (99 % over the controls of the same thing); None of one pair."""


@dataclass(frozen=True)
class Machine:
    """The state of the machine over all timed windows; each triple is least, median and greatest."""

    sm_mhz: tuple[float, float, float] | None
    temperature_c: tuple[float, float, float] | None
    power_w: tuple[float, float, float] | None
    busy_elsewhere: tuple[float, float, float] | None
    """Cores that other processes kept busy."""
    windows: int
    throttled: int
    """Windows in which the driver held the clock down."""
    shared: int
    """Windows during which others used the GPU, or more than a core."""


@dataclass(frozen=True)
class Moment:
    """One sample of the machine."""

    arm: str
    at_s: float
    """Seconds since the session's first sample."""
    sm_mhz: int | None
    temperature_c: int | None
    power_w: float | None
    throttled: bool = False
    """The driver held the clock down."""
    shared: bool = False
    """Others used the GPU, or more than a core."""


@dataclass(frozen=True)
class RunToRun:
    """What the trainings of two arms differ by, beside what two trainings of one arm with the same seed differ by."""

    arm: str
    """The one that was trained twice."""
    baseline: str
    between: tuple[float, ...]
    """Arm minus baseline in final accuracy, seed by seed, in percentage points."""
    within: tuple[float, ...]
    """The second training of the arm minus the first, seed by seed."""
    excess: float | None
    """Root mean square of `between` over that of `within`; None of fewer than three of either, or if none differed."""
    low: float | None
    high: float | None
    """Its 95 % interval, from F."""
    exceeds: bool | None
    """Whether it is above 1, one-sided at 5 %: the arms differ by more than a run differs from itself."""
    losses_between: tuple[float, ...]
    """Relative difference of the loss at each of the first steps, median over the seeds."""
    losses_within: tuple[float, ...]


@dataclass(frozen=True)
class Equivalence:
    """Paired test of equivalence (two one-sided t tests) of final accuracy over seeds."""

    arm: str
    baseline: str
    n: int
    difference: float
    """Mean of arm minus baseline."""
    low: float | None
    high: float | None
    """90 % interval: inside the margin exactly where the test at 5 % says equivalent."""
    margin: float
    p: float | None
    p_holm: float | None
    p_beyond: float | None
    """Two-sided p of a difference that is no larger than the margin, adjusted by Holm: below 5 % the verdict is
    *different*."""
    verdict: Verdict
    power: float | None
    """Probability of the verdict *equivalent* if the arms were equal, with this n and the upper 80 % bound of the
    spread."""
    seeds_needed: int | None
    """Seeds with which that probability would reach 80 %."""


@dataclass(frozen=True)
class Pair:
    arm: str
    baseline: str
    speed: Interval | None
    """Ratio of speeds, arm over baseline: above 1 the arm is faster."""
    speed_differs: bool | None
    """Whether the interval of the ratio excludes 1; None where that cannot be judged (no interval, a smoke run, an A/A
    control that failed)."""
    detectable: float | None
    """The smallest ratio above 1 that the session would have told from 1 with 80 % probability."""
    memory: float | None
    """Ratio of peak allocated memory, arm over baseline."""
    equivalence: Equivalence | None
    training_speed: Interval | None = None
    """Ratio of speeds over whole epochs of training, from the second on, seed by seed."""
    time_to_target: Interval | None = None
    """Ratio of training times to the target accuracy, baseline over arm, over the seeds in which both reached it:
    above 1 the arm is sooner there."""


@dataclass(frozen=True)
class SweepPoint:
    arm: str
    batch: int
    images_per_s: Interval | None
    memory_allocated: int | None
    speed_ratio: Interval | None = None
    """To the baseline arm at the same batch."""
    speed_differs: bool | None = None
    """As of a `Pair`."""
    reason: str | None = None
    """Why there is none (out of memory, say)."""


@dataclass(frozen=True)
class OtherSpeed:
    """Speed of an arm on another workload or recipe."""

    workload: str
    recipe: str
    arm: str
    images_per_s: Interval | None
    memory_allocated: int | None
    speed_ratio: Interval | None
    """To the baseline arm on the same workload and recipe."""
    speed_differs: bool | None = None
    """As of a `Pair`."""
    reason: str | None = None


@dataclass(frozen=True)
class Claim:
    """A common claim beside what was measured here."""

    claim: str
    source: str
    measured: str
    holds: Literal["yes", "no", "not measured"]


@dataclass(frozen=True)
class Failure:
    """A task that did not end well: a recorded result like any other."""

    task: str
    arm: str
    status: str
    reason: str


@dataclass(frozen=True)
class Results:
    spec: Spec
    environment: dict[str, Any]
    started: str
    command: str
    arms: tuple[ArmResult, ...]
    pairs: tuple[Pair, ...]
    controls: tuple[Control, ...]
    run_to_run: tuple[RunToRun, ...]
    sweep: tuple[SweepPoint, ...]
    others: tuple[OtherSpeed, ...]
    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...]
    notices: tuple[str, ...]
    """What a reader has to know: damage, budget decisions, tasks that did not run, checks that failed."""
    headline: str
    """The verdict in one sentence."""
    smoke: bool
    """True for the smoke profile: no conclusion may be drawn from any number."""
    flags: dict[str, Any] = field(default_factory=dict)
    machine: Machine | None = None
    moments: tuple[Moment, ...] = ()
    seconds: float | None = None
    """That all processes took together."""
    gpu_hours: float | None = None
    """The same times the GPUs each held; None without one."""
    complete: bool = True

    def arm(self, name: str) -> ArmResult | None:
        return next((arm for arm in self.arms if arm.name == name), None)

    def pair(self, arm: str, baseline: str) -> Pair | None:
        return next((pair for pair in self.pairs if (pair.arm, pair.baseline) == (arm, baseline)), None)

"""From what a session recorded to its results. Needs no GPU and no torch; the same folder gives the same results.

What counts: runs that ended well, outside the settling blocks. Speed is one number per process, the median of its
step times; arms are paired block by block, accuracy seed by seed. What does not count is listed (`failures`) or said
(`notices`). `checks.py` holds the checks that arms were treated alike, `verdict.py` turns the numbers into sentences.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compare import stats
from compare.arms import ARMS, RECIPES
from compare.checks import check
from compare.records import (
    Asked,
    Busy,
    Capacity,
    Ended,
    Environment,
    Epoch,
    Finished,
    InputCost,
    Memory,
    Run,
    Session,
    Started,
    Step0,
    Unavailable,
    Window,
    read_session,
)
from compare.results import (
    Accuracy,
    ArmResult,
    ArmStatus,
    EpochPoint,
    Equivalence,
    Failure,
    Floor,
    Interval,
    MemoryUse,
    OtherSpeed,
    Pair,
    Results,
    ScalePoint,
    Step0Difference,
    StepTimes,
    SweepPoint,
    TrainingRun,
)
from compare.spec import Spec, Task
from compare.verdict import APEX, NATIVE, claims, headline

LAUNCH_BOUND_BELOW = 0.9
"""Share of a step in which a kernel runs, below which the device waits for the host."""
MOST_SAMPLES = 2000
"""Step times kept per arm for figures."""
UNSUCCESSFUL = ("oom", "nan", "failed", "timeout")
Accuracies = Mapping[int, float]


def analyse_folder(folder: Path) -> Results:
    """The results of a session's folder. Raises ValueError with one sentence if it holds no session."""
    return analyse(read_session(folder))


def analyse(session: Session) -> Results:
    """The results of a session, complete or not."""
    material = _material(session)
    spec = material.spec
    notices = [*session.notices, *check(session, material.runs)]
    floors = _floors(material)
    trainings = {arm: _trainings(material, arm) for arm in spec.trained}
    tests = _equivalences(material, trainings, notices)
    results = Results(
        spec=spec,
        environment=_environment(session),
        started=session.of(Asked)[0].started,
        command=session.of(Asked)[0].command,
        arms=tuple(_arm(material, arm, trainings.get(arm, ())) for arm in spec.arms),
        pairs=_pairs(material, floors, tests),
        floors=floors,
        sweep=_sweep(material),
        others=_others(material),
        claims=(),
        failures=tuple(
            Failure(run.task.name, run.task.arm, run.status, _reason(run))
            for run in material.runs
            if run.status in UNSUCCESSFUL
        ),
        notices=tuple(notices),
        headline="",
        smoke=material.smoke,
        flags=_flags(material),
        complete=bool(session.of(Finished)) and all(run.status != "incomplete" for run in material.runs),
    )
    return replace(results, claims=claims(results), headline=headline(results))


# ------------------------------------------------------------------ material


@dataclass(frozen=True)
class _Material:
    """A session's runs as the statistics use them."""

    spec: Spec
    """As a budget left it."""
    runs: tuple[Run, ...]
    unavailable: Mapping[str, str]
    smoke: bool

    def of(self, arm: str, task: Task, *, replica: int | None = 0) -> list[Run]:
        """An arm's runs of the kind, workload, recipe and batch of `task`; every replica with None."""
        wanted = (task.kind, arm, task.workload, task.recipe, task.batch)
        return [
            run
            for run in self.runs
            if (run.task.kind, run.task.arm, run.task.workload, run.task.recipe, run.task.batch) == wanted
            and not run.task.settling
            and replica in (None, run.task.replica)
        ]

    def main(self, kind: str = "speed") -> Task:
        """What the session is about: its own workload, recipe and batch."""
        spec = self.spec
        return Task(kind, "", workload=spec.workload, recipe=spec.recipe, batch=spec.batch)  # type: ignore[arg-type]

    def speeds(self, arm: str, task: Task, *, replica: int = 0) -> dict[int, float]:
        """Samples per second by block."""
        return {run.task.block: _speed(run) for run in self.of(arm, task, replica=replica) if _timed(run)}


def _material(session: Session) -> _Material:
    spec = session.spec
    unavailable = {record.arm: record.reason for record in session.of(Unavailable)}
    return _Material(spec, session.runs, unavailable, spec.profile == "smoke" or spec.device == "cpu")


def _reason(run: Run) -> str:
    ended = run.last(Ended)
    return (ended.reason if ended else None) or "no reason was recorded"


def _environment(session: Session) -> dict[str, object]:
    found = session.of(Environment)
    return dict(found[-1].environment) if found else {}


def _flags(material: _Material) -> dict[str, object]:
    """The baseline's switches; those of the other arms are equal but for TF32, or a notice says so."""
    started = sorted(
        (
            (run.task.arm != material.spec.baseline, index, record)
            for index, run in enumerate(material.runs)
            if (record := run.last(Started)) is not None
        ),
        key=lambda entry: entry[:2],
    )
    return dict(started[0][2].flags) if started else {}


# ------------------------------------------------------------------ speed and memory


def _timed(run: Run) -> bool:
    if run.status != "ok":
        return False
    times = _step_times(run)
    return bool(times) and math.isfinite(median := statistics.median(times)) and median > 0


def _step_times(run: Run) -> list[float]:
    """Milliseconds of each timed step.

    With accumulation only some steps move the optimizer: those that belong together count with their mean.
    """
    together = RECIPES[run.task.recipe].accumulate if run.task.recipe in RECIPES else 1
    times: list[float] = []
    for window in run.of(Window):
        size = together if len(window.step_ms) >= together else 1
        whole = len(window.step_ms) - len(window.step_ms) % size
        times += [sum(window.step_ms[at : at + size]) / size for at in range(0, whole, size)]
    return times


def _speed(run: Run) -> float:
    """Samples per second of one process (of all of them, where a task has several), at its median step."""
    started = run.last(Started)
    world = started.world if started else 1
    return 1000.0 * run.task.batch * world / statistics.median(_step_times(run))


def _interval(speeds: Mapping[int, float]) -> Interval | None:
    return stats.geometric_mean_interval(list(speeds.values())) if speeds else None


def _ratio(arm: Mapping[int, float], baseline: Mapping[int, float]) -> Interval | None:
    """Ratio of speeds over the blocks that both have."""
    blocks = sorted(arm.keys() & baseline.keys())
    if not blocks:
        return None
    return stats.ratio_interval([arm[block] for block in blocks], [baseline[block] for block in blocks])


def _steps(runs: Sequence[Run]) -> StepTimes | None:
    times = [time for run in runs for time in _step_times(run)]
    if not times:
        return None
    windows = [window for run in runs for window in run.of(Window)]
    shares = [busy.share for run in runs for busy in run.of(Busy) if busy.share is not None]
    inputs = [time for run in runs for cost in run.of(InputCost) for time in cost.batch_ms]
    median = statistics.median(times)
    busy_share = statistics.median(shares) if shares else None
    return StepTimes(
        median_ms=median,
        q1_ms=stats.quantile(times, 0.25),
        q3_ms=stats.quantile(times, 0.75),
        p95_ms=stats.quantile(times, 0.95),
        samples_ms=_thinned(times),
        host_ms=statistics.median(window.host_ms for window in windows),
        busy_share=busy_share,
        launch_bound=None if busy_share is None else busy_share < LAUNCH_BOUND_BELOW,
        input_share=statistics.median(inputs) / median if inputs else None,
        clock=windows[0].clock,
    )


def _thinned(times: list[float]) -> tuple[float, ...]:
    """At most `MOST_SAMPLES` of them, evenly spaced, so that every window and process keeps its share."""
    if len(times) <= MOST_SAMPLES:
        return tuple(times)
    return tuple(times[index * len(times) // MOST_SAMPLES] for index in range(MOST_SAMPLES))


def _memory(runs: Iterable[Run]) -> MemoryUse | None:
    found = [record for run in runs if run.status == "ok" for record in run.of(Memory)]
    if not found:
        return None
    used = [record.device_used for record in found if record.device_used is not None]
    return MemoryUse(
        allocated=max(record.allocated for record in found),
        reserved=max(record.reserved for record in found),
        device_used=max(used) if used else None,
    )


def _floors(material: _Material) -> tuple[Floor, ...]:
    """What the two runs of an arm in the same block differ by."""
    floors = []
    for arm in material.spec.repeated:
        first = material.speeds(arm, material.main())
        second = material.speeds(arm, material.main(), replica=1)
        ratio = _ratio(second, first)
        if ratio is not None:
            each = [second[block] / first[block] for block in first.keys() & second.keys()]
            floors.append(Floor(arm, ratio, max(max(one, 1 / one) for one in each)))
    return tuple(floors)


def _pairs(
    material: _Material, floors: Sequence[Floor], tests: Mapping[tuple[str, str], Equivalence]
) -> tuple[Pair, ...]:
    """Every arm beside the baseline and beside Apex O1, native AMP beside TF32 too; those of which nothing is known
    are left out."""
    arms, main = material.spec.arms, material.main()
    wanted = [(arm, baseline) for baseline in (material.spec.baseline, APEX) if baseline in arms for arm in arms]
    if NATIVE in arms and "tf32" in arms:
        wanted.append((NATIVE, "tf32"))
    pairs = []
    for arm, baseline in dict.fromkeys([*wanted, *tests]):
        if arm == baseline:
            continue
        speed = _ratio(material.speeds(arm, main), material.speeds(baseline, main))
        own, other = (_memory(material.of(name, main, replica=None)) for name in (arm, baseline))
        memory = own.allocated / other.allocated if own and other and other.allocated else None
        test = tests.get((arm, baseline))
        if (speed, memory, test) != (None, None, None):
            beyond = None if material.smoke else _beyond_noise(speed, floors)
            pairs.append(Pair(arm, baseline, speed, beyond, memory, test))
    return tuple(pairs)


def _beyond_noise(ratio: Interval | None, floors: Sequence[Floor]) -> bool | None:
    """Whether the interval excludes 1 and the ratio is beyond every A/A pair; None where one of them is missing."""
    if ratio is None or ratio.low is None or ratio.high is None or not floors:
        return None
    excludes = ratio.low > 1 or ratio.high < 1
    return excludes and max(ratio.value, 1 / ratio.value) > max(floor.largest for floor in floors)


def _sweep(material: _Material) -> tuple[SweepPoint, ...]:
    """By arm and batch; the session's own batch is one of the points where there are others."""
    points = []
    for arm in material.spec.arms if material.spec.sweep else ():
        for batch in sorted({*material.spec.sweep, material.spec.batch}):
            task = replace(material.main(), batch=batch)
            runs = material.of(arm, task)
            if runs:
                memory = _memory(material.of(arm, task, replica=None))
                points.append(
                    SweepPoint(
                        arm,
                        batch,
                        _interval(material.speeds(arm, task)),
                        memory.allocated if memory else None,
                        _why_not(runs),
                    )
                )
    return tuple(points)


def _others(material: _Material) -> tuple[OtherSpeed, ...]:
    """Other workloads and recipes, in the order of the specification, then of the arms."""
    spec = material.spec
    found = {
        (run.task.workload, run.task.recipe, run.task.batch)
        for run in material.runs
        if run.task.kind == "speed" and (run.task.workload, run.task.recipe) != (spec.workload, spec.recipe)
    }
    workloads, recipes = [spec.workload, *spec.extra_workloads], [spec.recipe, *spec.extra_recipes]

    def rank(key: tuple[str, str, int]) -> tuple[object, ...]:
        workload, recipe, _ = key
        known = workloads.index(workload) if workload in workloads else len(workloads)
        return (known, recipes.index(recipe) if recipe in recipes else len(recipes), *key)

    others = []
    for workload, recipe, batch in sorted(found, key=rank):
        task = Task("speed", "", workload=workload, recipe=recipe, batch=batch)
        baseline = material.speeds(spec.baseline, task)
        for arm in spec.arms:
            runs = material.of(arm, task)
            if runs:
                speeds, memory = material.speeds(arm, task), _memory(runs)
                others.append(
                    OtherSpeed(
                        workload,
                        recipe,
                        arm,
                        _interval(speeds),
                        memory.allocated if memory else None,
                        _ratio(speeds, baseline),
                        _why_not(runs),
                    )
                )
    return tuple(others)


def _why_not(runs: Sequence[Run]) -> str | None:
    """Why there is no number, None if there is one."""
    if any(_timed(run) for run in runs):
        return None
    first = next((run for run in runs if run.status != "incomplete"), None)
    if first is None:
        return "it has not run to its end"
    return _reason(first) if first.status != "ok" else "no step was timed"


# ------------------------------------------------------------------ accuracy


def _trainings(material: _Material, arm: str) -> tuple[TrainingRun, ...]:
    runs = sorted(material.of(arm, material.main("train")), key=lambda run: run.task.seed)
    return tuple(_training(run, material.spec) for run in runs)


def _training(run: Run, spec: Spec) -> TrainingRun:
    points: list[EpochPoint] = []
    scales: list[ScalePoint] = []
    steps, seconds, reached = 0, 0.0, None
    epochs = run.of(Epoch)
    for epoch in epochs:
        seconds += epoch.train_s
        points.append(
            EpochPoint(
                epoch=epoch.epoch,
                train_s=seconds,
                losses=tuple(epoch.losses),
                test_accuracy=epoch.test_accuracy,
                gradient_norm=epoch.gradient_norm,
                loss_scale=epoch.loss_scale,
            )
        )
        skipped = set(epoch.skipped)
        scales += [ScalePoint(steps + step, scale, step in skipped) for step, scale in epoch.scales]
        steps += epoch.steps
        target, accuracy = spec.target_accuracy, epoch.test_accuracy
        if reached is None and target is not None and accuracy is not None and accuracy >= target:
            reached = seconds
    whole = run.status == "ok" and [epoch.epoch for epoch in epochs] == list(range(1, spec.epochs + 1))
    return TrainingRun(
        seed=run.task.seed,
        status=run.status,
        reason=_reason(run) if run.status in UNSUCCESSFUL else None,
        epochs=tuple(points),
        scales=tuple(scales),
        skipped_steps=sum(len(epoch.skipped) for epoch in epochs),
        steps=steps,
        final_accuracy=epochs[-1].test_accuracy if whole and epochs else None,
        time_to_target_s=reached,
    )


def _final(trainings: Iterable[TrainingRun]) -> dict[int, float]:
    """Final accuracy by seed."""
    finals = {run.seed: run.final_accuracy for run in trainings}
    return {seed: final for seed, final in finals.items() if final is not None and math.isfinite(final)}


def _equivalences(
    material: _Material, trainings: Mapping[str, Sequence[TrainingRun]], notices: list[str]
) -> dict[tuple[str, str], Equivalence]:
    """The tests of parity, Holm's correction over all of them; seeds that cannot be paired are said in `notices`."""
    base = material.spec.baseline
    wanted = [(NATIVE, APEX), (NATIVE, base), (APEX, base), *((arm, base) for arm in material.spec.trained)]
    tests: dict[tuple[str, str], Equivalence] = {}
    for arm, baseline in dict.fromkeys(wanted):
        if arm != baseline and trainings.get(arm) and trainings.get(baseline):
            notices += _left_out(arm, baseline, trainings, material.spec)
            test = _equivalence(material, arm, baseline, trainings)
            if test is not None:
                tests[arm, baseline] = test
    tested = [key for key, test in tests.items() if test.p is not None]
    adjusted = stats.holm([test.p for test in tests.values() if test.p is not None])
    return {**tests, **{key: replace(tests[key], p_holm=p) for key, p in zip(tested, adjusted, strict=True)}}


def _equivalence(
    material: _Material, arm: str, baseline: str, trainings: Mapping[str, Sequence[TrainingRun]]
) -> Equivalence | None:
    own, other = _final(trainings[arm]), _final(trainings[baseline])
    seeds = sorted(own.keys() & other.keys())
    if not seeds:
        return None
    test = stats.equivalence([own[seed] for seed in seeds], [other[seed] for seed in seeds], material.spec.margin)
    if material.smoke:
        test = replace(test, low=None, high=None, p=None, verdict="no verdict", power=None, seeds_needed=None)
    return Equivalence(
        arm=arm, baseline=baseline, p_holm=None, mcnemar_p=_mcnemar(material, arm, baseline, seeds), **vars(test)
    )


def _left_out(arm: str, baseline: str, trainings: Mapping[str, Sequence[TrainingRun]], spec: Spec) -> Iterable[str]:
    """A sentence for each seed that only one arm has, or none: leaving it out is a choice a reader has to know."""
    for seed in range(spec.seeds):
        why = []
        for name in (arm, baseline):
            run = next((run for run in trainings[name] if run.seed == seed), None)
            if run is None:
                why.append(f"{name} did not run")
            elif run.final_accuracy is None:
                ended = f"ended {run.status}" if run.status != "ok" else "has no accuracy of its last epoch"
                why.append(f"{name} {ended}" + (f": {run.reason}" if run.reason else ""))
        if why:
            yield f"Seed {seed} is left out of the accuracy of {arm} against {baseline} ({'; '.join(why)})."


def _mcnemar(material: _Material, arm: str, baseline: str, seeds: Sequence[int]) -> float | None:
    """McNemar's test on the test images of all seeds together; None unless both arms recorded them."""
    if material.smoke:
        return None
    own, other = (_correct(material, name) for name in (arm, baseline))
    pooled: tuple[list[bool], list[bool]] = ([], [])
    for seed in seeds:
        if seed in own and seed in other and len(own[seed]) == len(other[seed]):
            pooled[0].extend(own[seed])
            pooled[1].extend(other[seed])
    return stats.mcnemar(*pooled) if pooled[0] else None


def _correct(material: _Material, arm: str) -> dict[int, list[bool]]:
    """By seed, which test images were right at the end. Bits that fill up the last digit are wrong in every arm."""
    found = {}
    for run in material.of(arm, material.main("train")):
        epoch = run.last(Epoch)
        if run.status == "ok" and epoch is not None and epoch.correct:
            found[run.task.seed] = [bit == "1" for bit in f"{int(epoch.correct, 16):0{4 * len(epoch.correct)}b}"]
    return found


# ------------------------------------------------------------------ arms


def _arm(material: _Material, arm: str, trainings: Sequence[TrainingRun]) -> ArmResult:
    main = material.main()
    info = ARMS.get(arm)
    status, reason = _status(material, arm)
    timed = [run for run in material.of(arm, main) if _timed(run)]
    finals = _final(trainings)
    started = [record for run in material.runs if run.task.arm == arm for record in run.of(Started)]
    last = started[-1] if started else None
    return ArmResult(
        name=arm,
        title=info.title if info else arm,
        precision=info.precision if info else "unknown",
        status=status,
        reason=reason,
        images_per_s=_interval(material.speeds(arm, main)),
        steps=_steps(timed),
        memory=_memory(material.of(arm, main, replica=None)),
        accuracy=Accuracy(stats.mean_interval(list(finals.values())), tuple(finals.values())) if finals else None,
        training=tuple(trainings),
        step0=tuple(
            difference
            for baseline in dict.fromkeys((material.spec.baseline, APEX))
            if (difference := _step0(material, arm, baseline)) is not None
        ),
        largest_batch=_largest_batch(material, arm),
        arm_file=last.arm_file if last else None,
        arm_source=last.arm_source if last else None,
        arm_sha256=last.arm_sha256 if last else None,
    )


def _status(material: _Material, arm: str) -> tuple[ArmStatus, str | None]:
    """Failed if no run of a kind that was asked for ended well, though one of them has ended."""
    spec = material.spec
    kinds = ["speed"] if spec.blocks else []
    kinds += ["train"] if arm in spec.trained and spec.seeds else []
    kinds += ["capacity"] if spec.capacity else []
    runs = {kind: material.of(arm, material.main(kind)) for kind in kinds}
    done = [kind for kind in kinds if any(run.status == "ok" for run in runs[kind])]
    if not done and arm in material.unavailable:
        return "unavailable", material.unavailable[arm]
    for kind in kinds:
        if kind not in done:
            first = next((run for run in runs[kind] if run.status != "incomplete"), None)
            if first is not None and first.status == "unavailable" and not done:
                return "unavailable", _reason(first)
            if first is not None:
                return "failed", f"{kind}: {first.status}, {_reason(first)}"
    if kinds and not done:
        return "failed", "none of its tasks has run to its end"
    return "ok", None


def _largest_batch(material: _Material, arm: str) -> int | None:
    fits = [
        probe.batch
        for run in material.of(arm, material.main("capacity"))
        if run.status == "ok"
        for probe in run.of(Capacity)
        if probe.fits
    ]
    return max(fits, default=None)


def _step0(material: _Material, arm: str, baseline: str) -> Step0Difference | None:
    """Median over the blocks of the relative difference to the baseline at the first step, from equal weights."""
    if arm == baseline:
        return None
    own, other = _first_steps(material, arm), _first_steps(material, baseline)
    both = [(own[key], other[key]) for key in own.keys() & other.keys()]
    if not both:
        return None
    logits = [_relative(a.logits, b.logits) for (a, _), (b, _) in both]
    gradients = [_relative(a.gradients, b.gradients) for (a, _), (b, _) in both if a.gradients and b.gradients]
    known = [value for value in logits if value is not None]
    known_gradients = [value for value in gradients if value is not None]
    if not known:
        return None
    return Step0Difference(
        baseline=baseline,
        logits=statistics.median(known),
        gradients=statistics.median(known_gradients) if known_gradients else None,
        same_weights=all(a.initial_weights == b.initial_weights for (_, a), (_, b) in both),
        same_order=all(a.order == b.order for (_, a), (_, b) in both),
    )


def _first_steps(material: _Material, arm: str) -> dict[tuple[str, int, int], tuple[Step0, Started]]:
    """By kind, block and seed."""
    found = {}
    for kind in ("speed", "train"):
        for run in material.of(arm, material.main(kind)):
            step0, started = run.last(Step0), run.last(Started)
            if step0 is not None and started is not None:
                found[kind, run.task.block, run.task.seed] = (step0, started)
    return found


def _relative(values: Sequence[float], reference: Sequence[float]) -> float | None:
    """Norm of the difference over the norm of the reference; None where it cannot be had."""
    if len(values) != len(reference):
        return None
    norm = math.sqrt(math.fsum(value * value for value in reference))
    distance = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(values, reference, strict=True)))
    return distance / norm if norm > 0 and math.isfinite(distance / norm) else None

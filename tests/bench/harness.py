"""What the comparison itself costs: each arm's steps inside its harness beside a bare loop of the same steps.

    python tests/bench/harness.py [--arms A,B] [--workload W] [--batch N] [--steps N] [--pairs N]

Two parts of the harness run steps: the timed window of a speed task (marks between steps, a counter on the
optimizer) and the epoch of a training task (drawing, learning rate, losses kept, skipped steps noticed). Each
is paired with the plain loop that does only what training needs, in one process an arm, turn and turn about,
in an order drawn for each pair. The harness's time is the one it reports; the bare loop's is the host's clock from
before the first step until the device has done the last. Printed is their ratio: its geometric mean over the
pairs with a 95 % interval. It should not be above 1.02; the exit code does not depend on it.

On a GPU: ResNet50, batch 128, every arm that can run. Without one: ResNet50 with 2 images and the arms whose
steps take well under a second there.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from compare.arms import ARMS
from compare.spec import RESNET50, Spec, Task


def main() -> int:
    options = _options()
    if options.one:
        print(json.dumps(_measure(options.one, options)))
        return 0
    import torch

    from compare.apex import apex_problem

    cuda = torch.cuda.is_available()
    names = options.arms.split(",") if options.arms else list(ARMS) if cuda else ["fp32", "native-bf16"]
    print(f"device: {torch.cuda.get_device_name() if cuda else 'CPU'}, torch {torch.__version__}")
    print(f"{'arm':<28}{'part':<10}{'bare ms':>10}{'harness ms':>12}{'ratio':>8}   95 % interval")
    for name in names:
        if ARMS[name].apex and (problem := apex_problem()):
            print(f"{name:<28}unavailable: {problem}")
            continue
        words = [sys.executable, __file__, "--one", name, "--batch", str(options.batch or (128 if cuda else 2))]
        words += ["--steps", str(options.steps or (50 if cuda else 4)), "--pairs", str(options.pairs)]
        done = subprocess.run([*words, "--workload", options.workload], capture_output=True, text=True)
        if done.returncode:
            print(f"{name:<28}failed: {done.stderr.strip().splitlines()[-1]}")
            continue
        for row in json.loads(done.stdout.splitlines()[-1]):
            print(
                f"{name:<28}{row['part']:<10}{row['bare_ms']:>10.2f}{row['harness_ms']:>12.2f}"
                f"{row['ratio']:>8.3f}   {row['low']:.3f} to {row['high']:.3f}"
            )
    return 0


def _measure(name: str, options: argparse.Namespace) -> list[dict[str, object]]:
    """Both parts of the harness for one arm, in this process."""
    import torch

    from compare.measure.timing import synchronize, time_window
    from compare.stats import ratio_interval
    from compare.tasks import train
    from compare.tasks.prepared import Place, prepare

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    samples = (options.steps + 8) * options.batch
    spec = Spec(
        "bench", device.type, (name,), (), (), data=f"synthetic:{samples},{options.batch}",  # type: ignore[arg-type]
        epoch_steps=options.steps, epochs=10_000,
    )  # fmt: skip
    task = Task("speed", name, workload=options.workload, batch=options.batch)
    ready = prepare(spec, task, Place(device))
    ready.set_rate(1e-4)
    ready.arm.model.train()
    batches = list(itertools.islice(ready.job.batches.epoch(1), 8))
    for number in range(10 if device.type == "cuda" else 2):
        ready.step(batches[number % len(batches)])

    def window() -> float:
        return sum(time_window(0, options.steps, ready.step, itertools.cycle(batches), device).step_ms) / options.steps

    def bare_window() -> None:
        for number in range(options.steps):
            ready.arm.train_step(*batches[number % len(batches)])

    def epoch() -> float:
        return 1e3 * train._train(ready, 1, lambda done, total, note: None).seconds / options.steps

    def bare_epoch() -> None:
        for step, (images, labels) in enumerate(itertools.islice(ready.job.batches.epoch(2), options.steps)):
            rate = ready.job.learning_rate(options.steps + step)
            for group in ready.job.optimizer.param_groups:
                group["lr"] = rate
            ready.arm.train_step(images, labels)

    def timed(run: Callable[[], None]) -> float:
        synchronize(device)
        begun = time.perf_counter()
        run()
        synchronize(device)
        return 1e3 * (time.perf_counter() - begun) / options.steps

    rows: list[dict[str, object]] = []
    draw = random.Random(name)
    for part, harness, bare in (("window", window, bare_window), ("epoch", epoch, bare_epoch)):
        with_harness, without = [], []
        for _ in range(options.pairs):
            for which in draw.sample(("harness", "bare"), 2):
                if which == "harness":
                    with_harness.append(harness())
                else:
                    ready.counter.detach()
                    without.append(timed(bare))
                    ready.counter.attach()
        ratio = ratio_interval(with_harness, without)
        rows.append(
            {
                "part": part,
                "bare_ms": sorted(without)[len(without) // 2],
                "harness_ms": sorted(with_harness)[len(with_harness) // 2],
                "ratio": ratio.value,
                "low": ratio.low,
                "high": ratio.high,
            }
        )
    return rows


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What the comparison itself costs.")
    parser.add_argument("--arms")
    parser.add_argument("--workload", default=RESNET50)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

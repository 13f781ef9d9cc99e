"""What a comparison runs: the specification of a session, and the tasks it consists of.

A *session* is one folder of results. A *task* is one fresh process: one arm, one seed, one kind of
measurement. Everything a task does is in its fields and in the specification; nothing is read from
the environment of the process, so that equal specifications give comparable results.
"""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Literal

from . import typed

Kind = Literal["speed", "train", "after", "capacity"]
"""`after`: the first step of an arm from the weights that a training ended with."""
Device = Literal["cuda", "cpu"]

RESNET50 = "resnet50-cifar10"
MLP = "mlp"
VIT = "vit-cifar10"
LOADER = "resnet50-cifar10-loader"


@dataclass(frozen=True)
class Spec:
    """One session, as it was asked for. Two runs with equal specifications continue one another.

    Times are in seconds, accuracy and `margin` in percentage points.
    """

    profile: str
    device: Device
    arms: tuple[str, ...]
    """Arms whose speed and memory is measured, in the order the report lists them."""
    trained: tuple[str, ...]
    """Arms that are also trained over the seeds for accuracy."""
    repeated: tuple[str, ...]
    """Arms that run twice in each block: the A/A pairs, which have to be equal on the average."""
    baseline: str = "fp32"
    workload: str = RESNET50
    recipe: str = "plain"
    stem: str = "cifar"
    data: str = "synthetic"
    """`synthetic`, or the absolute path of a folder (an image folder or one with CIFAR-10's own files)."""
    batch: int = 128
    processes: int = 1
    """Processes of one task: above one it runs under torchrun with DistributedDataParallel, `batch` in each."""
    nodes: int = 1
    """Machines of one task, `processes` on each."""
    seeds: int = 1
    again: int = 0
    """Seeds with which the arms of `trained_again` are trained a second time: what a run differs from itself by."""
    trained_again: tuple[str, ...] = ()
    after: int = 0
    """Seeds whose trained weights every trained arm makes one more first step from, those of `trained_again` twice."""
    epochs: int = 1
    epoch_steps: int | None = None
    """Steps of an epoch where it is cut short (smoke), else None: the whole of the data."""
    blocks: int = 1
    """Blocks of speed tasks: in each every arm runs once, in an order of its own."""
    settling_blocks: int = 0
    """Blocks run first and left out of the statistics: the GPU reaches its temperature in them."""
    warmup: int = 50
    """Steps before the first timed window, and the least of them: they go on for `warmup_s`."""
    warmup_s: float = 0.0
    windows: int = 5
    window_steps: int = 50
    extra_blocks: int = 1
    """Blocks of each other batch size, recipe and workload."""
    sweep: tuple[int, ...] = ()
    """Batch sizes of the batch sweep, other than `batch`."""
    capacity: bool = False
    """Whether the largest batch that fits is searched for."""
    extra_recipes: tuple[str, ...] = ()
    extra_workloads: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    """Windows that do not count: `throttled`, `shared`. Fixed before anything runs; without it they count and are
    named."""
    margin: float = 0.5
    """Equivalence margin of accuracy; fixed before anything runs."""
    target_accuracy: float | None = None
    """Accuracy (percent) of *time to accuracy*."""
    timeout: float | None = None
    """Seconds after which one task is ended and recorded as timed out; None: by what it is expected to take."""
    budget: float | None = None
    """Seconds for the whole session, or None."""

    @property
    def world(self) -> int:
        """Processes of one task on all its machines."""
        return self.processes * self.nodes

    @property
    def weights_from(self) -> str | None:
        """The arm whose trained weights these first steps begin with: the baseline, which favours neither side."""
        return self.baseline if self.baseline in self.trained else next(iter(self.trained), None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Spec:
        """The specification that was recorded. Raises ValueError for what is none."""
        return cls(**_known(cls, data))


@dataclass(frozen=True)
class Task:
    """One process: what it trains, and what of it is measured."""

    kind: Kind
    arm: str
    seed: int = 0
    block: int = 0
    replica: int = 0
    """1 for the second run of an arm in its block (A/A), else 0."""
    workload: str = RESNET50
    recipe: str = "plain"
    batch: int = 128
    settling: bool = False
    """Whether it belongs to a block that the statistics leave out."""

    @property
    def name(self) -> str:
        """The name of its files, unique in a session."""
        workload = self.workload.replace(":", ".").replace("/", ".")
        parts = [self.kind, workload, self.recipe, f"bs{self.batch}", f"b{self.block:02d}", f"s{self.seed}", self.arm]
        if self.settling:
            parts.insert(1, "settling")
        return "-".join(parts) + ("-again" if self.replica else "")

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Task:
        """The task that was recorded. Raises ValueError for what is none."""
        return cls(**_known(cls, data))


def _known(kind: type[Spec] | type[Task], data: Any) -> dict[str, Any]:
    """The fields of `kind`; what another version added is left out."""
    if not isinstance(data, dict):
        raise ValueError(f"not a {kind.__name__.lower()}: {data!r}")
    lacking = [field.name for field in fields(kind) if field.default is MISSING and field.name not in data]
    if lacking:
        raise ValueError(f"a {kind.__name__.lower()} without {', '.join(lacking)}")
    typed.check(kind, data)
    names = {field.name for field in fields(kind)}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items() if key in names}

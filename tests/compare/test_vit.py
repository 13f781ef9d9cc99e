"""The vision transformer: equal in every arm of a seed, it trains, and every arm of a CPU runs it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.optim import AdamW

from compare import estimate, plan
from compare.arms import ARMS
from compare.cli import _parser
from compare.errors import UserError
from compare.policy import apex_o1
from compare.policy.network import trace
from compare.profiles import profile
from compare.records import Epoch, Record, Step0, Trace, Window
from compare.report.method import data_name, workload_name
from compare.request import specification
from compare.spec import RESNET50, VIT, Spec, Task
from compare.tasks import speed, train
from compare.tasks.prepared import Place, Prepared, prepare
from compare.workloads import Job, Setting, digest, load_workload, sizes, vit_cifar10

SETTING = Setting(device=torch.device("cpu"), batch=8, seed=1, data="synthetic:64,16")
PLACE = Place(torch.device("cpu"))
PROJECT = Path(__file__).parents[2]
SMALL = sizes.VitSizes(patch=8, width=48, heads=2, mlp=96, layers=2)
SPEC = Spec(
    "smoke",
    "cpu",
    ("fp32", "native-fp16", "native-bf16"),
    ("fp32",),
    (),
    workload=VIT,
    data="synthetic:640,100",
    batch=32,
    warmup=1,
    windows=1,
    window_steps=2,
)


def apex_there() -> bool:
    try:
        apex_o1.find_apex()
    except UserError:
        return False
    return True


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tests run side by side, and more threads than cores make small operations many times slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vit_cifar10, "SIZES", SMALL)
    monkeypatch.setattr(vit_cifar10, "LEARNING_RATE", 4e-3)  # so few weights learn faster


@pytest.fixture(scope="module")
def whole() -> Job:
    return load_workload(VIT)(SETTING)


def ready(arm: str, spec: Spec = SPEC, recipe: str = "plain", seed: int = 0) -> Prepared:
    return prepare(spec, Task("speed", arm, seed=seed, workload=VIT, recipe=recipe, batch=spec.batch), PLACE)


def records(what: Prepared, task: object) -> list[Record]:
    found: list[Record] = []
    task.run(what, found.append, lambda *_: None)  # type: ignore[attr-defined]
    return found


def test_it_has_ten_million_parameters_and_its_optimizer(whole: Job) -> None:
    assert sum(weight.numel() for weight in whole.model.parameters()) == 10_695_562
    assert isinstance(whole.optimizer, AdamW) and whole.classifies
    group = whole.optimizer.param_groups[0]
    assert (group["weight_decay"], group["betas"]) == (0.05, (0.9, 0.999)) and not group["fused"]
    assert group["lr"] == pytest.approx(5e-4 * math.sqrt(8 / 128))


def test_the_setting_reaches_the_job() -> None:
    job = load_workload(VIT)(replace(SETTING, fused=True, world=2, rank=1, epochs=20, epoch_steps=3))
    group = job.optimizer.param_groups[0]
    assert group["fused"] and group["lr"] == pytest.approx(5e-4 * math.sqrt(16 / 128))
    rates = [job.learning_rate(step) for step in range(60)]
    assert rates.index(max(rates)) == 5 and rates[:6] == sorted(rates[:6]), "a tenth of the steps is warm-up"
    assert rates[-1] > 0 == job.learning_rate(60)


def test_a_whole_one_takes_a_step(whole: Job) -> None:
    images, labels = next(iter(whole.batches.epoch(1)))
    logits = whole.model(images)
    assert logits.shape == (8, 10) and logits.abs().max() > 0, "logits of zero would leave step 0 nothing to compare"
    loss = whole.criterion(logits, labels)
    loss.backward()
    assert math.isfinite(loss.item())
    assert all(weight.grad is not None and weight.grad.abs().max() > 0 for weight in whole.model.parameters())


def test_equal_seeds_give_equal_weights_whatever_the_generator_did(whole: Job) -> None:
    torch.rand(7)
    again = load_workload(VIT)(replace(SETTING, fused=True))
    assert digest(again.model) == digest(load_workload(VIT)(SETTING).model)
    assert again.batches.order_digest() == whole.batches.order_digest()
    assert digest(load_workload(VIT)(replace(SETTING, seed=2)).model) != digest(again.model)


@pytest.mark.usefixtures("small")
def test_every_arm_of_a_seed_starts_equal_and_is_timed() -> None:
    started, exact = [], None
    for arm in SPEC.arms:
        what = ready(arm)
        found = records(what, speed)
        started.append((what.started.initial_weights, what.started.order))
        step0 = next(record for record in found if isinstance(record, Step0))
        assert step0.gradients is not None
        gradients = torch.tensor(step0.gradients)
        exact = gradients if exact is None else exact
        assert float((gradients - exact).norm() / exact.norm()) < 0.05, arm
        assert sum(isinstance(record, Window) for record in found) == 1
        assert all(math.isfinite(record.loss) for record in found if isinstance(record, Trace))
    assert len(set(started)) == 1
    other = ready("fp32", seed=1).started
    assert other.initial_weights != started[0][0] and other.order != started[0][1]


@pytest.mark.usefixtures("small")
def test_it_learns() -> None:
    what = ready("fp32", replace(SPEC, epochs=5))
    epochs = [record for record in records(what, train) if isinstance(record, Epoch)]
    accuracies = [epoch.test_accuracy or 0.0 for epoch in epochs]
    assert accuracies[0] < accuracies[-1] and accuracies[-1] > 60.0, accuracies
    assert epochs[-1].losses[-1] < epochs[0].losses[0]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("recipe", ["clip", "accumulate"])
def test_the_recipes_it_can_run(recipe: str) -> None:
    for arm in SPEC.arms:
        assert any(isinstance(record, Window) for record in records(ready(arm, recipe=recipe), speed))


@pytest.mark.usefixtures("small")
def test_attention_has_no_second_derivative() -> None:
    """The day torch has one, `Known.cannot` is out of date."""
    with pytest.raises(RuntimeError, match=r"scaled_dot_product.*not implemented"):
        records(ready("fp32", recipe="gradient-penalty"), speed)


# ------------------------------------------------------------------ under Apex O1 and under native autocast

TRACE = """
import json, sys
from contextlib import contextmanager
import torch
from compare.policy.apex_o1 import _patch
from compare.policy.network import trace
from compare.policy.probe import quiet
from compare.workloads import sizes, vit_cifar10

with quiet():
    handle = _patch()

@contextmanager
def unpatched():
    handle._is_active = False
    try:
        yield
    finally:
        handle._is_active = True

def model(training):
    made = vit_cifar10.network(sizes.VitSizes(layers=1), 10).train(training)
    made.train = lambda mode=True: made
    return made

found = {}
for training in (True, False):
    with torch.set_grad_enabled(training):
        found[training] = trace(lambda: model(training), dtype=None, below=unpatched).summary()
print(json.dumps([found[True], found[False]]))
"""


def native() -> dict[str, dict[str, int]]:
    return trace(lambda: vit_cifar10.network(sizes.VitSizes(layers=1), 10)).summary()


def test_native_autocast_runs_its_products_and_gelu_in_float16_and_its_norms_in_float32() -> None:
    found = native()
    assert found["gelu"] == {"float16 -> float16": 1}
    assert all(kinds.startswith("float32") for kinds in found["native_layer_norm"])
    assert {kinds.split(" ")[0] for kinds in found["convolutions"]} == {"float16"}
    assert found["_log_softmax"] == {"float16 -> float16": 1}


@pytest.mark.apex
@pytest.mark.skipif(not apex_there(), reason="no Apex 25.05 or older: not installed, and APEX_SRC does not name one")
def test_apex_o1_runs_it_as_it_is(tmp_path: Path) -> None:
    """As docs/policy.md says: attention in float16 while it trains, by the projection before it; another way in
    evaluation, where torch's own path for inference calls nothing that Apex has replaced."""
    path = os.pathsep.join((str(apex_o1.find_apex()), str(PROJECT)))
    words = [sys.executable, "-c", TRACE]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    training, evaluation = json.loads(done.stdout.splitlines()[-1])
    found = native()
    projections = "float16 x float16 x float16 -> float16"
    assert training["matrix products"][projections] == found["matrix products"][projections] == 4
    assert training["native_layer_norm"] == found["native_layer_norm"]
    assert training["gelu"] == {"float32 -> float32": 1} and training["_log_softmax"] == {"float32 -> float32": 1}
    assert "_native_multi_head_attention" not in training
    (kinds,) = evaluation["_native_multi_head_attention"]
    assert set(kinds.replace(" -> ", " x ").replace(", ", " x ").split(" x ")) == {"float32"}


# ------------------------------------------------------------------ what is asked for, and what is said of it


def asked(*words: str) -> Namespace:
    return _parser().parse_args(["run", *words])


def test_it_is_asked_for_by_name() -> None:
    spec = specification(asked("--workload", VIT, "--profile", "quick"), "cuda")
    assert spec.workload == VIT and spec.batch == 128
    assert spec.trained == ("fp32", "apex-o1", "native-fp16"), "it classifies, so it has an accuracy"
    assert Path(spec.data).name == "data", "the same images as ResNet50"
    assert specification(asked("--workload", VIT, "--profile", "smoke"), "cpu").data == "synthetic:64,16"


def test_a_recipe_it_cannot_do_is_refused_in_a_sentence() -> None:
    with pytest.raises(UserError, match="vit-cifar10 cannot be trained with the recipe gradient-penalty: torch's"):
        specification(asked("--workload", VIT, "--profile", "quick", "--recipe", "gradient-penalty"), "cuda")


def test_full_measures_its_speed_in_every_arm() -> None:
    spec = profile("full", "cuda")
    tasks = [task for task in plan.tasks(spec, spec.arms) if task.workload == VIT]
    assert {task.kind for task in tasks} == {"speed"} and {task.batch for task in tasks} == {spec.batch}
    assert {task.arm for task in tasks} == set(ARMS) and {task.block for task in tasks} == {0, 1, 2}
    assert {task.recipe for task in tasks} == {"plain", "clip", "accumulate"}


def test_a_workload_that_full_adds_may_be_the_session_itself() -> None:
    spec = replace(profile("full", "cuda"), workload=VIT)
    tasks = plan.tasks(spec, spec.arms)
    assert len({task.name for task in tasks}) == len(tasks)


def test_estimates_know_its_arithmetic() -> None:
    rate = {"float32": 50e12, "tf32": 300e12, "float16": 600e12, "bfloat16": 600e12}
    spec = profile("quick", "cuda")
    assert estimate.known(VIT) and not estimate.known("my_package.net:build")
    seconds = {
        name: estimate.seconds(Task("train", "fp32", workload=name), spec, rate)  # type: ignore[arg-type]
        for name in (VIT, RESNET50)
    }
    assert 0.4 < seconds[VIT] / seconds[RESNET50] < 1.0, "it has about half of ResNet50's arithmetic"


def test_the_report_names_it_in_words() -> None:
    spec = Spec("quick", "cuda", ("fp32",), (), (), workload=VIT, data="/somewhere/cifar")
    assert workload_name(spec) == ("torchvision's vision transformer (6 layers, 384 wide, 6 heads, patches of 4x4)")
    assert data_name(spec) == "the images in the folder “cifar”"
    assert data_name(replace(spec, data="synthetic")) == "synthetic data"

"""The workloads: how they are found, and that what they build is equal for equal settings."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim import SGD
from torch.utils.flop_counter import FlopCounterMode

from compare.errors import UserError
from compare.workloads import (
    WORKLOADS,
    Job,
    Setting,
    cosine,
    digest,
    load_workload,
    mlp,
    resnet50_cifar10,
    resnet50_cifar10_loader,
    sizes,
    vit_cifar10,
)
from compare.workloads.known import KNOWN, batch_of, known, takes_images

SETTING = Setting(device=torch.device("cpu"), batch=8, seed=1, data="synthetic:64,16")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tests run side by side, and more threads than cores make small operations many times slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def lr(job: Job) -> float:
    rate: float = job.optimizer.param_groups[0]["lr"]
    return rate


# ------------------------------------------------------------------ by name


def test_the_workloads_have_their_names() -> None:
    assert load_workload("resnet50-cifar10") is resnet50_cifar10.build
    assert load_workload("mlp") is mlp.build
    assert load_workload("vit-cifar10") is vit_cifar10.build
    assert load_workload("resnet50-cifar10-loader") is resnet50_cifar10_loader.build
    assert set(WORKLOADS) == {"resnet50-cifar10", "vit-cifar10", "resnet50-cifar10-loader", "mlp"}


def test_what_is_known_of_a_workload_by_its_name() -> None:
    assert all(name == one.name for name, one in KNOWN.items())
    assert {name for name in KNOWN if not takes_images(name)} == {"mlp"}
    assert (batch_of("mlp", 128), batch_of("vit-cifar10", 128), batch_of("my_package.net:build", 64)) == (512, 128, 64)
    assert known("my_package.net:build") is None and not takes_images("my_package.net:build")


@pytest.mark.parametrize("stem", ["cifar", "imagenet"])
def test_the_arithmetic_of_resnet50_is_what_torch_counts(stem: str) -> None:
    assert counted(resnet50_cifar10.network(stem, 10)) == sizes.resnet50_forward(stem)


def test_the_arithmetic_of_the_others_is_exact() -> None:
    assert counted(vit_cifar10.network(sizes.VIT, 10)) == sizes.vit_forward(sizes.VIT)
    small = sizes.VitSizes(image=32, patch=8, width=24, heads=2, mlp=40, layers=3, classes=7)
    assert counted(vit_cifar10.network(small, 7)) == sizes.vit_forward(small)
    job = load_workload("mlp")(SETTING)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        job.model(torch.zeros(1, mlp.FEATURES))
    assert counter.get_total_flops() == sizes.mlp_forward()


def counted(model: nn.Module) -> int:
    """Operations of a forward for one image; the fused attention of a CPU would not be counted."""
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model(torch.zeros(2, 3, 32, 32))
    return counter.get_total_flops() // 2


def test_a_workload_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "__init__.py").touch()
    (tmp_path / "my_package" / "tiny.py").write_text("def build(setting):\n    return setting.batch\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_workload("my_package.tiny:build")(SETTING) == 8


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("resnet18", "There is no workload resnet18: choose one of resnet50-cifar10, vit-cifar10,"),
        ("", "There is no workload "),
        ("module:", "There is no workload module:"),
        (":function", "There is no workload :function"),
        ("no_such_module_here:build", "cannot be imported (ModuleNotFoundError: No module named"),
        ("broken_workload:build", "cannot be imported (SyntaxError:"),
        ("failing_workload:build", "cannot be imported (ZeroDivisionError: division by zero)"),
        ("empty_workload:build", "empty_workload has no function build"),
        ("empty_workload:number", "empty_workload has no function number"),
        (".relative:build", "cannot be imported (TypeError:"),
    ],
)
def test_a_wrong_name_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: str
) -> None:
    (tmp_path / "broken_workload.py").write_text("def build(:\n")
    (tmp_path / "failing_workload.py").write_text("1 / 0\n")
    (tmp_path / "empty_workload.py").write_text("number = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError) as caught:
        load_workload(name)
    text = str(caught.value)
    assert expected in text
    assert "\n" not in text and text.endswith(".")


def test_names_can_be_looked_up_without_torch() -> None:
    """`compare.cli` may ask before it knows that torch can be imported at all."""
    code = "import sys; import compare.workloads; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0


# ------------------------------------------------------------------ digest and schedule


def test_the_digest_covers_every_value_in_order() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    before = digest(model)
    assert digest(model) == before
    with torch.no_grad():
        model[0].weight[1, 1] += 1e-6
    changed = digest(model)
    assert changed != before
    model[1].running_mean[0] += 1
    assert digest(model) not in (before, changed)


def test_the_digest_knows_shapes_and_types() -> None:
    def of(tensor: Tensor) -> str:
        module = nn.Module()
        module.register_buffer("value", tensor)
        return digest(module)

    zeros = [torch.zeros(4), torch.zeros(2, 2), torch.zeros(4, dtype=torch.bfloat16), torch.zeros(2).double()]
    assert len({of(tensor) for tensor in zeros}) == 4
    picture = torch.randn(2, 3, 4, 4)
    assert of(picture.to(memory_format=torch.channels_last)) == of(picture), "how it lies in memory does not count"


@pytest.mark.parametrize("steps", [1, 2, 7, 100, 11700])
def test_the_learning_rate_rises_to_its_peak_and_falls_to_zero(steps: int) -> None:
    rate = cosine(0.4, steps)
    values = [rate(step) for step in range(steps)]
    rising = max(1, round(0.05 * steps))
    assert values[0] == pytest.approx(0.4 / rising)
    assert values[rising - 1] == max(values) == pytest.approx(0.4)
    assert values[:rising] == sorted(values[:rising])
    assert values[rising:] == sorted(values[rising:], reverse=True)
    assert all(value > 0 for value in values), "every step of the training moves the weights"
    assert rate(steps) == rate(10 * steps) == 0


def test_the_learning_rate_is_half_its_peak_half_way() -> None:
    rate = cosine(1.0, 1000)
    assert rate(50 + 475) == pytest.approx(0.5)
    assert rate(50 + 950 // 4) == pytest.approx((1 + math.cos(math.pi * 237 / 950)) / 2)


# ------------------------------------------------------------------ ResNet50


@pytest.fixture(scope="module")
def resnet() -> Job:
    return load_workload("resnet50-cifar10")(SETTING)


def test_resnet50_is_torchvisions_with_ten_classes(resnet: Job) -> None:
    parameters = sum(parameter.numel() for parameter in resnet.model.parameters())
    # 25,557,032 with 1000 classes and the ImageNet stem, according to torchvision's page on the model.
    assert parameters == 25_557_032 - 990 * 2049 - 3 * 64 * (49 - 9)
    assert resnet.classifies


def test_equal_seeds_give_equal_weights_and_data(resnet: Job) -> None:
    torch.rand(7)  # whatever state the global generator is in
    again = load_workload("resnet50-cifar10")(SETTING)
    assert digest(again.model) == digest(resnet.model)
    assert again.batches.order_digest() == resnet.batches.order_digest()
    other = load_workload("resnet50-cifar10")(replace(SETTING, seed=2))
    assert digest(other.model) != digest(resnet.model)
    assert other.batches.order_digest() != resnet.batches.order_digest()


def shapes(model: nn.Module) -> tuple[list[int], torch.Size]:
    """Height of what the first convolution and each stage put out, and the shape of the output."""
    heights: list[int] = []
    hooks = [
        getattr(model, name).register_forward_hook(lambda _, __, output: heights.append(output.shape[-1]))
        for name in ("conv1", "layer1", "layer2", "layer3", "layer4")
    ]
    with torch.no_grad():
        output = model.eval()(torch.zeros(1, 3, 32, 32))
    for hook in hooks:
        hook.remove()
    return heights, output.shape


def test_the_stems() -> None:
    assert shapes(resnet50_cifar10.network("cifar", 10)) == ([32, 32, 16, 8, 4], (1, 10))
    assert shapes(resnet50_cifar10.network("imagenet", 7)) == ([16, 8, 4, 2, 1], (1, 7))
    with pytest.raises(UserError, match="There is no stem large: choose cifar or imagenet"):
        resnet50_cifar10.network("large", 10)


def test_resnet50_has_its_optimizer_and_schedule(resnet: Job) -> None:
    assert isinstance(resnet.optimizer, SGD)
    group = resnet.optimizer.param_groups[0]
    assert (group["momentum"], group["nesterov"], group["weight_decay"]) == (0.9, True, 5e-4)
    assert not group["fused"]
    assert lr(resnet) == pytest.approx(0.1 * 8 / 128)
    assert resnet.batches.steps_per_epoch == 8
    assert resnet.learning_rate(0) == pytest.approx(lr(resnet) / 3), "it rises in no more than a third of all steps"
    assert resnet.learning_rate(8) == 0


def test_the_learning_rate_of_resnet50_rises_slowly_enough_in_a_short_training() -> None:
    """With 39 steps, a twentieth of two epochs, the loss of every arm went from 2.5 to 17 in nine (an H200)."""

    def rising(epochs: int) -> int:
        rate = cosine(0.1, 390 * epochs, resnet50_cifar10.warmup(390 * epochs))
        rates = [rate(step) for step in range(390 * epochs)]
        return rates.index(max(rates)) + 1

    assert [rising(epochs) for epochs in (1, 2, 3, 10, 30)] == [130, 260, 390, 390, 585]


def test_the_setting_reaches_the_job() -> None:
    job = load_workload("resnet50-cifar10")(
        replace(SETTING, fused=True, world=2, rank=1, epochs=5, epoch_steps=3, stem="imagenet")
    )
    assert job.optimizer.param_groups[0]["fused"]
    assert lr(job) == pytest.approx(0.1 * 16 / 128), "scaled with the batch of all processes"
    assert job.batches.steps_per_epoch == 3
    assert job.learning_rate(14) > 0 and job.learning_rate(15) == 0
    assert next(iter(job.batches.epoch(1)))[0].shape == (8, 3, 32, 32)
    assert "64 training, 16 test" in job.batches.description
    assert (job.batches.train_samples, job.batches.test_samples) == (64, 16)


def test_a_resnet50_takes_a_step() -> None:
    resnet = load_workload("resnet50-cifar10")(replace(SETTING, stem="imagenet"))  # the smaller of the two
    images, labels = next(iter(resnet.batches.epoch(1)))
    before = digest(resnet.model)
    loss = resnet.criterion(resnet.model(images), labels)
    loss.backward()
    resnet.optimizer.step()
    assert loss.shape == () and math.isfinite(loss.item())
    assert digest(resnet.model) != before


# ------------------------------------------------------------------ MLP


def test_the_mlp_is_that_of_the_recipe() -> None:
    job = load_workload("mlp")(replace(SETTING, batch=512, data="nothing is read here", epochs=3))
    assert [type(layer) for layer in job.model.children()] == [nn.Linear, nn.ReLU, nn.Linear, nn.ReLU, nn.Linear]
    assert all(tuple(parameter.shape) in {(4096, 4096), (4096,)} for parameter in job.model.parameters())
    assert isinstance(job.criterion, nn.MSELoss)
    assert lr(job) == job.learning_rate(0) == job.learning_rate(10**6) == 0.001
    assert not job.classifies
    assert job.batches.test_samples == 0
    assert list(job.batches.test(5)) == []
    assert job.batches.steps_per_epoch == 50
    assert job.batches.train_samples == 50 * 512
    inputs, targets = next(iter(job.batches.epoch(1)))
    assert inputs.shape == targets.shape == (512, 4096)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mlp, "FEATURES", 16)


@pytest.mark.usefixtures("narrow")
def test_the_mlps_numbers_come_from_seed_and_rank() -> None:
    build = load_workload("mlp")
    first, again = build(SETTING), build(SETTING)
    assert digest(first.model) == digest(again.model)
    assert first.batches.order_digest() == again.batches.order_digest()
    for one, other in zip(first.batches.epoch(1), again.batches.epoch(2), strict=True):
        assert torch.equal(one[0], other[0]) and torch.equal(one[1], other[1])
    for changed in (replace(SETTING, seed=2), replace(SETTING, rank=1, world=2)):
        assert build(changed).batches.order_digest() != first.batches.order_digest()
    assert digest(build(replace(SETTING, rank=1, world=2)).model) == digest(first.model), "every rank starts equal"


@pytest.mark.usefixtures("narrow")
def test_the_mlps_batches_repeat_in_turn() -> None:
    batches = load_workload("mlp")(replace(SETTING, batch=700, epoch_steps=5)).batches
    inputs = [inputs for inputs, _ in batches.epoch(1)]
    assert len(inputs) == batches.steps_per_epoch == 5
    assert not torch.equal(inputs[0], inputs[1])
    assert torch.equal(inputs[0], inputs[2]) and torch.equal(inputs[1], inputs[3])
    assert next(iter(load_workload("mlp")(replace(SETTING, batch=5000)).batches.epoch(1)))[0].shape == (5000, 16)


@pytest.mark.usefixtures("narrow")
def test_an_mlp_trains() -> None:
    job = load_workload("mlp")(replace(SETTING, batch=256, epoch_steps=64))
    for group in job.optimizer.param_groups:
        group["lr"] = 0.5
    losses = []
    for inputs, targets in job.batches.epoch(1):
        job.optimizer.zero_grad()
        loss = job.criterion(job.model(inputs), targets)
        loss.backward()
        job.optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]

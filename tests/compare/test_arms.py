"""The arms: that the native one is the codemod's output, and that each trains as it says."""

from __future__ import annotations

import ast
import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, fx, nn

from compare.arms import ARMS, RECIPES, Arm, load
from migrate.engine import migrate_module
from migrate.model import Settings

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / "compare" / "arms"


class Unnamed(ast.NodeTransformer):
    """Without the module's docstring and the arm's name, in which alone the two may differ."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        return ast.Module([self.visit(statement) for statement in node.body[1:]], node.type_ignores)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return ast.ClassDef("Arm", node.bases, node.keywords, node.body, node.decorator_list)


@pytest.mark.parametrize(("device", "file"), [("cuda", "native_amp.py"), ("cpu", "native_amp_cpu.py")])
def test_the_native_arm_is_what_the_codemod_makes_of_the_legacy_one(device: str, file: str) -> None:
    result = migrate_module((FOLDER / "apex_o1.py").read_text(), Settings(device_type=device))
    assert [unit.applicability for unit in result.units] == ["safe"] and result.new_text
    made, kept = (ast.dump(Unnamed().visit(ast.parse(text))) for text in (result.new_text, (FOLDER / file).read_text()))
    assert made == kept, f"{file} is no longer the codemod's output: migrate apex_o1.py anew"


def test_every_arm_names_a_class_that_is_there() -> None:
    for arm in ARMS.values():
        for target in filter(None, (arm.cuda, arm.cpu, arm.penalty)):
            module, _, name = target.partition(":")
            source = (PROJECT / Path(*module.split("."))).with_suffix(".py").read_text()
            assert name in {node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}, arm.name


# ---------------------------------------------------------------- real steps on the CPU


def network() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 6, 10))
    return model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def batches(count: int) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(1)
    return [
        (torch.randn(4, 3, 8, 8, generator=generator), torch.randint(10, (4,), generator=generator))
        for _ in range(count)
    ]


def trained(target: str, recipe: str = "plain", steps: int = 8) -> tuple[Arm, list[float]]:
    settings = RECIPES[recipe]
    arm = load(target)(nn.functional.cross_entropy, max_norm=settings.max_norm, accumulate=settings.accumulate)
    arm.setup(*network())
    return arm, [float(arm.train_step(*batch)) for batch in batches(steps)]


@pytest.mark.parametrize("recipe", ["plain", "clip", "accumulate"])
@pytest.mark.parametrize("arm", ["native-fp16", "native-bf16"])
def test_half_precision_follows_full_precision(arm: str, recipe: str) -> None:
    full, losses = trained(ARMS["fp32"].cpu or "", recipe)
    half, others = trained(ARMS[arm].cpu or "", recipe)
    assert others == pytest.approx(losses, rel=0.1) and others != losses
    for name, weight in full.model.state_dict().items():
        assert torch.allclose(weight.float(), half.model.state_dict()[name].float(), atol=0.1), name


def test_casts_happen_in_the_forward_and_weights_stay_float32() -> None:
    for name, kind in (("fp32", torch.float32), ("native-fp16", torch.float16), ("native-bf16", torch.bfloat16)):
        arm, _ = trained(ARMS[name].cpu or "", steps=1)
        assert arm.evaluate(batches(1)[0][0]).dtype is kind
        assert {weight.dtype for weight in arm.model.parameters()} == {torch.float32}


def test_only_float16_has_a_loss_scale() -> None:
    for name, scale in (("fp32", None), ("native-fp16", 65536.0), ("native-bf16", None)):
        assert trained(ARMS[name].cpu or "", steps=1)[0].loss_scale() == scale


def test_a_checkpoint_of_each_arm_loads_into_a_fresh_model(tmp_path: Path) -> None:
    for name in ("fp32", "native-fp16", "native-bf16"):
        arm, _ = trained(ARMS[name].cpu or "", steps=2)
        torch.save(arm.state_dict(), tmp_path / "checkpoint.pt")
        state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
        model, optimizer = network()
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])


SOURCE = os.environ.get("APEX_SRC", "")
REAL = pytest.param(
    "apex",
    marks=[
        pytest.mark.apex,
        pytest.mark.skipif(
            not (Path(SOURCE) / "apex" / "amp").is_dir() if SOURCE else True,
            reason="APEX_SRC does not name a copy of Apex 25.05 or older",
        ),
    ],
)


@pytest.mark.parametrize("side", ["double", REAL])
@pytest.mark.parametrize("recipe", ["plain", "clip", "accumulate"])
def test_the_legacy_arm_steps_as_full_precision_does_where_nothing_is_cast(
    recipe: str, side: str, tmp_path: Path
) -> None:
    """On a CPU neither the double nor Apex's own Python casts, and scales are powers of two: equal to the last bit."""
    weights = tmp_path / "weights.pt"
    script = f"""
import sys, torch
if {side!r} == "apex":
    from tests.equivalence import apex_shim
    apex_shim.install(kernels=True)
from tests.compare.test_arms import trained
legacy, _ = trained("compare.arms.apex_o1:ApexO1", {recipe!r})
import apex
assert ("double" in apex.__file__) == ({side!r} == "double"), apex.__file__
assert legacy.loss_scale() == 65536.0 and set(legacy.state_dict()) == {{"model", "optimizer", "amp"}}
torch.save(legacy.model.state_dict(), sys.argv[1])
"""
    where = str(PROJECT / "migrate" / "verify" / "double") if side == "double" else SOURCE
    done = subprocess.run(
        [sys.executable, "-c", script, str(weights)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([where, str(PROJECT)])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    plain, _ = trained("compare.arms.fp32:Fp32", recipe)
    saved = torch.load(weights, weights_only=True)
    for name, weight in plain.model.state_dict().items():
        if recipe == "clip":  # the norm is of scaled-back gradients: its last bit may differ
            assert torch.allclose(saved[name], weight, atol=1e-6), name
        else:
            assert torch.equal(saved[name], weight), name


def test_channels_last_leaves_batches_without_channels_alone() -> None:
    from compare.arms.unlocked import _channels_last

    flat = torch.randn(4, 5)
    assert _channels_last(flat) is flat
    assert _channels_last(torch.randn(2, 3, 4, 4)).is_contiguous(memory_format=torch.channels_last)


def test_a_compiled_model_is_one_graph_whatever_its_class_and_trains_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from compare.arms import unlocked

    graphs: list[fx.GraphModule] = []

    def keep(graph: fx.GraphModule, _: list[Tensor]) -> object:
        graphs.append(graph)
        return graph.forward

    class Compiled(load(ARMS["fp32"].cpu or "")):  # type: ignore[misc]
        def setup(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
            super().setup(unlocked._compiled(model), optimizer)

    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend=keep))
    monkeypatch.setattr(unlocked, "Compiled", Compiled, raising=False)
    # Put back by torch's own means: monkeypatch would leave a name behind that is there no more.
    with unlocked.functorch_config.patch(backward_pass_autocast="same_as_forward"):
        compiled, losses = trained("compare.arms.unlocked:Compiled")
    plain, others = trained(ARMS["fp32"].cpu or "")
    assert losses == pytest.approx(others, rel=1e-4)
    assert len(graphs) == 1, "the container of torch's own was not compiled, or in pieces"
    assert list(compiled.model.state_dict()) == list(plain.model.state_dict())
    compiled.model.eval()
    plain.model.eval()
    images = batches(1)[0][0]
    assert torch.allclose(compiled.evaluate(images), plain.evaluate(images), atol=1e-3)

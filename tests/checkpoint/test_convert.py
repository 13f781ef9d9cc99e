"""Checkpoints are converted, loaded by the real scaler and optimizers, and training goes on as before."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from migrate import cli
from migrate.checkpoint import convert as room
from migrate.checkpoint.convert import convert
from migrate.checkpoint.steps import Options
from migrate.parts import written

AMP = {"loss_scaler0": {"loss_scale": 32768.0, "unskipped": 1234}}
NATIVE = {
    "scale": 32768.0,
    "growth_factor": 2.0,
    "backoff_factor": 0.5,
    "growth_interval": 2000,
    "_growth_tracker": 1234,
}


def command(*words: object) -> int:
    return cli.main(["convert-checkpoint", *map(str, words)])


def converted(value: Any, **options: Any) -> Any:
    return convert(value, Options(**options))[0]


# ---------------------------------------------------------------- the loss scale


def test_what_is_saved_under_two_names_is_converted_under_both() -> None:
    amp, pair = dict(AMP), (dict(AMP), 1)
    assert converted({"amp": amp, "last": {"amp": amp}, "a": pair, "b": pair}) == {
        "amp": NATIVE,
        "last": {"amp": NATIVE},
        "a": (NATIVE, 1),
        "b": (NATIVE, 1),
    }


def test_what_only_looks_like_amps_state_stays() -> None:
    saved = {"loss_scaler0": {"loss_scale": None, "unskipped": "dynamic"}}
    assert convert(saved, Options()) == (saved, [])


@pytest.mark.parametrize(
    "layout",
    [
        lambda amp: amp,
        lambda amp: {"model": {}, "amp": amp, "epoch": 3},  # Swin
        lambda amp: {"state_dict": {}, "state_dict_amp": amp},  # older timm
        lambda amp: {"a": [{"b": (1, {"c": amp})}]},
    ],
)
def test_amp_state_wherever_it_lies(layout: Any) -> None:
    assert converted(layout(dict(AMP))) == layout(NATIVE)


def test_a_real_scaler_takes_it() -> None:
    scaler = torch.amp.GradScaler("cpu")
    scaler.load_state_dict(converted({"amp": OrderedDict(AMP)})["amp"])
    assert scaler.get_scale() == 32768.0
    assert scaler._get_growth_tracker() == 1234


@pytest.mark.parametrize(
    ("unskipped", "options", "tracker"),
    [(5000, {}, 1999), (1999, {}, 1999), (1000, {"accumulate": 4}, 250), (0, {}, 0), (2000, {"accumulate": 1}, 1999)],
)
def test_the_count_stays_below_the_interval(unskipped: int, options: dict[str, int], tracker: int) -> None:
    amp = {"loss_scaler0": {"loss_scale": 2.0, "unskipped": unskipped}}
    assert converted(amp, **options)["_growth_tracker"] == tracker


def test_the_scale_still_grows_from_the_last_count() -> None:
    scaler = torch.amp.GradScaler("cpu")
    scaler.load_state_dict(converted({"loss_scaler0": {"loss_scale": 8.0, "unskipped": 99999}}))
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 16.0


def test_of_several_loss_scalers_the_smallest_scale_is_safe_for_all() -> None:
    amp = {
        "loss_scaler0": {"loss_scale": 64.0, "unskipped": 7},
        "loss_scaler1": {"loss_scale": 16.0, "unskipped": 3},
    }
    found, steps = convert({"amp": amp}, Options())
    assert (found["amp"]["scale"], found["amp"]["_growth_tracker"]) == (16.0, 3)
    assert "smallest of 2 loss scalers" in steps[0].what


def test_a_static_scale_stays_one() -> None:
    scaler = torch.amp.GradScaler("cpu")
    scaler.load_state_dict(converted(dict(AMP), static=True))
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    (scaler.scale(weight.sum()) * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 32768.0


def test_there_and_back() -> None:
    checkpoint = {"amp": OrderedDict(AMP), "x": [1, 2]}
    assert converted(converted(checkpoint), to_apex=True) == {"amp": AMP, "x": [1, 2]}
    big = {**NATIVE, "scale": 2.0**30}
    assert converted({"s": big}, to_apex=True, losses=2)["s"] == {
        f"loss_scaler{number}": {"loss_scale": 2.0**24, "unskipped": 1234} for number in (0, 1)
    }


# ---------------------------------------------------------------- optimizers


def fused_adam(weights: list[torch.nn.Parameter], steps: int, corrected: bool = True) -> dict[str, Any]:
    """What FusedAdam's formula has in its state after some steps on given gradients, and steps the weights."""
    lr, (b1, b2), eps, decay = 0.01, (0.9, 0.999), 1e-8, 0.1
    state: dict[int, dict[str, torch.Tensor]] = {}
    for number, weight in enumerate(weights):
        first = state.setdefault(number, {})
        m, v = torch.zeros_like(weight), torch.zeros_like(weight)
        for step in range(1, steps + 1):
            grad = gradient(weight, step)
            m = b1 * m + (1 - b1) * grad
            v = b2 * v + (1 - b2) * grad * grad
            c1, c2 = (1 - b1**step, 1 - b2**step) if corrected else (1.0, 1.0)
            with torch.no_grad():
                weight -= lr * ((m / c1) / ((v / c2).sqrt() + eps) + decay * weight)
        first["exp_avg"], first["exp_avg_sq"] = m.detach(), v.detach()
    group = {
        "lr": lr, "bias_correction": corrected, "betas": (b1, b2), "eps": eps, "weight_decay": decay,
        "step": steps, "params": list(range(len(weights))),
    }  # fmt: skip
    return {"state": state, "param_groups": [group]}


def gradient(weight: torch.Tensor, step: int) -> torch.Tensor:
    return torch.linspace(-1, 1, weight.numel(), dtype=weight.dtype).reshape(weight.shape) * step + 0.1


def weights() -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(torch.linspace(-1, 1, size, dtype=torch.float64)) for size in (4, 7)]


def test_training_goes_on_as_fused_adam_would_have() -> None:
    whole, cut = weights(), weights()
    fused_adam(whole, 9)
    saved = fused_adam(cut, 5)
    optimizer = torch.optim.AdamW(cut, lr=1.0)
    optimizer.load_state_dict(converted({"optimizer": saved})["optimizer"])
    assert optimizer.param_groups[0]["lr"] == 0.01
    for step in range(6, 10):
        for weight in cut:
            weight.grad = gradient(weight, step)
        optimizer.step()
    for one, other in zip(whole, cut, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_without_the_conversion_torch_could_not_load_it() -> None:
    cut = weights()
    optimizer = torch.optim.AdamW(cut, lr=1.0)
    with pytest.raises(KeyError, match="step"):
        optimizer.load_state_dict(fused_adam(cut, 3))


def test_without_bias_correction_the_written_out_class_takes_it() -> None:
    from migrate.parts.written.adam import ApexAdam

    assert written
    whole, cut = weights(), weights()
    fused_adam(whole, 6, corrected=False)
    saved = fused_adam(cut, 4, corrected=False)
    optimizer = ApexAdam(cut, lr=1.0)
    optimizer.load_state_dict(converted(saved))
    for step in (5, 6):
        for weight in cut:
            weight.grad = gradient(weight, step)
        optimizer.step()
    for one, other in zip(whole, cut, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_adam_there_and_back() -> None:
    saved = fused_adam(weights(), 5)
    again = converted(converted(pickle.loads(pickle.dumps(saved))), to_apex=True)
    assert again["param_groups"] == saved["param_groups"]
    assert all("step" not in one for one in again["state"].values())


def test_adam_that_apex_does_not_have_stays() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([weight], amsgrad=True)
    weight.grad = torch.ones(2)
    optimizer.step()
    before = optimizer.state_dict()
    found, steps = convert({"o": before}, Options(to_apex=True))
    assert found["o"] == before and "step" in found["o"]["state"][0]
    assert not steps[0].converted and "AMSGrad" in steps[0].what


def test_adagrad() -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    saved = {
        "state": {0: {"sum": torch.full((3,), 4.0)}},
        "param_groups": [{"lr": 0.5, "eps": 1e-10, "weight_decay": 0.0, "params": [0]}],
    }
    optimizer = torch.optim.Adagrad([weight], lr=9.0)
    optimizer.load_state_dict(converted(saved))
    weight.grad = torch.full((3,), 2.0)
    optimizer.step()
    expected = 1 - 0.5 * 2 / (8**0.5 + 1e-10)
    torch.testing.assert_close(weight.detach(), torch.full((3,), expected))


def test_what_loads_as_it_is_stays_and_is_named() -> None:
    lamb = {"state": {}, "param_groups": [{"grad_averaging": True, "max_grad_norm": 1.0, "params": []}]}
    sgd = {"state": {0: {"momentum_buffer": torch.ones(1)}}, "param_groups": [{"lr": 1, "params": [0]}]}
    found, steps = convert({"lamb": lamb, "sgd": sgd}, Options())
    assert found == {"lamb": lamb, "sgd": sgd}
    assert [(one.path, one.converted) for one in steps] == [("ckpt['lamb']", False)]


# ---------------------------------------------------------------- FP16_Optimizer and half weights


class LossScaler:
    """As Apex's object in a checkpoint."""


LossScaler.__module__, LossScaler.__qualname__ = "apex.amp.scaler", "LossScaler"


def fp16(tmp_path: Path) -> tuple[Path, torch.Tensor]:
    """A checkpoint as apex.fp16_utils saved it: the scaler is an object, the weights are half."""
    master = torch.tensor([1.0001, -2.0003, 3.0007])
    scaler = LossScaler()
    scaler.__dict__.update(_loss_scale=256.0, _unskipped=17, dynamic=True)
    checkpoint = {
        "model": OrderedDict(weight=master.half(), other=torch.ones(2), norm=torch.tensor([0.5]).half()),
        "optimizer": {
            "loss_scaler": scaler,
            "dynamic_loss_scale": True,
            "overflow": False,
            "first_closure_call_this_step": True,
            "optimizer_state_dict": {"state": {}, "param_groups": [{"lr": 0.1, "params": [0]}]},
            "fp32_from_fp16": [[torch.nn.Parameter(master.clone())]],
        },
    }
    import types

    names = ("apex", "apex.amp", "apex.amp.scaler")
    held = {name: sys.modules.get(name) for name in names}
    try:
        for name in names:
            sys.modules[name] = types.ModuleType(name)
        sys.modules["apex.amp.scaler"].LossScaler = LossScaler  # type: ignore[attr-defined]
        torch.save(checkpoint, tmp_path / "old.pt")
    finally:
        for name, module in held.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    return tmp_path / "old.pt", master


def test_fp16_optimizer_without_apex(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, master = fp16(tmp_path)
    assert command(source, tmp_path / "new.pt") == 0
    assert "FP16_Optimizer's state becomes that of the class that is written out" in capsys.readouterr().out
    found = torch.load(tmp_path / "new.pt", weights_only=True)
    assert found["optimizer"]["loss_scale"] == 256.0
    assert found["optimizer"]["clean"] == 17
    assert torch.equal(found["optimizer"]["fp32_from_fp16"][0][0], master)
    assert found["model"]["weight"].dtype is torch.float16


def test_half_weights_become_their_masters(tmp_path: Path) -> None:
    source, master = fp16(tmp_path)
    assert command(source, tmp_path / "new.pt", "--float32") == 0
    found = torch.load(tmp_path / "new.pt", weights_only=True)
    assert torch.equal(found["model"]["weight"], master), "not what half precision had left of it"
    assert found["model"]["norm"].dtype is torch.float32
    assert found["optimizer"] == {"state": {}, "param_groups": [{"lr": 0.1, "params": [0]}]}
    scaler = torch.amp.GradScaler("cpu")
    scaler.load_state_dict(found["scaler"])
    assert (scaler.get_scale(), scaler._get_growth_tracker()) == (256.0, 17)


# ---------------------------------------------------------------- everything else stays


def test_everything_else_is_the_same_object() -> None:
    shared = torch.ones(2)
    weights = OrderedDict(a=shared, b=shared.view(2, 1))
    weights._metadata = OrderedDict({"": {"version": 1}})  # type: ignore[attr-defined]
    checkpoint = {"model": weights, "args": argparse.Namespace(lr=1), "amp": dict(AMP), "ema": weights, "t": (1, "x")}
    found = converted(checkpoint)
    assert found is checkpoint
    assert list(found) == ["model", "args", "amp", "ema", "t"]
    assert found["model"] is weights and found["ema"] is weights and found["model"]["a"] is shared
    assert weights._metadata == {"": {"version": 1}}  # type: ignore[attr-defined]


def test_storages_are_still_shared_in_the_file(tmp_path: Path) -> None:
    shared = torch.arange(6.0)
    torch.save({"a": shared, "b": shared.view(2, 3).t(), "amp": AMP}, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt") == 0
    found = torch.load(tmp_path / "new.pt", weights_only=True)
    found["a"][0] = 9
    assert found["b"][0, 0] == 9
    assert found["b"].stride() == (1, 3)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.one_of(st.integers(), st.text(max_size=3), st.none(), st.floats(allow_nan=False), st.just("AMP")),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.text(max_size=3), inner, max_size=3),
            st.tuples(inner, inner),
        ),
        max_leaves=12,
    )
)
def test_any_nesting(tree: Any) -> None:
    def filled(value: Any, entry: Any) -> Any:
        if value == "AMP":
            return dict(entry)
        if isinstance(value, dict):
            return {key: filled(one, entry) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(filled(one, entry) for one in value)
        return value

    assert converted(filled(tree, AMP)) == filled(tree, NATIVE)
    assert converted(filled(tree, NATIVE), to_apex=True) == filled(tree, AMP)


def test_a_prefix_goes_with_its_metadata() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    wrapped = torch.nn.DataParallel(model).state_dict()
    found = converted({"model": wrapped}, strip="module.")["model"]
    assert list(found) == list(model.state_dict())
    assert found._metadata == model.state_dict()._metadata  # type: ignore[attr-defined]
    model.load_state_dict(found)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("zipped", [True, False])
def test_the_format_and_the_permissions_stay(tmp_path: Path, zipped: bool) -> None:
    old, new = tmp_path / "old.pt", tmp_path / "new.pt"
    torch.save({"amp": AMP}, old, _use_new_zipfile_serialization=zipped)
    old.chmod(0o640)
    before = old.read_bytes()
    assert command(old, new) == 0
    assert old.read_bytes() == before
    assert (new.read_bytes()[:2] == b"PK") == zipped
    assert new.stat().st_mode & 0o777 == 0o640
    assert torch.load(new, weights_only=True) == {"amp": NATIVE}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.pt", "old.pt"]


def test_nothing_to_convert_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"model": {"w": torch.ones(1)}}, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt") == 0
    assert "nothing was written" in capsys.readouterr().out
    assert not (tmp_path / "new.pt").exists()


def test_a_dry_run_says_it_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"amp": AMP}, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", "--dry-run", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["written"] is None
    assert [(one["path"], one["converted"]) for one in said["entries"]] == [("ckpt['amp']", True)]
    assert len(list(tmp_path.iterdir())) == 1


def test_never_over_its_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.pt"
    torch.save({"amp": AMP}, old)
    before = old.read_bytes()
    (tmp_path / "link.pt").symlink_to(old)
    os.link(old, tmp_path / "hard.pt")
    for other in (old, tmp_path / "link.pt", tmp_path / "hard.pt", tmp_path / "x" / ".." / "old.pt"):
        (tmp_path / "x").mkdir(exist_ok=True)
        assert command(old, other, "--force") == 2
        assert "is the input itself" in capsys.readouterr().err
    assert old.read_bytes() == before


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch pwned",)


class Mine:
    """A class of the user's own among his metrics."""


def test_a_class_that_is_allowed_is_read(tmp_path: Path) -> None:
    torch.save({"mine": Mine(), "amp": AMP}, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt", "--allow", f"{__name__}.Mine") == 0
    assert isinstance(torch.load(tmp_path / "new.pt", weights_only=False)["mine"], Mine)


@pytest.mark.parametrize(
    ("make", "words", "sentence"),
    [
        (lambda at: None, [], "no such file"),
        (lambda at: at.mkdir(), [], "is a directory"),
        (lambda at: os.mkfifo(at), [], "is no regular file"),
        (lambda at: at.write_bytes(b""), [], "is empty"),
        (lambda at: at.write_bytes(b"PK\x03\x04 torn"), [], "is no checkpoint that torch can read"),
        (lambda at: at.write_text("hello\n" * 100), [], "is no checkpoint that torch can read"),
        (lambda at: torch.save({"a": Evil()}, at), [], "wants to call posix.system while it is read"),
        (lambda at: torch.save({"a": Mine()}, at), [], "--allow tests.checkpoint.test_convert.Mine reads them"),
        (lambda at: torch.save({"a": AMP}, at), ["--allow", "os.system"], "that is no class of data"),
        (lambda at: torch.save({"a": AMP}, at), ["--allow", "json.loads"], "that is no class"),
        (lambda at: torch.save({"a": AMP}, at), ["--accumulate", "0"], "a whole number from 1 up"),
        (lambda at: torch.save({"a": AMP}, at), ["--to-apex", "--static"], "--to-apex goes with neither"),
        (lambda at: torch.save({"a": AMP}, at), ["--allow", "no.such.Class"], "there is no such class"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], make: Any, words: list[str],
    sentence: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "old.pt")
    assert command("old.pt", "new.pt", *words) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1
    assert not (tmp_path / "new.pt").exists() and not (tmp_path / "pwned").exists()


def test_a_torn_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"w": torch.ones(5000), "amp": AMP}, tmp_path / "whole.pt")
    data = (tmp_path / "whole.pt").read_bytes()
    for part in (100, len(data) // 2, len(data) - 10):
        (tmp_path / "torn.pt").write_bytes(data[:part])
        assert command(tmp_path / "torn.pt", tmp_path / "new.pt") == 2
        assert "is no checkpoint that torch can read" in capsys.readouterr().err


def test_an_output_that_is_there_stays_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"amp": AMP}, tmp_path / "old.pt")
    (tmp_path / "new.pt").write_text("mine")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt") == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert (tmp_path / "new.pt").read_text() == "mine"
    assert command(tmp_path / "old.pt", tmp_path / "new.pt", "--force") == 0
    assert torch.load(tmp_path / "new.pt", weights_only=True) == {"amp": NATIVE}


def test_what_people_save_beside_their_weights_is_read(tmp_path: Path) -> None:
    import numpy

    args = argparse.Namespace(lr=0.1, out=Path("runs"))
    torch.save({"args": args, "best": numpy.float64(0.5), "rng": numpy.arange(3), "amp": AMP}, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt") == 0
    found = torch.load(tmp_path / "new.pt", weights_only=False)
    assert found["args"] == args and found["best"] == 0.5 and found["rng"].tolist() == [0, 1, 2]


def test_without_torch_it_says_which_extra(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError\n")
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "migrate", "convert-checkpoint", "a", "b"],
        cwd=root, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "pip install '.[torch]'" in done.stderr and "Traceback" not in done.stderr


def test_a_loop_of_containers_ends() -> None:
    loop: dict[str, Any] = {"amp": dict(AMP)}
    loop["self"] = loop
    assert converted(loop)["amp"] == NATIVE
    assert room._DEEP < 100


def test_the_state_of_random_numbers_and_times_are_read(tmp_path: Path) -> None:
    import datetime
    import random
    from collections import defaultdict

    import numpy

    saved = {
        "amp": AMP,
        "numpy": numpy.random.get_state(),
        "python": random.getstate(),
        "masks": [numpy.ones(2, dtype=kind) for kind in ("uint8", "int16", "float16", "U3")],
        "history": defaultdict(list),
        "seen": {1, 2},
        "saved at": datetime.datetime(2020, 1, 2, 3, 4),
    }
    torch.save(saved, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt") == 0
    found = torch.load(tmp_path / "new.pt", weights_only=False)
    assert found["amp"] == NATIVE
    assert found["history"]["none"] == []
    assert found["saved at"] == saved["saved at"]


def test_what_torch_reads_only_with_trust_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from collections import defaultdict

    torch.save({"amp": AMP, "history": defaultdict(list, loss=[1.0])}, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt") == 2
    said = capsys.readouterr().err
    assert "a filled collections.defaultdict, which torch reads only with --trust" in said
    assert "--allow" not in said
    assert command(tmp_path / "old.pt", tmp_path / "new.pt", "--trust") == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (pickle.dumps(AMP, 4), "no checkpoint that torch can read: Unsupported operand"),
        (pickle.dumps(getattr, 2), "wants to call getattr"),
    ],
)
def test_why_a_file_is_none_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, sentence: str
) -> None:
    (tmp_path / "old.pt").write_bytes(content)
    assert command(tmp_path / "old.pt", tmp_path / "new.pt") == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1


def test_a_link_that_leads_nowhere_is_there_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"amp": AMP}, tmp_path / "old.pt")
    (tmp_path / "new.pt").symlink_to("nowhere.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt") == 2
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "new.pt").is_symlink()
    assert command(tmp_path / "old.pt", tmp_path / "new.pt", "--force") == 0


@pytest.mark.parametrize("prefix", ["module", "module."])
def test_a_prefix_ends_at_a_dot(tmp_path: Path, prefix: str) -> None:
    torch.save({"module.a.weight": torch.ones(1)}, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt", "--strip-prefix", prefix) == 0
    assert list(torch.load(tmp_path / "new.pt")) == ["a.weight"]


def test_a_prefix_that_nothing_has_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"amp": AMP, "model": {"a.weight": torch.ones(1)}}, tmp_path / "old.pt")
    assert command(tmp_path / "old.pt", tmp_path / "new.pt", "--strip-prefix", "module.") == 0
    assert "no model's names all begin with module." in capsys.readouterr().out

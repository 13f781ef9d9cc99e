"""The rules of Apex's loss scaling, one by one. test_against_apex.py holds the double against Apex itself."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch.amp.grad_scaler import GradScaler as CpuScaler

DOUBLE = Path(__file__).resolve().parents[2] / "migrate" / "verify" / "double"


def _forget() -> dict[str, Any]:
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "apex"}


@pytest.fixture
def amp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The double, fresh, and gone afterwards: an installed Apex stays what it is."""
    before = _forget()
    monkeypatch.syspath_prepend(str(DOUBLE))
    yield importlib.import_module("apex.amp")
    _forget()
    sys.modules.update(before)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 1, bias=False)
        self.bn = torch.nn.BatchNorm1d(1)
        self.linear.weight.data.fill_(1.0)

    def forward(self, x: Any) -> Any:
        return self.bn(self.linear(x))


def made(lr: float = 1.0) -> tuple[Net, Any]:
    net = Net()
    return net, torch.optim.SGD(net.parameters(), lr=lr)


def backward(amp: Any, net: Net, opt: Any, slope: float = 1.0, **options: Any) -> None:
    """A gradient of ``slope`` on every weight of the linear layer."""
    with amp.scale_loss((net.linear.weight * slope).sum(), opt, **options) as scaled:
        scaled.backward()


def grad(net: Net) -> Any:
    return None if net.linear.weight.grad is None else net.linear.weight.grad.flatten().tolist()


def scale(amp: Any, index: int = 0) -> float:
    return float(amp._amp_state.loss_scalers[index].loss_scale())


# ---------------------------------------------------------------- initialize


def test_it_says_that_it_is_a_double(amp: Any) -> None:
    said = str(sys.modules["apex"].__doc__)
    assert "double" in said and "NOT Apex" in said


def test_return_shapes_and_identity(amp: Any) -> None:
    net, opt = made()
    assert amp.initialize(net) is net
    assert amp.initialize(net, opt) == (net, opt)
    (one,), (two,) = amp.initialize([net], [made()[1]])
    assert one is net and isinstance(two, torch.optim.SGD)
    assert amp.initialize([net]) == [net]
    assert amp.initialize(net, enabled=False) is net
    assert amp.initialize((net,), (opt,), enabled=False) == ((net,), (opt,))


def test_positional_options(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, True, "O2")
    assert amp._amp_state.opt_properties.opt_level == "O2"
    assert amp._amp_state.opt_properties.master_weights is True


@pytest.mark.parametrize(
    ("level", "dynamic", "masters", "patches"),
    [
        ("O0", False, False, False),
        ("O1", True, None, True),
        ("O2", True, True, False),
        ("O3", False, False, False),
    ],
)
def test_levels(amp: Any, level: str, dynamic: bool, masters: bool | None, patches: bool) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level=level)
    properties = amp._amp_state.opt_properties
    assert amp._amp_state.loss_scalers[0].dynamic is dynamic
    assert (properties.master_weights, properties.patch_torch_functions) == (masters, patches)
    assert scale(amp) == (2.0**16 if dynamic else 1.0)
    assert net.linear.weight.dtype is torch.float32


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (RuntimeError, {"opt_level": "01"}),
        (RuntimeError, {"keep_batchnorm_fp32": True}),
        (RuntimeError, {"master_weights": True}),
        (RuntimeError, {"cast_model_type": torch.float16}),
        (RuntimeError, {"opt_level": "O2", "patch_torch_functions": True}),
        (AssertionError, {"opt_level": "O2", "keep_batchnorm_fp32": "yes"}),
        (ValueError, {"loss_scale": "large"}),
    ],
)
def test_refused_options(amp: Any, error: type[Exception], options: dict[str, Any]) -> None:
    with pytest.raises(error):
        amp.initialize(*made(), **options)


def test_refused_objects(amp: Any) -> None:
    net, opt = made()
    with pytest.raises(TypeError):
        amp.initialize(net, (opt,))
    with pytest.raises(TypeError):
        amp.initialize((net,), opt)
    with pytest.raises(RuntimeError, match="AFTER"):
        amp.initialize(torch.nn.DataParallel(net), opt)
    with pytest.raises(RuntimeError, match="Found param"):
        amp.initialize(Net().half(), opt)
    amp.initialize(net, opt)
    with pytest.raises(RuntimeError, match="only be passed through"):
        amp.initialize(net, opt)


def test_hard_override(amp: Any, capsys: pytest.CaptureFixture[str]) -> None:
    amp._amp_state.hard_override = True
    amp.initialize(*made(), keep_batchnorm_fp32=True)
    assert "Warning" in capsys.readouterr().out


@pytest.mark.parametrize(("given", "expected"), [("dynamic", 2.0**16), (128, 128.0), ("64.0", 64.0), (1.0, 1.0)])
def test_loss_scale(amp: Any, given: Any, expected: float) -> None:
    amp.initialize(*made(), loss_scale=given)
    assert scale(amp) == expected


# ---------------------------------------------------------------- scale_loss


def test_scale_loss_needs_initialize(amp: Any) -> None:
    with pytest.raises(RuntimeError, match="has not been initialized"):
        backward(amp, *made())


def test_disabled_changes_nothing(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, enabled=False)
    loss = torch.ones((), dtype=torch.float16)
    with amp.scale_loss(loss, opt) as scaled:
        assert scaled is loss
    with pytest.raises(AttributeError):
        amp.state_dict()
    with pytest.raises(AttributeError):
        amp.load_state_dict({})


def test_loss_is_float_before_it_is_scaled(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    with amp.scale_loss(torch.full((2,), 2.0, dtype=torch.float16), opt) as scaled:
        assert scaled.dtype is torch.float32 and scaled.tolist() == [2.0**17] * 2


def test_short_circuit_at_static_one(amp: Any) -> None:
    """No stash: gradients accumulate in place, and nothing is counted."""
    net, opt = made()
    amp.initialize(net, opt, loss_scale=1.0)
    backward(amp, net, opt)
    kept = net.linear.weight.grad
    backward(amp, net, opt, 2.0)
    assert net.linear.weight.grad is kept and grad(net) == [3.0, 3.0]
    assert amp.state_dict()["loss_scaler0"] == {"loss_scale": 1.0, "unskipped": 0}


def test_gradients_are_put_aside_and_added(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    backward(amp, net, opt)
    assert grad(net) == [1.0, 1.0]
    with amp.scale_loss((net.linear.weight * 2).sum(), opt) as scaled:
        assert net.linear.weight.grad is None
        scaled.backward()
        assert grad(net) == [2.0**17] * 2
    assert grad(net) == [3.0, 3.0]


def test_gradients_without_a_new_part_come_back(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    backward(amp, net, opt)
    with amp.scale_loss(net.bn.weight.sum(), opt) as scaled:
        scaled.backward()
    assert grad(net) == [1.0, 1.0] and net.bn.weight.grad == 1.0


def test_overflow_skips_once_and_halves(amp: Any, capsys: pytest.CaptureFixture[str]) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    capsys.readouterr()
    backward(amp, net, opt, float("inf"))
    assert scale(amp) == 2.0**15
    assert opt.step() is None
    assert net.linear.weight.tolist() == [[1.0, 1.0]]
    assert capsys.readouterr().out == (
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0\n"
    )
    opt.zero_grad()
    backward(amp, net, opt)
    opt.step()
    assert net.linear.weight.tolist() == [[0.0, 0.0]]


def test_overflow_of_one_micro_batch_skips_the_whole_step(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    scales = []
    for slope in (1.0, float("nan"), 1.0, float("inf")):
        backward(amp, net, opt, slope)
        scales.append(scale(amp))
    assert scales == [2.0**16, 2.0**15, 2.0**15, 2.0**14]
    opt.step()
    assert net.linear.weight.tolist() == [[1.0, 1.0]]


def test_skipping_refuses_a_closure(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    assert opt.step(lambda: 3) == 3
    backward(amp, net, opt, float("inf"))
    with pytest.raises(RuntimeError, match="closure"):
        opt.step(lambda: 3)


def test_static_scale_never_skips(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, loss_scale=128.0)
    backward(amp, net, opt)
    assert grad(net) == [1.0, 1.0]
    backward(amp, net, opt, float("inf"))
    opt.step()
    assert not torch.isfinite(net.linear.weight).any()
    assert amp.state_dict()["loss_scaler0"] == {"loss_scale": 128.0, "unskipped": 2}


def test_growth_counts_backwards(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, max_loss_scale=2.0**18)
    assert amp._amp_state.loss_scalers[0]._scale_seq_len == 2000
    amp._amp_state.loss_scalers[0]._scale_seq_len = 4
    scales = []
    for _ in range(14):
        backward(amp, net, opt)
        scales.append(scale(amp))
    assert scales == [2.0**16] * 3 + [2.0**17] * 4 + [2.0**18] * 7


def test_scale_bounds(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, min_loss_scale=128.0, max_loss_scale=512.0)
    assert scale(amp) == 512.0
    scales = []
    for _ in range(3):
        backward(amp, net, opt, float("inf"))
        scales.append(scale(amp))
    assert scales == [256.0, 128.0, 128.0]


def test_default_maximum_is_2_to_24(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    amp._amp_state.loss_scalers[0]._scale_seq_len = 1
    for _ in range(12):
        backward(amp, net, opt)
    assert scale(amp) == 2.0**24


def test_several_losses_have_their_own_scale(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, num_losses=2)
    backward(amp, net, opt, float("inf"), loss_id=1)
    assert (scale(amp, 0), scale(amp, 1)) == (2.0**16, 2.0**15)
    opt.step()
    opt.zero_grad()
    backward(amp, net, opt, 1.0, loss_id=0)
    backward(amp, net, opt, 2.0, loss_id=1)
    assert grad(net) == [3.0, 3.0]
    with pytest.raises(IndexError):
        backward(amp, net, opt, loss_id=2)


def test_overflow_skips_every_optimizer_of_the_call(amp: Any) -> None:
    (one, opt_one), (two, opt_two) = made(), made()
    amp.initialize([one, two], [opt_one, opt_two])
    loss = (one.linear.weight * float("inf")).sum() + two.linear.weight.sum()
    with amp.scale_loss(loss, [opt_one, opt_two]) as scaled:
        scaled.backward()
    opt_one.step()
    opt_two.step()
    assert two.linear.weight.tolist() == [[1.0, 1.0]]


def test_delay_unscale(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    backward(amp, net, opt, 1.0, delay_unscale=True)
    assert grad(net) == [2.0**16] * 2
    assert amp.state_dict()["loss_scaler0"]["unskipped"] == 0
    backward(amp, net, opt, 2.0)
    assert grad(net) == [3.0, 3.0]
    assert amp.state_dict()["loss_scaler0"]["unskipped"] == 1


def test_delay_overflow_check(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    backward(amp, net, opt, float("inf"), delay_overflow_check=True)
    assert scale(amp) == 2.0**16 and amp.state_dict()["loss_scaler0"]["unskipped"] == 0


def test_exception_in_the_body_leaves_gradients_aside(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    backward(amp, net, opt)
    with pytest.raises(ZeroDivisionError), amp.scale_loss(net.linear.weight.sum(), opt):
        raise ZeroDivisionError
    assert grad(net) is None


def test_types_of_parameters(amp: Any) -> None:
    param = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    opt = torch.optim.SGD([param], lr=1.0)
    amp.initialize(made()[0], opt)
    with pytest.raises(TypeError, match="must be either"), amp.scale_loss(param.sum(), opt) as scaled:
        scaled.backward()


# ---------------------------------------------------------------- masters


def test_masters_replace_the_parameters_that_would_be_half(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level="O2")
    backward(amp, net, opt)
    master, *batch_norm = amp.master_params(opt)
    assert master is not net.linear.weight and batch_norm == [net.bn.weight, net.bn.bias]
    assert master.grad.tolist() == [[1.0, 1.0]] and grad(net) == [2.0**16] * 2
    opt.step()
    assert net.linear.weight.tolist() == [[0.0, 0.0]] and master.grad is None


def test_masters_of_batch_norm_too_when_asked(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level="O2", keep_batchnorm_fp32="False")
    opt.zero_grad()
    assert not any(any(param is own for own in net.parameters()) for param in amp.master_params(opt))


def test_masters_accumulate_unscaled(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level="O2")
    backward(amp, net, opt)
    backward(amp, net, opt, 2.0)
    assert next(amp.master_params(opt)).grad.tolist() == [[3.0, 3.0]]


def test_clipping_the_model_does_not_reach_the_masters(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level="O2")
    backward(amp, net, opt)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-3)
    opt.step()
    assert net.linear.weight.tolist() == [[0.0, 0.0]]


def test_masters_refuse_closures_and_arguments(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level="O2")
    with pytest.raises(RuntimeError, match="closure"):
        opt.step(lambda: 0)
    with pytest.raises(TypeError):
        opt.zero_grad(set_to_none=True)


def test_zero_grad_with_masters_zeroes_in_place(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level="O2")
    backward(amp, net, opt)
    opt.zero_grad()
    assert grad(net) == [0.0, 0.0] and next(amp.master_params(opt)).grad is None


def test_skipped_step_drops_the_master_gradients(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level="O2")
    backward(amp, net, opt, float("inf"))
    opt.step()
    assert next(amp.master_params(opt)).grad is None and net.linear.weight.tolist() == [[1.0, 1.0]]


def test_frozen_parameters_get_no_master(amp: Any) -> None:
    net, opt = made()
    net.linear.weight.requires_grad_(False)
    amp.initialize(net, opt, opt_level="O2")
    opt.zero_grad()
    assert next(amp.master_params(opt)) is net.linear.weight


def test_add_param_group(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt, opt_level="O2")
    late = torch.nn.Parameter(torch.ones(1))
    opt.add_param_group({"params": late})
    with amp.scale_loss(late.sum(), opt) as scaled:
        scaled.backward()
    opt.step()
    assert late.tolist() == [0.0]
    with pytest.raises(TypeError):
        opt.add_param_group({"params": {torch.nn.Parameter(torch.ones(1))}})


# ---------------------------------------------------------------- the rest


def test_master_params_is_a_generator(amp: Any) -> None:
    params = amp.master_params(made()[1])
    assert [len(list(params)), len(list(params))] == [3, 0]


def test_state(amp: Any, capsys: pytest.CaptureFixture[str]) -> None:
    amp.initialize(*made(), num_losses=2, verbosity=0)
    assert list(amp.state_dict({"epoch": 3})) == ["epoch", "loss_scaler0", "loss_scaler1"]
    saved = {f"loss_scaler{at}": {"loss_scale": 2.0**at, "unskipped": at} for at in (5, 4, 3)}
    amp.load_state_dict(saved)
    assert amp.state_dict() == {"loss_scaler0": saved["loss_scaler5"], "loss_scaler1": saved["loss_scaler4"]}
    assert "contains 3 entries" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="Unexpected key"):
        amp.load_state_dict({"loss_scaler0": {"loss_scale": 8.0, "unskipped": 1}, "other": 1})
    assert scale(amp) == 8.0


def test_state_needs_initialize(amp: Any) -> None:
    with pytest.raises(AttributeError):
        amp.state_dict()


def test_disable_casts(amp: Any) -> None:
    with pytest.raises(AttributeError), amp.disable_casts():
        pass
    net, opt = made()
    amp.initialize(net, opt)
    observe = sys.modules["apex.observe"]
    assert observe.patched() and observe.casts(net)
    with amp.disable_casts():
        assert not observe.casts(net)
        with amp.disable_casts():
            pass
        assert observe.casts(net)
    with pytest.raises(ZeroDivisionError), amp.disable_casts():
        raise ZeroDivisionError
    assert not observe.casts(net)


def test_steps_run_without_casts(amp: Any) -> None:
    net, opt = made()
    amp.initialize(net, opt)
    assert opt.step(lambda: sys.modules["apex.observe"].patched()) is False


def test_which_models_are_cast(amp: Any) -> None:
    net, other = Net(), Net()
    amp.initialize(net, opt_level="O3")
    casts = sys.modules["apex.observe"].casts
    assert casts(net) and casts(net.linear) and casts(torch.nn.Sequential(net)) and not casts(other)


def test_registries(amp: Any) -> None:
    for register in (amp.register_half_function, amp.register_float_function, amp.register_promote_function):
        register(torch, "sigmoid")
        with pytest.raises(ValueError, match="nothing_of_this_name"):
            register(torch, "nothing_of_this_name")
    for decorate in (amp.half_function, amp.float_function, amp.promote_function):
        assert decorate(lambda x, y=1: (x, y))(2, y=3) == (2, 3)


def test_old_api(amp: Any, capsys: pytest.CaptureFixture[str]) -> None:
    net, opt = made()
    handle = amp.init()
    assert handle.is_active()
    with pytest.raises(RuntimeError, match="old Amp API"), handle.scale_loss(torch.ones(()), opt):
        pass
    wrapped = handle.wrap_optimizer(opt, num_loss=2)
    for slope in (1.0, 2.0):
        with wrapped.scale_loss((net.linear.weight * slope).sum()) as scaled:
            scaled.backward()
    assert grad(net) == [3.0, 3.0]
    wrapped.step()
    assert net.linear.weight.tolist() == [[-2.0, -2.0]]
    wrapped.zero_grad()
    with wrapped.scale_loss((net.linear.weight * float("nan")).sum()) as scaled:
        scaled.backward()
    wrapped.step()
    assert net.linear.weight.tolist() == [[-2.0, -2.0]] and "skipping update" in capsys.readouterr().out
    with pytest.raises(NotImplementedError):
        wrapped.step(lambda: 0)


def test_old_api_disabled(amp: Any) -> None:
    _, opt = made()
    handle = amp.init(enabled=False)
    loss = torch.ones(())
    with handle.scale_loss(loss, opt) as scaled, handle.wrap_optimizer(opt).scale_loss(loss) as also:
        assert scaled is loss and also is loss
    assert not handle.is_active()


def test_stand_ins(amp: Any) -> None:
    apex = importlib.import_module("apex")
    parallel = importlib.import_module("apex.parallel")
    net = Net()
    wrapped = parallel.DistributedDataParallel(net, delay_allreduce=True)
    assert next(iter(wrapped.state_dict())).startswith("module.")
    assert parallel.convert_syncbn_model(net) is net
    adam = importlib.import_module("apex.optimizers").FusedAdam(net.parameters(), 1e-3)
    assert adam.defaults["weight_decay"] == 0.0
    assert apex.amp is amp
    with pytest.raises(AttributeError):
        apex.nothing_of_this_name  # noqa: B018


def test_larc_is_taken_for_one_optimizer(amp: Any) -> None:
    net, opt = made()
    larc = importlib.import_module("apex.parallel.LARC").LARC(opt)
    amp.initialize(net, larc)
    backward(amp, net, larc)
    larc.step()
    assert net.linear.weight[0, 0].item() == pytest.approx(1 - 0.02)


# ---------------------------------------------------------------- beside torch's own scaler


@pytest.mark.parametrize("seed", range(12))
def test_trajectory_of_grad_scaler(amp: Any, seed: int) -> None:
    """The same scale, skipped steps and weights as GradScaler, up to Apex's maximum of 2**24."""
    rng = random.Random(seed)
    window = rng.choice([1, 2, 3, 2000])
    (net, opt), (twin, twin_opt) = made(0.125), made(0.125)
    amp.initialize(net, opt, verbosity=0)
    amp._amp_state.loss_scalers[0]._scale_seq_len = window
    scaler = CpuScaler("cpu", growth_interval=window)
    for _ in range(60):
        slopes = [rng.choice([1.0, 0.25, -3.0, float("inf")] if rng.random() < 0.3 else [0.5, 2.0])]
        for model, optimizer in ((net, opt), (twin, twin_opt)):
            optimizer.zero_grad()
            loss = (model.linear.weight * slopes[0]).sum()
            if model is net:
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
                optimizer.step()
            else:
                scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
                scaler.step(optimizer)
                scaler.update()
        if scaler.get_scale() > 2.0**24:
            assert scale(amp) == 2.0**24
            break
        assert scale(amp) == scaler.get_scale()
        assert amp.state_dict()["loss_scaler0"]["unskipped"] == scaler.state_dict()["_growth_tracker"]
        assert torch.equal(net.linear.weight, twin.linear.weight)


@pytest.mark.parametrize("seed", range(8))
def test_accumulation_of_grad_scaler(amp: Any, seed: int) -> None:
    """Unscaling every micro-batch, or all of them once: the same weights, as powers of two are exact."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    (net, opt), (twin, twin_opt) = made(0.1), made(0.1)
    amp.initialize(net, opt, verbosity=0)
    scaler = CpuScaler("cpu")
    for _ in range(10):
        batches = [torch.randn(1, 2) * (float("inf") if rng.random() < 0.1 else 1.0) for _ in range(3)]
        for batch in batches:
            with amp.scale_loss((net.linear.weight * batch).sum(), opt) as scaled:
                scaled.backward()
            scaler.scale((twin.linear.weight * batch).sum()).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(amp.master_params(opt), 0.5)
        scaler.unscale_(twin_opt)
        torch.nn.utils.clip_grad_norm_(twin.parameters(), 0.5)
        opt.step()
        scaler.step(twin_opt)
        scaler.update()
        opt.zero_grad()
        twin_opt.zero_grad()
        assert torch.equal(net.linear.weight, twin.linear.weight)

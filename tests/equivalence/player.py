"""Plays made-up training histories on Apex or on its double, and writes down every state in between.

    python player.py double|kernels|fallback JOBS.json OUT.json

``double`` needs the double on PYTHONPATH; the others need Apex's sources there (see apex_shim.py).
A program of its own. A job is a snippet of code (``code``, see `answer`), which runs in a fork of this
process, or a history (``init`` and ``ops``, see `play`), which does not: there Apex's O1 is kept from
patching torch, once more for every history; its casts play no part in loss scaling.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # optimizers import it at their first use


class Net(torch.nn.Module):
    """Weights that Apex casts at O2 (``linear``), and some that stay float32 (``bn``)."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.bn = torch.nn.BatchNorm1d(2)
        for at, param in enumerate(self.parameters()):
            param.data = torch.arange(param.numel(), dtype=torch.float32).reshape(param.shape) / 16 + seed / 8 + at / 4

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(self.linear(x))  # type: ignore[no-any-return]


def _values(tensor: torch.Tensor | None) -> list[str] | None:
    return None if tensor is None else [repr(float(one)) for one in tensor.detach().float().flatten()]


class Player:
    """One history. The loss is linear in the weights, so every gradient is known, and exact as half."""

    def __init__(self, job: dict[str, Any], amp: Any) -> None:
        self.amp = amp
        self.job = job
        self.models = [Net(seed) for seed in range(job["optimizers"])]
        if job.get("frozen"):
            self.models[0].linear.bias.requires_grad_(False)
        self.optimizers: list[Any] = [
            torch.optim.SGD(model.parameters(), lr=0.25, momentum=job.get("momentum", 0.0)) for model in self.models
        ]
        self.saved: Any = None
        self.extra: list[torch.nn.Parameter] = []

    def start(self) -> None:
        amp = self.amp
        many = len(self.optimizers) > 1
        amp.initialize(
            self.models if many else self.models[0],
            self.optimizers if many else self.optimizers[0],
            **self.job["init"],
        )
        if "window" in self.job:
            for scaler in getattr(amp._amp_state, "loss_scalers", ()):
                scaler._scale_seq_len = self.job["window"]

    def loss(self, which: list[int], factor: int, bad: str | None, at: int, without: list[int]) -> torch.Tensor:
        total = torch.zeros(())
        for index in which:
            params = [*self.models[index].parameters(), *(self.extra if index == 0 else ())]
            for number, param in enumerate(params):
                if number in without or not param.requires_grad:
                    continue
                weight = torch.full(param.shape, factor * (number + 1) / 256)
                if bad is not None and number == at:
                    weight.view(-1)[-1] = float(bad)
                total = total + (param.float() * weight).sum()
        return total

    def backward(
        self,
        which: list[int],
        factor: int,
        *,
        loss_id: int = 0,
        bad: str | None = None,
        at: int = 0,
        without: list[int] | None = None,
        delay: bool = False,
        no_check: bool = False,
        form: str = "list",
    ) -> None:
        chosen: Any = [self.optimizers[index] for index in which]
        if form == "one":
            chosen = chosen[0]
        elif form == "tuple":
            chosen = tuple(chosen)
        loss = self.loss(which, factor, bad, at, without or [])
        with self.amp.scale_loss(
            loss, chosen, loss_id=loss_id, delay_unscale=delay, delay_overflow_check=no_check
        ) as scaled:
            scaled.backward()

    def do(self, op: list[Any]) -> Any:
        name, *args = op
        if name == "start":
            self.start()
        elif name == "backward":
            self.backward(args[0], args[1], **args[2])
        elif name == "step":
            return repr(self.optimizers[args[0]].step())
        elif name == "closure":
            return repr(self.optimizers[args[0]].step(lambda: torch.zeros(())))
        elif name == "zero":
            self.optimizers[args[0]].zero_grad(**(args[1] if len(args) > 1 else {}))
        elif name == "clip":
            return repr(float(torch.nn.utils.clip_grad_norm_(self.amp.master_params(self.optimizers[args[0]]), 0.5)))
        elif name == "save":
            self.saved = self.amp.state_dict()
            return json.dumps(self.saved)
        elif name == "load":
            self.amp.load_state_dict(self.saved if not args else args[0])
        elif name == "add_group":
            param = torch.nn.Parameter(torch.full((2,), 0.5))
            self.extra.append(param)
            self.optimizers[0].add_param_group({"params": [param], "lr": 0.125})
        else:
            raise ValueError(name)
        return None

    def state(self) -> dict[str, Any]:
        scalers = getattr(self.amp._amp_state, "loss_scalers", ())
        return {
            "scalers": [[one.loss_scale(), one._unskipped] for one in scalers],
            "stash": [
                [one._amp_stash.params_have_scaled_gradients, one._amp_stash.already_patched]
                for one in self.optimizers
                if hasattr(one, "_amp_stash")
            ],
            "weights": [[_values(p) for g in one.param_groups for p in g["params"]] for one in self.optimizers],
            "grads": [[_values(p.grad) for g in one.param_groups for p in g["params"]] for one in self.optimizers],
            "model_grads": [[_values(p.grad) for p in model.parameters()] for model in self.models],
            # What Apex holds in half precision, the double holds in float32.
            "models": [[_values(p.detach().half()) for p in model.parameters()] for model in self.models],
        }


def play(job: dict[str, Any], amp: Any) -> list[Any]:
    """The state after ``initialize`` and after every operation; an exception ends the history."""
    player = Player(job, amp)
    states: list[Any] = []
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for op in [["start"], *job["ops"]]:
            try:
                returned = player.do(op)
            except Exception as error:
                states.append({"raised": type(error).__name__})
                break
            states.append({"returned": returned, **player.state()})
    lines = [line for line in printed.getvalue().splitlines() if "overflow" in line or "Skipping" in line]
    return [*states, lines]


def answer(job: dict[str, Any], amp: Any) -> Any:
    """What a snippet leaves in ``out``, or the type of the exception it raises."""
    apex = importlib.import_module("apex")
    model, other = Net(0), Net(1)
    opt = torch.optim.SGD(model.parameters(), lr=0.25)
    opt2 = torch.optim.SGD(other.parameters(), lr=0.25)
    names: dict[str, Any] = {
        "amp": amp, "apex": apex, "torch": torch, "out": None,
        "model": model, "other": other, "opt": opt, "opt2": opt2,
    }  # fmt: skip
    known = {id(value): name for name, value in names.items() if name in ("model", "other", "opt", "opt2")}

    def shape(value: Any) -> Any:
        if id(value) in known:
            return known[id(value)]
        if isinstance(value, (list, tuple)):
            return [type(value).__name__, *[shape(one) for one in value]]
        if isinstance(value, dict):
            return {str(key): shape(one) for key, one in value.items()}
        if isinstance(value, torch.Tensor):
            return [str(value.dtype), _values(value)]
        return repr(value) if isinstance(value, (int, float, str, type(None))) else type(value).__name__

    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(job["code"], names)
        except Exception as error:
            return {"raised": type(error).__name__}
    return shape(names["out"])


def _without_patches() -> None:
    """``initialize`` at O1 makes a handle, and leaves torch's functions alone."""
    _amp_state = importlib.import_module("apex.amp")._amp_state
    amp, handle = importlib.import_module("apex.amp.amp"), importlib.import_module("apex.amp.handle")

    def init(loss_scale: Any = "dynamic", verbose: bool = False) -> Any:
        _amp_state.handle = handle.AmpHandle(loss_scale, True, verbose)
        return _amp_state.handle

    anything: Any = amp
    anything.init = init


def _jobs(jobs: list[dict[str, Any]], amp: Any) -> Iterator[Any]:
    if all("ops" in job for job in jobs):
        _without_patches()
        for job in jobs:
            yield play(job, amp)
        return
    for job in jobs:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            result = answer(job, amp)
            with os.fdopen(write, "w", encoding="utf-8") as pipe:
                json.dump(result, pipe)
            os._exit(0)
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        yield json.loads(text) if text else {"died": True}


def main() -> None:
    side, jobs, out = sys.argv[1:]
    torch.set_num_threads(1)
    if side != "double":
        importlib.import_module("apex_shim").install(kernels=side == "kernels")
    amp = importlib.import_module("apex.amp")
    # The scalers warn once about missing kernels.
    with contextlib.redirect_stdout(io.StringIO()):
        results = list(_jobs(json.loads(Path(jobs).read_text(encoding="utf-8")), amp))
    Path(out).write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()

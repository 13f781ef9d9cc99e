"""The judge's torch machine beside a real ``GradScaler("cpu")``, on made-up sequences of calls.

Every backward of a sequence has a component of the parameters to itself, so that a gradient tells which backwards
it comes from and what each is multiplied with. The scale moves at every update (growth 3, backoff 1/2), and two
scalers never have the same one.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from migrate.judge import machines
from migrate.judge.state import Crash, Key, Scaler, State

pytest.importorskip("torch")

import torch
from torch.amp.grad_scaler import GradScaler

ROOM = 16  # backwards in a sequence, one component each; behind those there is one each for its overflow
OPTIMIZERS = range(2)
SCALERS = range(2)
Op = tuple[Any, ...]
Factors = dict[int, float]  # backward -> what it is multiplied with
Answer = str | None | Factors


def single(rng: random.Random) -> Op:
    """Any call at any time."""
    one, by = rng.choice(OPTIMIZERS), rng.choice((0, 0, 1))
    some = tuple(sorted(rng.sample(OPTIMIZERS, rng.choice((1, 2)))))
    backward = ("backward", some, rng.choice((by, by, by, None)), rng.random() < 0.2)
    others = [
        ("unscale_", one, by), ("step", one, by), ("update", by), ("bare step", one),
        ("zero_grad", one, rng.random() < 0.5),
    ]  # fmt: skip
    return rng.choice([backward, backward, *others])


def iteration(rng: random.Random) -> list[Op]:
    """An ordinary one, of one or two optimizers."""
    group = tuple(sorted(rng.sample(OPTIMIZERS, rng.choice((1, 2)))))
    found: list[Op] = [("backward", group, 0, rng.random() < 0.2) for _ in range(rng.choice((1, 1, 2)))]
    found += [("unscale_", one, 0) for one in group if rng.random() < 0.5]
    found += [("step", one, 0) for one in group]
    found += [("zero_grad", one, rng.random() < 0.5) for one in group if rng.random() < 0.5]
    return [*found, ("update", 0)]


def sequence(rng: random.Random) -> list[Op]:
    wild = rng.choice((0.2, 0.5, 1.0))
    found: list[Op] = []
    while len(found) < ROOM - 1:
        found += [single(rng)] if rng.random() < wild else iteration(rng)
    return found[: ROOM - 1]


class Recorded(torch.optim.SGD):
    """An optimizer that keeps the gradients it was stepped with, and changes nothing."""

    last: Factors | None = None

    def factors(self) -> Factors:
        grad = self.param_groups[0]["params"][0].grad
        found = [] if grad is None else grad[:ROOM].tolist()
        return {at: value for at, value in enumerate(found) if value}

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        self.last = self.factors()


class Real:
    def __init__(self, enabled: bool) -> None:
        self.params = [torch.nn.Parameter(torch.zeros(2 * ROOM)) for _ in OPTIMIZERS]
        self.optimizers = [Recorded([one], lr=1.0) for one in self.params]
        scale = 2.0**14
        self.scalers = [
            GradScaler("cpu", scale, growth_factor=3.0, growth_interval=1, enabled=enabled),
            GradScaler("cpu", 5 * scale, growth_factor=3.0, growth_interval=1),
        ]

    def do(self, op: Op, number: int) -> Answer:
        match op:
            case ("backward", optimizers, by, overflow):
                weight = torch.zeros(2 * ROOM)
                weight[number], weight[number + ROOM] = 1.0, math.inf if overflow else 0.0
                loss = sum((self.params[one] * weight).sum() for one in optimizers)
                (loss if by is None else self.scalers[by].scale(loss)).backward()
            case ("zero_grad", one, to_none):
                self.optimizers[one].zero_grad(set_to_none=to_none)
            case ("unscale_", one, by):
                self.scalers[by].unscale_(self.optimizers[one])
            case ("update", by):
                self.scalers[by].update()
            case (_, one, *by):
                self.optimizers[one].last = None
                if by:
                    self.scalers[by[0]].step(self.optimizers[one])
                else:
                    self.optimizers[one].step()
                return self.optimizers[one].last or ("skipped" if self.optimizers[one].last is None else {})
        return None


class Model:
    def __init__(self, enabled: bool) -> None:
        self.state = State([])
        self.state.scalers = {("scaler", 0): Scaler(enabled), ("scaler", 1): Scaler(True)}

    def do(self, op: Op, number: int) -> str | None:
        state = self.state
        match op:
            case ("backward", optimizers, by, overflow):
                scaled = by is not None and machines.torch_scale(state, ("scaler", by))
                if scaled:
                    state.scaled_by[number] = ("scaler", by)
                state.add(map(key, optimizers), (number, "S" if scaled else "1", overflow))
            case ("zero_grad", one, to_none):
                state.clear([key(one)], to_none)
            case ("unscale_", one, by):
                machines.torch_unscale(state, ("scaler", by), [key(one)])
            case ("update", by):
                machines.torch_update(state, ("scaler", by))
            case ("bare step", one):
                return machines.apex_step(state, [key(one)])[key(one)]
            case ("step", one, by):
                return machines.torch_step(state, ("scaler", by), [key(one)])[key(one)]
        return None


def key(optimizer: int) -> Key:
    return ("optimizer", optimizer)


def agree(model: Model, real: Real, optimizer: int, found: Factors) -> None:
    """What a reader sees is what the machine says it sees."""
    said = dict(model.state.seen(key(optimizer)))
    assert said.keys() == found.keys()
    for at, factor in said.items():
        value = found[at]
        by = model.state.scaled_by.get(at)
        scale = real.scalers[int(str(by[1]))].get_scale() if by is not None else math.nan
        assert math.isclose(value, 1.0, rel_tol=1e-4) == (factor == "1"), (at, factor, value)
        assert math.isclose(value, scale, rel_tol=1e-4) == (factor == "S"), (at, factor, value)


@pytest.mark.parametrize("part", range(4))
def test_the_machine_does_what_torch_does(part: int) -> None:
    for seed in range(part * 400, (part + 1) * 400):
        rng = random.Random(seed)
        play(sequence(rng), enabled=rng.random() < 0.9)


def play(ops: list[Op], enabled: bool) -> None:
    """Both do the same until torch raises; then so does the machine."""
    real, model = Real(enabled), Model(enabled)
    for number, op in enumerate(ops, start=1):
        try:
            done = real.do(op, number)
        except (RuntimeError, AssertionError) as error:
            with pytest.raises(Crash) as crash:
                model.do(op, number)
            never = isinstance(error, AssertionError)  # nothing was scaled, nothing was there to look at
            assert (crash.value.kind == "no-gradients") == never, error
            return
        said = model.do(op, number)
        match done:
            case dict():
                assert said == "applied " + " ".join(sorted(f"{b}:{f}" for b, f in model.state.seen(key(op[1]))))
                agree(model, real, op[1], done)
            case _:
                assert said == done
        for one in OPTIMIZERS:
            agree(model, real, one, real.optimizers[one].factors())


def test_several_optimizers_at_once_are_one_after_the_other() -> None:
    once, twice = Model(True), Model(True)
    for model in (once, twice):
        model.do(("backward", (0, 1), 0, False), 1)
        model.do(("backward", (1,), 0, True), 2)
    both = machines.torch_step(once.state, ("scaler", 0), [key(0), key(1)])
    assert both == {key(one): twice.do(("step", one, 0), 3) for one in OPTIMIZERS}
    assert both == {key(0): "applied 1:1", key(1): "skipped"}
    assert once.state.frozen() == twice.state.frozen()

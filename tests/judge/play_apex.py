"""Plays sequences of calls on Apex or on its double, and writes down what each of them shows.

    python play_apex.py double|kernels OPS.json OUT.json

``double`` needs the double on PYTHONPATH, ``kernels`` Apex's sources. A program of its own; a sequence is what
test_machine_apex.py makes. Every backward has a component of the parameters to itself.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import math
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import torch  # noqa: E402
import torch._dynamo  # noqa: E402  optimizers import it at their first use

from tests.equivalence import player  # noqa: E402

OPTIMIZERS = 2


class Recorded(torch.optim.SGD):
    """An optimizer that keeps the gradients it was stepped with, and changes nothing."""

    last: dict[int, float] | None = None

    def factors(self) -> dict[int, float]:
        grad = self.param_groups[0]["params"][0].grad
        found = [] if grad is None else grad[: len(grad) // 2].tolist()
        return {at: value for at, value in enumerate(found) if value}

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        self.last = self.factors()


def play(history: dict[str, Any], amp: Any) -> list[dict[str, Any]]:
    room = history["room"]
    state = amp._amp_state
    for name in ("opt_properties", "handle", "loss_scalers"):
        if hasattr(state, name):
            delattr(state, name)
    models = [torch.nn.ParameterList([torch.zeros(2 * room)]) for _ in range(OPTIMIZERS)]
    params = [next(model.parameters()) for model in models]
    optimizers = [Recorded([one], lr=1.0) for one in params]
    if history["init"] is not None:
        amp.initialize(models, optimizers, opt_level="O1", **history["init"])
    shown: list[dict[str, Any]] = []
    for number, op in enumerate(history["ops"], start=1):
        raised = None
        for one in optimizers:
            one.last = None
        try:
            _do(op, number, amp, params, optimizers, room)
        except (KeyboardInterrupt, RuntimeError) as error:
            raised = type(error).__name__
        shown.append(
            {
                "raised": raised,
                "stepped": [one.last if one.last is None else list(one.last.items()) for one in optimizers],
                "seen": [list(one.factors().items()) for one in optimizers],
                "scale": state.loss_scalers[0].loss_scale() if history["init"] == {} else 1.0,
            }
        )
    return shown


def _do(op: list[Any], number: int, amp: Any, params: list[Any], optimizers: list[Any], room: int) -> None:
    match op:
        case ["backward", group, overflow, how]:
            weight = torch.zeros(2 * room)
            weight[number], weight[number + room] = 1.0, math.inf if overflow else 0.0
            loss = sum((params[one] * weight).sum() for one in group)
            if how == "plain":
                loss.backward()
                return
            chosen = [optimizers[one] for one in group]
            with amp.scale_loss(loss, chosen, delay_unscale=how == "delayed") as scaled:
                if how == "interrupted before":
                    raise KeyboardInterrupt
                scaled.backward()
                if how == "interrupted":
                    raise KeyboardInterrupt
        case ["step", one]:
            optimizers[one].step()
        case ["zero_grad", one, to_none]:
            optimizers[one].zero_grad(set_to_none=to_none)


def main() -> None:
    side, given, out = sys.argv[1:]
    torch.set_num_threads(1)
    if side != "double":
        sys.path.insert(0, str(HERE.parent / "equivalence"))
        importlib.import_module("apex_shim").install(kernels=True)
    amp = importlib.import_module("apex.amp")
    player._without_patches()
    with contextlib.redirect_stdout(io.StringIO()):
        results = [play(one, amp) for one in json.loads(Path(given).read_text(encoding="utf-8"))]
    Path(out).write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()

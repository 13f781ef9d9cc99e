"""What other units train is worked out once for all of them: the result is as if each had looked for itself."""

from __future__ import annotations

from collections import Counter

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from migrate.units import readers
from migrate.units.called import Called
from tests.bench.shapes import HEAD, one_of_many

TRAINING = """\
def train_NUMBER(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        out = model(x)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        note(out)
    GIVES
"""
HELPER = "KEPT = []\n\n\ndef note(out):\n    DOES\n\n\n"
PRINTED = "".join(f"    print(train_{i}(args, loader) @ args.weight)\n" for i in range(3))
CHOSEN = "".join(f"    if args.kind == {i}:\n        got = train_{i}(args, loader)\n" for i in range(3))
MAINS = {
    "printed": PRINTED,
    "chosen": f"    got = None\n{CHOSEN}    print(got @ args.weight)\n",
    "kept in turn": f"    got = args.first\n    while args.on:\n{CHOSEN.replace('    ', '     ')}     got @ got\n",
    "handed on": "    got = args.weight\n" + "".join(f"    got = train_{i}(got, loader)\n" for i in range(3)),
    "of a field": "".join(f"    args.kept = train_{i}(args.kept, loader)\n    args.kept @ args.w\n" for i in range(3)),
}

DOES = ["print(out.argmax(1))", "KEPT.append(out)", "KEPT.append(out.detach().cpu().numpy())"]
GIVES = ["return loss.item()", "return out", "return model", "args = out"]
WAYS = [
    *(("printed", does, gives) for does in DOES for gives in GIVES),
    *((main, DOES[0], gives) for main in MAINS for gives in GIVES[1:3]),
]


@pytest.mark.parametrize(("main", "does", "gives"), WAYS)
def test_the_result_is_as_if_each_unit_looked_for_itself(
    monkeypatch: pytest.MonkeyPatch, main: str, does: str, gives: str
) -> None:
    trainings = [TRAINING.replace("NUMBER", str(i)).replace("GIVES", gives) for i in range(3)]
    parts = [HEAD + HELPER.replace("DOES", does), *trainings, f"def main(args, loader):\n{MAINS[main]}"]
    text = "\n\n".join(parts)
    together = migrate_module(text, Settings())
    monkeypatch.setattr(Called, "_apart", lambda *_: None)
    assert together == migrate_module(text, Settings())


CLIPS = {
    "clip": "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    "masters": "torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)",
    "helper": "bound(model)",
    "of one": "bound(args.generator)",
    "object": "optimizer.clip(1.0)",
    "unknown": "look_at_gradients(optimizer)",
    "none": "pass",
}


@pytest.mark.parametrize("clips", CLIPS)
@pytest.mark.parametrize("clips_too", ["clip", "helper", "none"])
def test_who_reads_gradients_is_as_if_each_unit_asked_of_itself(
    monkeypatch: pytest.MonkeyPatch, clips: str, clips_too: str
) -> None:
    helper = "def bound(net):\n    for p in net.parameters():\n        p.grad.clamp_(-1, 1)\n\n\n"
    lines = [CLIPS[name] for name in (clips, clips_too, clips)]
    step = "        optimizer.step()\n"
    trainings = [
        TRAINING.replace("NUMBER", str(i)).replace("GIVES", "return loss").replace(step, f"        {line}\n{step}")
        for i, line in enumerate(lines)
    ]
    tail = "def main(args, loader):\n" + MAINS["chosen"] + "    bound(args.generator)\n"
    text = "\n\n".join([HEAD + HELPER.replace("DOES", "pass") + helper, *trainings, tail])
    together = migrate_module(text, Settings())
    monkeypatch.setattr(readers, "_asked", readers._reads)
    assert together == migrate_module(text, Settings())


def test_a_function_that_trains_for_others_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run: Counter[str] = Counter()
    goes_into = Called._run_now

    def noted(self: Called, frame: object, callee: object, *rest: object) -> object:
        run[getattr(callee, "name", "")] += 1
        return goes_into(self, frame, callee, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Called, "_run_now", noted)
    migrate_module(one_of_many(12)["x.py"], Settings())
    assert 0 < max(count for name, count in run.items() if name.startswith("evaluate_")) <= 4

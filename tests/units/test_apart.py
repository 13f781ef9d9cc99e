"""What other units train is worked out once for all of them: the result is as if each had looked for itself."""

from __future__ import annotations

from collections import Counter

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
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
MAIN = "def main(args, loader):\n" + "".join(f"    print(train_{i}(args, loader) @ args.weight)\n" for i in range(3))


@pytest.mark.parametrize(
    "does", ["print(out.argmax(1))", "KEPT.append(out)", "KEPT.append(out.detach().cpu().numpy())"]
)
@pytest.mark.parametrize("gives", ["return loss.item()", "return out", "return model"])
def test_the_result_is_as_if_each_unit_looked_for_itself(
    monkeypatch: pytest.MonkeyPatch, does: str, gives: str
) -> None:
    trainings = [TRAINING.replace("NUMBER", str(i)).replace("GIVES", gives) for i in range(3)]
    text = HEAD + HELPER.replace("DOES", does) + "\n\n".join(trainings) + "\n\n" + MAIN
    together = migrate_module(text, Settings())
    monkeypatch.setattr(Called, "_run_apart", lambda *_: None)
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

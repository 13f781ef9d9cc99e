"""Models that another thread runs."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Outside, Settings

TEXT = """\
import functools, itertools, threading
import torch
from apex import amp


def score(model, batch):
    return model(batch)


model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
CALLS = {
    "pool.submit(score, model, x)": True,
    "list(pool.map(functools.partial(score, model), batches))": True,
    "threading.Thread(target=score, args=(model, x), daemon=True).start()": True,
    "pool.apply(model, (x,))": True,
    "pool.apply(func=score, args=(model, x))": True,
    "pool.starmap_async(score, [(model, x)])": True,
    "asyncio.to_thread(model, x)": True,
    "pool.submit(model.forward, x)": True,
    "list(pool.imap_unordered(functools.partial(model.predict, top=1), batches))": True,
    "pool.submit(save, path)": False,
    "pool.submit(model.state_dict)": False,
    "model.apply(reset)": False,
    "Round.apply(x, model)": False,
    "list(map(len, batches))": False,
    "list(itertools.starmap(model, pairs))": False,
    "score(model, x)": False,
}


@pytest.mark.parametrize("call", CALLS)
def test_is_named(call: str) -> None:
    result = migrate_module(TEXT + call + "\n", Settings())
    assert result.new_text is not None
    assert any("runs in another thread" in found.message for found in result.findings) is CALLS[call]
    assert f"\n{call}\n" in result.new_text or not CALLS[call]


NETWORK = """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.calls = torch.nn.Linear(4, 2), 0

    def encode(self, x):
        return self.body(x)

    def count(self, n):
        self.calls += n

    def forward(self, x):
        return self.encode(x)


"""


@pytest.mark.parametrize(
    ("call", "named"), [("pool.submit(model.encode, x)", True), ("pool.submit(model.count, 1)", False)]
)
def test_methods_of_a_network(call: str, named: bool) -> None:
    text = TEXT.replace("def score", f"{NETWORK}def score").replace("build()", "Net()")
    result = migrate_module(text + call + "\n", Settings())
    assert any("runs in another thread" in found.message for found in result.findings) is named


OTHER = "def run_all(fn, xs):\n    return [POOL for x in xs]\n"


@pytest.mark.parametrize(("inside", "named"), [("pool.apply(fn, (x,))", True), ("fn(x)", False)])
@pytest.mark.parametrize("handed", ["model", "model.forward"])
def test_in_a_file_that_is_not_read(inside: str, named: bool, handed: str) -> None:
    others = Outside(elsewhere=elsewhere([outline(OTHER.replace("POOL", inside))]))
    text = TEXT.replace("import torch\n", "import torch\nfrom work import run_all\n")
    result = migrate_module(f"{text}run_all({handed}, batches)\n", Settings(), others)
    assert any("has another thread run" in found.message for found in result.findings) is named

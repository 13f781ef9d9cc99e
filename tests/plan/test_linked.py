"""Scripts that share files, of which one is broken or trains for itself."""

from __future__ import annotations

from migrate.linked import migrate_linked
from migrate.model import FileText, ModuleResult, Settings

HELPERS = """\
import torch
from apex import amp


def load(model, path):
    model.load_state_dict(torch.load(path))


def load(config, model, optimizer, path):
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    amp.load_state_dict(state["amp"])
"""
MAIN = """\
import torch
from apex import amp
from helpers import load

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
load(config, model, optimizer, "last.pt")
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
OLD = """\
import torch
from helpers import load

model = torch.nn.Linear(4, 2)
load(model, "last.pt")
"""
PLAIN = """\
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
"""


def _migrated(other: str) -> list[ModuleResult]:
    files = [
        FileText(HELPERS, name="helpers.py"),
        FileText(MAIN, name="main.py", links={"helpers": 0}),
        FileText(other, name="other.py", links={"helpers": 0}),
    ]
    return migrate_linked(files, Settings())


def test_the_last_function_of_a_name_takes_the_scaler_and_a_call_that_raises_does_not() -> None:
    helpers, main, other = _migrated(OLD)
    assert helpers.new_text is not None and main.new_text is not None and other.new_text is None
    assert "def load(model, path):" in helpers.new_text
    assert "def load(config, model, optimizer, scaler, path):" in helpers.new_text
    assert 'load(config, model, optimizer, scaler, "last.pt")' in main.new_text


def test_a_script_that_trains_for_itself_was_never_under_casts_of_another() -> None:
    results = _migrated(OLD.replace("model =", "def train():\n    model =").replace("load(m", "    load(m") + PLAIN)
    assert [one.new_text is not None for one in results] == [True, True, False]
    assert not [f for one in results for f in one.findings if "trains without amp" in f.message]


def test_one_that_does_not_parse_leaves_each_to_itself() -> None:
    assert [one.parsed for one in _migrated(OLD + "else\n")] == [False] * 3


LOADS = "import torch\n\n\ndef load(model, path):\n    model.load_state_dict(torch.load(path))\n"
TRAINS = MAIN.replace('load(config, model, optimizer, "last.pt")', 'load(model, "last.pt")')
DUMPS = """\
import torch
from helpers import load

if args.fp16:
    import apex
    apex.amp.register_half_function(torch, "einsum")
load(model, "last.pt")
"""


def test_a_script_that_only_registers_casts_goes_with_those_that_initialize() -> None:
    files = [FileText(LOADS), FileText(TRAINS, links={"helpers": 0}), FileText(DUMPS, links={"helpers": 0})]
    _, trains, dumps = migrate_linked(files, Settings())
    assert trains.new_text is not None and "apex" not in trains.new_text
    assert dumps.new_text == 'import torch\nfrom helpers import load\n\nload(model, "last.pt")\n'
    assert dumps.amp_left is None


def test_it_stays_where_one_of_those_stays() -> None:
    stays = TRAINS.replace("optimizer.step()", "optimizer.step(closure)")
    files = [FileText(LOADS), FileText(stays, links={"helpers": 0}), FileText(DUMPS, links={"helpers": 0})]
    assert migrate_linked(files, Settings())[2].new_text is None


MAKES = """\
import torch


def make_optimizer(cfg, model):
    return torch.optim.SGD(model.parameters(), lr=cfg.LR)
"""
SCRIPT = """\
import torch
from apex import amp
from config import cfg
from makes import make_optimizer
IMPORTS


def train(cfg, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = make_optimizer(cfg, model)
    HALF = cfg.DTYPE == "float16"
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1" if HALF else "O0")
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    return model


def run_test(cfg, model):
    for x in cfg.TEST:
        print(model(x).argmax())


def main():
    model = train(cfg, cfg.TRAIN)
    run_test(cfg, model)


if __name__ == "__main__":
    main()
"""


def test_each_of_two_scripts_of_which_one_imports_the_other_says_its_own_condition() -> None:
    first = SCRIPT.replace("HALF", "half").replace("IMPORTS", "")
    second = SCRIPT.replace("HALF", "mixed").replace("IMPORTS", "from first import run_test as another")
    links = {"makes": 0}
    files = [
        FileText(MAKES, name="makes.py"),
        FileText(first, name="first.py", links=links),
        FileText(second, name="second.py", links={**links, "first": 1}),
    ]
    _, *scripts = migrate_linked(files, Settings())
    for one in scripts:
        assert one.new_text is not None and 'enabled=cfg.DTYPE == "float16"' in one.new_text.partition("run_test")[2]
        assert "APX031" not in [f.rule for f in one.findings]

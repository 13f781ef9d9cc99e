"""Scripts that share files, of which one is broken or trains for itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from migrate import linked
from migrate.engine import migrate_program
from migrate.linked import as_many_as_agree, migrate_linked
from migrate.model import Applicability, FileText, ModuleResult, Outside, Settings, Standing, UnitSummary

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
    assert dumps.needs is None


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


LOADER = """\
import torch
from apex import amp


def load_model(opts):
    model = torch.nn.Linear(4, 2).cuda()
    if not opts.no_fp16:
        model = amp.initialize(model, opt_level="O1")
    return model


def main(opts):
    model = load_model(opts)
    print(model(opts.batch).argmax(-1))


if __name__ == "__main__":
    main(parse())
"""
EVALUATES = """\
import torch
from loader import load_model


@torch.no_grad()
def validate(model, batches):
    return [model(x).argmax(-1) for x in batches]


def main(opts):
    model = load_model(opts)
    print(validate(model, opts.batches))


if __name__ == "__main__":
    main(parse())
"""
TRAINS_AND_ASKS = MAIN.replace("from helpers import load", "from evaluates import validate").replace(
    'load(config, model, optimizer, "last.pt")\n', ""
)


def test_a_script_whose_own_main_block_initializes_by_way_of_another_file_that_a_training_imports() -> None:
    """Its main block is idle where it is imported, and begins the run where it is not."""
    files = [
        FileText(LOADER, name="loader.py"),
        FileText(EVALUATES, name="evaluates.py", links={"loader": 0}),
        FileText(TRAINS_AND_ASKS + "print(validate(model, loader))\n", name="main.py", links={"evaluates": 1}),
    ]
    loads, evaluates, trains = migrate_linked(files, Settings())
    assert loads.needs is None and trains.needs is None
    on = 'with torch.autocast("cuda", dtype=torch.float16, enabled=not opts.no_fp16):'
    assert f"{on}\n        print(validate(model, opts.batches))" in (evaluates.new_text or "")


KEEPER = """\
import torch
from apex import amp


class Restorer:
    def __init__(self, opts, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.amp = opts.fp16

    def save(self):
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        if self.amp:
            state["amp"] = amp.state_dict()
        torch.save(state, "last.pt")
"""
TASK = """\
import torch
from apex import amp
from keeper import Restorer
IMPORTS

def validate(model, x):
    return model(x).argmax(-1)


def main(opts):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=opts.lr)
    model, optimizer = amp.initialize(model, optimizer, enabled=opts.fp16, opt_level="O1")
    restorer = Restorer(opts, model, optimizer)
    for x, y in opts.loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        restorer.save()
    print(VALIDATE(model, opts.x))


if __name__ == "__main__":
    main(parse())
"""


def test_two_trainings_of_one_program_hand_each_its_own_scaler_to_the_object_that_both_make() -> None:
    """One imports the other for its evaluation; the scaler of each was to serve both."""
    one = TASK.replace("IMPORTS", "").replace("VALIDATE", "validate")
    both = TASK.replace("IMPORTS", "from one import validate as score\n").replace("VALIDATE", "score")
    files = [
        FileText(KEEPER, name="keeper.py"),
        FileText(one, name="one.py", links={"keeper": 0}),
        FileText(both, name="both.py", links={"keeper": 0, "one": 1}),
    ]
    results = migrate_linked(files, Settings())
    assert [result.needs for result in results] == [None] * 3
    assert "self.scaler = scaler" in (results[0].new_text or "")
    for result in results[1:]:
        assert (result.new_text or "").count("GradScaler(") == 1
        assert "restorer = Restorer(opts, model, optimizer, scaler)" in (result.new_text or "")


ACCURACY = """\
import torch


def accuracy(logits, y, seen):
    probs = torch.nn.functional.softmax(logits, dim=-1)
    seen.append(probs.max().item())
    return (probs.argmax(-1) == y).sum().item()


def load(model, path):
    model.load_state_dict(torch.load(path))
"""
LOGS = """\
import torch
from apex import amp
from helpers import accuracy

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    logits = model(x)
    loss = torch.nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(accuracy(logits, y, seen))
"""


def test_what_a_helper_becomes_for_one_script_is_right_for_another_that_does_not_call_it() -> None:
    files = [FileText(ACCURACY), FileText(LOGS, links={"helpers": 0}), FileText(TRAINS, links={"helpers": 0})]
    assert migrate_linked(files[::2], Settings())[0].new_text is None
    helpers, logs, trains = migrate_linked(files, Settings())
    assert helpers.new_text == ACCURACY.replace("softmax(logits,", "softmax(logits.float(),")
    assert logs.new_text is not None and trains.new_text is not None


def test_of_scripts_that_do_not_agree_the_most_that_do_go() -> None:
    full = FileText(LOGS.replace("O1", "O0"), links={"helpers": 0})
    files = [FileText(ACCURACY), full, FileText(LOGS, links={"helpers": 0}), full]
    programs = [(0, 1), (0, 2), (0, 3)]
    apart = [migrate_linked([files[0], files[one]], Settings()) for _, one in programs]
    assert [helpers.new_text is None for helpers, _ in apart] == [True, False, True]
    stays = ModuleResult(None, units=(UnitSummary(1, Applicability.MANUAL, 7),))
    found = as_many_as_agree(files, programs, apart, [ModuleResult(None), stays, stays, stays])
    assert found is not None
    helpers, one, other, third = found
    assert helpers.new_text is None and other.new_text is None
    assert one.new_text == third.new_text == apart[0][1].new_text
    assert [unit.applicability for unit in other.units] == [Applicability.MANUAL]
    assert len({unit.number for result in found for unit in result.units}) == 3


BASE = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = self.build()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def build(self):
        return torch.nn.Linear(4, 2)

    def loss(self, x):
        return self.model(x).pow(2).mean()

    def train(self):
        for x in self.args.batches:
            loss = self.loss(x)
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
"""
DERIVES = """\
import torch
from base import Trainer


class Wider(Trainer):
    def build(self):
        return torch.nn.Linear(4, NUMBER)


if __name__ == "__main__":
    Wider(parse()).train()
"""


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files each program has that is looked at from here on."""
    asked: list[int] = []

    def counted(some: Sequence[FileText], settings: Settings, *standing: Standing) -> list[ModuleResult]:
        asked.append(len(some))
        return migrate_program(some, settings, *standing)

    monkeypatch.setattr(linked, "migrate_program", counted)
    return asked


def test_many_scripts_over_one_base_are_looked_at_several_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = [DERIVES.replace("NUMBER", str(number)) for number in range(2, 7)]
    scripts.append(
        DERIVES.replace("    def build(self):\n", "    def train(self):\n        print(amp)\n\n    def build(self):\n")
    )
    files = [FileText(BASE, name="base.py")]
    files += [FileText(text, name=f"s{n}.py", links={"base": 0}) for n, text in enumerate(scripts)]
    one_by_one = migrate_linked(files, Settings())
    asked = _counted(monkeypatch)
    monkeypatch.setattr(linked, "MOST_APART", 3)
    at_once = migrate_linked(files, Settings())
    assert asked == [4, 3, 2]  # what speaks of amp has a look of its own
    assert at_once[0].new_text is not None and "GradScaler" in at_once[0].new_text
    assert [one.new_text for one in at_once] == [one.new_text for one in one_by_one]


def test_of_several_at_once_that_stay_each_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    stays = DERIVES.replace(
        "    def build", "    def loss(self, x):\n        self.optimizer.step(closure)\n\n    def build"
    )
    files = [FileText(BASE, name="base.py")]
    files += [FileText(text, links={"base": 0}) for text in (DERIVES, stays, DERIVES)]
    asked = _counted(monkeypatch)
    monkeypatch.setattr(linked, "MOST_APART", 2)
    migrate_linked(files, Settings())
    assert asked[:4] == [3, 2, 2, 2]


POOL = """\
import torch
from apex import amp


class Pool(torch.nn.Module):
    @amp.float_function
    def forward(self, x):
        return x.mean(0)
"""
POOLS = TRAINS.replace("from helpers import load", "from pool import Pool").replace('load(model, "last.pt")\n', "")
LEFT_BEHIND = """\
from apex import amp
from pool import Pool


def train(model, optimizer, loader):
    for x in loader:
        loss = model(Pool()(x)).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""


def _beside(left: str, exported: frozenset[str] = frozenset()) -> list[bool]:
    files = [
        FileText(POOL, name="pool.py", outside=Outside(exported=frozenset({"Pool"}))),
        FileText(POOLS, name="main.py", links={"pool": 0}),
        FileText(left, name="old.py", links={"pool": 0}, outside=Outside(exported=exported)),
    ]
    results = migrate_linked(files, Settings())
    assert any(f.rule == "APX091" for f in results[2].findings)
    return [one.new_text is not None for one in results]


def test_a_trainer_that_nothing_runs_stays_by_itself() -> None:
    assert _beside(LEFT_BEHIND) == [True, True, False]


@pytest.mark.parametrize(
    "more",
    [
        "\n\ntrain(model, optimizer, loader)\n",
        "\n\nif __name__ == '__main__':\n    train(*read())\n",
        "\n\ndef run(name):\n    importlib.import_module(name)\n",
        "\n\ndef test_train():\n    train(*read())\n",
    ],
)
def test_one_that_something_may_run_keeps_the_others(more: str) -> None:
    assert _beside(LEFT_BEHIND + more) == [False] * 3
    assert _beside(LEFT_BEHIND, frozenset({"train"})) == [False] * 3


ENGINE = """\
from apex import amp


def run_epoch(model, optimizer, loader):
    for x in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
ENTRY = """\
import torch
from apex import amp
from engine import run_epoch


def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer)
    run_epoch(model, optimizer, loader)
"""


@pytest.mark.parametrize("more", ["", "LOG = print\n", "\n\nif __name__ == '__main__':\n    main(*read())\n"])
def test_who_runs_a_program_without_a_main_block_finds_its_helpers_as_they_were(more: str) -> None:
    """An entry point of a package runs both, or who makes up the name of what it imports."""
    stays = ENTRY.replace("    run_epoch", '    amp.register_float_function(torch, "bmm")\n    run_epoch')
    files = [FileText(ENGINE, name="engine.py")]
    files += [FileText(text + more, name="task.py", links={"engine": 0}) for text in (ENTRY, stays)]
    assert [one.new_text is not None for one in migrate_linked(files, Settings())] == [False] * 3


MIXED = """\
CONFIG = {"on": False}


def switch_on():
    CONFIG["on"] = True


def is_half():
    return CONFIG["on"]


def initialize(model, optimizer):
    if is_half():
        from apex import amp
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def backward(loss, optimizer):
    if is_half():
        from apex import amp
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
"""
TASK_OF_MIXED = """\
import torch
import mixed


def train(loader):
    model = torch.nn.Linear(2, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = mixed.initialize(model, optimizer)
    for x in loader:
        optimizer.zero_grad()
        mixed.backward(model(x).sum(), optimizer)
        optimizer.step()
"""


def test_a_function_of_another_file_says_the_condition() -> None:
    files = [FileText(MIXED, name="mixed.py"), FileText(TASK_OF_MIXED, name="task.py", links={"mixed": 0})]
    mixed, task = migrate_linked(files, Settings())
    assert task.new_text is not None and "GradScaler(\"cuda\", enabled=bool(mixed.is_half()))" in task.new_text
    assert mixed.new_text is not None and "amp" not in mixed.new_text
    twice = MIXED.replace("def initialize", "def is_half():\n    return True\n\n\ndef initialize")
    files[0] = FileText(twice, name="mixed.py")
    assert migrate_linked(files, Settings())[1].new_text is None


EVAL = """\
def test(model, loader):
    total = 0
    for x, y in loader:
        total += (model(x).argmax(1) == y).sum().item()
    return total
"""
APEX = """\
import torch
from apex import amp
from evaluation import test

model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
print(test(model, held_out))
"""


def test_what_a_script_without_amp_evaluates_is_left_and_the_call_is_wrapped() -> None:
    """Else the other script, which trains natively or only tests, would evaluate in half from now on."""
    plain = "import torch\nfrom evaluation import test\n\n# no apex\nprint(test(torch.nn.Linear(4, 2), held_out))\n"
    for other, wrapped in [(plain, False), (plain.replace("test", "load"), True)]:
        files = [
            FileText(EVAL + "\n\ndef load(model, loader):\n    return model\n", name="evaluation.py"),
            FileText(APEX, name="main.py", links={"evaluation": 0}),
            FileText(other, name="other.py", links={"evaluation": 0}),
        ]
        evaluation, main, left = migrate_linked(files, Settings())
        assert left.new_text is None and main.new_text is not None
        assert (evaluation.new_text is not None and "autocast" in evaluation.new_text) is wrapped
        assert ("dtype=torch.float16):\n    print(test(" in main.new_text) is not wrapped


METHODS = """\
import torch
from apex import amp


class Task:
    def __init__(self, net):
        self.net = net

    def prepare(self):
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.net, self.optimizer = amp.initialize(self.net, self.optimizer, opt_level="O1")

    def train(self, loader):
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()

    def predict(self, loader):
        with torch.no_grad():
            return [self.net(x) for x, _ in loader]
"""


@pytest.mark.parametrize(
    ("made", "known"),
    [
        ("import models\nnet = getattr(models, args.model)()", True),
        ("from torchvision import models\nnet = getattr(models, args.model)()", True),
        ("import torchvision\nnet = getattr(torchvision.models, args.model)()", True),
        ("models = find()\nnet = getattr(models, args.model)()", False),
        ("net = make()\ngetattr(args.task(net), args.mode)()", False),
    ],
)
def test_a_method_that_only_a_script_without_amp_calls_is_left(made: str, known: bool) -> None:
    """No module that is asked for a name gives a method of the program's."""
    train = f"from task import Task\nfrom settings import args, data, find, make\n{made}\n"
    files = [
        FileText(METHODS, name="task.py"),
        FileText(train + "task = Task(net)\ntask.prepare()\ntask.train(data)\n", name="train.py", links={"task": 0}),
        FileText("import torch\nfrom task import Task\nprint(Task(torch.nn.Linear(4, 2)).predict(data))\n",
                 name="infer.py", links={"task": 0}),
    ]  # fmt: skip
    task, _, infer = migrate_linked(files, Settings())
    assert task.new_text is not None and task.new_text.count("autocast") == 1
    assert (infer.new_text is None) is known

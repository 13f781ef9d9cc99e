"""Files that use amp and import each other are one program; scripts that share files agree about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from migrate.components import Component, components, widened
from migrate.engine import migrate_program
from migrate.facts.module import Module
from migrate.flow import solver
from migrate.flow.values import Values
from migrate.imports.tree import Imports
from migrate.model import Applicability, FileResult, FileText, Settings, Severity
from migrate.outcome import Outcome
from migrate.pipeline import analyse
from migrate.sources import Selection, collect
from migrate.spool import Spool
from tests.shell.support import tree

pytestmark = pytest.mark.usefixtures("many_files")

MAIN = """\
import argparse
import torch
from apex import amp
from engine import train

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
train(model, optimizer, args)
"""
ENGINE = """\
from apex import amp


def train(model, optimizer, args):
    for x in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
"""


def _outcome(tmp_path: Path, files: Mapping[str, str | bytes], jobs: int = 1) -> Outcome:
    with Spool() as spool:
        return analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=jobs)


def _results(tmp_path: Path, files: Mapping[str, str | bytes]) -> dict[str, FileResult]:
    return {one.path: one for one in _outcome(tmp_path, files).results}


def _written(tmp_path: Path, files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    """The new texts of the files that change."""
    with Spool() as spool:
        outcome = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1)
        return {Path(one.texts.location).name: spool.get(one.texts.new) for one in outcome.changed if one.texts}


def _selected(tmp_path: Path, files: Mapping[str, str | bytes]) -> tuple[Selection, Imports]:
    selection = collect([str(tree(tmp_path, files))])
    return selection, Imports(selection.python)


def _names(component: Component | None) -> list[str]:
    assert component is not None
    return [source.shown for source in component.sources]


def test_a_unit_in_two_files_is_migrated_and_written_as_one(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path, {"main.py": MAIN, "engine.py": ENGINE})
    assert [(one.path, one.status) for one in outcome.results] == [("engine.py", "changed"), ("main.py", "changed")]
    assert [len(group) for group in outcome.groups()] == [2]
    assert {change.unit for one in outcome.results for change in one.changes} == {1, None}
    (unit,) = (unit for one in outcome.results for unit in one.units)
    assert (unit.applicability, unit.line) == (Applicability.SAFE, 12)


def test_so_is_one_whose_other_part_is_the_package_itself(tmp_path: Path) -> None:
    """``from . import train`` takes it from the ``__init__.py`` beside it: it was called with one argument too few."""
    main = MAIN.replace("from engine import", "from . import")
    written = _written(tmp_path, {"lib/main.py": main, "lib/__init__.py": ENGINE})
    assert b"train(model, optimizer, scaler, args)" in written["main.py"]
    assert b"def train(model, optimizer, scaler, args):" in written["__init__.py"]
    alone = f"{ENGINE}\n\nmodel, optimizer = amp.initialize(model, optimizer)\ntrain(model, optimizer, args)\n"
    other = "from . import train\n\ntrain(model, optimizer, args)\n"
    assert not _written(tmp_path / "alone", {"lib/__init__.py": alone, "lib/other.py": other})


@pytest.mark.parametrize(
    ("line", "migrated"),
    [
        ("optimizer = getattr(torch.optim, args.name)(model.parameters())", True),
        ("runner.exec()", True),  # a method of that name runs no text
        ("getattr(engine, args.name)(model, optimizer, args)", False),  # it may be any function of that file
        ("exec('import engine')", False),
    ],
)
def test_a_file_of_the_program_takes_what_it_computes_the_name_of(tmp_path: Path, line: str, migrated: bool) -> None:
    main = MAIN.replace("import argparse", "import argparse\nimport engine").replace("if args", f"{line}\nif args", 1)
    found = _results(tmp_path, {"main.py": main, "engine.py": ENGINE})
    assert (found["engine.py"].status == "changed") == migrated


def test_what_lies_between_belongs_to_it(tmp_path: Path) -> None:
    files = {
        "main.py": "from apex import amp\nfrom lib import run\n",
        "lib/__init__.py": "from .run import run\n",
        "lib/run.py": "from lib.engine import train\n",
        "lib/engine.py": "from apex import amp\n",
        "lib/other.py": "import torch\n",
        "apart.py": "from apex import amp\n",
    }
    (found,) = components(*_selected(tmp_path, files))
    assert _names(found) == ["lib/engine.py", "lib/run.py", "lib/__init__.py", "main.py"]
    assert found.links[3] == {"lib": 2, "lib.run": 1}


def test_a_file_that_has_amp_from_elsewhere_belongs_to_it(tmp_path: Path) -> None:
    files = {"main.py": "from apex import amp\nimport engine\n", "engine.py": "def f(amp, x):\n    amp.scale_loss(x)\n"}
    (found,) = components(*_selected(tmp_path, files))
    assert _names(found) == ["engine.py", "main.py"]


@pytest.mark.parametrize(("spelled", "joined"), [("BCELoss", True), ("CrossEntropyLoss", False)])
def test_who_asks_for_a_loss_by_a_name_that_another_file_spells_belongs_to_it(
    tmp_path: Path, spelled: str, joined: bool
) -> None:
    files = {
        "main.py": f"from apex import amp\nfrom losses import build\ncriterion = build('{spelled}')\n",
        "losses.py": "import torch.nn as nn\n\n\ndef build(name):\n    return getattr(nn, name)()\n",
    }
    found = components(*_selected(tmp_path, files))
    assert [_names(one) for one in found] == [["losses.py", "main.py"]] * joined


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        ("out[mask] = x.softmax(-1)", True),
        ("out.index_add_(0, mask, gates(x))", True),
        ("out[mask] = act(x)", False),
        ("out = x.softmax(-1)", False),
        ("out[mask] = = x.softmax(-1)", False),
    ],
)
def test_a_network_that_puts_another_type_into_a_tensor_belongs_to_it(tmp_path: Path, lines: str, joined: bool) -> None:
    helper = "def gates(x):\n    return x.softmax(-1)\n\n\n"
    net = f"import torch\n\n\n{helper}def forward(x, out, mask):\n    {lines}\n    return out\n"
    files = {
        "main.py": "from apex import amp\nfrom models import forward\n",
        "models/__init__.py": "from .net import forward\n",
        "models/net.py": net,
    }
    found = components(*_selected(tmp_path, files))
    assert [_names(one) for one in found] == [["models/net.py", "models/__init__.py", "main.py"]] * joined


def test_an_import_that_may_mean_two_files_joins_nothing(tmp_path: Path) -> None:
    files = {
        "a/main.py": "from apex import amp\nfrom lib.engine import train\n",
        "b/lib/engine.py": ENGINE,
        "c/lib/engine.py": ENGINE,
    }
    assert components(*_selected(tmp_path, files)) == []


def test_too_large_a_program_says_where_amp_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trainer that has amp by a star said nothing, and what it shares its Apex with was migrated."""
    monkeypatch.setattr("migrate.components.MOST_BYTES", 1)
    takes = ENGINE.replace("from apex import amp", "from common import *  # what apex gives")
    loop = ENGINE.partition(":\n")[2].replace("\n    ", "\n").lstrip()
    common = MAIN.replace("from engine import train\n", "").replace("train(model, optimizer, args)\n", loop)
    found = _results(tmp_path, {"common.py": common, "engine.py": takes})
    said = [(f.line, f.lines, f.message) for f in found["engine.py"].findings]
    assert said == [(9, (), "amp comes from another file of this tree here, and the two could not be read together")]
    assert any("engine.py, line 9, stays (APX090) and may run in" in f.message for f in found["common.py"].findings)
    takes = takes.replace("  # what apex gives", "")  # nothing says where amp comes from in the end
    assert [f.line for f in _results(tmp_path, {"engine.py": takes})["engine.py"].findings] == [9]
    by_name = takes.replace("import *", "import amp")
    assert [f.line for f in _results(tmp_path, {"engine.py": by_name})["engine.py"].findings] == [9]


@pytest.mark.parametrize(
    "line", ["loss = torch.nn.BCELoss()", "half = LEVEL == 'O2'", "F.binary_cross_entropy(x, y)", "x = 1"]
)
def test_what_autocast_refuses_belongs_to_it_behind_other_files(tmp_path: Path, line: str) -> None:
    files = {
        "main.py": MAIN.replace("from engine", "from losses import Loss\nfrom engine"),
        "engine.py": ENGINE,
        "losses/__init__.py": "from losses.gan import Loss\n",
        "losses/gan.py": f"from losses.deep import Loss\n{line}\n",
        "losses/deep.py": "class Loss:\n    pass\n",
    }
    (program,) = components(*_selected(tmp_path, files))
    joined = {"losses/__init__.py", "losses/gan.py"} if line != "x = 1" else set()
    assert set(_names(program)) == {"engine.py", "main.py", *joined}


FUNCTION = """\
class Binary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        return x.matmul(weight)

    @staticmethod
    def backward(ctx, gradient):
        BODY
"""


LIN = """\
def turned(gradient, weight):
    return gradient.mm(weight)


def projected(gradient):
    return turned(gradient, BASIS)


def halved(gradient):
    return gradient * 0.5
"""


@pytest.mark.parametrize(
    ("body", "joined"),
    [
        ("return gradient.matmul(ctx.weight), None", True),
        ("with torch.enable_grad():\n            y = ctx.run(x)", True),
        ("torch.autograd.backward(ctx.run(x).mm(x), gradient)", False),
        ("return gradient @ ctx.weight, None", True),
        ("return turned(gradient, ctx.weight), None", True),
        ("return halved(gradient), None", False),
        ("return gradient * ctx.mask, None", False),
    ],
)
def test_backwards_of_ones_own_belong_to_it(tmp_path: Path, body: str, joined: bool) -> None:
    """O1 cast in a backward, too; autocast does so where ``custom_fwd`` and ``custom_bwd`` say it."""
    files = {
        "main.py": MAIN.replace("from engine", "from net import Net\nfrom engine"),
        "engine.py": ENGINE,
        "net.py": "from binary import Binary\n",
        "binary.py": f"from lin import turned, halved\n{FUNCTION.replace('BODY', body)}",
        "lin.py": LIN,
    }
    (program,) = components(*_selected(tmp_path, files))
    assert ("binary.py" in _names(program)) is joined
    assert ("net.py" in _names(program)) is joined


@pytest.mark.parametrize(
    ("hook", "named"),
    [
        ("x.register_hook(lambda g: g @ self.basis)", True),
        ("x.register_hook(lambda g: turned(g, self.basis))", True),
        ("x.register_hook(self.project)", True),
        ("x.register_hook(projected)", True),
        ("layer.register_full_backward_hook(projected)", True),
        ("x.register_hook(partial(turned, weight=self.basis))", True),
        ("def inner(g):\n            return g.mm(self.basis)\n        x.register_hook(inner)", True),
        ("x.register_hook(halved)", False),
        ("x.register_hook(lambda g: g * 2)", False),
        ("layer.register_forward_hook(self.project)", False),  # runs where the forward does
        ("x.register_hook(self.look)", False),
    ],
)
def test_hooks_of_the_backward_pass_belong_to_it_where_they_multiply(tmp_path: Path, hook: str, named: bool) -> None:
    keeper = f"""\
from functools import partial
from lin import halved, projected, turned


class Keeper:
    def project(self, g):
        return turned(g, self.basis)

    def look(self, g):
        self.last = g

    def attach(self, layer, x):
        {hook}
"""
    main = MAIN.replace("from engine", "from keep import Keeper\nkeeper = Keeper()\nfrom engine")
    found = _results(tmp_path, {"main.py": main, "engine.py": ENGINE, "keep.py": keeper, "lin.py": LIN})
    said = [finding.rule for one in found.values() for finding in one.findings]
    assert ("APX082" in said) is named
    assert ("keep.py" in found) is named


def test_comments_about_amp_join_nothing(tmp_path: Path) -> None:
    files = {"main.py": "import engine  \nfrom apex import amp\n", "engine.py": "# from apex import amp\n"}
    assert components(*_selected(tmp_path, files)) == []


def test_a_stuck_program_is_tried_with_what_it_imports_and_who_imports_it(tmp_path: Path) -> None:
    wrapper = """\
import torch


class Wrapped:
    def __init__(self, params):
        self.inner = torch.optim.SGD(params, lr=0.1)

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        self.inner.step()
"""
    main = """\
import torch
from apex import amp
from wrapper import Wrapped

model = torch.nn.Linear(2, 2).cuda()
optimizer = Wrapped(model.parameters())
model, optimizer.inner = amp.initialize(model, optimizer.inner, opt_level="O1")
for x in loader:
    loss = model(x).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer.inner) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
    files = {"main.py": main, "wrapper.py": wrapper}
    selection, imports = _selected(tmp_path, files)
    assert components(selection, imports) == []
    found = _results(tmp_path, files)
    assert {path: one.status for path, one in found.items()} == {"main.py": "changed", "wrapper.py": "changed"}

    # another script with amp uses the same wrapper: it would find it changed
    shared = {**files, "second.py": main.replace("nn.Linear", "nn.Unknown").replace("optimizer.inner = ", "other = ")}
    assert all(one.status == "unchanged" for one in _results(tmp_path, shared).values())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("print(epoch, learner.model.training)", "changed"),
        # gradients of a step that is not yet taken are still scaled
        ("print(epoch, learner.model.weight.grad.norm())", "unchanged"),
    ],
)
@pytest.mark.parametrize("derived", [False, True])
def test_a_stuck_program_is_tried_with_what_is_made_where_it_is_put_together(
    tmp_path: Path, body: str, status: str, derived: bool
) -> None:
    learner = """\
import torch
from apex import amp


class Learner:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def fit(self, loader, epochs, accumulate):
        for epoch in range(epochs):
            for i, x in enumerate(loader):
                loss = self.model(x).sum()
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
                if (i + 1) % accumulate == 0:
                    self.optimizer.step()
                    self.optimizer.zero_grad()
            for callback in self.callbacks:
                callback.on_epoch_end(self, epoch)
"""
    main = """\
import torch
from callbacks import Printer
from learner import Learner

Learner(torch.nn.Linear(2, 2).cuda(), [Printer()]).fit(loader, 3, 2)
"""
    callbacks = f"class Printer:\n    def on_epoch_end(self, learner, epoch):\n        {body}\n"
    files = {"main.py": main, "learner.py": learner, "callbacks.py": callbacks}
    if derived:
        files["main.py"] = main.replace("learner import Learner", "own import Learner")
        files["own.py"] = "import learner\n\n\nclass Learner(learner.Learner):\n    pass\n"
    assert _results(tmp_path, files)["learner.py"].status == status


def test_widened_follows_names_through_packages(tmp_path: Path) -> None:
    files = {
        "main.py": "from apex import amp\nfrom lib import Optimizer\n",
        "lib/__init__.py": "from .deep import Optimizer\nfrom .rest import other\n",
        "lib/deep/__init__.py": "from .optimizer import Optimizer\n",
        "lib/deep/optimizer.py": "class Optimizer:\n    pass\n",
        "lib/rest.py": "def other():\n    pass\n",
    }
    selection, imports = _selected(tmp_path, files)
    (source,) = selection.candidates
    wide = widened(Component((source,), ({},)), selection, imports)
    assert _names(wide) == ["lib/deep/optimizer.py", "lib/deep/__init__.py", "lib/__init__.py", "main.py"]


RUNNER = {
    "main.py": """\
import torch
from apex import amp
from hooks import Hook
from runner import Runner

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
Runner([Hook()]).run(model, optimizer, [])
""",
    "hooks.py": """\
from apex import amp


class Hook:
    def after(self, state):
        with amp.scale_loss(state.loss, state.optimizer) as scaled:
            scaled.backward()
        state.optimizer.step()
        state.optimizer.zero_grad()
""",
    "runner.py": """\
from state import State


class Runner:
    def __init__(self, hooks):
        self.hooks = hooks

    def run(self, model, optimizer, loader):
        self.state = State(model, optimizer)
        for x in loader:
            self.state.loss = self.state.model(x).sum()
            for hook in self.hooks:
                hook.after(self.state)
""",
    "state.py": """\
class State:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
""",
}


def test_what_a_runner_hands_to_its_hooks_may_be_of_a_further_file(tmp_path: Path) -> None:
    units = [unit for one in _results(tmp_path, {**RUNNER}).values() for unit in one.units]
    assert [unit.applicability for unit in units] == [Applicability.SAFE]


def test_scripts_that_share_a_file_agree_about_it(tmp_path: Path) -> None:
    results = _results(tmp_path, {"main.py": MAIN, "finetune.py": MAIN, "engine.py": ENGINE})
    assert {one.status for one in results.values()} == {"changed"}
    assert [len(one.units) for one in results.values()] == [0, 1, 1]
    assert {unit.number for one in results.values() for unit in one.units} == {1, 2}


def test_one_script_that_stays_holds_the_others(tmp_path: Path) -> None:
    stays = MAIN.replace("train(model", "print(amp._amp_state.handle)\ntrain(model")
    results = _results(tmp_path, {"main.py": MAIN, "finetune.py": stays, "engine.py": ENGINE})
    assert {one.status for one in results.values()} == {"unchanged"}
    assert any("finetune.py, line" in f.message for f in results["main.py"].findings)
    assert {line for f in results["engine.py"].findings for line in (f.line, *f.lines)} == {1, 9}


def test_the_same_with_processes(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {}
    for number in range(6):
        files |= {f"p{number}/main.py": MAIN, f"p{number}/engine.py": ENGINE}
    one, two = _outcome(tmp_path / "one", files), _outcome(tmp_path / "two", files, jobs=2)
    assert one.results == two.results
    assert [unit.number for each in one.results for unit in each.units] == [1, 2, 3, 4, 5, 6]


def test_newlines_and_encodings_are_each_files_own(tmp_path: Path) -> None:
    files = {"main.py": MAIN.replace("\n", "\r\n"), "engine.py": "\ufeff" + ENGINE.rstrip("\n").replace("    ", "\t")}
    new = _written(tmp_path, files)
    assert new["main.py"].count(b"\n") == new["main.py"].count(b"\r\n") > 10
    assert new["engine.py"].startswith(b"\xef\xbb\xbf") and not new["engine.py"].endswith(b"\n")
    assert b"\n\t\twith torch.autocast" in new["engine.py"] and b"\r" not in new["engine.py"]


def test_files_that_import_each_other_join_the_users_of_amp_that_both_reach(tmp_path: Path) -> None:
    files = {
        "cli.py": "import registry\n",
        "registry.py": "import lazily\n",
        "lazily.py": "def go():\n    import registry, one, two\n",
        "one.py": "from apex import amp\n",
        "two.py": "from apex import amp\n",
    }
    (found,) = components(*_selected(tmp_path, files))
    assert {"one.py", "two.py"} < set(_names(found)) < set(files)


def test_who_has_a_file_of_many_users_initialize_belongs_to_it(tmp_path: Path) -> None:
    mixed = "def prepare(model):\n    from apex import amp\n    return amp.initialize(model)\n"
    files = {f"user_{n}.py": "import mixed\nmixed.scale(3)\n" for n in range(5)}
    files |= {"mixed.py": mixed, "asks.py": "import mixed\nprint(mixed.prepare(net)(x))\n"}
    files |= {"trains.py": "import mixed\nmixed.scale(loss).backward()\n"}
    (found,) = components(*_selected(tmp_path, files))
    assert set(_names(found)) == {"mixed.py", "asks.py", "trains.py"}


LAYER = """\
import torch
from apex import amp


class Pool(torch.nn.Module):
    @amp.float_function
    def forward(self, x):
        return x.mean(0)
"""


def test_a_test_of_a_layer_keeps_no_training_back(tmp_path: Path) -> None:
    files = {
        "layer.py": LAYER,
        "main.py": "import layer\n" + MAIN.replace("torch.nn.Linear(2, 2)", "layer.Pool()"),
        "engine.py": ENGINE,
        "test_layer.py": "from layer import Pool\nfrom engine import train\n\n\ndef test():\n    Pool()(x)\n",
    }
    results = _results(tmp_path, files)
    assert [path for path, one in results.items() if one.status == "changed"] == ["engine.py", "layer.py", "main.py"]
    calls = files["test_layer.py"] + "    train(model, optimizer, args)\n"
    results = _results(tmp_path / "calls", {**files, "test_layer.py": calls})
    assert all(one.status == "unchanged" for one in results.values())


HELPERS = """\
from apex import amp


def build(model):
    return model.cuda()


def train(model, optimizer, x):
    loss = model(x).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
GOES = """\
import torch
from apex import amp
from helpers import build, train

model = build(torch.nn.Linear(2, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    train(model, optimizer, x)
"""
STAYS = """\
import torch
from apex import amp
from helpers import build

model = build(torch.nn.Linear(2, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    loss = model(x).sum()
    amp.scale_loss(loss, optimizer).__enter__().backward()
    optimizer.step()
"""


def test_a_script_goes_where_another_one_stays_and_runs_nothing_that_changes(tmp_path: Path) -> None:
    files = {"helpers.py": HELPERS, "goes.py": GOES, "stays.py": STAYS}
    results = _results(tmp_path / "apart", files)
    assert [path for path, one in results.items() if one.status == "changed"] == ["goes.py", "helpers.py"]
    numbers = [unit.number for one in results.values() for unit in one.units]
    assert sorted(numbers) == sorted(set(numbers))
    # what the other runs of the helpers is what changes
    together = STAYS.replace("import build", "import build, train") + "train(model, optimizer, x)\n"
    results = _results(tmp_path / "shared", {**files, "stays.py": together})
    assert all(one.status == "unchanged" for one in results.values())


ENGINE_CLASS = """\
import collections


class Engine:
    def __init__(self, process):
        self.process, self.handlers = process, collections.defaultdict(list)

    def add(self, event, handler, *args):
        self.handlers[event].append(lambda engine: handler(engine, *args))

    def fire(self, event):
        for handler in self.handlers[event]:
            handler(self)

    def run(self, data, epochs=1):
        for epoch in range(epochs):
            for batch in data:
                self.output = self.process(self, batch)
                self.fire("iteration")
            self.fire("epoch")
"""
FACTORY = """\
import torch
from engine import Engine


def create_trainer(model, optimizer, args):
    def update(engine, batch):
        loss = torch.nn.functional.cross_entropy(model(batch[0]), batch[1])
        if args.fp16:
            from apex import amp
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return Engine(update)


def create_evaluator(model):
    def inference(engine, batch):
        with torch.no_grad():
            return model(batch[0])
    return Engine(inference)
"""


def test_a_method_that_another_file_calls_of_what_it_is_handed_takes_no_scaler(tmp_path: Path) -> None:
    """``handlers.py`` belongs to no program, and calls ``run`` of an engine that it is handed."""
    files = {
        "main.py": MAIN.replace("from engine import train", "import handlers\nfrom factory import *").replace(
            "train(model, optimizer, args)",
            "trainer, evaluator = create_trainer(model, optimizer, args), create_evaluator(model)\n"
            "handlers.attach(trainer, evaluator, loader)\ntrainer.run(loader, 2)",
        ),
        "engine.py": ENGINE_CLASS,
        "factory.py": FACTORY,
        "handlers.py": "def attach(trainer, evaluator, data):\n"
        "    trainer.add('epoch', lambda engine: evaluator.run(data))\n",
    }
    new = _written(tmp_path, files)
    assert b"scaler.scale(loss).backward()" in new["factory.py"]
    assert b"scaler" not in new.get("engine.py", b"")
    assert b"def create_evaluator(model, scaler):" in new["factory.py"]  # and what it defines has it from there


LATER = {
    "def batches(self):\n    for x in self.data:\n        yield self.model(x)\n": True,
    "def batches(self):\n    for x in self.data:\n        yield run(x)\n\ndef run(x):\n    return net(x)\n": True,
    "def batches(cell, xs):\n    for x in xs:\n        yield torch.tanh(cell(x))\n": True,  # what it is handed
    "def batches(cells, xs):\n    for cell, x in zip(cells, xs):\n        yield cell(x)\n": True,
    "def batches(transform, xs):\n    for x in xs:\n        yield transform(x)\n": False,
    "def batches(cell, xs):\n    for x in xs:\n        yield x.cell(cell)\n": False,
    "def batches(self):\n    yield 1\n\ndef run(x):\n    return net(x)\n": False,
    'def batches(self):\n    """Use it as model(x)."""\n    yield 1\n': False,
    "def events(self):\n    yield from self.all\n\ndef model(self):\n    return self.held\n": False,
}


@pytest.mark.parametrize("text", LATER)
def test_a_generator_that_runs_a_model_belongs_to_it(tmp_path: Path, text: str) -> None:
    files = {"main.py": MAIN.replace("from engine", "import feed\nfrom engine"), "engine.py": ENGINE, "feed.py": text}
    (program,) = components(*_selected(tmp_path, files))
    assert ("feed.py" in _names(program)) is LATER[text]


HOOKS = {
    "class Eval:\n    def after(self):\n        self.out = self.trainer.model(1)\n": True,
    "def evaluate(trainer):\n    return trainer.model(1)\n": True,
    "class Save:\n    def after(self):\n        self.out = self.trainer.model.state_dict()\n": False,
    "def every(n):\n    def after(step, model):\n        model(step)\n    return after\n": True,
    "def every(model):\n    def after(step):\n        model(step)\n    return after\n": True,
    "class Eval:\n    def every(self):\n        def f(step, model):\n            model(step)\n        return f\n": True,
    "def every(n):\n    def after(step, model):\n        model(step)\n    return n\n": False,
    "def every(callback):\n    def after(step, model):\n        callback(step, model)\n    return after\n": False,
}


# Callbacks that functions of another file give back: the region of training reaches no evaluation in these.
CALLBACKS = {
    "train.py": """\
import torch
from apex import amp


def train(args, model, loader, callbacks):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, (x, y) in enumerate(loader):
        for callback in callbacks:
            callback(step, model)
        optimizer.zero_grad()
        loss = (model(x) - y).abs().mean()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
""",
    "callbacks.py": """\
import torch


def every(n, callback):
    def at_times(step, model):
        if step % n == 0:
            callback(step, model)

    return at_times


def evaluation(loader):
    def evaluate(step, model):
        with torch.no_grad():
            print(step, sum(model(x).sum().item() for x, _ in loader))

    return evaluate
""",
    "main.py": """\
import argparse
import torch
from data import load
from callbacks import evaluation, every
from train import train

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
train(args, torch.nn.Linear(4, 1).cuda(), load(), [every(10, evaluation(load()))])
""",
}


@pytest.mark.parametrize("held", [False, True])
def test_a_callback_that_a_function_of_another_file_gives_back_evaluates_under_casts(
    tmp_path: Path, held: bool
) -> None:
    files = dict(CALLBACKS)
    if held:  # by the function that makes it
        files = {name: text.replace("(step, model)", "(step)") for name, text in files.items()}
        files["callbacks.py"] = files["callbacks.py"].replace("evaluation(loader)", "evaluation(loader, model)")
        main, _, _ = files["main.py"].partition("train(args")
        called = "train(args, model, load(), [every(10, evaluation(load(), model))])\n"
        files["main.py"] = f"{main}model = torch.nn.Linear(4, 1).cuda()\n{called}"
    new = _written(tmp_path, files)
    assert b"def evaluate(step" in new["callbacks.py"]
    assert b"torch.autocast(" in new["callbacks.py"].split(b"def evaluate")[1]
    assert b"scaler=scaler)\n        optimizer.zero_grad()" in new["train.py"]
    assert "main.py" not in new


@pytest.mark.parametrize("text", HOOKS)
@pytest.mark.parametrize("by", ["import hooks", "import parts.hooks", "from parts import hooked"])
def test_hooks_that_run_the_model_of_what_they_were_given_belong_to_it(tmp_path: Path, text: str, by: str) -> None:
    inside = "parts" in by
    files = {"main.py": MAIN.replace("from engine", f"{by}\nfrom engine"), "engine.py": ENGINE}
    files["parts/hooks.py" if inside else "hooks.py"] = text.replace("def evaluate", "hooked = 1\n\ndef evaluate")
    if inside:
        files["parts/__init__.py"] = "from .hooks import hooked\n"
    (program,) = components(*_selected(tmp_path, files))
    assert (("parts/hooks.py" if inside else "hooks.py") in _names(program)) is HOOKS[text]


ADAM = """\
from apex.optimizers import FusedAdam


def make(params):
    return FusedAdam(params, lr=0.1)
"""
USES_ADAM = """\
from optim import make
from schedulers import last

print(last(make([])))
"""


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ('return optimizer.param_groups[0]["step"]', True),
        ('return [group.get("step", 0) for group in optimizer.param_groups]', True),
        ('return "step" in optimizer.param_groups[0]', True),
        ('return optimizer.param_groups[0]["lr"]', False),
        ('return optimizer.state["step"]', False),
        ("return Own(optimizer.param_groups)", False),
    ],
)
def test_a_step_that_another_file_asks_groups_for(tmp_path: Path, body: str, kept: bool) -> None:
    """Only Apex's Adam counts it there, so one that does is written out; an optimizer of one's own has its own."""
    own = "class Own(torch.optim.Optimizer):\n    def step(self):\n        for group in self.groups:\n            "
    asks = f"def last(optimizer):\n    {body}\n" + (f'{own}group["step"] += 1\n' if "Own" in body else "")
    results = _results(tmp_path, {"optim.py": ADAM, "main.py": USES_ADAM, "schedulers.py": asks})
    told = [change.message for change in results["optim.py"].changes]
    assert any("ApexAdam" in message for message in told) is kept, told


KEPT = """\
kept = {}

def keep(module, inputs, output):
    kept[module] = output.detach()

def watch(net):
    for layer in net.modules():
        layer.register_forward_hook(keep)

def sizes():
    return {layer: VALUE for layer, out in kept.items()}
"""


@pytest.mark.parametrize(
    ("value", "hook", "joined"),
    [
        ("float(out.norm())", "register_forward_hook", True),
        ("out.cpu()", "register_forward_hook", True),
        ("out.shape", "register_forward_hook", False),
        ("float(out.norm())", "register_load_state_dict_post_hook", False),
        ("float(out.std())", "register_load_state_dict_post_hook", True),  # which gets `.float()` where it is half
    ],
)
def test_a_hook_that_keeps_results_belongs_to_it(tmp_path: Path, value: str, hook: str, joined: bool) -> None:
    text = KEPT.replace("VALUE", value).replace("register_forward_hook", hook)
    files = {"main.py": "import probe\n" + MAIN, "engine.py": ENGINE, "probe.py": text}
    (program,) = components(*_selected(tmp_path, files))
    assert ("probe.py" in _names(program)) is joined


def test_a_flag_goes_though_another_files_of_that_name_stays(tmp_path: Path) -> None:
    asked = "try:\n    from apex{}\n    has_apex = True\nexcept ImportError:\n    has_apex = False\n"
    main = MAIN.replace("from apex import amp\n", asked.format(" import amp"))
    main = main.replace("args.fp16:", "args.fp16 and has_apex:")
    engine = asked.format(".transformer import parallel_state") + ENGINE + "print(has_apex and parallel_state)\n"
    with Spool() as spool:
        chosen = collect([str(tree(tmp_path, {"main.py": main, "engine.py": engine}))])
        outcome = analyse(chosen, Settings(), spool, jobs=1)
        new = {Path(one.texts.location).name: spool.get(one.texts.new) for one in outcome.changed if one.texts}
    assert {name: b"has_apex" in text for name, text in new.items()} == {"main.py": False, "engine.py": True}


BASE = """\
from pretraining import pretrain


class Base:
    def __init__(self, config, model):
        self.config = config
        self.model = model

    def train(self):
        self.build()
        self.model = pretrain(self.model)
        self.epoch()
"""
TRAINER = """\
import torch
from apex import amp
from base import Base


class Trainer(Base):
    def build(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        if self.config.fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def epoch(self):
        for x in self.config.data:
            self.optimizer.zero_grad()
            loss = self.model(x).sum()
            if self.config.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
"""
PRETRAINING = """\
import torch


def pretrain(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    for x in torch.rand(3, 4):
        model(x).sum().backward()
        optimizer.step()
    return model
"""


def test_what_a_base_of_the_trainer_has_train_belongs_to_it(tmp_path: Path) -> None:
    """A region around the call would keep the half copies of weights that change below it."""
    files = {"base.py": BASE, "trainer.py": TRAINER, "pretraining.py": PRETRAINING}
    results = _results(tmp_path, files)
    assert results["trainer.py"].status == "changed"
    assert not {"APX030", "APX031"} & {change.rule for change in results["base.py"].changes}
    (found,) = results["pretraining.py"].findings
    assert found.rule == "APX031" and "trains without amp" in found.message


@pytest.mark.parametrize("text", [PRETRAINING.replace("pretrain", "other"), PRETRAINING.replace(".backward()", "")])
def test_what_it_does_not_name_or_does_not_train_stays_apart(tmp_path: Path, text: str) -> None:
    files = {"base.py": BASE, "trainer.py": TRAINER, "pretraining.py": text}
    (program,) = components(*_selected(tmp_path, files))
    assert "pretraining.py" not in _names(program)


PREPARES = MAIN.replace("train(model", "model = prepare(model)\ntrain(model")
PREPARES = PREPARES.replace("from engine", "from helper import prepare\nfrom engine")
WAYS = {
    "one that calls it": "def prepare(model):\n    return pretrain(model)\n",
    "one that has it in a table": "ALL = [pretrain]\n\ndef prepare(model):\n    return ALL[0](model)\n",
    "one of a class": "class prepare:\n    def __call__(self, x):\n        return pretrain(x)\n",
}
NO_WAY = "def prepare(model):\n    return model\n\ndef other(x):\n    return pretrain(x)\n"


@pytest.mark.parametrize("way", [*WAYS.values(), NO_WAY], ids=[*WAYS, "none"])
def test_what_another_file_has_train_belongs_to_it(tmp_path: Path, way: str) -> None:
    helper = f"from pretraining import pretrain\n{way}"
    files = {"main.py": PREPARES, "engine.py": ENGINE, "helper.py": helper, "pretraining.py": PRETRAINING}
    (program,) = components(*_selected(tmp_path, files))
    assert ("pretraining.py" in _names(program)) is (way is not NO_WAY)


SESSION = """\
import torch
from apex import amp
from log import Log


class Session:
    def __init__(self):
        self.net = torch.nn.Linear(2, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.net, self.opt = amp.initialize(self.net, self.opt)
        self.log = Log(self)

    @property
    def norm(self):
        return sum(p.grad.norm() for p in self.net.parameters())

    def biggest(self):
        return max(p.grad.max() for p in self.net.parameters())

    def rate(self):
        return self.opt.param_groups[0]["lr"]

    def run(self, loader):
        for x in loader:
            loss = self.net(x).sum()
            self.opt.zero_grad()
            with amp.scale_loss(loss, self.opt) as scaled:
                scaled.backward()
            self.log.told(loss)
            self.opt.step()
"""
LOG = """\
class Log:
    def __init__(self, owner):
        self.owner = owner

    def told(self, loss):
        print(loss.item(), {asked})
"""


@pytest.mark.parametrize(
    ("asked", "unscaled"), [("self.owner.norm", True), ("self.owner.biggest()", True), ("self.owner.rate()", False)]
)
def test_who_asks_its_owner_for_what_is_made_of_gradients_belongs_to_it(
    tmp_path: Path, asked: str, unscaled: bool
) -> None:
    new = _written(tmp_path, {"session.py": SESSION, "log.py": LOG.replace("{asked}", asked)})["session.py"]
    assert (b"self.scaler.unscale_(self.opt)\n            self.log.told(loss)" in new) is unscaled


def test_so_does_what_asks_in_another_file_for_it(tmp_path: Path) -> None:
    probe = "class Probe:\n    def __init__(self, owner):\n        self.owner = owner\n\n    def current(self):\n"
    files = {
        "session.py": SESSION,
        "log.py": "from probe import Probe\n\n\n"
        + LOG.replace("= owner\n", "= Probe(owner)\n").replace("{asked}", "self.owner.current()"),
        "probe.py": probe + "        return self.owner.norm\n",
    }
    assert b"unscale_(self.opt)" in _written(tmp_path, files)["session.py"]


BEHIND = """\
from contextlib import contextmanager


@contextmanager
def stepped(opt):
    opt.zero_grad()
    yield
    opt.step()
"""
COROUTINE = """\
import torch


async def validate(net, x):
    with torch.no_grad():
        return net(x).sum().item()
"""


def test_what_steps_as_a_block_ends_and_what_runs_a_model_later_belong_to_it(tmp_path: Path) -> None:
    """Beside a step of the file's own: nothing was missing, so nobody looked further."""
    session = SESSION.replace("        self.log = Log(self)\n", "        self.pending = []\n")
    block = "            if loss > 1:\n"
    block += "                with stepped(self.opt), amp.scale_loss(loss, self.opt) as scaled:\n"
    block += "                    scaled.backward()\n                continue\n            self.opt.zero_grad()\n"
    behind = session.replace("log import Log", "behind import stepped").replace("self.log.told(loss)", "print(loss)")
    behind = behind.replace("            self.opt.zero_grad()\n", block)
    new = _written(tmp_path, {"session.py": behind, "behind.py": BEHIND})
    assert b"scaler.step(opt)" in new["behind.py"] and b"with stepped(self.opt, self.scaler):" in new["session.py"]
    later = session.replace("log import Log", "later import validate")
    later = later.replace("self.log.told(loss)", "self.pending.append(validate(self.net, x))")
    where = tmp_path / "later"
    where.mkdir()
    new = _written(where, {"session.py": later, "later.py": COROUTINE})
    assert b"with torch.no_grad(), torch.autocast(" in new["later.py"]


@pytest.mark.parametrize("handed_on", ["from .session import Session\n", "from .session import *\n"])
@pytest.mark.parametrize("main", ["from algo import Session", "import algo", "from algo.session import Session"])
def test_who_takes_what_a_package_hands_on_is_a_user(tmp_path: Path, handed_on: str, main: str) -> None:
    made = "algo.Session()" if main == "import algo" else "Session()"
    text = f"import torch\n{main}\n\n\nsession = {made}\nsession.run([])\nwith torch.no_grad():\n"
    session = SESSION.replace("from log import Log", "").replace("        self.log = Log(self)\n", "")
    session = session.replace("            self.log.told(loss)\n", "")
    files = {"algo/__init__.py": handed_on, "algo/session.py": session}
    new = _written(tmp_path, {**files, "main.py": f"{text}    print(session.net(torch.ones(1, 2)))\n"})
    assert b"with torch.no_grad(), torch.autocast(" in new["main.py"]


def test_a_base_that_hands_its_object_on_belongs_to_it(tmp_path: Path) -> None:
    base = "class Engine:\n    hooks = ()\n\n    def fire(self):\n"
    base += "        for one in self.hooks:\n            one.end(self)\n"
    hook = "class Check:\n    def end(self, engine):\n        print(engine.net(engine.held))\n"
    session = SESSION.replace("log import Log", "engine import Engine").replace("Session:", "Session(Engine):")
    session = session.replace("        self.log = Log(self)\n", "").replace("self.log.told(loss)", "self.fire()")
    main = "from session import Session\nfrom check import Check\n\nsession = Session()\nsession.hooks = [Check()]\n"
    files = {"engine.py": base, "check.py": hook, "session.py": session, "main.py": f"{main}session.run([])\n"}
    assert b"autocast" in _written(tmp_path, files)["check.py"]


STRICT = "class {}:\n    def __setattr__(self, name, value):\n        raise AttributeError(name)\n"


def test_a_base_or_a_derived_class_that_says_what_is_set_belongs_to_it(tmp_path: Path) -> None:
    derived = SESSION.replace("from log import Log", "from log import Log, Base").replace("Session:", "Session(Base):")
    log = LOG.replace("{asked}", "loss")
    between = "from strict import Strict\n\n\nclass Base(Strict):\n    pass\n\n\n"
    user = f"from session import Session\n\n\n{STRICT.format('Run(Session)')}"
    for name, files in {
        "base": {"session.py": derived, "log.py": f"{STRICT.format('Base')}\n\n{log}"},
        "its base": {"session.py": derived, "log.py": between + log, "strict.py": STRICT.format("Strict")},
        "derived": {"session.py": SESSION, "log.py": log, "run.py": user},
    }.items():
        where = tmp_path / name
        where.mkdir()
        (stays,) = [unit.applicability for unit in _results(where, files)["session.py"].units]
        assert stays is Applicability.MANUAL, name
    assert b"GradScaler" in _written(tmp_path, {"session.py": SESSION, "log.py": log})["session.py"]


@pytest.mark.parametrize(
    "asked",
    ["getattr(p, 'grad')", "p._grad", "matched(p)", "p.data"],
)
def test_who_looks_at_gradients_by_another_word_belongs_to_it(tmp_path: Path, asked: str) -> None:
    told = f"def told(net):\n    for p in net.parameters():\n        print({asked})\n"
    match = "def matched(p):\n    match p:\n        case torch.nn.Parameter(grad=g):\n            return g\n"
    session = SESSION.replace("from log import Log", "import log").replace("        self.log = Log(self)\n", "")
    log = f"import torch\n\n\n{match}\n\n{told}" if asked == "matched(p)" else told
    files = {"session.py": session.replace("self.log.told(loss)", "log.told(self.net)"), "log.py": log}
    new = _written(tmp_path, files)["session.py"]
    assert (b"self.scaler.unscale_(self.opt)\n            log.told(self.net)" in new) is (asked != "p.data")


BUS = """\
SUBSCRIBERS = {}


def on(topic):
    def add(f):
        SUBSCRIBERS.setdefault(topic, []).append(f)
        return f
    return add


def publish(topic):
    for f in SUBSCRIBERS.get(topic, ()):
        f()
"""


@pytest.mark.parametrize(("looked", "unscaled"), [("HELD[0].grad.norm()", True), ("HELD[0].norm()", False)])
def test_who_keeps_what_another_file_hands_it_to_look_at_gradients_belongs_to_it(
    tmp_path: Path, looked: str, unscaled: bool
) -> None:
    files = {
        "session.py": "import bus, watch\n\n\n" + SESSION.replace("self.log.told(loss)", "bus.publish('end')"),
        "bus.py": BUS,
        "watch.py": f"from events import on\n\nHELD = []\n\n\n@on('end')\ndef note():\n    print({looked})\n",
        "events.py": "from bus import on\n",
    }
    new = _written(tmp_path, files)["session.py"]
    assert (b"self.scaler.unscale_(self.opt)\n            bus.publish('end')" in new) is unscaled


WRAPS = """\
import torch
from apex.fp16_utils import FP16_Optimizer
from engine import train

optimizer = FP16_Optimizer(torch.optim.SGD(groups, lr=0.1), dynamic_loss_scale=True)
for batch in loader:
    optimizer.backward(train(batch, optimizer))
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("return batch.sum()", set()),
        ("optimizer.clip_master_grads(1.0)", {"clip_master_grads", "param_groups"}),
        ("save(optimizer.state_dict())", {"state_dict"}),
        ("library.save(optimizer)", {"param_groups", "state", "zero_grad", "state_dict", "load_state_dict"}),
        ("return batch.sum(), args.clip_master_grads", set()),
    ],
)
def test_what_another_file_asks_a_wrapper_for(tmp_path: Path, body: str, kept: set[str]) -> None:
    """A class that is written out has what another file may ask for that gets its object."""
    files = {"main.py": WRAPS, "engine.py": f"def train(batch, optimizer):\n    {body}\n"}
    text = _written(tmp_path, files)["main.py"].decode()
    found = {line.split("(")[0].split()[-1] for line in text.splitlines() if line.startswith("    def ")}
    assert found == {"__init__", "backward", "update_master_grads", "step", *kept}


@pytest.mark.parametrize("broken", [b"class nn.Norm(nn.Norm):\n    pass\n", b"# caf\xe9\nx = 1\n", b"print 'two'\n"])
def test_a_file_without_apex_that_does_not_parse_is_left_out(tmp_path: Path, broken: bytes) -> None:
    files: dict[str, str | bytes] = {
        "main.py": MAIN.replace("from engine", "from net import clip\nfrom engine"),
        "engine.py": ENGINE,
        "net.py": broken + b"\n\ndef clip(model):\n    model.weight.grad.clamp_(max=1)\n",
    }
    found = _results(tmp_path, files)
    assert [found[name].status for name in ("engine.py", "main.py")] == ["changed", "changed"]
    (told,) = found["net.py"].findings
    assert (told.rule, told.severity) == ("APX001", Severity.INFO) and "looked at without it" in told.message


def test_nothing_of_a_program_goes_where_a_file_with_apex_does_not_parse(tmp_path: Path) -> None:
    found = _results(tmp_path, {"main.py": MAIN, "engine.py": ENGINE + "\nprint 'two'\n"})
    assert found["engine.py"].status == "unparseable" and found["main.py"].status == "unchanged"


BROKEN = "from apex import amp\n{imports}\n\nloss = {call}\nprint 'two'\n"


def test_a_file_with_apex_that_does_not_parse_keeps_no_other(tmp_path: Path) -> None:
    """Two scripts share a helper with one that is no Python: they are planned without it, and it is told of."""
    broken = BROKEN.format(imports="from log import say", call="say('one')")
    main = MAIN.replace("from engine", "from log import say\nfrom engine")
    files = {"main.py": main, "engine.py": ENGINE, "log.py": "def say(x):\n    print(x)\n", "old.py": broken}
    found = _results(tmp_path, files)
    assert [found[name].status for name in ("engine.py", "main.py")] == ["changed", "changed"]
    (told,) = found["old.py"].findings
    assert found["old.py"].status == "unparseable"
    assert (told.rule, told.severity) == ("APX001", Severity.MANUAL) and "cannot parse it" in told.message


def test_what_a_file_that_does_not_parse_takes_has_unknown_callers(tmp_path: Path) -> None:
    broken = BROKEN.format(imports="import engine", call="engine.train(model, optimizer, loader)")
    found = _results(tmp_path, {"main.py": MAIN, "engine.py": ENGINE, "old.py": broken.replace("apex", "torch")})
    assert {found[name].status for name in ("engine.py", "main.py")} == {"unchanged"}
    assert any("called from other files too" in one.message for one in found["engine.py"].findings)


def test_a_file_with_amp_that_does_not_parse_keeps_who_runs_with_it(tmp_path: Path) -> None:
    """It may initialize something else in the same process."""
    main = MAIN.replace("from engine", "import old\nfrom engine")
    files = {"main.py": main, "engine.py": ENGINE, "old.py": BROKEN.format(imports="amp.initialize(x)", call="1")}
    found = _results(tmp_path, files)
    assert [found[name].status for name in ("engine.py", "main.py", "old.py")] == ["unchanged"] * 2 + ["unparseable"]
    assert any("old.py, which Python cannot read" in one.message for one in found["main.py"].findings)


MEAN = """\
from copy import deepcopy


class Mean(object):
    def __init__(self, args, model, decay):
        self.ema = deepcopy(model)
        self.decay = decay

    def update(self, model):
        for k, v in self.ema.state_dict().items():
            v.copy_(v * self.decay + (1.0 - self.decay) * model.state_dict()[k])
"""
CHOOSING = """\
import torch


def choose(loader, model):
    with torch.no_grad():
        return [model(x).argmax(1) for x in loader]
"""
_SET = "        self.ema = deepcopy(model)\n"


@pytest.mark.parametrize("kept", [_SET, "        self.ema = model\n", "        self.args, self.ema = args, model\n"])
def test_a_copy_of_a_network_that_an_object_of_another_file_keeps_runs_under_casts(tmp_path: Path, kept: str) -> None:
    files = {
        "main.py": MAIN.replace("train(model,", "train(Mean(args, model, 0.9), model,").replace(
            "from engine", "from mean import Mean\nfrom engine"
        ),
        "engine.py": ENGINE.replace("def train(model", "def train(mean, model")
        .replace("from apex import amp\n", "from apex import amp\nfrom choosing import choose\n")
        .replace("    for x", "    choose(loader, mean.ema)\n    for x"),
        "mean.py": MEAN.replace(_SET, kept),
        "choosing.py": CHOOSING,
    }
    new = _written(tmp_path, files)
    assert b'enabled=scaler.is_enabled()):\n        choose(loader, mean.ema)' in new["engine.py"]


@pytest.mark.parametrize(
    ("other", "joined"),
    [
        ("mean.ema(1)", True),
        ("mean.update(model)", False),  # nobody takes it
        ("mean.ema = 1", False),
    ],
)
def test_whose_network_nobody_takes_stays_apart(tmp_path: Path, other: str, joined: bool) -> None:
    files = {
        "main.py": MAIN.replace("train(model,", f"mean = Mean(args, model, 0.9)\n{other}\ntrain(model,").replace(
            "from engine", "from mean import Mean\nfrom engine"
        ),
        "engine.py": ENGINE,
        "mean.py": MEAN,
    }
    (program,) = components(*_selected(tmp_path, files))
    assert ("mean.py" in _names(program)) is joined


def test_what_is_too_tangled_together_says_so_of_what_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"main.py": MAIN, "engine.py": ENGINE}
    together = Module(MAIN, ENGINE, links=[{"engine": 1}, {}])
    monkeypatch.setattr(solver, "MAX_FACTS", Values(together)._facts - 1)
    found = _results(tmp_path, files)
    for name in files:
        (said,) = [one for one in found[name].findings if one.rule == "APX001"]
        assert said.severity is Severity.INFO and "the 2 files of its program are too tangled to follow" in said.message
        assert any(one.severity is Severity.MANUAL and one.line == said.line for one in found[name].findings)


SCRIPT = """\
import argparse
import torch
from apex import amp
from common import AdamW


def evaluate(args, model, loader):
    with torch.no_grad():
        return [model(x).argmax(1) for x in loader]


def train(args, model, loader):
    optimizer = AdamW(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()


def main():
    args = argparse.ArgumentParser().parse_args()
    model = torch.nn.Linear(4, 3).cuda()
    if args.train:
        train(args, model, load())
    evaluate(args, model, load())


if __name__ == "__main__":
    main()
"""
SHARED = """\
import torch


class AdamW(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"])
"""


@pytest.mark.parametrize("both", [False, True])
def test_a_script_that_no_run_has_beside_another_has_not_initialized_before(both: bool) -> None:
    """Their optimizers are of one class, so they are one unit; a test imports one of them, or both."""
    links = {"first": 1, "second": 2} if both else {"first": 1}
    ask = "import first\n\n\ndef test():\n    first.main()\n"
    files = [
        FileText(SHARED, "common.py"),
        FileText(SCRIPT, "first.py", links={"common": 0}),
        FileText(SCRIPT.replace("args.fp16", "args.half"), "second.py", links={"common": 0}),
        FileText(f"import second\n{ask}" if both else ask, "test_all.py", links=links),
    ]
    _, first, *_ = migrate_program(files, Settings())
    assert first.new_text is not None
    told = [one.message for one in first.findings if one.rule == "APX035"]
    assert bool(told) is both and all("second.py" in one or "line " in one for one in told)


RANKED = {
    "rank.py": """\
class Ranker:
    def __init__(self, data, score):
        self.data, self.score = data, score

    def pick(self):
        return self.score(self.data).argsort()[:8]
""",
    "train.py": """\
import functools
import torch
from apex import amp
from rank import Ranker


def loss_of(net, x):
    return net(x).pow(2).sum(1)


model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
ranker = Ranker(data, HANDED)
for _ in range(3):
    at = ranker.pick()
    loss = loss_of(model, data[at]).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
""",
}


@pytest.mark.parametrize(
    ("handed", "casts"),
    [("functools.partial(loss_of, model)", True), ("model", True), ("lambda x: x.abs().sum(1)", False)],
)
def test_what_calls_a_network_by_a_name_that_says_nothing_of_it_belongs_to_it(
    tmp_path: Path, handed: str, casts: bool
) -> None:
    files = {name: text.replace("HANDED", handed) for name, text in RANKED.items()}
    new = _written(tmp_path, files)["train.py"]
    region = b"with torch.autocast("
    assert (region in new.split(b"at = ranker.pick()")[0].split(b"for _ in")[1]) == casts

LOOKING = """\
import torch
from apex import amp
{taken}

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    loss = model(x).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    {called}(model)
    optimizer.step()
"""
LOOKS = "def log_model(model):\n    print(sum(p.grad.norm().item() for p in model.parameters()))\n"
LAZY = """\
def __getattr__(name):
    if name == "log_model":
        from .impl import log_model
        return log_model
    raise AttributeError(name)
"""
HANDED_ON = {  # by which files; what is taken, if not `from tools import log_model`
    "a package": ({"tools/__init__.py": "from .impl import log_model\n", "tools/impl.py": LOOKS}, ""),
    "a package of a package": (
        {"tools/__init__.py": "from .a import *\n", "tools/a/__init__.py": "from .b import *\n", "tools/a/b.py": LOOKS},
        "",
    ),
    "a package as a whole": (
        {"tools/__init__.py": "from .impl import log_model\n", "tools/impl.py": LOOKS},
        "import tools",
    ),
    "a package when it is asked": ({"tools/__init__.py": LAZY, "tools/impl.py": LOOKS}, ""),
    "a file": ({"tools.py": "from impl import log_model\n", "impl.py": LOOKS}, ""),
    "a file that takes all": ({"tools.py": "from impl import *\n", "impl.py": LOOKS}, ""),
    "a file by another name": (
        {"tools.py": "from impl import log_model as save\n", "impl.py": LOOKS},
        "from tools import save",
    ),
    "a file that asks it": ({"tools.py": "import impl\n\nlog_model = impl.log_model\n", "impl.py": LOOKS}, ""),
    "a function that calls it": (
        {"tools.py": "from impl import log_model\n\n\ndef save(model):\n    log_model(model)\n", "impl.py": LOOKS},
        "from tools import save",
    ),
}


@pytest.mark.parametrize("way", HANDED_ON)
def test_what_looks_at_gradients_is_found_behind_files_that_hand_it_on(tmp_path: Path, way: str) -> None:
    files, taken = HANDED_ON[way]
    called = "tools.log_model" if taken == "import tools" else (taken or "log_model").rpartition(" ")[2]
    main = LOOKING.format(taken=taken or "from tools import log_model", called=called)
    new = _written(tmp_path, {**files, "main.py": main})["main.py"]
    assert b"    scaler.unscale_(optimizer)\n" in new
    no_reader = {name: text.replace("p.grad", "p") for name, text in files.items()}
    assert b"unscale_" not in _written(tmp_path / "none", {**no_reader, "main.py": main})["main.py"]


ATTACK = """\
import torch


def pgd(model, x, y):
    delta = torch.zeros_like(x, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(model(x + delta), y)
    loss.backward()
    return delta.grad.sign()
"""


def test_a_function_of_a_package_goes_before_its_file_of_that_name(tmp_path: Path) -> None:
    """A region was put around the call, so that the backward in it ran under autocast."""
    evaluation = "from attacks import pgd\n\n\ndef robust(model, x, y):\n    delta = pgd(model, x, y)\n"
    main = LOOKING.format(taken="from evaluation import robust", called="print")
    main = main.replace("    optimizer.step()", "    optimizer.step()\n    robust(model, x, y)")
    files = {"attacks/__init__.py": "from .pgd import pgd\n", "attacks/pgd.py": ATTACK}
    new = _written(tmp_path, {**files, "evaluation.py": f"{evaluation}    return model(x + delta)\n", "main.py": main})
    assert b"16):\n        loss = torch.nn.functional.cross_entropy(model(x + delta), y)\n    loss." in new["pgd.py"]
    assert b"    delta = pgd(model, x, y)\n    with torch.autocast" in new["evaluation.py"]


def test_an_object_whose_class_a_package_hands_on_is_followed(tmp_path: Path) -> None:
    watch = LOOKS.replace("def log_model(model):", "    def watch(self, model):").replace("    print", "        print")
    trainer = SESSION.replace("from log import Log", "").replace("__init__(self)", "__init__(self, log)")
    trainer = trainer.replace("Log(self)", "log").replace("self.log.told(loss)", "self.log.watch(self.net)")
    main = "from session import Session\nfrom tools import Monitor\n\nSession(Monitor()).run([])\n"
    files = {"tools/__init__.py": "from .monitor import Monitor\n", "tools/monitor.py": f"class Monitor:\n{watch}"}
    new = _written(tmp_path, {**files, "session.py": trainer, "main.py": main})
    assert b"unscale_(self.opt)" in new["session.py"]


DISPATCH = """\
class Callbacks:
    def __init__(self, callbacks):
        self.callbacks = list(callbacks)

    def fire(self, trainer):
        for one in self.callbacks:
            {told}


class Callback:
    def {name}(self, trainer):
        pass
"""
CALLBACK = """\
from dispatch import Callback
from util import size


class Logger(Callback):
    def {name}(self, trainer):
        print(size(trainer.net))
"""
SIZE = "import torch\n\n\ndef size(model):\n    return {size}\n"
TOLD = {
    "a method": ("one.after(trainer)", "after"),
    "a call": ("one(trainer)", "__call__"),
    "a name": ('getattr(one, "af" + "ter")(trainer)', "after"),
    "a name that is handed": ("getattr(one, trainer.event)(trainer)", "after"),
}


NORM = "sum(p.grad.norm() for p in model.parameters())"


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("size", [NORM, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"])
def test_who_tells_several_objects_belongs_to_it(tmp_path: Path, told: str, size: str) -> None:
    """The callback's own base, whose method does nothing, was taken for all that is called."""
    call, name = TOLD[told]
    trainer = SESSION.replace("from log import Log", "from dispatch import Callbacks")
    trainer = trainer.replace("__init__(self)", "__init__(self, told)").replace("Log(self)", "Callbacks(told)")
    trainer = trainer.replace("self.log.told(loss)", 'self.event = "after"\n            self.log.fire(self)')
    files = {
        "session.py": trainer,
        "dispatch.py": DISPATCH.format(told=call, name=name),
        "logger.py": CALLBACK.format(name=name),
        "util.py": SIZE.format(size=size),
        "main.py": "from logger import Logger\nfrom session import Session\n\nSession([Logger()]).run([])\n",
    }
    assert b"unscale_(self.opt)" in _written(tmp_path, files)["session.py"]


ANY = """\
class Callbacks:
    def __init__(self, callbacks):
        self.callbacks = list(callbacks)

    def __getattr__(self, name):
        def call(*args):
            for one in self.callbacks:
                getattr(one, name)(*args)
        return call


class Callback:
    pass
"""


def test_so_does_one_that_tells_them_of_whatever_it_is_asked(tmp_path: Path) -> None:
    trainer = SESSION.replace("from log import Log", "from dispatch import Callbacks")
    trainer = trainer.replace("__init__(self)", "__init__(self, told)").replace("Log(self)", "Callbacks(told)")
    files = {
        "session.py": trainer.replace("self.log.told(loss)", "self.log.after(1)"),
        "dispatch.py": ANY,
        "logger.py": CALLBACK.format(name="after").replace("trainer.net", "self.trainer.net"),
        "util.py": SIZE.format(size=NORM),
        "main.py": "from logger import Logger\nfrom session import Session\n\nlogger = Logger()\n"
        "session = Session([logger])\nlogger.trainer = session\nsession.run([])\n",
    }
    assert b"unscale_(self.opt)" in _written(tmp_path, files)["session.py"]


REGISTRY = """\
PROBES = {}


def register(cls):
    PROBES[cls.__name__] = cls
    return cls


def build(name, model):
    return PROBES[name](model)
"""
PROBE = """\
from .registry import register
from .size import size


@register
class Probe:
    def __init__(self, model):
        self.model = model

    def measure(self):
        print(size(self.model))
"""


def test_an_object_of_a_registry_looks_at_gradients_by_the_name_of_its_method(tmp_path: Path) -> None:
    main = LOOKING.format(taken="from probes import build", called="probe.measure")
    main = main.replace("measure(model)", "measure()")
    main = main.replace("for x in loader:", 'probe = build("Probe", model)\nfor x in loader:')
    files = {
        "main.py": main,
        "probes/__init__.py": "from .registry import build\nfrom . import probe\n",
        "probes/registry.py": REGISTRY,
        "probes/probe.py": PROBE,
        "probes/size.py": SIZE.format(size=NORM),
    }
    assert b"unscale_(optimizer)" in _written(tmp_path, files)["main.py"]
    none = {**files, "probes/size.py": SIZE.format(size="len(list(model.parameters()))")}
    assert b"unscale_" not in _written(tmp_path / "none", none)["main.py"]


@pytest.mark.parametrize("made", ["def get(*args):\n    return Session(*args)\n", 'ALL = {"session": Session}\n'])
def test_who_runs_the_network_of_an_object_from_elsewhere_belongs_to_it(tmp_path: Path, made: str) -> None:
    called = "get()" if "def" in made else 'ALL["session"]()'
    taken = called.partition("(")[0].partition("[")[0]
    session = SESSION.replace("from log import Log", "").replace("        self.log = Log(self)\n", "")
    session = session.replace("            self.log.told(loss)\n", "")
    main = f"import torch\nfrom factory import {taken}\n\nsession = {called}\nsession.run([])\nwith torch.no_grad():\n"
    files = {"session.py": session, "factory.py": f"from session import Session\n\n\n{made}"}
    new = _written(tmp_path, {**files, "main.py": f"{main}    print(session.net(torch.ones(1, 2)))\n"})
    assert b"with torch.no_grad(), torch.autocast(" in new["main.py"]


MINES = """\
import torch


class Hard(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 1)

    def forward(self, x):
        with torch.no_grad():
            keep = self.{first}(x).topk(2)[1]
        return self.fc(x[keep])
"""


def test_a_network_that_runs_without_gradients_first_belongs_to_it(tmp_path: Path) -> None:
    main = LOOKING.format(taken="from net import Hard", called="print").replace("torch.nn.Linear(2, 1)", "Hard()")
    results = _results(tmp_path, {"main.py": main, "net.py": MINES.format(first="fc")})
    assert [one.rule for one in results["main.py"].findings] == ["APX038"]
    results = _results(tmp_path / "other", {"main.py": main, "net.py": MINES.format(first="teacher")})
    assert not results["main.py"].findings


EMPTIES = """\
import torch
from apex import amp
from tensors import to_numpy

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="LEVEL")
for x in loader:
    output = model(x)
    loss = output[0].sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    for one in output:
        keep(to_numpy([one]))
"""


@pytest.mark.parametrize(("level", "said"), [("O1", "where O1 made them"), ("O2", "which Apex had cast to")])
def test_who_made_results_float32_that_another_file_takes(tmp_path: Path, level: str, said: str) -> None:
    takes = "def to_numpy(given):\n    return [one.detach().cpu().numpy() for one in given]\n"
    found = _results(tmp_path, {"main.py": EMPTIES.replace("LEVEL", level), "tensors.py": takes})["main.py"]
    words = f"takes results from the GPU, {said} float32: they stay half now"
    assert any(words in one.message for one in found.findings)


def test_a_network_that_is_put_into_training_is_no_trainer(tmp_path: Path) -> None:
    """``model.train()`` was taken for a trainer's own ``train()``, which clips."""
    trainer = "import torch\n\n\nclass Base:\n    def train(self):\n"
    trainer += "        torch.nn.utils.clip_grad_norm_(self.net, 1)\n"
    main = LOOKING.format(taken="from base import Base\nfrom nets import make", called="print")
    main = main.replace("torch.nn.Linear(2, 1)", "make()").replace("    print(model)", "    model.train()")
    new = _written(tmp_path, {"base.py": trainer, "main.py": f"{main}Base().train()\n"})["main.py"]
    assert b"unscale_" not in new

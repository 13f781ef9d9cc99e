"""Scripts that run networks of a program in which another script initializes Apex: theirs run as they are."""

from __future__ import annotations

from pathlib import Path

from migrate.model import Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

MATCHER = """\
from apex import amp
import torch


class Matcher:
    def __init__(self, net):
        self.net = net

    def predict(self, x):
        return self.net(x).argmax(1).tolist()


def train(gpu, args):
    net = torch.nn.Linear(4, 4).cuda(gpu)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if args.fp16:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x, y in torch.load("train"):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
    print(Matcher(net).predict(torch.load("test")))
"""
TRAINS = """\
import torch.multiprocessing as mp
from matcher import train
from options import parse

if __name__ == "__main__":
    mp.spawn(train, nprocs=2, args=(parse(),))
"""
PREDICTS = """\
import torch
from matcher import Matcher

net = torch.load("best")
print(Matcher(net).predict(torch.load("questions")))
"""
TRANSCRIBES = """\
import torch
from apex import amp


class Transcriber:
    def __init__(self, args):
        self.args = args
        self.melody = torch.load("melody")

    def prepare(self, x):
        return self.melody(x).tolist()

    def load(self):
        self.net = amp.initialize(torch.load("net").cuda(), opt_level=self.args.level)

    def run(self, x):
        self.load()
        return self.net(torch.tensor(self.prepare(x))).tolist()
"""
RUNS = """\
from parser import args
from transcriber import Transcriber

if __name__ == "__main__":
    print(Transcriber(args).run(args.wave))
"""
PREPARES = """\
from parser import short
from transcriber import Transcriber

if __name__ == "__main__":
    print(Transcriber(short).prepare(short.wave))
"""


def _migrated(root: Path, files: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The new texts of files that change, and the rules of what is said."""
    tree(root, files)
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        texts = {x.result.path: spool.get(x.texts.new).decode() for x in outcome.files if x.texts is not None}
        return texts, [finding.rule for x in outcome.files for finding in x.result.findings]


def test_a_script_that_only_predicts_is_no_evaluation_behind_a_training(tmp_path: Path) -> None:
    """`mp.spawn` runs the training, in another script's main block alone."""
    texts, said = _migrated(tmp_path, {"matcher.py": MATCHER, "main.py": TRAINS, "predict.py": PREDICTS})
    assert [*texts] == ["matcher.py"] and "APX031" not in said
    assert texts["matcher.py"].startswith("import torch\n")  # without the blank line below the import that went


def test_one_that_trains_as_well_is(tmp_path: Path) -> None:
    trains = PREDICTS + "train(0, net)\nprint(Matcher(net).predict(torch.load('more')))\n"
    files = {"matcher.py": MATCHER, "predict.py": trains.replace("import Matcher", "import Matcher, train")}
    texts, said = _migrated(tmp_path, files)
    assert "autocast" in texts.get("predict.py", "") or "APX031" in said


def test_a_script_that_calls_nothing_that_initializes(tmp_path: Path) -> None:
    """Its options have no level that a condition could ask for."""
    texts, _ = _migrated(tmp_path, {"transcriber.py": TRANSCRIBES, "run.py": RUNS, "prepare.py": PREPARES})
    assert [*texts] == ["transcriber.py"]
    assert 'enabled=self.args.level != "O0"' in texts["transcriber.py"]


def test_one_that_is_handed_a_tensor_back(tmp_path: Path) -> None:
    transcribes = TRANSCRIBES.replace("self.prepare(x))).tolist()", "self.prepare(x)))")
    texts, _ = _migrated(tmp_path, {"transcriber.py": transcribes, "run.py": RUNS, "prepare.py": PREPARES})
    assert "prepare.py" not in texts
    assert 'enabled=args.level != "O0"' in texts["run.py"]


def test_a_method_that_is_called_by_a_computed_name(tmp_path: Path) -> None:
    """Which one that is nobody knows: it may be the one that initializes."""
    called = "    one = Transcriber(short)\n    getattr(one, short.name)()\n    print(one.prepare(short.wave))"
    computed = PREPARES.replace("    print(Transcriber(short).prepare(short.wave))", called)
    texts, _ = _migrated(tmp_path, {"transcriber.py": TRANSCRIBES, "run.py": RUNS, "prepare.py": computed})
    assert not texts


CAST = """\
import torch
from apex import amp


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 1)
        amp.register_float_function(torch, "sigmoid")

    def forward(self, x):
        return self.fc(x)
"""
TRAINS_NET = """\
import torch
from apex import amp


def main():
    from net import Net
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in torch.load("train"):
        loss = model(x).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


main()
"""


def test_what_one_program_deletes_is_no_work_by_hand_for_another(tmp_path: Path) -> None:
    """A script that knows no amp has nothing to say of a cast that goes with the script that trains."""
    tests = "import torch\n\n\ndef main():\n    from net import Net\n    print(Net()(torch.ones(4, 8)))\n\n\nmain()\n"
    files = {"net.py": CAST, "train.py": TRAINS_NET, "test.py": tests}
    with Spool() as spool:
        found = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1)
    results = {one.path: one for one in found.results}
    assert results["net.py"].status == results["train.py"].status == "changed"
    assert {one.rule for one in results["net.py"].findings} == {"APX080"}

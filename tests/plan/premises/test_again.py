"""A condition that changes between two calls of ``initialize`` is named: Apex's casts stayed on."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Applicability, Outside, Settings

TEXT = """\
import torch
from apex import amp


def run(args, use_amp=True):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in args.data:
        loss = model(x).sum()
        if use_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main(args):
    CALLS


main(parse())
"""


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("run(args, args.fp16)", False),
        ("for fold in range(5):\n        run(args, args.fp16)", False),
        ("run(args)", False),
        ("for mode in ('fp32', 'amp'):\n        run(args, mode == 'amp')", True),
        ("for mode in ('fp32', 'amp'):\n        fp16 = mode == 'amp'\n        run(args, use_amp=fp16)", True),
        ("for fold, (name, use) in enumerate(args.modes):\n        run(args, use)", True),
        ("for args.fold, use in enumerate(args.modes):\n        run(args, use)", True),
        ("for fold, (name, use) in enumerate(args.modes):\n        run(args, args.fp16)", False),
        ("run(args)\n    run(args, False)", True),
        ("run(args, False)\n    run(args)", False),
        ("run(args, True)\n    run(args)", False),
        ("return [run(args, use) for use in args.modes]", True),
        ("return {use: run(args, use_amp=use) for use in (False, True)}", False),
        ("return [run(args, args.fp16) for _ in range(3)]", False),
    ],
)
def test_what_changes_from_call_to_call(calls: str, named: bool) -> None:
    findings = migrate_module(TEXT.replace("CALLS", calls), Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named


OBJECTS = """\
from dataclasses import dataclass
from types import SimpleNamespace


@dataclass
class Config:
    fp16: bool = True
    data: tuple = ()

    def override(self, **settings):
        self.__dict__.update(settings)


class Options:
    def __init__(self, name, fp16):
        self.name, self.fp16, self.data = name, fp16, ()


def own_merge(args, **settings):
    for key, value in settings.items():
        setattr(args, key, value)


def switch(args, flag):
    args.fp16 = flag


def evaluate(args, fp16):
    return args.data, fp16


"""
UTILS = """\
def full_precision(args):
    args.fp16 = False


def deterministic(args):
    args.benchmark = False
    use_fp16 = False
"""


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("run(Config())\n    run(Config(fp16=False))", True),
        ("run(Config(fp16=False))\n    run(Config())", False),  # the run without it is first, and as it was
        ("run(Config(fp16=True))\n    run(Config())", False),
        ("run(SimpleNamespace(fp16=True, data=()))\n    run(SimpleNamespace(fp16=False, data=()))", True),
        ("run(parse(['--fp16']))\n    run(parse(['--lr', '0.1']))", True),
        ("run(parse(['--fp16']))\n    run(parse(['--fp16', '--lr', '0.1']))", False),
        ("a, b = Config(), 1\n    run(a)\n    run(a)", False),
        ("off = Config(fp16=False)\n    run(args)\n    run(off)", True),  # of the first nothing is written
        ("off = Config(fp16=False)\n    run(off)\n    run(args)", False),
        ("run(Config(True))\n    run(Config(False))", True),
        ("run(Config(True, 1))\n    run(Config(True, 2))", False),
        ("run(Options('a', True))\n    run(Options('b', True))", False),
        ("run(Options('a', True))\n    run(Options('b', False))", True),
        ("run(Options('a', first))\n    run(Options('b', second))", True),
        ("run(Config(**first))\n    run(Config(**second))", True),
        ("run(load('a.json'))\n    run(load('b.json'))", True),
        ("if args.test:\n        run(load('a.json'))\n    else:\n        run(load('b.json'))", False),
        ("one = Config()\n    two = deepcopy(one)\n    two.fp16 = False\n    run(one)\n    run(two)", True),
        ("run(load(lr=0.1))\n    run(load(lr=0.2))", False),
        ("run(load(fp16=first))\n    run(load(fp16=second))", True),
        ("one = load(lr=0.1)\n    two = load(lr=0.2)\n    run(one)\n    run(two)", False),
        ("run(args)\n    run(args._replace(fp16=False))", True),
        ("on, off = 0, 1\n    off = Config(fp16=False)\n    run(Config())\n    run(off)", False),
        ("on = Config()\n    off = Config(fp16=False)\n    run(on)\n    run(off)", True),
        ("run(args)\n    args.fp16 = False\n    run(args)", True),
        ("args.fp16 = False\n    run(args)\n    run(args)", False),
        ("run(args)\n    args.fp16 = True\n    run(args)", False),
        ("run(args)\n    args.data = ()\n    run(args)", False),
        ("run(args)\n    setattr(args, 'fp16', False)\n    run(args)", True),
        ("run(args)\n    vars(args).update(fp16=False)\n    run(args)", True),
        ("for key, value in read().items():\n        setattr(args, key, value)\n    run(args)", False),
        ("run(args)\n    args = Config(**{**vars(args), 'fp16': False})\n    run(args)", True),
        ("run(args)\n    args = replace(args, fp16=False)\n    run(args)", True),
        ("run(args)\n    args = replace(args, data=())\n    run(args)", False),
        ("run(args)\n    merge(args, fp16=False)\n    run(args)", True),
        ("run(args)\n    merge(args, data=False)\n    run(args)", False),
        ("run(args)\n    args.set('fp16', False)\n    run(args)", True),
        ("run(args)\n    put(args, 'fp16', False)\n    run(args)", True),
        ("run(args)\n    put(args, 'seed', False)\n    run(args)", False),
        ("run(args)\n    override(args, {'fp16': False})\n    run(args)", True),
        ("run(args)\n    own_merge(args, fp16=False)\n    run(args)", True),
        ("run(args)\n    own_merge(args, data=False)\n    run(args)", False),
        ("run(args)\n    switch(args, False)\n    run(args)", True),
        ("run(args)\n    switch(args, True)\n    run(args)", False),
        ("run(args)\n    args.override(fp16=False)\n    run(args)", True),
        ("run(args)\n    evaluate(args, fp16=False)\n    run(args)", False),
        ("run(args)\n    utils.full_precision(args)\n    run(args)", True),
        ("run(args)\n    utils.deterministic(args)\n    run(args)", False),
        ("run(args)\n    utils.full_precision(other)\n    run(args)", False),
    ],
)
def test_objects_that_say_something_else(calls: str, named: bool) -> None:
    text = TEXT.replace("args, use_amp=True", "args").replace("use_amp", "args.fp16").replace("CALLS", calls)
    others = Outside(elsewhere=elsewhere([outline(UTILS)]))
    findings = migrate_module(OBJECTS + text, Settings(), others).findings
    assert any(one.rule == "APX035" for one in findings) is named


def test_parts_of_a_configuration() -> None:
    text = TEXT.replace("args, use_amp=True", "args").replace("use_amp", "args.SOLVER['FP16']")
    for set_, named in {"SOLVER['FP16']": True, "SOLVER": True, "MODEL['FP16']": False, "SOLVER.LR": False}.items():
        calls = f"run(args)\n    args.{set_} = None\n    run(args)"
        findings = migrate_module(text.replace("CALLS", calls), Settings()).findings
        assert any(one.rule == "APX035" for one in findings) is named


SET_UP = """\
import torch
from apex import amp


def prepare(cfg):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if not cfg.amp:
        return model, optimizer
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def run(cfg):
    model, optimizer = prepare(cfg)
    for x in cfg.data:
        loss = model(x).sum()
        if cfg.amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main(cfg, flags):
    for flag in FLAGS:
        SET
        run(cfg)


main(parse(), flags)
"""


@pytest.mark.parametrize(
    ("flags", "set_", "named"),
    [
        ("flags", "cfg.amp = flag", True),
        ("(True, False)", "cfg.amp = flag", True),
        ("(False, True)", "cfg.amp = flag", False),
        ("flags", "cfg.seed = flag", False),
        ("flags", 'cfg["amp"] = flag', True),
        ("flags", 'cfg["seed"] = flag', False),
        ("flags", 'setattr(cfg, "amp", flag)', True),
        ("flags", 'setattr(cfg, "seed", flag)', False),
        ("flags", "for key, value in flag.items():\n            setattr(cfg, key, value)", True),
        ("flags", "for key, value in OVERRIDES.items():\n            setattr(cfg, key, value)", False),
        ("flags", "vars(cfg).update(flag)", True),
        ("flags", "cfg.__dict__.update(amp=flag)", True),
        ("flags", "cfg.update({'amp': flag, 'seed': 1})", True),
        ("flags", "cfg.update({'fold': flag})", False),
        ("flags", "cfg.update(dict(fold=flag))", False),
        ("flags", "cfg.update(OVERRIDES)", False),
        ("flags", "cfg.update(**flag)", True),
        ("flags", "cfg.merge_from_list(flag)", True),
        ("flags", "merge(cfg, amp=flag)", True),
        ("flags", "build(cfg, flag)", False),
    ],
)
def test_an_attribute_that_a_loop_sets_ahead_of_an_early_return(flags: str, set_: str, named: bool) -> None:
    text = SET_UP.replace("FLAGS", flags).replace("SET", set_)
    if "[" in set_:
        text = text.replace("cfg.amp", 'cfg["amp"]')
    findings = migrate_module(text, Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named


def test_a_name_of_the_file_that_a_loop_turns() -> None:
    turned = SET_UP.replace("cfg.amp", "USE").replace("for flag in FLAGS", "global USE\n    for USE in ON_AND_OFF")
    for flags, named in (("(True, False)", True), ("(False, True)", False)):
        text = turned.replace("ON_AND_OFF", flags).replace("        SET\n", "")
        findings = migrate_module(text, Settings()).findings
        assert any(one.rule == "APX035" for one in findings) is named


PRECISION = """\
import torch
from apex import amp


class Precision:
    def __init__(self, name):
        self.name = name

    @property
    def active(self):
        return self.name == "apex"

    def setup(self, model, optimizer):
        if not self.active:
            return model, optimizer
        return amp.initialize(model, optimizer, opt_level="O1")

    def backward(self, loss, optimizer):
        if self.active:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()


def main(loader, args):
    for name in ("apex", "none"):
        precision = Precision(NAME)
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model, optimizer = precision.setup(model, optimizer)
        for x in loader:
            loss = model(x).sum()
            optimizer.zero_grad()
            precision.backward(loss, optimizer)
            optimizer.step()
"""


@pytest.mark.parametrize(("name", "named"), [("name", True), ("args.precision", False)])
def test_an_object_made_in_each_round(name: str, named: bool) -> None:
    """What a property says of what the constructor was handed."""
    findings = migrate_module(PRECISION.replace("NAME", name), Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named


HELD = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self):
        model, optimizer = self.model, self.optimizer
        if self.args.fp16:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        for x in self.args.data:
            loss = model(x).sum()
            if self.args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()


for argv in ARGVS:
    Trainer(parser.parse_args(argv)).train()
"""


@pytest.mark.parametrize(
    ("argvs", "named"),
    [
        ('(["--do-train", "--fp16"], ["--do-train"])', True),
        ('(["--do-train"], ["--do-train", "--fp16"])', False),  # the runs without it come first, and are as they were
        ('(["--fp16", "--lr", "1"], ["--fp16"])', False),
        ("argvs", True),
    ],
)
def test_options_that_an_object_keeps(argvs: str, named: bool) -> None:
    findings = migrate_module(HELD.replace("ARGVS", argvs), Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named


SWITCHED = """\
import torch
from apex import amp


class State:
    amp = False


STATE = {"amp": False}
USE_AMP = False


def setup(model, optimizer, fp16):
    global USE_AMP
    SET
    if ASKED:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def train(data, fp16=True):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = setup(model, optimizer, fp16)
    for x in data:
        loss = model(x).sum()
        optimizer.zero_grad()
        if ASKED:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()


def main(args):
    CALLS


main(parse())
"""


@pytest.mark.parametrize("asked", ["USE_AMP", 'STATE["amp"]', "State.amp"])
@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("train(args.data)\n    train(args.data, False)", True),
        ("train(args.data, False)\n    train(args.data)", False),
        ("train(args.data, args.fp16)\n    train(args.data, args.fp16)", False),
        ("for use in (True, False):\n        train(args.data, use)", True),
    ],
)
def test_a_switch_of_the_file_that_a_function_sets(asked: str, calls: str, named: bool) -> None:
    text = SWITCHED.replace("SET", f"{asked} = fp16").replace("ASKED", asked).replace("CALLS", calls)
    result = migrate_module(text, Settings())
    assert result.new_text is not None
    assert any(one.rule == "APX035" for one in result.findings) is named


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("State.amp = True\n    train(args.data)\n    State.amp = False\n    train(args.data)", True),
        ("State.amp = False\n    train(args.data)\n    State.amp = True\n    train(args.data)", False),
        ("State.amp = True\n    if args.cpu:\n        State.amp = False\n    train(args.data)", False),
    ],
)
def test_a_switch_that_is_turned_between_two_trainings(calls: str, named: bool) -> None:
    text = SWITCHED.replace("    SET\n", "").replace("ASKED", "State.amp").replace("CALLS", calls)
    findings = migrate_module(text, Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named


STAGES = """\
def search(options):
    return run(dict(options, lr=0.1))


def final(options):
    return run(dict(options, fp16=False))


"""
ITEMS = """\
def made(lr=0.1, **more):
    options = {'lr': lr, 'fp16': True}
    options.update(more)
    return options


"""
STUDY = """\
class Study:
    def __init__(self, options):
        self.options = options

    def run(self):
        run(self.options)


"""


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("run({'fp16': True})\n    run({'fp16': False})", True),
        ("run({'fp16': False})\n    run({'fp16': True})", False),
        ("run({'fp16': True})\n    run({'fp16': True, 'lr': 0.1})", False),
        ("run({'fp16': True})\n    run({**base, 'fp16': False})", True),
        ("run(base)\n    run(base | {'fp16': False})", True),
        ("two = dict(base)\n    two['fp16'] = False\n    run(base)\n    run(two)", True),
        ("run(json.loads(first))\n    run(json.loads(second))", True),
        ("runs = {'a': {'fp16': True}, 'b': {'fp16': False}}\n    run(runs['a'])\n    run(runs['b'])", True),
        ("Study({'fp16': True}).run()\n    Study({'fp16': False}).run()", True),
        ("Study({'fp16': False}).run()\n    Study({'fp16': True}).run()", False),
        ("search(base)\n    final(base)", True),
        ("run(base)\n    run(base)", False),
        ("run(made(lr=0.1))\n    run(made(lr=0.2))", False),
        ("run(made(lr=0.1))\n    run(made(fp16=False))", True),
        ("run(made(fp16=False))\n    run(made(lr=0.1))", False),
        ("run(made(**first))\n    run(made(**second))", True),
        ("run(**base)\n    run(**{**base, 'args': {'fp16': False}})", True),
        ("run(**base)\n    run(**base)", False),
    ],
)
def test_items_that_say_something_else(calls: str, named: bool) -> None:
    text = TEXT.replace("args, use_amp=True", "args").replace("use_amp", "args['fp16']").replace("CALLS", calls)
    above = ITEMS + STAGES * ("search" in calls) + STUDY * ("Study" in calls)
    findings = migrate_module(above + text.replace("args.data", "DATA"), Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named


LEVEL = """\
import torch
from apex import amp


def run(level="O1", on=True):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level=level, enabled=on)
    for x in DATA:
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main(args):
    CALLS


main(parse())
"""


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("run(args.level)", False),
        ("run()\n    run(on=False)", True),
        ("run(on=False)\n    run()", False),
        ("run('O1')\n    run('O0')", True),
        ("run('O0')\n    run('O1')", False),
        ("run('O1')\n    run('O1')", False),
        ("for level in ('O1', 'O0'):\n        run(level)", True),
        ("for level in ('O0', 'O1'):\n        run(level)", False),
        ("run(args.level)\n    run(args.level)", False),
        ("for fold in range(5):\n        run(args.level)", False),
    ],
)
def test_an_option_that_says_no(calls: str, named: bool) -> None:
    """The losses are scaled under no condition then."""
    findings = migrate_module(LEVEL.replace("CALLS", calls), Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named


ENVIRONMENT = """\
import os
import torch
from apex import amp


def run(data):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if ASKED:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in data:
        loss = model(x).sum()
        if ASKED:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main(data):
    CALLS


main(load())
"""


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("run(data)", False),
        ("os.environ['AMP'] = '1'\n    run(data)\n    run(data)", False),
        ("run(data)\n    os.environ['AMP'] = '1'", False),
        ("os.environ['OTHER'] = '1'\n    run(data)\n    os.environ['OTHER'] = '0'\n    run(data)", False),
        ("os.environ['AMP'] = '1'\n    run(data)\n    os.environ['AMP'] = '0'\n    run(data)", True),
        ("os.environ.update(AMP='1')\n    run(data)\n    os.environ.update({'AMP': '0'})\n    run(data)", True),
        ("run(data)\n    os.environ['AMP'] = '0'\n    run(data)", True),
        ("run(data)\n    del os.environ['AMP']\n    run(data)", True),
        ("run(data)\n    os.environ.pop('AMP')\n    run(data)", True),
        ("for on in ('1', '0'):\n        os.environ['AMP'] = on\n        run(data)", True),
    ],
)
@pytest.mark.parametrize(
    "asked", ["os.environ.get('AMP') == '1'", "os.environ['AMP'] == '1'", "os.getenv('AMP', '') == '1'"]
)
def test_a_variable_of_the_environment(asked: str, calls: str, named: bool) -> None:
    text = ENVIRONMENT.replace("ASKED", asked).replace("CALLS", calls)
    assert any(one.rule == "APX035" for one in migrate_module(text, Settings()).findings) is named


def test_a_variable_of_the_environment_is_one_question() -> None:
    text = ENVIRONMENT.replace("ASKED", "os.getenv('AMP') == '1'").replace("CALLS", "run(data)")
    result = migrate_module(text, Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]


PARSED = TEXT.replace("def run(args, use_amp=True):\n", "def run(argv, use_amp=True):\n    args = parse(argv)\n")
PARSED = PARSED.replace("if use_amp:", "if args.amp:")


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("run(['--amp'])", False),
        ("run(['--amp'])\n    run([])", True),
        ("run(args)\n    run(args)", False),
        ("for argv in args.runs:\n        run(argv)", True),
    ],
)
def test_what_is_made_of_what_callers_hand_over(calls: str, named: bool) -> None:
    findings = migrate_module(PARSED.replace("CALLS", calls), Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named


@pytest.mark.parametrize(
    ("declared", "calls", "named"),
    [
        ('"--no-fp16", dest="fp16", action="store_false"', '([], ["--no-fp16"])', True),
        ('"--no-fp16", dest="fp16", action="store_false"', '(["--no-fp16"], [])', False),
        ('"--fp16", type=int, default=1', '(["--lr", "1"], ["--fp16", "0"])', True),
        ('"--fp16", type=int, default=1', '(["--fp16=0"], [])', False),
        ('"--fp16", type=int, default=1', '([], ["--fp16", "1"])', False),
        ('"--fp16", action="store_true", default=True', '([], ["--fp16"])', False),
        ('"--fp16", action="store_true"); parser.set_defaults(fp16=True', '([], ["--fp16"])', False),
        ('"--fp16", nargs="?", const=True, default=False', '(["--fp16"], ["--lr", "1"])', True),
    ],
)
def test_a_command_line_and_what_holds_by_default(declared: str, calls: str, named: bool) -> None:
    text = HELD.replace("ARGVS", calls).replace("for argv in", f"parser.add_argument({declared})\nfor argv in")
    findings = migrate_module(text, Settings()).findings
    assert any(one.rule == "APX035" for one in findings) is named

"""Legacy training programs as research code has them, made up from a seed: `program(seed)`.

A program is a layout (a script, functions, classes, several files, …) around a loop, whose body is put together
from shapes (shapes.py). Most programs hold few odd shapes, as a program that holds many is left to its owner, which
shows nothing. Nobody says what should become of them: many.py migrates them, runs both versions and compares.

Ordinary programs, of which it is known how they have to be migrated, are made by ordinary.py.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .shapes import (
    BATCHES,
    MAKE_BATCHES,
    NET,
    SEQUENTIAL,
    Scene,
    Shape,
    batch,
    block,
    clip,
    evaluation,
    flush,
    loop,
    prints_the_loss,
    scaled_backward,
)

MAIN = "main.py"


@dataclass(frozen=True)
class Program:
    """``files`` by path, of which ``main.py`` is run with each of ``runs``; ``casts``: also with real casts."""

    seed: int
    files: dict[str, str]
    runs: tuple[tuple[str, ...], ...]
    casts: bool
    shapes: tuple[str, ...]


# ---------------------------------------------------------------- what stands around the loop


def initialize(s: Scene, models: str, optimizers: str) -> str:
    options = s.pick(["", ', opt_level="O1"', ', opt_level="O1"', ', "O1"'])
    if options == ', "O1"':
        options = ', True, "O1"'
    if s.guard == "enabled":
        options = f', enabled={s.args}.fp16, opt_level="O1"'
    elif s.guard == "level":
        options = f", opt_level={s.args}.opt_level"
    call = f"{models}, {optimizers} = {s.amp}.initialize({models}, {optimizers}{options})\n"
    return block(f"if {s.args}.fp16:", call) if s.guard in ("if", "swapped") else call


def optimizer_of(s: Scene, params: str) -> str:
    sgd = f"torch.optim.SGD({params}, lr=0.1)"
    if s.casts:
        return sgd
    momentum = f"torch.optim.SGD({params}, lr=0.1, momentum=0.9, weight_decay=1e-3)"
    return s.pick([sgd, momentum, momentum, f"torch.optim.Adam({params}, lr=1e-2)"])


def setup(s: Scene) -> str:
    text = "torch.manual_seed(0)\n"
    text += f"{s.model} = make_model()\n{s.optimizer} = {optimizer_of(s, s.params)}\n"
    return text + initialize(s, s.model, s.optimizer)


def parse(s: Scene) -> str:
    text = 'parser = argparse.ArgumentParser()\nparser.add_argument("--fp16", action="store_true")\n'
    if s.guard == "level":
        text += 'parser.add_argument("--opt_level", default="O1", choices=["O0", "O1"])\n'
    if s.do_train:
        text += 'parser.add_argument("--do_train", action="store_true")\n'
        text += 'parser.add_argument("--do_eval", action="store_true")\n'
    return text


def batches(s: Scene) -> str:
    return f"batches = make_batches({BATCHES}, bad={s.bad!r})\n"


def training(s: Scene, train: str) -> str:
    """``train``, twice or once, under whatever stands around it: evaluation, a handler."""
    if s.catches:
        train = block("try:", train) + block("except StopTraining as error:", 'print("stopped:", error)\n')
    after = evaluation(s) if s.chance(0.3) else ""
    if s.chance(0.4):
        return block("for epoch in range(2):", train + after)
    return train + after


def work(s: Scene, train: str) -> str:
    """Setup, training and evaluation, in the order that this program has them."""
    before = evaluation(s) if s.chance(0.15) else ""
    if not s.do_train:
        return setup(s) + "".join(s.before) + before + training(s, train) + saved(s)
    s.shapes.append("do_train")
    make = f"torch.manual_seed(0)\n{s.model} = make_model()\n"
    rest = f"{s.optimizer} = {optimizer_of(s, s.params)}\n" + initialize(s, s.model, s.optimizer)
    rest += "".join(s.before)
    inside = s.chance(0.5)  # initialize belongs to training, or to both
    text = make + ("" if inside else rest)
    text += block(f"if {s.args}.do_train:", (rest if inside else "") + training(s, train))
    form = s.rng.randrange(3)
    if form == 0:
        return text + block("else:", evaluation(s))
    if form == 1:
        return text + block(f"if {s.args}.do_eval:", evaluation(s))
    return (
        text
        + block(f"if not {s.args}.do_eval:", "return\n" if s.layout != "as_script" else "raise SystemExit(0)\n")
        + evaluation(s)
    )


def saved(s: Scene) -> str:
    if s.chance(0.8):
        return ""
    text = f'torch.save({{"model": {s.model}.state_dict(), "optimizer": {s.optimizer}.state_dict()}}, "last.pt")\n'
    if s.guard in ("", "level") and s.chance(0.5):
        text = text.replace("}, ", f', "amp": {s.amp}.state_dict()}}, ')
    return text


# ---------------------------------------------------------------- layouts

MAIN_CALL = 'if __name__ == "__main__":\n    main()\n'


def as_script(s: Scene) -> str:
    train = loop(s, batch(s)) + flush(s)
    return f"{parse(s)}args = parser.parse_args()\n{batches(s)}" + work(s, train)


def as_main(s: Scene) -> str:
    train = loop(s, batch(s)) + flush(s)
    body = f"{parse(s)}args = parser.parse_args()\n{batches(s)}" + work(s, train)
    return block("def main():", body) + "\n\n" + MAIN_CALL


def as_function(s: Scene) -> str:
    s.stop = s.pick(["break", "return"])
    body = batch(s)
    inside = "".join(s.before)
    s.before.clear()
    function = block("def train(args, model, optimizer, batches):", inside + loop(s, body) + flush(s))
    main = f"{parse(s)}args = parser.parse_args()\n{batches(s)}" + work(s, "train(args, model, optimizer, batches)\n")
    if "for epoch in" in main:
        function = _without_scheduler(function)
    return function + "\n\n" + block("def main():", main) + "\n\n" + MAIN_CALL


def as_closure(s: Scene) -> str:
    s.leave = s.stop = "return"
    inner = block("def train_step(step, x, y):", batch(s))
    maker = block("def make_train_step(args, model, optimizer):", "".join(s.before) + inner + "return train_step\n")
    s.before.clear()
    s.before.append("train_step = make_train_step(args, model, optimizer)\n")
    main = f"{parse(s)}args = parser.parse_args()\n{batches(s)}" + work(s, loop(s, "train_step(step, x, y)\n"))
    return maker + "\n\n" + block("def main():", main) + "\n\n" + MAIN_CALL


def as_handed_on(s: Scene) -> str:
    """The step is a function that somebody else calls, by whatever name."""
    s.leave = s.stop = "return"
    body = batch(s)
    step = block("def train_step(args, model, optimizer, step, x, y):", _without_scheduler("".join(s.before) + body))
    s.before.clear()
    runner = block(
        "def run(function, batches):", block("for step, (x, y) in enumerate(batches):", "function(step, x, y)\n")
    )
    call = s.pick(
        [
            "run(functools.partial(train_step, args, model, optimizer), batches)\n",
            "run(lambda *batch: train_step(args, model, optimizer, *batch), batches)\n",
            'steps = {"train": train_step}\nrun(functools.partial(steps["train"], args, model, optimizer), batches)\n',
        ]
    )
    main = f"{parse(s)}args = parser.parse_args()\n{batches(s)}" + work(s, call)
    return "\n\n".join([step, runner, block("def main():", main), MAIN_CALL])


def _without_scheduler(text: str) -> str:
    """A scheduler is made once; on an optimizer that Apex has patched it cannot be made again."""
    return "".join(line for line in text.splitlines(keepends=True) if "scheduler" not in line)


def _trainer(s: Scene) -> tuple[str, str, str]:
    """Of a trainer class: the body of ``train_step``, what ``__init__`` sets up, and how it trains."""
    s.own, s.leave, s.stop = "self.", "return", "return"
    step = batch(s)
    made = "self.args = args\n" + setup(s) + "".join(s.before)
    s.before.clear()
    train = loop(s, "self.train_step(step, x, y)\n", "self.batches")
    return step, made + "self.batches = " + batches(s).partition(" = ")[2], training(s, train)


def _of_class(s: Scene, tail: str) -> str:
    main = f"{parse(s)}trainer = Trainer(parser.parse_args())\n" + tail
    return block("def main():", main) + "\n\n" + MAIN_CALL


def as_class(s: Scene) -> str:
    step, made, train = _trainer(s)
    methods = [
        block("def __init__(self, args):", made),
        block("def train_step(self, step, x, y):", step),
        block("def train(self):", train),
        *s.methods.values(),
    ]
    return block("class Trainer:", "\n".join(methods)) + "\n\n" + _of_class(s, "trainer.train()\n")


def as_inherited(s: Scene) -> str:
    """The base class trains, and its child says how: or the other way round."""
    step, made, train = _trainer(s)
    first = block("def __init__(self, args):", made)
    how = block("def train_step(self, step, x, y):", step)
    loops = block("def train(self):", train)
    upper, lower = s.pick([([first, loops], [how]), ([first, how], [loops]), ([how, loops], [first])])
    base = block("class BaseTrainer(object):", "\n".join([*upper, *s.methods.values()]))
    child = block("class Trainer(BaseTrainer):", "\n".join(lower))
    return base + "\n\n" + child + "\n\n" + _of_class(s, "trainer.train()\n")


SINGLE: list[Shape] = [
    as_script,
    as_main,
    as_main,
    as_function,
    as_function,
    as_class,
    as_class,
    as_inherited,
    as_closure,
    as_handed_on,
]


# ---------------------------------------------------------------- two models, two optimizers, two stages


def _main_of(s: Scene, body: str) -> str:
    return block("def main():", f"{parse(s)}args = parser.parse_args()\n{batches(s)}" + body) + "\n\n" + MAIN_CALL


def gan(s: Scene) -> str:
    """Discriminator and generator in turn, initialized together or one after the other."""
    make = "torch.manual_seed(0)\nnetD = make_model(6)\nnetG = nn.Linear(4, 5).cuda()\n"
    make += f"optD = {optimizer_of(s, 'netD.parameters()')}\noptG = {optimizer_of(s, 'netG.parameters()')}\n"
    if s.chance(0.5):
        make += initialize(s, "netD", "optD") + initialize(s, "netG", "optG")
    else:
        make += initialize(s, "[netD, netG]", "[optD, optG]")
    turn_d = "fake = netG(y[:, None].float().expand(-1, 4))\n"
    turn_d += "loss_d = F.cross_entropy(netD(x), y) + netD(fake.detach()).pow(2).mean()\noptD.zero_grad()\n"
    turn_d += scaled_backward(s, "loss_d", "optD") + "optD.step()\n"
    turn_g = "loss_g = netD(fake).pow(2).mean()\noptG.zero_grad()\n"
    turn_g += scaled_backward(s, "loss_g", "optG") + "optG.step()\n" + 'print("G %.5f" % loss_g.item())\n'
    if s.chance(0.5):
        turn_g = block(f"if step % {s.pick([2, 3])} == 0:", turn_g)
    body = turn_d + turn_g + 'print("step", step, "D %.5f" % loss_d.item())\n'
    return _main_of(s, make + loop(s, body))


def two_optimizers(s: Scene) -> str:
    """Of one model, each stepped under a condition of its own."""
    make = "torch.manual_seed(0)\nbody = nn.Linear(5, 8).cuda()\nhead = nn.Linear(8, 3).cuda()\n"
    make += f"opt_body = {optimizer_of(s, 'body.parameters()')}\nopt_head = {optimizer_of(s, 'head.parameters()')}\n"
    make += initialize(s, "[body, head]", "[opt_body, opt_head]")
    text = "loss = F.cross_entropy(head(torch.relu(body(x))), y)\n"
    zero = "opt_body.zero_grad()\nopt_head.zero_grad()\n"
    backward = scaled_backward(s, "loss", "[opt_body, opt_head]")
    steps = s.pick(
        [
            "opt_head.step()\nif step >= 2:\n    opt_body.step()\n",
            "if step % 2:\n    opt_body.step()\nelse:\n    opt_head.step()\n",
            "for optimizer in (opt_body, opt_head):\n    optimizer.step()\n",
            "opt_body.step()\nopt_head.step()\n",
            "optimizer = opt_body if step % 2 else opt_head\noptimizer.step()\n",
            "if step > 0:\n    opt_body.step()\nif step != 3:\n    opt_head.step()\n",
        ]
    )
    order = zero + backward + steps if s.chance(0.5) else backward + steps + zero
    return _main_of(s, make + loop(s, text + order + prints_the_loss(s)))


def optimizers_in_turn(s: Scene) -> str:
    """Two models, two losses; one of them rests in some of the batches."""
    make = "torch.manual_seed(0)\nfirst = make_model(6)\nsecond = make_model(9)\n"
    for name in ("first", "second"):
        make += f"opt_{name} = {optimizer_of(s, name + '.parameters()')}\n"
    make += initialize(s, "[first, second]", "[opt_first, opt_second]")

    def turn(name: str) -> str:
        text = f"loss = F.cross_entropy({name}(x), y)\nopt_{name}.zero_grad()\n"
        return (
            text
            + scaled_backward(s, "loss", f"opt_{name}")
            + f'opt_{name}.step()\nprint("{name} %.5f" % loss.item())\n'
        )

    condition = s.pick(["step % 2 == 0", "step >= 3", "step not in (1, 4)"])
    body = turn("first") + block(f"if {condition}:", turn("second"))
    return _main_of(s, make + loop(s, body))


def two_stages(s: Scene) -> str:
    """Pretraining and finetuning, each with an optimizer and an `initialize` of its own."""
    make = "torch.manual_seed(0)\nmodel = make_model()\n"
    shared = s.chance(0.5)
    step = f"loss = F.cross_entropy(model(x), y)\noptimizer.zero_grad()\n{scaled_backward(s, 'loss', 'optimizer')}"
    step += (clip(s) if s.chance(0.4) else "") + "optimizer.step()\n" + prints_the_loss(s)
    fit = block("def fit(args, model, optimizer, batches):", loop(s, step))
    text = make
    for rate in ("0.1", "0.01"):
        text += f"optimizer = torch.optim.SGD(model.parameters(), lr={rate}, momentum=0.9)\n"
        text += initialize(s, "model", "optimizer")
        text += "fit(args, model, optimizer, batches)\n" if shared else loop(s, step)
        text += evaluation(s) if s.chance(0.3) else ""
    return (fit + "\n\n" if shared else "") + _main_of(s, text)


PAIRS: list[Shape] = [gan, two_optimizers, optimizers_in_turn, two_stages]


# ---------------------------------------------------------------- several files

_IMPORTS = """\
import argparse
import functools
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
"""


def _apex_import(s: Scene) -> str:
    if s.amp == "apex.amp":
        return "import apex\n"
    guarded = "try:\n    from apex import amp\nexcept ImportError:\n    "
    forms = ["from apex import amp\n"] * 3 + [
        guarded
        + 'raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")\n'
    ]
    if s.guard in ("if", "swapped"):
        forms.append(guarded + "amp = None\n")
    return s.pick(forms)


def _with_imports(s: Scene, text: str, apex: bool, helpers: str = "") -> str:
    """Only what the text uses."""
    lines = [line for line in _IMPORTS.splitlines(keepends=True) if not line.strip() or _used(line, text)]
    head = "".join(lines).lstrip("\n")
    return head + (_apex_import(s) if apex else "") + helpers + "\n\n" + text


def _used(line: str, text: str) -> bool:
    name = line.split()[-1]
    return f"{name}." in text


def _files(s: Scene, text: str) -> dict[str, str]:
    """In one file, with the definitions in another, or with the training function in another as well."""
    layout = s.rng.random()
    definitions = "\n\n".join(s.definitions.values())
    if layout < 0.7:
        return {MAIN: _with_imports(s, definitions + "\n\n" + text, apex=True)}
    s.shapes.append("several files")
    helpers = s.pick(["utils", "common", "helpers"])
    names = ", ".join(s.definitions) if layout < 0.9 else "*"
    line = f"from {helpers} import {names}\n"
    files = {f"{helpers}.py": _with_imports(s, definitions, apex=False)}
    function, found, main = text.partition("\n\n\ndef main():")
    if s.layout == "as_function" and found and s.chance(0.7):
        s.shapes.append("engine")
        files["engine.py"] = _with_imports(s, function + "\n", apex=True, helpers=line)
        main = "def main():" + main
        files[MAIN] = _with_imports(s, main, apex=True, helpers=f"from engine import train\n{line}")
    else:
        files[MAIN] = _with_imports(s, text, apex=True, helpers=line)
    return files


# ---------------------------------------------------------------- all together


def _runs(s: Scene) -> tuple[tuple[str, ...], ...]:
    on: tuple[tuple[str, ...], ...] = ((),)
    if s.guard == "level":
        on = ((), ("--opt_level", "O0"))
    elif s.guard:
        on = (("--fp16",), ())
    if not s.do_train:
        return on
    return ((*on[0], "--do_train", "--do_eval"), (*on[0], "--do_eval"), (*on[-1], "--do_train"))


def program(seed: int) -> Program:
    """The same for the same seed, always."""
    rng = random.Random(seed)
    pair = rng.random() < 0.25
    layout = rng.choice(PAIRS if pair else SINGLE)
    s = Scene(rng, layout.__name__, rng.choice(["", "", "if", "if", "swapped", "enabled", "level"]))
    s.amp = rng.choice(["amp"] * 4 + ["apex.amp"])
    s.bad = tuple(sorted(rng.sample(range(BATCHES), rng.choice([0, 0, 1, 1, 2]))))
    s.net_class = rng.random() < 0.4
    s.do_train = not pair and s.layout in ("as_script", "as_main", "as_function") and rng.random() < 0.3
    s.define("make_model", NET if s.net_class else SEQUENTIAL)
    s.define("make_batches", MAKE_BATCHES)
    s.shapes.append(s.layout)
    files = _files(s, layout(s))
    about = f"# Made up (seed {seed}): {', '.join(dict.fromkeys(s.shapes))}\n"
    files[MAIN] = about + files[MAIN]
    return Program(seed, files, _runs(s), s.casts, tuple(dict.fromkeys(s.shapes)))

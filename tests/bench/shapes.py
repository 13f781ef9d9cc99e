"""How the time of a migration grows with what is in one file, or in one tree: ``make bench``.

Each shape is a program that is made larger and larger: more functions, a longer chain of ``elif``, more files that
import each other. It is migrated at several sizes, each in a process of its own. Printed are seconds of CPU without
those of the smallest program there is, megabytes, and the exponent of the last doubling: 1 is linear, 2 quadratic.

    python tests/bench/shapes.py [SHAPE…] [--limit SECONDS] [--lines 5000]

With ``--lines`` one file of so many lines of each shape is migrated instead, beside 100 times its own `ast.parse`.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
CACHES = PROJECT / "build" / "bench"  # compiled modules, as whoever has installed the tool has them
Files = Mapping[str, str]

HEAD = "import torch\nimport torch.nn.functional as F\nfrom apex import amp\n\n\n"
MAIN = """\
def main(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""

KINDS = (  # each with what runs it
    (
        """\
class NetNUMBER(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.last = torch.nn.Linear(width, 2)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


def evaluate_NUMBER(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
    return right


def train_NUMBER(args, loader, test):
    model = NetNUMBER(args.width).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    best = 0
    for epoch in range(args.epochs):
        model.train()
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x), y)
            if args.accumulation > 1:
                loss = loss / args.accumulation
            if args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            if (step + 1) % args.accumulation == 0:
                if args.fp16:
                    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.max_norm)
                else:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
                optimizer.step()
                scheduler.step()
                model.zero_grad()
        best = max(best, evaluate_NUMBER(model, test))
    return best
""",
        "train_NUMBER(args, loader, test)",
    ),
    (
        """\
class NetNUMBER(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))

    def forward(self, x):
        return self.body(x)


class Trainer_NUMBER:
    def __init__(self, args):
        self.args = args
        self.model = NetNUMBER().cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        self.history = []

    def compute_loss(self, batch):
        x, y = batch
        return F.mse_loss(self.model(x), y)

    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()

    def train_epoch(self, loader):
        self.model.train()
        for batch in loader:
            self.optimizer.zero_grad()
            loss = self.compute_loss(batch)
            self.backward(loss)
            self.optimizer.step()
            self.history.append(loss.item())

    def save(self, path):
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save(dict(state, amp=amp.state_dict()), path)

    def load(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        amp.load_state_dict(state["amp"])
""",
        "Trainer_NUMBER(args).train_epoch(loader)",
    ),
    (
        """\
def train_gan_NUMBER(args, loader):
    G, D = torch.nn.Linear(args.latent, 8).cuda(), torch.nn.Linear(8, 1).cuda()
    optG = torch.optim.Adam(G.parameters(), lr=args.lr)
    optD = torch.optim.Adam(D.parameters(), lr=args.lr)
    [G, D], [optG, optD] = amp.initialize([G, D], [optG, optD], opt_level="O1", num_losses=2)
    for real in loader:
        noise = torch.randn(real.size(0), args.latent, device=real.device)
        fake = G(noise)
        optD.zero_grad()
        lossD = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
        with amp.scale_loss(lossD, optD, loss_id=0) as scaled:
            scaled.backward()
        optD.step()
        optG.zero_grad()
        lossG = F.softplus(-D(fake)).mean()
        with amp.scale_loss(lossG, optG, loss_id=1) as scaled:
            scaled.backward()
        optG.step()
        print(lossD.item(), lossG.item())
""",
        "train_gan_NUMBER(args, loader)",
    ),
)


def training_functions(n: int) -> Files:
    """Functions that have nothing in common."""
    return {"x.py": HEAD + "\n\n".join(MAIN.replace("main", f"train_{i}") for i in range(n))}


def one_optimizer(n: int) -> Files:
    """Functions that are handed the same model and optimizer."""
    body = MAIN.split("    for x, y in loader:\n")
    parts = [f"def train_{i}(model, optimizer, loader):\n    for x, y in loader:\n{body[1]}" for i in range(n)]
    calls = "".join(f"    train_{i}(model, optimizer, loader)\n" for i in range(n))
    return {"x.py": HEAD + "\n\n".join(parts) + "\n\n" + body[0] + calls}


def whole_scripts(n: int) -> Files:
    """What scripts have, with parts of its own for each: a network, helpers, training, evaluation, resuming."""
    kinds = itertools.islice(itertools.cycle(KINDS), n)
    return {"x.py": HEAD + "\n\n".join(text.replace("NUMBER", str(i)) for i, (text, _) in enumerate(kinds))}


def one_of_many(n: int) -> Files:
    """The same, and a function that runs one of them."""
    calls = [call.replace("NUMBER", str(i)) for i, (_, call) in enumerate(itertools.islice(itertools.cycle(KINDS), n))]
    runs = "".join(f"    if args.kind == {i}:\n        {call}\n" for i, call in enumerate(calls))
    return {"x.py": whole_scripts(n)["x.py"] + f"\n\ndef main(args, loader, test):\n{runs}"}


def methods_of_one(n: int) -> Files:
    """Methods of one trainer, each of which trains what it holds and asks others of its methods."""
    head = (
        "class Trainer:\n    def __init__(self, args, model):\n        self.args = args\n"
        "        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        '        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")\n\n'
        "    def clip(self):\n"
        "        torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), self.args.clip)\n\n"
    )
    parts = [
        f"    def loss_{i}(self, x, y):\n        return F.cross_entropy(self.model(x), y) * {i + 1}\n\n"
        f"    def train_{i}(self, loader):\n        for x, y in loader:\n            loss = self.loss_{i}(x, y)\n"
        "            self.optimizer.zero_grad()\n"
        "            with amp.scale_loss(loss, self.optimizer) as scaled_loss:\n"
        "                scaled_loss.backward()\n            self.clip()\n            self.optimizer.step()\n\n"
        for i in range(n)
    ]
    return {"x.py": HEAD + head + "".join(parts)}


def calls_twice(n: int) -> Files:
    """Helpers each of which calls the next one twice: 2 ** n ways through them."""
    parts = [
        f"def helper_{i}(model, x):\n    return helper_{i + 1}(model, x) + helper_{i + 1}(model, x)\n\n\n"
        for i in range(n)
    ]
    parts.append(f"def helper_{n}(model, x):\n    return model(x)\n\n\n")
    return {"x.py": HEAD + "".join(parts) + MAIN.replace("model(x)", "helper_0(model, x)")}


def calls_in_calls(n: int) -> Files:
    """Calls of functions, methods and constructors of the program in each other, and of Python's."""
    own = (
        "class Held:\n    def __init__(self, x):\n        self.x = x\n\n"
        "    def me(self, y=0):\n        return self\n\n\n"
        "def given(x):\n    return x\n\n\ndef asked(a):\n    return a and given(a)\n\n\n"
    )
    lines = (
        f"out = {'given(' * n}model(x){')' * n}",
        f"held = {'Held(' * n}out{')' * n}{'.me(out)' * n}",
        f"if {'asked(' * n}args.flag{')' * n}:\n            print(held)",
        f"if args.options{'.get(1, {})' * n}:\n            print(out)",
        f"if args.name{'.lower().strip()' * n} == 'x':\n            print(out)",
    )
    body = "".join(f"        {line}\n" for line in lines)
    return {"x.py": HEAD + own + MAIN.replace("        loss =", f"{body}        loss =")}


def elif_chain(n: int) -> Files:
    """One ``if`` of many arms, in the loop."""
    arms = "".join(f"        {'elif' if i else 'if'} args.kind == {i}:\n            x = x * {i}\n" for i in range(n))
    return {"x.py": HEAD + MAIN.replace("        loss =", f"{arms}        loss =")}


def ifs_in_the_loop(n: int) -> Files:
    """Conditions one behind the other: 2 ** n paths."""
    ifs = "".join(f"        if args.flag_{i}:\n            print({i}, loss.item())\n" for i in range(n))
    return {"x.py": HEAD + MAIN + ifs}


def forwards(n: int) -> Files:
    """A loop in which a model runs many times."""
    more = "".join(f"        out = out + model(x + {i})\n" for i in range(n))
    made = f"        out = model(x)\n{more}        loss = F.cross_entropy(out, y)\n"
    return {"x.py": HEAD + MAIN.replace("        loss = F.cross_entropy(model(x), y)\n", made)}


def rounds_written_out(n: int) -> Files:
    """One function that trains again and again, without a loop."""
    rounds = (
        f"    x, y = loader[{i}]\n    loss = F.cross_entropy(model(x), y)\n    optimizer.zero_grad()\n"
        "    with amp.scale_loss(loss, optimizer) as scaled_loss:\n        scaled_loss.backward()\n"
        "    optimizer.step()\n"
        for i in range(n)
    )
    return {"x.py": HEAD + MAIN.partition("    for x, y")[0] + "".join(rounds)}


def optimizers(n: int) -> Files:
    """One loss, many optimizers."""
    made = "".join(f"    o{i} = torch.optim.SGD(model.parameters(), lr={i})\n" for i in range(n))
    names = ", ".join(f"o{i}" for i in range(n))
    text = MAIN.replace("    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n", made)
    text = text.replace("model, optimizer = amp", f"model, [{names}] = amp").replace(
        "(model, optimizer,", f"(model, [{names}],"
    )
    text = text.replace("(loss, optimizer)", f"(loss, [{names}])").replace("        optimizer.zero_grad()\n", "")
    steps = "".join(f"        o{i}.step()\n        o{i}.zero_grad()\n" for i in range(n))
    return {"x.py": HEAD + text.replace("        optimizer.step()\n", steps)}


def optimizers_in_arms(n: int) -> Files:
    """One optimizer of many that may be chosen."""
    made = "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    arms = "".join(f"    {'elif' if i else 'if'} args.kind == {i}:\n    {made}" for i in range(n))
    return {"x.py": HEAD + MAIN.replace(made, arms)}


def initializes_in_arms(n: int) -> Files:
    """A call of amp.initialize in each arm."""
    call = '    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")\n'
    arms = "".join(f"    {'elif' if i else 'if'} args.kind == {i}:\n    {call}" for i in range(n))
    return {"x.py": HEAD + MAIN.replace(call, arms)}


def scales_in_arms(n: int) -> Files:
    """A loss that is scaled in each arm of one ``if``."""
    block = "        with amp.scale_loss(loss, optimizer) as scaled_loss:\n            scaled_loss.backward()\n"
    inner = "".join(f"    {line}\n" for line in block.splitlines())
    arms = "".join(f"        {'elif' if i else 'if'} args.kind == {i}:\n{inner}" for i in range(n))
    return {"x.py": HEAD + MAIN.replace(block, f"{arms}        else:\n{inner}")}


def exits(n: int) -> Files:
    """A loop that is left in many places."""
    ways = "".join(f"        if args.flag_{i}:\n            return\n" for i in range(n))
    return {"x.py": HEAD + MAIN.replace("        loss =", f"{ways}        loss =")}


def cases(n: int) -> Files:
    """The cases of one ``match``."""
    arms = "".join(f"            case {i}:\n                x = x * {i}\n" for i in range(n))
    return {"x.py": HEAD + MAIN.replace("        loss =", f"        match args.kind:\n{arms}        loss =")}


def imports(n: int) -> Files:
    """Lines that import."""
    return {"x.py": "".join(f"import package{i}.part as part{i}\n" for i in range(n)) + HEAD + MAIN}


def handed_up(n: int) -> Files:
    """Names that are each given the value of the one before, from the last to the first: each round changes one."""
    lines = "".join(f"        v{i + 1} = v{i}\n" for i in reversed(range(n)))
    return {"x.py": HEAD + MAIN.replace("        loss =", f"{lines}        v0 = model\n        loss =")}


def stores(n: int) -> Files:
    """A dictionary that is filled item by item."""
    lines = "".join(f"        held['k{i}'] = x + {i}\n" for i in range(n))
    return {"x.py": HEAD + MAIN.replace("        loss =", f"        held = {{}}\n{lines}        loss =")}


def line_of_classes(n: int) -> Files:
    """Classes each of which asks its base."""
    parts = [
        f"class Layer{i}({f'Layer{i - 1}' if i else 'torch.nn.Module'}):\n    def forward(self, x):\n"
        f"        return {f'super().forward(x) + {i}' if i else 'x'}\n\n\n"
        for i in range(n)
    ]
    return {"x.py": HEAD + "".join(parts) + MAIN.replace("torch.nn.Linear(4, 2)", f"Layer{n - 1}()")}


def classes(n: int) -> Files:
    """Layers beside a training function."""
    parts = [
        f"class Layer{i}(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        f"        self.fc = torch.nn.Linear(width, width)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\n"
        for i in range(n)
    ]
    return {"x.py": HEAD + "".join(parts) + MAIN}


def attributes(n: int) -> Files:
    """A trainer that keeps everything in attributes, and hands itself around."""
    made = "".join(f"        self.a{i} = params.a{i}\n        self.b{i} = self.a{i}.b\n" for i in range(n))
    methods = "".join(
        f"    def step_{i}(self, x):\n        y = self.a{i}(self.b{i}, x)\n        self.stats['s{i}'].append(y)\n"
        f"        return self.a{(i + 1) % n}.next.b{i}(y)\n\n"
        for i in range(n)
    )
    trainer = "class Trainer:\n    def __init__(self, params):\n        self.stats = {}\n" + made + "\n" + methods
    return {"x.py": HEAD + trainer + "\n\n" + MAIN.replace("    for x", "    trainer = Trainer(args)\n    for x")}


def literal(n: int) -> Files:
    """A table of numbers in the middle of the file."""
    return {
        "x.py": HEAD + "TABLE = [\n" + "".join(f"    {i}, {i + 1}, {i + 2},\n" for i in range(n)) + "]\n\n\n" + MAIN
    }


def long_function(n: int) -> Files:
    """Statements that have no part in training."""
    lines = "".join(f"    value_{i} = args.value_{i} + {i}\n" for i in range(n))
    return {"x.py": HEAD + MAIN.replace("    model = torch", lines + "    model = torch")}


def cluster(n: int) -> Files:
    """Files that import names of each other, in two clusters, of which one has to stay."""
    files = {}
    for i in range(n):
        stuck = "    amp._amp_state.handle.mystery()\n" if i == 0 else ""
        imports = f"from f{(i + 2) % n} import helper as other\n"
        files[f"f{i}.py"] = HEAD + imports + "def helper(x):\n    return x\n\n\n" + MAIN + stuck
    return files


def names_of_amp(n: int) -> Files:
    """A name that is given amp again and again."""
    return {"x.py": HEAD + "held = amp\n" * n + "\n\n" + MAIN + "\n\nif held is not None:\n    main(None, [])\n"}


def amp_of_amp(n: int) -> Files:
    """Names that stand for something of themselves."""
    return {"x.py": "import apex\n" + "apex = apex.amp\n" * n + "x = apex\nwhile x:\n    x = x.next\n"}


SHAPES: dict[Callable[[int], Files], tuple[int, ...]] = {
    training_functions: (30, 60, 120),
    one_optimizer: (25, 50, 100),
    whole_scripts: (12, 24, 48),
    one_of_many: (6, 12, 24),
    methods_of_one: (25, 50, 100),
    calls_twice: (12, 24, 48),
    calls_in_calls: (5, 10, 20),
    elif_chain: (200, 400, 800),
    ifs_in_the_loop: (25, 50, 100),
    forwards: (25, 50, 100),
    rounds_written_out: (50, 100, 200),
    optimizers: (200, 400, 800),
    optimizers_in_arms: (50, 100, 200),
    initializes_in_arms: (25, 50, 100),  # more are left
    scales_in_arms: (50, 100, 200),
    exits: (200, 400, 800),
    cases: (200, 400, 800),
    imports: (1000, 2000, 4000),
    handed_up: (200, 400, 800),
    stores: (1250, 2500, 5000),
    line_of_classes: (25, 50, 100),
    classes: (500, 1000, 2000),
    attributes: (50, 100, 200),
    literal: (25_000, 50_000, 100_000),
    long_function: (1000, 2000, 4000),
    cluster: (100, 200, 400),
    names_of_amp: (1000, 2000, 4000),
    amp_of_amp: (1, 2, 4),
}


class Cost(NamedTuple):
    seconds: float  # of CPU, of all processes
    megabytes: float  # of the largest process


def measure(files: Files, limit: float) -> Cost | None:
    """One migration, dry; None where it takes longer than ``limit``."""
    with tempfile.TemporaryDirectory(prefix="apex2native-bench-") as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "migrate", "--check", "-j", "1", folder]
        environment = dict(os.environ, PYTHONPYCACHEPREFIX=str(CACHES))
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit))),
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            return None
        return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)


def of_lines(shape: Callable[[int], Files], lines: int) -> str:
    """One file of a shape, of as many lines as it has at most."""

    def text(n: int) -> str:
        (only,) = shape(n).values()
        return only

    first, more = (text(n).count("\n") for n in (2, 102))
    return text(2 + 100 * (lines - first) // (more - first))


def parsed(text: str) -> float:
    """The seconds of CPU of one `ast.parse`, the median of several."""
    times = []
    for _ in range(5):
        begun = time.process_time()
        ast.parse(text)
        times.append(time.process_time() - begun)
    return sorted(times)[2]


def beside_parsing(lines: int, chosen: Sequence[str], limit: float) -> None:
    """Files of one length: what each costs, the whole process, and what it may."""
    for shape in SHAPES:
        if shape in (cluster, calls_twice, calls_in_calls, amp_of_amp) or (chosen and shape.__name__ not in chosen):
            continue
        text = of_lines(shape, lines)
        before, cost, after = parsed(text), measure({"x.py": text}, limit), parsed(text)
        bound = max(2.0, 100 * (before + after) / 2)
        took = f"{cost.seconds:.2f} s {cost.megabytes:.0f} MB" if cost is not None else f"over {limit:.0f} s"
        print(f"{shape.__name__:<20}{took}, bound {bound:.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="How the time of a migration grows with a program.")
    parser.add_argument("shapes", nargs="*", choices=[[], *(one.__name__ for one in SHAPES)])
    parser.add_argument("--limit", type=float, default=60, help="seconds of CPU for one migration")
    parser.add_argument("--lines", type=int, help="one file of so many lines of each shape, beside its `ast.parse`")
    options = parser.parse_args()
    measure({"x.py": HEAD + MAIN}, options.limit)  # modules are compiled once
    if options.lines is not None:
        beside_parsing(options.lines, options.shapes, options.limit)
        return
    least = measure({"x.py": HEAD + MAIN}, options.limit)
    assert least is not None
    print(f"the smallest program takes {least.seconds:.2f} s and {least.megabytes:.0f} MB", flush=True)
    for shape, sizes in SHAPES.items():
        if options.shapes and shape.__name__ not in options.shapes:
            continue
        row, times = [], []
        for size in sizes:
            cost = measure(shape(size), options.limit)
            if cost is None:
                row.append(f"{size}: over {options.limit:.0f} s")
                break
            times.append(max(cost.seconds - least.seconds, 0.01))
            row.append(f"{size}: {times[-1]:.2f} s {cost.megabytes:.0f} MB")
        grown = [math.log(b / a) / math.log(sizes[1] / sizes[0]) for a, b in itertools.pairwise(times)]
        exponent = f"{grown[-1]:.2f}" if grown else "-"
        print(f"{shape.__name__:<20}{exponent:>6}   {'   '.join(row)}", flush=True)


if __name__ == "__main__":
    main()

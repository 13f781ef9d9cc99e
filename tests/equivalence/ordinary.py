"""Ordinary legacy training programs: combinations of common shapes, and the applicability they deserve.

A `Program` is plain data drawn by hypothesis (`programs`); `render` writes it as a person would have.
Overflows come out of the data (a batch of infinities), as they do in life. Less ordinary ones: generate.py.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from hypothesis import strategies as st

from migrate.model import Applicability

from .harness import Header

GUARD = "args.fp16"
INDENT = "    "


@dataclass(frozen=True)
class Program:
    """``kind``: one model, two that step apart, or two whose optimizers share one ``scale_loss``."""

    kind: str = "single"
    split: str = "main"
    imports: str = "plain"
    guard: str = "none"
    level: str = "O1"
    loss_scale: str = ""
    num_losses: bool = False
    loop: str = "enumerate"
    loss: str = "two lines"
    accumulate: int = 1
    clip: str = "none"
    zero: str = "before"
    optimizer: str = "sgd"
    scheduler: bool = False
    log: str = "each"
    evaluate: str = "none"
    save: bool = False
    bad: tuple[int, ...] = ()

    @property
    def guarded(self) -> bool:
        return self.guard != "none"

    @property
    def expect(self) -> Applicability:
        """By the table of docs: another level than O0 or O1, a fixed scale, several scales, a shared skip."""
        review = self.level == "O2" or self.loss_scale == "128.0" or self.num_losses or self.kind == "joint"
        return Applicability.REVIEW if review else Applicability.SAFE

    @property
    def header(self) -> Header:
        runs = ((), ("--fp16",)) if self.guarded else ((),)
        # A fixed scale lets infinities through in Apex; native AMP skips the step.
        lets_through = self.loss_scale == "128.0" and self.level != "O0" and bool(self.bad)
        return Header(
            self.expect,
            runs=runs,
            differs=frozenset({"weights", "stdout", "steps"} if lets_through else ()),
            exact=False,
        )


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Any combination that a person could have written."""
    pick = st.sampled_from
    kind = draw(pick(["single"] * 4 + ["apart", "joint"]))
    single = kind == "single"
    split = draw(pick(["main", "function", "class", "helper"] if single else ["main", "function"]))
    guard = draw(pick(["none", "if", "swapped", "enabled"]))
    accumulate = draw(pick([1, 1, 2, 3])) if single else 1
    # At O0 nothing is scaled or skipped, and what two optimizers share plays no part.
    level = draw(pick(["O1", "O1", "O1", "default", "O2", *(["O0"] if single else [])]))
    clips = ["none", "model"] if level != "O2" else ["none"]
    if guard == "none" and level != "O0":
        clips.append("master")
    if guard in ("if", "swapped"):
        clips += ["inline"] if accumulate > 1 or split == "helper" else ["arms", "inline"]
    return Program(
        kind=kind,
        split=split,
        imports=draw(pick(["plain", "module", "raise", "flag"])),
        guard=guard,
        level=level,
        loss_scale=draw(pick(["", "", "", '"dynamic"', "128.0"])) if level in ("O1", "O2") else "",
        num_losses=draw(st.booleans()) if kind == "apart" else False,
        loop=draw(pick(["enumerate", "range", "while"])),
        loss=draw(pick(["two lines", "one line", "criterion", "function"])),
        accumulate=accumulate,
        clip=draw(pick(clips)) if single else "none",
        zero=draw(pick(["before", "after"])),
        optimizer=draw(pick(["sgd", "momentum", "adam"])),
        scheduler=draw(st.booleans()) if single else False,
        log=draw(pick(["none", "each", "total"])),
        evaluate=draw(pick(["none", "inline", "function"])) if single else "none",
        save=draw(st.booleans()) if guard != "enabled" and level != "O0" else False,
        bad=tuple(sorted(draw(st.sets(st.integers(0, 5), max_size=2)))),
    )


# ---------------------------------------------------------------- rendering

_IMPORTS = {
    "plain": "from apex import amp\n",
    "module": "import apex\n",
    "raise": "try:\n    from apex import amp\n"
    'except ImportError:\n    raise ImportError("Please install apex from https://www.github.com/nvidia/apex")\n',
    "flag": "try:\n    from apex import amp\n    HAS_APEX = True\nexcept ImportError:\n    HAS_APEX = False\n",
}
_OPTIMIZERS = {
    "sgd": "torch.optim.SGD({}.parameters(), lr=0.1)",
    "momentum": "torch.optim.SGD({}.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)",
    "adam": "torch.optim.Adam({}.parameters(), lr=1e-2)",
}
_DATA = """
def make_model(width):
    return nn.Sequential(nn.Linear(5, width), nn.ReLU(), nn.Linear(width, 3)).cuda()


def make_batches():
    generator = torch.Generator().manual_seed(7)
    found = []
    for number in range(6):
        x = torch.randn(4, 5, generator=generator)
        y = torch.randint(0, 3, (4,), generator=generator)
        if number in BAD:
            x = x * float("inf")
        found.append((x.cuda(), y.cuda(non_blocking=True)))
    return found
"""


class _Writer:
    """Renders one program; ``lines`` of a body are joined and indented where they are used."""

    def __init__(self, program: Program) -> None:
        self.p = program
        self.amp = "apex.amp" if program.imports == "module" else "amp"
        self.own = "self." if program.split == "class" else ""
        self.args = self.own + "args"
        self.model, self.optimizer = self.own + "model", self.own + "optimizer"

    def text(self) -> str:
        p = self.p
        parts = [
            "import argparse\n\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n",
            _IMPORTS[p.imports],
            f"BAD = {p.bad!r}\n{_DATA}",
        ]
        if p.loss == "function":
            parts.append("def compute_loss(model, x, y):\n    out = model(x)\n    return F.cross_entropy(out, y)\n")
        if p.evaluate == "function":
            parts.append(self._evaluate_function())
        if p.split == "helper":
            parts.append(self._block("def backward_pass(args, loss, optimizer):", self._backward("loss", "optimizer")))
        parts += {"class": self._class, "function": self._function}.get(p.split, self._main)()
        call = "Trainer(parse()).train()" if p.split == "class" else "main()"
        parts.append(f'if __name__ == "__main__":\n    {call}\n')
        return "\n\n".join(part.strip("\n") + "\n" for part in parts)

    # -- the frame around the loop

    @staticmethod
    def _block(head: str, body: str) -> str:
        return head + "\n" + textwrap.indent(body, INDENT)

    def _parse(self) -> str:
        return (
            "parser = argparse.ArgumentParser()\n"
            'parser.add_argument("--fp16", action="store_true", help="mixed precision")\n'
        )

    def _setup(self) -> str:
        p = self.p
        if p.kind == "single":
            optimizer = _OPTIMIZERS[p.optimizer].format(self.model)
            made = f"{self.model} = make_model(8)\n{self.optimizer} = {optimizer}\n"
            models, optimizers = self.model, self.optimizer
            back = f"{models}, {optimizers}"
        else:
            made = "".join(
                f"{name} = make_model({width})\nopt_{name} = {_OPTIMIZERS[p.optimizer].format(name)}\n"
                for name, width in (("first", 6), ("second", 9))
            )
            models, optimizers = "[first, second]", "[opt_first, opt_second]"
            back = f"{models}, {optimizers}"
        options = "" if p.level == "default" else f', opt_level="{p.level}"'
        options += f", loss_scale={p.loss_scale}" if p.loss_scale else ""
        options += ", num_losses=2" if p.num_losses else ""
        options += f", enabled={self.args}.fp16" if p.guard == "enabled" else ""
        call = f"{back} = {self.amp}.initialize({models}, {optimizers}{options})\n"
        if p.guard in ("if", "swapped"):
            call = self._block(f"if {self.args}.fp16:", call)
        text = "torch.manual_seed(0)\n" + made + call
        if p.scheduler:
            made = f"torch.optim.lr_scheduler.StepLR({self.optimizer}, step_size=2, gamma=0.5)"
            text += f"{self.own}scheduler = {made}\n"
        if p.loss == "criterion":
            text += f"{self.own}criterion = nn.CrossEntropyLoss().cuda()\n"
        return text

    def _main(self) -> list[str]:
        body = f"{self._parse()}args = parser.parse_args()\n{self._setup()}\n{self._loop()}{self._end()}"
        return [self._block("def main():", body)]

    def _function(self) -> list[str]:
        p = self.p
        objects = ["model", "optimizer"] if p.kind == "single" else ["first", "second", "opt_first", "opt_second"]
        objects += ["scheduler"] if p.scheduler else []
        objects += ["criterion"] if p.loss == "criterion" else []
        inside = ", ".join(["args", *objects])
        body = f"{self._parse()}args = parser.parse_args()\n{self._setup()}train({inside})\n{self._end()}"
        return [self._block(f"def train({inside}):", self._loop()), self._block("def main():", body)]

    def _class(self) -> list[str]:
        methods = [
            self._block("def __init__(self, args):", f"self.args = args\n{self._setup()}"),
            self._block("def train(self):", self._loop() + self._end()),
        ]
        return [
            self._block("def parse():", f"{self._parse()}return parser.parse_args()\n"),
            self._block("class Trainer:", "\n".join(methods)),
        ]

    # -- the loop

    def _loop(self) -> str:
        p = self.p
        before = "total = 0.0\n" if p.log == "total" else ""
        before += f"{self.optimizer}.zero_grad()\n" if p.zero == "after" and p.kind == "single" else ""
        body = self._single() if p.kind == "single" else self._pair()
        if p.loop == "enumerate":
            text = self._block("for step, (x, y) in enumerate(make_batches()):", body)
        elif p.loop == "range":
            text = "batches = make_batches()\n" + self._block(
                "for epoch in range(2):",
                self._block("for step in range(len(batches)):", "x, y = batches[step]\n" + body),
            )
        else:
            text = "batches = make_batches()\nstep = 0\n" + self._block(
                "while step < len(batches):", "x, y = batches[step]\n" + body + "step += 1\n"
            )
        after = 'print("total", total)\n' if p.log == "total" else ""
        return before + text + after

    def _forward(self, model: str, loss: str) -> str:
        kind = self.p.loss
        if kind == "two lines":
            return f"out = {model}(x)\n{loss} = F.cross_entropy(out, y)\n"
        if kind == "one line":
            return f"{loss} = F.cross_entropy({model}(x), y)\n"
        if kind == "criterion":
            return f"logits = {model}(x)\n{loss} = {self.own}criterion(logits, y)\n"
        return f"{loss} = compute_loss({model}, x, y)\n"

    def _backward(self, loss: str, optimizer: str, loss_id: int | None = None) -> str:
        p = self.p
        extra = f", loss_id={loss_id}" if p.num_losses and loss_id is not None else ""
        scaled = self._block(
            f"with {self.amp}.scale_loss({loss}, {optimizer}{extra}) as scaled_loss:",
            "scaled_loss.backward()\n",
        )
        plain = f"{loss}.backward()\n"
        if p.clip == "arms":
            scaled += self._clip(f"{self.amp}.master_params({optimizer})")
            plain += self._clip(f"{self.model}.parameters()")
        args = "args" if p.split == "helper" else self.args
        if p.guard == "if":
            return self._block(f"if {args}.fp16:", scaled) + self._block("else:", plain)
        if p.guard == "swapped":
            return self._block(f"if not {args}.fp16:", plain) + self._block("else:", scaled)
        return scaled

    @staticmethod
    def _clip(params: str) -> str:
        return f"torch.nn.utils.clip_grad_norm_({params}, 0.5)\n"

    def _step(self) -> str:
        clip = self.p.clip
        masters = f"{self.amp}.master_params({self.optimizer})"
        text = {
            "model": self._clip(f"{self.model}.parameters()"),
            "master": self._clip(masters),
            "inline": self._clip(f"{masters} if {self.args}.fp16 else {self.model}.parameters()"),
        }.get(clip, "")
        text += f"{self.optimizer}.step()\n"
        text += f"{self.own}scheduler.step()\n" if self.p.scheduler else ""
        return text

    def _single(self) -> str:
        p = self.p
        text = "# forward and loss of this batch\n" + self._forward(self.model, "loss")
        if p.accumulate > 1:
            text += f"loss = loss / {p.accumulate}\n"
        if p.zero == "before" and p.accumulate == 1:
            text += f"{self.optimizer}.zero_grad()\n"
        if p.split == "helper":
            text += "backward_pass(args, loss, optimizer)\n"
        else:
            text += self._backward("loss", self.optimizer)
        clear = f"{self.optimizer}.zero_grad()\n"
        if p.accumulate > 1:
            text += self._block(f"if (step + 1) % {p.accumulate} == 0:", self._step() + clear)
        else:
            text += self._step() + (clear if p.zero == "after" else "")
        return text + self._log("loss")

    def _pair(self) -> str:
        if self.p.kind == "joint":
            return (
                self._forward("first", "loss_first")
                + self._forward("second", "loss_second")
                + "loss = loss_first + loss_second\nopt_first.zero_grad()\nopt_second.zero_grad()\n"
                + self._backward("loss", "[opt_first, opt_second]")
                + "opt_first.step()\nopt_second.step()\n"
                + self._log("loss")
            )
        text = ""
        for number, name in enumerate(("first", "second")):
            text += self._forward(name, f"loss_{name}") + f"opt_{name}.zero_grad()\n"
            text += self._backward(f"loss_{name}", f"opt_{name}", number) + f"opt_{name}.step()\n"
        return text + self._log("loss_second")

    def _log(self, loss: str) -> str:
        return {
            "each": f'print("step", step, "loss", {loss}.item())\n',
            "total": f"total += {loss}.item()\n",
        }.get(self.p.log, "")

    # -- after it

    def _evaluate_function(self) -> str:
        body = (
            "model.eval()\nwith torch.no_grad():\n    for x, y in make_batches():\n"
            "        out = model(x)\n        # one number a batch\n        print(out.sum().item())\n"
            "model.train()\n"
        )
        return self._block("def evaluate(args, model):", body)

    def _end(self) -> str:
        p = self.p
        text = ""
        if p.evaluate == "function":
            text += f"evaluate({self.args}, {self.model})\n"
        elif p.evaluate == "inline":
            text += self._block(
                "with torch.no_grad():",
                f"for x, y in make_batches():\n    correct = ({self.model}(x).argmax(1) == y).sum()\n"
                '    print("correct", correct.item())\n',
            )
        if p.save:
            first = self.model if p.kind == "single" else "first"
            state = f'{{"model": {first}.state_dict(), "amp": {self.amp}.state_dict()}}'
            if p.guarded:
                text += f'checkpoint = {{"model": {first}.state_dict()}}\n' + self._block(
                    f"if {self.args}.fp16:", f'checkpoint["amp"] = {self.amp}.state_dict()\n'
                )
                text += 'torch.save(checkpoint, "last.pt")\n'
            else:
                text += f'torch.save({state}, "last.pt")\n'
        return text


def render(program: Program) -> str:
    """The program as Python text."""
    return _Writer(program).text()

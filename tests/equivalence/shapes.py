"""What one person or another writes in the loop of a training program: the shapes that generate.py puts together.

Every shape is a small function that returns its lines, without indentation. They know each other through `Scene`.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

BATCHES = 7


@dataclass
class Scene:
    """What the shapes of one program have to know of each other."""

    rng: random.Random
    layout: str
    guard: str
    amp: str = "amp"
    own: str = ""  # "self." in a class
    leave: str = "continue"  # how a batch is given up
    stop: str = "break"  # how training ends early
    bad: tuple[int, ...] = ()
    net_class: bool = False
    accumulate: int = 1
    casts: bool = False
    do_train: bool = False
    catches: bool = False  # StopTraining is caught around the training
    definitions: dict[str, str] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)  # of the trainer, in a class
    before: list[str] = field(default_factory=list)  # lines before the loop
    shapes: list[str] = field(default_factory=list)

    @property
    def model(self) -> str:
        return self.own + "model"

    @property
    def optimizer(self) -> str:
        return self.own + "optimizer"

    @property
    def args(self) -> str:
        return self.own + "args"

    @property
    def params(self) -> str:
        return f"{self.model}.parameters()"

    def pick(self, choices: Sequence[T]) -> T:
        return self.rng.choice(choices)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def shape(self, choices: Sequence[Shape]) -> str:
        """The lines of one of them."""
        chosen = self.pick(choices)
        self.shapes.append(chosen.__name__)
        return chosen(self)

    def define(self, name: str, text: str) -> str:
        """A function or class of the top level, once."""
        self.definitions.setdefault(name, text)
        return name


Shape = Callable[[Scene], str]


def block(head: str, body: str) -> str:
    return head + "\n" + textwrap.indent(body, "    ")


# ---------------------------------------------------------------- definitions that shapes use

GRAD_NORM = """\
def grad_norm(model):
    total = 0.0
    for p in model.parameters():
        if p.grad is not None:
            total += p.grad.detach().norm(2).item() ** 2
    return total ** 0.5
"""
HALVE = """\
def halve_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(0.5)
"""
SHOW = """\
def show_gradient(module):
    if isinstance(module, nn.Linear) and module.weight.grad is not None:
        print("  %.5f" % module.weight.grad.abs().mean().item())
"""
CALLBACKS = """\
class Callbacks:
    def after_backward(self, step, model):
        print("  gradients of step", step, ["%.4f" % p.grad.abs().sum().item() for p in model.parameters()])
"""
STOP = """\
class StopTraining(Exception):
    pass
"""
MAY_FAIL = """\
def may_fail(step, at):
    # stands for CUDA running out of memory on a long batch
    if step == at:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
"""
EVALUATE = """\
def evaluate(model, batches):
    model.eval()
    correct, seen, losses = 0, 0, 0.0
    with torch.no_grad():
        for x, y in batches:
            out = model(x)
            losses += F.cross_entropy(out, y).item()
            correct += (out.argmax(dim=1) == y).sum().item()
            seen += y.size(0)
    model.train()
    print("eval loss %.4f acc %d/%d" % (losses / len(batches), correct, seen))
    return correct / seen
"""
EVALUATE_DECORATED = """\
@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    scores = [model(x).max(dim=1)[0].mean().item() for x, _ in batches]
    model.train()
    print("eval", ["%.4f" % one for one in scores])
    return sum(scores)
"""
SEQUENTIAL = """\
def make_model(width=8):
    return nn.Sequential(nn.Linear(5, width), nn.ReLU(), nn.Linear(width, 3)).cuda()
"""
NET = """\
class Net(nn.Module):
    def __init__(self, width):
        super(Net, self).__init__()
        self.body = nn.Linear(5, width)
        self.head = nn.Linear(width, 3)

    @property
    def gradient(self):
        return sum(p.grad.abs().sum().item() for p in self.parameters() if p.grad is not None)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


def make_model(width=8):
    return Net(width).cuda()
"""
MAKE_BATCHES = """\
def make_batches(count, bad=()):
    generator = torch.Generator().manual_seed(7)
    batches = []
    for number in range(count):
        x = torch.randn(4, 5, generator=generator)
        y = torch.randint(0, 3, (4,), generator=generator)
        if number in bad:
            x = x * float("inf")
        batches.append((x.cuda(), y.cuda()))
    return batches
"""


def grad_norm(s: Scene) -> str:
    return s.define("grad_norm", GRAD_NORM) + f"({s.model})"


def evaluation(s: Scene) -> str:
    s.define("evaluate", s.pick([EVALUATE, EVALUATE, EVALUATE_DECORATED]))
    return f"evaluate({s.model}, make_batches(3))\n"


# ---------------------------------------------------------------- forward and loss


def loss_of_two_lines(s: Scene) -> str:
    return f"out = {s.model}(x)\nloss = F.cross_entropy(out, y)\n"


def loss_of_one_line(s: Scene) -> str:
    return f"loss = F.cross_entropy({s.model}(x), y)\n"


def loss_by_criterion(s: Scene) -> str:
    s.before.append(f"{s.own}criterion = nn.CrossEntropyLoss().cuda()\n")
    return f"out = {s.model}(x)\nloss = {s.own}criterion(out, y)\n"


def loss_by_function(s: Scene) -> str:
    s.define("compute_loss", "def compute_loss(model, x, y):\n    out = model(x)\n    return F.cross_entropy(out, y)\n")
    return f"loss = compute_loss({s.model}, x, y)\n"


def loss_with_penalty(s: Scene) -> str:
    penalty = f"sum(p.pow(2).sum() for p in {s.params})"
    return f"out = {s.model}(x)\nloss = F.cross_entropy(out, y)\nif step > 1:\n    loss = loss + 1e-3 * {penalty}\n"


def loss_by_lambda(s: Scene) -> str:
    s.before.append(f"{s.own}loss_fn = lambda out, y: F.cross_entropy(out, y)\n")
    return f"loss = {s.own}loss_fn({s.model}(x), y)\n"


def loss_of_two_views(s: Scene) -> str:
    return (
        f"loss = 0\nfor view in (x, x.flip(0)):\n    loss = loss + F.mse_loss({s.model}(view), {s.model}(x).detach())\n"
    )


LOSSES: list[Shape] = [
    loss_of_two_lines,
    loss_of_two_lines,
    loss_of_one_line,
    loss_by_criterion,
    loss_by_function,
    loss_with_penalty,
    loss_by_lambda,
    loss_of_two_views,
]


# ---------------------------------------------------------------- odd places before the backward


def bad_loss(s: Scene) -> str:
    return f'if step == {s.rng.randrange(BATCHES)}:\n    loss = loss * float("{s.pick(["nan", "inf"])}")\n'


def skips_a_bad_loss(s: Scene) -> str:
    return block("if not math.isfinite(loss.item()):", f'print("bad loss at", step)\n{s.leave}\n')


def skips_before_the_forward(s: Scene) -> str:
    return f"if step == {s.rng.randrange(BATCHES)}:\n    {s.leave}\n"


# ---------------------------------------------------------------- between backward and step: readers


def prints_norm(s: Scene) -> str:
    return f'print("  norm %.5f" % {grad_norm(s)})\n'


def reads_in_an_if_header(s: Scene) -> str:
    return block(f"if {grad_norm(s)} > 2.0:", 'print("  large gradient at", step)\n')


def reads_in_a_while_header(s: Scene) -> str:
    s.define("halve_gradients", HALVE)
    body = f"halve_gradients({s.model})\ntries += 1\n"
    return "tries = 0\n" + block(f"while {grad_norm(s)} > 0.5 and tries < 3:", body)


def reads_in_an_assert(s: Scene) -> str:
    return f'assert not {grad_norm(s)} > 1e3 or step in {s.bad!r}, "gradients exploded"\n'


def reads_in_a_conditional_expression(s: Scene) -> str:
    return f'state = "large" if {grad_norm(s)} > 1.5 else "small"\nprint("  gradients are", state)\n'


def reads_in_a_comprehension(s: Scene) -> str:
    norms = f"[p.grad.norm() for p in {s.params} if p.grad is not None]"
    return f'norms = {norms}\nprint("  largest %.5f" % max(norms).item())\n'


def reads_in_an_f_string(s: Scene) -> str:
    return f'print(f"  first gradient {{next({s.params}).grad.abs().mean().item():.5f}}")\n'


def reads_by_apply(s: Scene) -> str:
    return f"{s.model}.apply({s.define('show_gradient', SHOW)})\n"


def reads_by_getattr(s: Scene) -> str:
    s.define("Callbacks", CALLBACKS)
    hook = f"hook(step, {s.model})\n"
    return 'hook = getattr(Callbacks(), "after_backward", None)\n' + block("if hook is not None:", hook)


def reads_by_property(s: Scene) -> str:
    if not s.net_class:
        return prints_norm(s)
    return f'print("  gradient %.5f" % {s.model}.gradient)\n'


def reads_by_method(s: Scene) -> str:
    if not s.own:
        return reads_in_a_comprehension(s)
    body = 'total = sum(p.grad.norm().item() for p in self.model.parameters())\nprint("  %s %.5f" % (tag, total))\n'
    s.methods["log_gradients"] = block("def log_gradients(self, tag):", body)
    return 'self.log_gradients("norm")\n'


def changes_gradients_in_place(s: Scene) -> str:
    change = s.pick(["p.grad.add_(p.detach(), alpha=1e-2)", "p.grad.data.clamp_(-0.1, 0.1)", "p.grad *= 0.5"])
    return block(f"for p in {s.params}:", block("if p.grad is not None:", change + "\n"))


def clips_values(s: Scene) -> str:
    return f"torch.nn.utils.clip_grad_value_({s.params}, 0.05)\n"


READERS: list[Shape] = [
    prints_norm,
    reads_in_an_if_header,
    reads_in_a_while_header,
    reads_in_an_assert,
    reads_in_a_conditional_expression,
    reads_in_a_comprehension,
    reads_in_an_f_string,
    reads_by_apply,
    reads_by_getattr,
    reads_by_property,
    reads_by_method,
    changes_gradients_in_place,
    clips_values,
]


# ---------------------------------------------------------------- between backward and step: exits and guards


def _giving_up(s: Scene) -> str:
    """Leaves the batch, usually with its gradients dropped."""
    zero = f"{s.optimizer}.zero_grad()\n" if s.chance(0.7) else ""
    said = 'print("  skipped step", step)\n' if s.chance(0.5) else ""
    return said + zero + s.leave + "\n"


def guards_against_an_infinite_norm(s: Scene) -> str:
    norm = f"norm = torch.nn.utils.clip_grad_norm_({s.params}, 1.0)\n"
    return norm + block("if not torch.isfinite(norm):", _giving_up(s))


def guards_against_nan_gradients(s: Scene) -> str:
    return block(f"if any(torch.isnan(p.grad).any() for p in {s.params}):", _giving_up(s))


def guards_against_large_gradients(s: Scene) -> str:
    return block(f"if {grad_norm(s)} > 1.5:", _giving_up(s))


def guards_against_a_bad_loss(s: Scene) -> str:
    return block("if math.isnan(loss.item()):", _giving_up(s))


def leaves_after_backward(s: Scene) -> str:
    return block(f"if step == {s.rng.randrange(BATCHES)}:", _giving_up(s))


def stops_after_backward(s: Scene) -> str:
    return block(f"if loss.item() < {s.pick(['0.9', '1.05'])}:", f'print("good enough")\n{s.stop}\n')


def stops_at_a_step(s: Scene) -> str:
    return block(f"if step >= {s.rng.randrange(2, BATCHES)}:", s.stop + "\n")


def raises_after_backward(s: Scene) -> str:
    s.catches = True
    s.define("StopTraining", STOP)
    return block(f"if step == {s.rng.randrange(1, BATCHES)}:", 'raise StopTraining("step %d" % step)\n')


EXITS: list[Shape] = [
    guards_against_an_infinite_norm,
    guards_against_an_infinite_norm,
    guards_against_nan_gradients,
    guards_against_large_gradients,
    guards_against_a_bad_loss,
    leaves_after_backward,
    stops_after_backward,
    stops_at_a_step,
    raises_after_backward,
]


# ---------------------------------------------------------------- after the step


def prints_the_loss(s: Scene) -> str:
    return 'print("step", step, "loss %.5f" % loss.item())\n'


def prints_now_and_then(s: Scene) -> str:
    return block("if step % 2 == 0:", prints_the_loss(s))


def reads_gradients_after_the_step(s: Scene) -> str:
    return block("if step % 3 == 2:", prints_norm(s))


def evaluates_now_and_then(s: Scene) -> str:
    return block("if step % 3 == 2:", evaluation(s))


def prints_types(s: Scene) -> str:
    """What leaves the forward, and what metrics make of it."""
    s.casts = True
    metric = s.pick(
        [
            "F.softmax(scores, dim=1)",
            "scores.sum()",
            "scores.exp().mean()",
            "scores.norm(dim=1)",
            "scores.std()",
            "torch.stack([scores, scores]).mean(0)",
            "scores.float().var()",
            "F.cross_entropy(scores, y)",
        ]
    )
    return f'with torch.no_grad():\n    scores = {s.model}(x)\nprint("  metric", {metric}.dtype)\n'


LOGS: list[Shape] = [
    prints_the_loss,
    prints_the_loss,
    prints_the_loss,
    prints_now_and_then,
    prints_now_and_then,
    reads_gradients_after_the_step,
    evaluates_now_and_then,
    prints_types,
]


# ---------------------------------------------------------------- backward and step


def scaled_backward(s: Scene, loss: str, optimizer: str, retain: bool = False) -> str:
    """The statement with ``scale_loss``, in the form that the guard asks for."""
    call = "backward(retain_graph=True)" if retain else "backward()"
    head = f"with {s.amp}.scale_loss({loss}, {optimizer}) as scaled_loss:"
    scaled, plain = block(head, f"scaled_loss.{call}\n"), f"{loss}.{call}\n"
    if s.guard == "if":
        return block(f"if {s.args}.fp16:", scaled) + block("else:", plain)
    if s.guard == "swapped":
        return block(f"if not {s.args}.fp16:", plain) + block("else:", scaled)
    return scaled


def clip(s: Scene) -> str:
    form = s.rng.randrange(4)
    if form == 0 and s.guard in ("", "level"):
        return f"torch.nn.utils.clip_grad_norm_({s.amp}.master_params({s.optimizer}), 0.5)\n"
    if form == 1 and s.guard in ("if", "swapped"):
        chosen = f"{s.amp}.master_params({s.optimizer}) if {s.args}.fp16 else {s.params}"
        return f"torch.nn.utils.clip_grad_norm_({chosen}, 0.5)\n"
    return f"torch.nn.utils.clip_grad_norm_({s.params}, 0.5)\n"


def between(s: Scene) -> str:
    """What stands between backward and step: mostly a clip or nothing, sometimes something odd."""
    odd = s.pick([0, 0, 0, 1, 1, 1, 2])
    lines = [s.shape(READERS + EXITS) for _ in range(odd)]
    lines += [clip(s)] if s.chance(0.4) else []
    s.rng.shuffle(lines)
    return "".join(lines)


def step_and_zero(s: Scene) -> str:
    scheduler = f"{s.own}scheduler.step()\n" if s.chance(0.2) else ""
    if scheduler:
        s.before.append(f"{s.own}scheduler = torch.optim.lr_scheduler.StepLR({s.optimizer}, step_size=2, gamma=0.5)\n")
    zero = s.pick(
        [f"{s.optimizer}.zero_grad()\n", f"{s.model}.zero_grad()\n", f"{s.optimizer}.zero_grad(set_to_none=False)\n"]
    )
    return f"{s.optimizer}.step()\n" + (scheduler + zero if s.chance(0.5) else zero + scheduler)


def every_batch(s: Scene) -> str:
    zero = f"{s.optimizer}.zero_grad()\n"
    if s.chance(0.5):  # before the backward
        step = f"{s.optimizer}.step()\n"
        return zero + scaled_backward(s, "loss", s.optimizer) + between(s) + step
    return scaled_backward(s, "loss", s.optimizer) + between(s) + step_and_zero(s)


def accumulates(s: Scene) -> str:
    s.accumulate = count = s.pick([2, 3, 4])
    condition = f"(step + 1) % {count} == 0"
    if s.chance(0.4):
        condition += f" or step + 1 == {BATCHES}"
    body = f"loss = loss / {count}\n" + scaled_backward(s, "loss", s.optimizer)
    return body + block(f"if {condition}:", between(s) + step_and_zero(s))


def accumulates_by_leaving(s: Scene) -> str:
    s.accumulate = count = s.pick([2, 3])
    body = f"loss = loss / {count}\n" + scaled_backward(s, "loss", s.optimizer)
    return body + block(f"if (step + 1) % {count} != 0:", s.leave + "\n") + between(s) + step_and_zero(s)


def two_losses(s: Scene) -> str:
    """Two backwards before one step."""
    zero = f"{s.optimizer}.zero_grad()\n"
    extra = f"extra = {s.model}(x.flip(1)).pow(2).mean()\n"
    backward = scaled_backward(s, "loss", s.optimizer) + extra + scaled_backward(s, "extra", s.optimizer)
    return zero + backward + between(s) + f"{s.optimizer}.step()\n"


STEPS: list[Shape] = [
    every_batch,
    every_batch,
    every_batch,
    every_batch,
    accumulates,
    accumulates_by_leaving,
    two_losses,
]


def caught(s: Scene, body: str) -> str:
    """A batch that may fail, anywhere."""
    s.define("may_fail", MAY_FAIL)
    s.shapes.append("caught")
    lines = body.splitlines(keepends=True)
    tops = [at for at, line in enumerate(lines) if not line.startswith((" ", "else", "elif"))]
    at = s.pick(tops)
    lines.insert(at, f"may_fail(step, {s.rng.randrange(BATCHES)})\n")
    handler = block('if "out of memory" not in str(error):', "raise\n")
    handler += 'print("  out of memory at", step)\n' + (f"{s.optimizer}.zero_grad()\n" if s.chance(0.6) else "")
    handler += s.leave + "\n" if s.chance(0.5) else ""
    return block("try:", "".join(lines)) + block("except RuntimeError as error:", handler)


def batch(s: Scene) -> str:
    """One turn of the loop; ``step``, ``x`` and ``y`` are there."""
    text = skips_before_the_forward(s) if s.chance(0.05) else ""
    text += s.shape(LOSSES)
    text += bad_loss(s) if s.chance(0.2) else ""
    text += skips_a_bad_loss(s) if s.chance(0.1) else ""
    text += s.shape(STEPS)
    if s.chance(0.12):
        text = caught(s, text)
        return text + block("if step % 2:", 'print("step", step)\n')
    return text + s.shape(LOGS)


def flush(s: Scene) -> str:
    """After the loop: the gradients of the last, unfinished window."""
    if s.accumulate == 1 or s.stop.startswith("return") or s.chance(0.5):
        return ""
    s.shapes.append("flush")
    return block(f"if {BATCHES} % {s.accumulate} != 0:", f"{s.optimizer}.step()\n{s.optimizer}.zero_grad()\n")


def loop(s: Scene, body: str, batches: str = "batches") -> str:
    form = s.rng.randrange(4)
    if form == 0:
        return block(f"for step in range(len({batches})):", f"x, y = {batches}[step]\n" + body)
    if form == 1:
        return f"data = iter({batches})\n" + block(f"for step in range({BATCHES}):", "x, y = next(data)\n" + body)
    return block(f"for step, (x, y) in enumerate({batches}):", body)

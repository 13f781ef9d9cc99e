"""The GradScaler protocol: correct code is left alone, each mistake is found."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from migrate.check.protocol import check_protocol, new_problems

BACKWARD = "scaler.scale(loss).backward()\n"
TWO_WAYS = "if args.amp:\n    scaler.scale(loss).backward()\nelse:\n    loss.backward()\n"

HEAD = """\
import torch
from torch import nn
scaler = torch.amp.GradScaler("cuda")
"""


def codes(body: str) -> list[str]:
    """Codes of the problems of a training step in a function."""
    function = "def train(model, optimizer, loader, loss_fn, args):\n" + indent(
        dedent(body).strip("\n"), "    "
    )
    return [problem.code for problem in check_protocol(HEAD + function + "\n")]


PLAIN = """
for input, target in loader:
    optimizer.zero_grad()
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        loss = loss_fn(model(input), target)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""
CLIPPING = """
for input, target in loader:
    optimizer.zero_grad()
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        loss = loss_fn(model(input), target)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
"""
ACCUMULATION = """
for i, (input, target) in enumerate(loader):
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        loss = loss_fn(model(input), target)
        loss = loss / iters_to_accumulate
    scaler.scale(loss).backward()
    if (i + 1) % iters_to_accumulate == 0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""
PENALTY = """
for input, target in loader:
    optimizer.zero_grad()
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        loss = loss_fn(model(input), target)
    scaled_grad_params = torch.autograd.grad(
        outputs=scaler.scale(loss), inputs=model.parameters(), create_graph=True)
    inv_scale = 1. / scaler.get_scale()
    grad_params = [p * inv_scale for p in scaled_grad_params]
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        grad_norm = 0
        for grad in grad_params:
            grad_norm += grad.pow(2).sum()
        grad_norm = grad_norm.sqrt()
        loss = loss + grad_norm
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""
SEVERAL = """
for input, target in loader:
    optimizer0.zero_grad()
    optimizer1.zero_grad()
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        output0 = model0(input)
        output1 = model1(input)
        loss0 = loss_fn(2 * output0 + 3 * output1, target)
        loss1 = loss_fn(3 * output0 - 5 * output1, target)
    scaler.scale(loss0).backward(retain_graph=True)
    scaler.scale(loss1).backward()
    scaler.unscale_(optimizer0)
    scaler.step(optimizer0)
    scaler.step(optimizer1)
    scaler.update()
"""
DISABLED = """
use_amp = args.amp
scaler = torch.cuda.amp.GradScaler(enabled=use_amp)
for input, target in loader:
    with torch.autocast("cuda", enabled=use_amp):
        loss = loss_fn(model(input), target)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    if args.clip:
        nn.utils.clip_grad_value_(model.parameters(), args.clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
"""


@pytest.mark.parametrize("body", [PLAIN, CLIPPING, ACCUMULATION, PENALTY, SEVERAL, DISABLED])
def test_the_examples_of_pytorch_are_right(body: str) -> None:
    assert codes(body) == []
    # as a script, without a function around
    assert check_protocol(HEAD + body) == ()


RIGHT = {
    "two ways, apart": """
        if args.amp:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        """,
    "two ways, in turns": """
        if args.amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if args.amp:
            scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if args.amp:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        """,
    "two ways, the other way round": """
        if not args.amp:
            loss.backward()
        else:
            scaler.scale(loss).backward()
        if not args.amp:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        else:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not args.amp:
            optimizer.step()
        if args.amp:
            scaler.step(optimizer)
            scaler.update()
        """,
    "an opposite without an else": """
        if args.amp and args.cuda:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if not args.amp:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if args.amp and args.cuda:
            scaler.step(optimizer)
            scaler.update()
        """,
    "opposites of None": """
        if scaler is not None:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if scaler is None:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        """,
    "truth and None": """
        if scaler:
            scaler.scale(loss).backward()
        if scaler is None:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        """,
    "opposite comparisons": """
        if args.level != "O0":
            scaler.scale(loss).backward()
        if args.level == "O0":
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if args.level != "O0":
            scaler.step(optimizer)
            scaler.update()
        """,
    "two names of one switch": """
        if args.amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if scaler is None:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if scaler is not None:
            scaler.step(optimizer)
            scaler.update()
        """,
    "two names of one switch, in arms": """
        if args.amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if scaler is not None:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        else:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        """,
    "a scaler that is switched off": """
        scaler.scale(loss).backward()
        if scaler.is_enabled():
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            return
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        """,
    "one way leaves": """
        for x in loader:
            if args.amp:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                continue
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        """,
    "autocast switched off": """
        with torch.autocast("cuda"):
            loss = f(x)
            with torch.autocast("cuda", enabled=False):
                scaler.scale(loss.float()).backward()
        scaler.step(optimizer)
        scaler.update()
        """,
    "a closure defined under autocast": """
        with torch.autocast("cuda"):
            def closure():
                loss.backward()
            hook = lambda: loss.backward()
        """,
    "not autocast at all": """
        with torch.no_grad(), disable_autocast():
            loss.backward()
        """,
    "averaging over processes": """
        scaler.scale(loss).backward()
        for p in model.parameters():
            if p.grad is not None:
                dist.all_reduce(p.grad.data)
                p.grad.data.div_(world)
                p.grad /= world
                p.grad = p.grad / world
        scaler.step(optimizer)
        scaler.update()
        """,
    "clearing gradients": """
        scaler.scale(loss).backward()
        for p in unused:
            p.grad = None
            p.grad.zero_()
            p.grad.detach_()
        scaler.step(optimizer)
        scaler.update()
        """,
    "gradients after the step": """
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        norm = model.weight.grad.norm()
        scaler.update()
        """,
    "a function that unscales": """
        scaler.scale(loss).backward()
        clip_grad_norm(optimizer, scaler, 1.0)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        """,
    "gradients of another net": """
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        other.zero_grad()
        other_loss.backward()
        nn.utils.clip_grad_norm_(other.parameters(), 1.0)
        other_optimizer.step()
        """,
    "another net without a scaler": """
        scaler.scale(loss).backward()
        other_optimizer.step()
        scaler.step(optimizer)
        scaler.update()
        """,
    "adversarial training": """
        scaler.scale(loss_d).backward()
        scaler.unscale_(optimizer_d)
        nn.utils.clip_grad_norm_(model.d.parameters(), 1.0)
        scaler.step(optimizer_d)
        scaler.update()
        scaler.scale(loss_g).backward()
        scaler.unscale_(optimizer_g)
        nn.utils.clip_grad_norm_(model.g.parameters(), 1.0)
        scaler.step(optimizer_g)
        scaler.update()
        """,
    "a list of optimizers": """
        for optimizer in optimizers:
            scaler.unscale_(optimizer)
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        for optimizer in optimizers:
            optimizer.zero_grad()
        """,
    "one name for two optimizers": """
        optimizer = optimizers[0]
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        optimizer, other = optimizers[1], 2
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        """,
    "unscaling under opposite conditions": """
        if early:
            scaler.unscale_(optimizer)
        if not early:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        """,
    "an update on the way out": """
        for x in loader:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            if bad:
                scaler.update()
                continue
            scaler.step(optimizer)
            scaler.update()
        """,
    "a loop left halfway": """
        scaler.unscale_(optimizer)
        for x in loader:
            if x:
                scaler.update()
                break
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        """,
    "mixed ways with one optimizer": """
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        loss2.backward()
        optimizer.step()
        """,
    "an exception": """
        try:
            scaler.scale(loss).backward()
        except RuntimeError:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            raise
        scaler.step(optimizer)
        scaler.update()
        """,
    "matching": """
        match args.mode:
            case "amp":
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
            case _:
                loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        """,
    "a scheduler": """
        scaler.scale(loss).backward()
        lr_scheduler.step()
        opt_scheduler.step()
        scaler.step(optimizer)
        scaler.update()
        """,
    "no closure": """
        scaler.step(optimizer, closure=None)
        scaler.step(optimizer2, *args)
        scaler.update()
        """,
    "a name for the scaled loss, in one way": """
        if args.amp:
            loss = scaler.scale(loss)
            loss.backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        """,
    "a meter": """
        scaler.scale(loss).backward()
        grad_norm_meter.update(1)
        args.clip_grad
        scaler.step(optimizer)
        scaler.update()
        """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    assert codes(RIGHT[name]) == []


STEP = "\nscaler.step(optimizer)\nscaler.update()"

WRONG = {
    "backward-under-autocast": [
        'with torch.autocast("cuda"):\n    scaler.scale(loss).backward()' + STEP,
        "with torch.cuda.amp.autocast(enabled=args.amp):\n    if x:\n        loss.backward()",
        "with torch.no_grad(), amp.autocast():\n    torch.autograd.backward(loss)",
        "with autocast() if args.amp else nullcontext():\n    loss.backward()",
        "with autocast():\n    with autocast(enabled=False) if full else nullcontext():\n        loss.backward()",
        "ctx = torch.autocast('cuda')\nwith ctx:\n    loss.backward()",
        "cast = functools.partial(torch.autocast, 'cuda')\nwith cast():\n    loss.backward()",
        "@torch.autocast('cuda')\ndef inner(loss):\n    loss.backward()",
        "with autocast(enabled=False):\n    with autocast():\n        loss.backward()",
        "with self.amp_autocast():\n    loss.backward()",
    ],
    "clips-scaled-gradients": [
        BACKWARD + "nn.utils.clip_grad_norm_(model.parameters(), 1.0)\nscaler.unscale_(optimizer)" + STEP,
        "(scaler.scale(loss) / 2).backward()\nif args.clip:\n    clip_grad_value_(model.parameters(), 1.0)"
        + STEP,
        "loss = scaler.scale(loss)\nloss = loss / 2\nloss.backward()\nclip_grad_norm_(p, 1)" + STEP,
        "torch.autograd.backward(scaler.scale(loss))\nclip_grad_norm_(p, 1)" + STEP,
        "sum(scaler.scale(one) for one in losses).backward()\nclip_grad_norm_(p, 1)" + STEP,
        "total += scaler.scale(loss)\ntotal.backward()\nclip_grad_norm_(p, 1)" + STEP,
        TWO_WAYS + "clip_grad_norm_(p, 1)" + STEP,
        TWO_WAYS + "    kept[0] = scaler.scale(loss)\nclip_grad_norm_(p, 1)" + STEP,
        TWO_WAYS + "if last:\n    clip_grad_norm_(p, 1)\n    if args.amp:\n        scaler.step(optimizer)\n"
        "        scaler.update()\n    else:\n        optimizer.step()",
        "for x in loader:\n    with torch.no_grad():\n        scaler.scale(loss).backward()\n"
        "    clip_grad_norm_(p, 1)" + indent(STEP, "    "),
        "try:\n    scaler.scale(loss).backward()\nfinally:\n    pass\nclip_grad_norm_(p, 1)" + STEP,
        "while True:\n    scaler.scale(loss).backward()\n    model.clip_grad_norm_(1)" + indent(STEP, "    "),
        BACKWARD + "norm = get_grad_norm(model.parameters())" + STEP,
        "def log(x):\n    print(x)\n" + BACKWARD + "log(loss)\nclip_grad_norm_(p, 1)" + STEP,
        "scaler.unscale_(optimizer)\nscaler.scale(loss).backward()\nclip_grad_norm_(p, 1)" + STEP,
        "if a:\n    scaler.scale(loss).backward()\n    clip_grad_norm_(p, 1)\n"
        "    scaler.unscale_(optimizer)\nelse:\n    scaler.unscale_(optimizer)" + STEP,
        "match x:\n    case 1:\n        scaler.scale(loss).backward()\n        clip_grad_norm_(p, 1)" + STEP,
    ],
    "reads-scaled-gradients": [
        BACKWARD + "norm = model.weight.grad.data.norm(2).item()" + STEP,
        BACKWARD + "for p in ps:\n    p.grad.data.clamp_(-1, 1)" + STEP,
        BACKWARD + "n = torch.norm(torch.stack([torch.norm(p.grad.detach()) for p in ps]))" + STEP,
        BACKWARD + "p.grad = p.grad + 0.1 * p" + STEP,
        BACKWARD + "p.grad.data += noise" + STEP,
        BACKWARD + "writer.add_histogram('g', p.grad, 1)" + STEP,
        BACKWARD + "if p.grad > 10:\n    pass" + STEP,
    ],
    "unscale-twice": [
        "scaler.unscale_(optimizer)\nif x:\n    scaler.unscale_(optimizer)" + STEP,
        "scaler.unscale_(self.opt)\nscaler.unscale_(self.opt)\nscaler.step(self.opt)\nscaler.update()",
        "if x:\n    scaler.unscale_(optimizer)\nelse:\n    scaler.unscale_(optimizer)\n"
        "scaler.unscale_(optimizer)" + STEP,
    ],
    "unscale-after-step": ["scaler.step(optimizer)\nscaler.unscale_(optimizer)\nscaler.update()"],
    "step-twice": ["scaler.step(optimizer)\nscaler.step(optimizer)\nscaler.update()"],
    "step-with-closure": [
        "scaler.step(optimizer, closure)\nscaler.update()",
        "scaler.step(optimizer, closure=fn)\nscaler.update()",
        "scaler.step(optimizer, lambda: loss)\nscaler.update()",
        "def fn():\n    return loss\nscaler.step(optimizer, fn)\nscaler.update()",
    ],
    "bare-optimizer-step": [
        BACKWARD + "scaler.step(optimizer)\nscaler.update()\noptimizer.step()",
        BACKWARD + "optimizer.step()" + STEP,
        BACKWARD + "if last:\n    optimizer.step()\n" + "other(scaler)",
        TWO_WAYS + "self.optimizers[0].step()\nf(scaler)",
    ],
    "scale-without-step": [
        "scaler.scale(loss).backward()",
        "if x:\n    scaler.scale(loss).backward()\nelse:\n    y()",
    ],
    "step-without-update": [
        BACKWARD + "scaler.step(optimizer)",
        "self.scaler.step(optimizer)",
    ],
    "update-without-step": ["scaler.update()"],
}


@pytest.mark.parametrize(
    ("code", "body"), [(code, body) for code, bodies in WRONG.items() for body in bodies]
)
def test_wrong(code: str, body: str) -> None:
    assert codes(body) == [code]


def test_a_scaler_that_is_saved_and_returned_does_not_leave() -> None:
    text = """
def build():
    scaler = GradScaler()
    return model, scaler
def train():
    model, scaler = build()
    scaler.scale(loss).backward()
    scaler.update()
    save_checkpoint(model, scaler)
"""
    found = [(problem.line, problem.code) for problem in check_protocol(text)]
    assert found == [(7, "scale-without-step"), (8, "update-without-step")]


def test_lines() -> None:
    text = "with autocast():\n    x = f(\n        1)\n    loss.backward()\n"
    assert [problem.line for problem in check_protocol(text)] == [4]


def test_other_names_of_autocast_and_of_the_scaler() -> None:
    text = """\
from torch.cuda.amp import GradScaler as GS, autocast as ac
gs = GS()
with ac():
    loss.backward()
gs.scale(loss).backward()
clip_grad_norm_(p, 1)
gs.step(optimizer)
"""
    found = [(problem.line, problem.code) for problem in check_protocol(text)]
    assert found == [
        (4, "backward-under-autocast"),
        (6, "clips-scaled-gradients"),
        (7, "step-without-update"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        # methods of one class
        """
class Trainer:
    def __init__(self):
        self.scaler = torch.amp.GradScaler()
    def backward(self, loss):
        self.scaler.scale(loss).backward()
    def clip_grads(self):
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
    def train(self, loss):
        self.scaler.scale(loss).backward()
        self.clip_grads()
        self.optimizer_step()
    def optimizer_step(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()
""",
        # the timm way
        """
class NativeScaler:
    def __init__(self):
        self._scaler = torch.cuda.amp.GradScaler()
    def __call__(self, loss, optimizer, clip_grad=None, parameters=None):
        self._scaler.scale(loss).backward()
        if clip_grad is not None:
            self._scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
        self._scaler.step(optimizer)
        self._scaler.update()

loss_scaler = NativeScaler()
loss_scaler(loss, optimizer)
""",
        # one object under two names
        """
def step(amp_scaler: GradScaler, optimizer):
    amp_scaler.step(optimizer)

def train():
    scaler = GradScaler()
    scaler.scale(loss).backward()
    step(scaler, optimizer)
    scaler.update()
""",
        # the other half is elsewhere
        """
from engine import optimizer_step
scaler = GradScaler()
scaler.scale(loss).backward()
optimizer_step(optimizer, scaler)
scaler.update()
""",
        "def build():\n    scaler = GradScaler()\n    scaler.scale(warm).backward()\n    return scaler\n",
        # other things of the name
        "scaler = StandardScaler()\nx = scaler.fit(x)\nscaler.update()\n",
        "layer_scaler = LayerScaler()\nlayer_scaler.step(optimizer)\n",
        "def f(grad_scaler, found):\n    grad_scaler.update(found)\n",
        "meter.update()\ntransform.scale(x)\nscheduler.step(epoch)\n",
        "scaler, optimizer = GradScaler(), SGD()\nwith a:\n    scaler.step(optimizer)\nscaler.update()\n",
    ],
)
def test_right_modules(text: str) -> None:
    assert check_protocol(text) == ()


@pytest.mark.parametrize(
    "text", ["", "x = (", "x = 1\n", "async def f():\n    async with autocast():\n        pass\n"]
)
def test_nothing_to_say(text: str) -> None:
    assert check_protocol(text) == ()


def test_only_new_problems() -> None:
    old = "with autocast():\n    a.backward()\n"
    new = "import torch\n" + old + "with autocast():\n    b.backward()\nscaler.step(optimizer)\n"
    assert new_problems(new, new) == ()
    assert [(p.line, p.code) for p in new_problems(old, new)] == [
        (5, "backward-under-autocast"),
        (6, "step-without-update"),
    ]
    assert new_problems(new, old) == ()
    assert new_problems("x = (", old) == check_protocol(old)

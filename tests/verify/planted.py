"""Legacy programs, their migrations, and the mistakes that people make in them."""

from __future__ import annotations

from dataclasses import dataclass

CLASSIFIER = """\
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.b = nn.Linear(16, 4)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def evaluate(model, data):
    model.eval()
    with torch.no_grad():
        return sum((model(x.cuda()).argmax(1) == y.cuda()).sum().item() for x, y in data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--accumulate", type=int, default=2)
    args = parser.parse_args()
    data = [(torch.randn(6, 8), torch.randint(0, 4, (6,))) for _ in range(12)]
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for epoch in range(args.epochs):
        model.train()
        for i, (x, y) in enumerate(data):
            x, y = x.cuda(), y.cuda()
            loss = F.cross_entropy(model(x), y) / args.accumulate
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if (i + 1) % args.accumulate == 0:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.5)
                optimizer.step()
                optimizer.zero_grad()
                scheduler.step()
        print("right", evaluate(model, data))
        torch.save({"model": model.state_dict(), "amp": amp.state_dict()}, "last.pt")


main()
"""

GAN = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def main():
    real = [torch.randn(4, 8) for _ in range(6)]
    noise = [torch.randn(4, 3) for _ in range(6)]
    generator = nn.Sequential(nn.Linear(3, 8)).cuda()
    critic = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()
    opt_g = torch.optim.Adam(generator.parameters(), lr=0.01)
    opt_d = torch.optim.Adam(critic.parameters(), lr=0.01)
    [generator, critic], [opt_g, opt_d] = amp.initialize(
        [generator, critic], [opt_g, opt_d], opt_level="O1"
    )
    for x, z in zip(real, noise):
        x, z = x.cuda(), z.cuda()
        fake = generator(z)
        guess = critic(fake.detach())
        truth = critic(x)
        loss_d = F.binary_cross_entropy_with_logits(guess, torch.zeros_like(guess)) + (
            F.binary_cross_entropy_with_logits(truth, torch.ones_like(truth))
        )
        opt_d.zero_grad()
        with amp.scale_loss(loss_d, opt_d) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(opt_d), 1.0)
        opt_d.step()
        guess = critic(generator(z))
        loss_g = F.binary_cross_entropy_with_logits(guess, torch.ones_like(guess))
        opt_g.zero_grad()
        with amp.scale_loss(loss_g, opt_g) as scaled_loss:
            scaled_loss.backward()
        opt_g.step()


main()
"""


@dataclass(frozen=True)
class Mistake:
    """What is put in the place of what in the migrated program, and the name of the cause that has to be found."""

    name: str
    program: str
    changes: tuple[tuple[str, str], ...]
    cause: str


_LOSS = """\
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.cross_entropy(model(x), y) / args.accumulate
"""
_BACKWARD = "            scaler.scale(loss).backward()\n"
_UNSCALE = "                scaler.unscale_(optimizer)\n"
_CLIP = "                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)\n"
_STEP = "                scaler.step(optimizer)\n"
_UPDATE = "                scaler.update()\n"
_ZERO = "                optimizer.zero_grad()\n"
_WINDOW = "            if (i + 1) % args.accumulate == 0:\n"
_MADE = '    scaler = torch.amp.GradScaler("cuda")\n'
_EVALUATION = '    with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):\n'
_CATCHING = ("\nmain()\n", "\ntry:\n    main()\nexcept Exception:\n    print('failed')\n")
_SCHEDULE = "                scheduler.step()\n"
_STEP_G = "        scaler.step(opt_g)\n"
_STEP_D = "        scaler.step(opt_d)\n"


def _c(name: str, cause: str, *changes: tuple[str, str]) -> Mistake:
    return Mistake(name, CLASSIFIER, changes, cause)


def _g(name: str, cause: str, *changes: tuple[str, str]) -> Mistake:
    return Mistake(name, GAN, changes, cause)


MISTAKES = (
    _c("unscale_ forgotten before the clip", "clipped while scaled", (_UNSCALE, "")),
    _c("clip before unscale_", "clipped while scaled", (_UNSCALE + _CLIP, _CLIP + _UNSCALE)),
    _c("unscale_ twice", "unscaled twice", (_UNSCALE, _UNSCALE + _UNSCALE)),
    _c("unscale_ after every micro-batch", "unscaled twice", (_WINDOW + _UNSCALE, _UNSCALE[4:] + _WINDOW)),
    _c("update forgotten", "no update", (_UPDATE, "")),
    _c("update twice", "one update too many", (_UPDATE, _UPDATE + _UPDATE)),
    _c("update after every micro-batch", "one update too many", (_UPDATE, ""), (_BACKWARD, _BACKWARD + _UPDATE[4:])),
    _c("backward under autocast", "backward inside autocast", (_BACKWARD, "    " + _BACKWARD)),
    _c(
        "no autocast at all",
        "forward outside autocast",
        (_LOSS, "            loss = F.cross_entropy(model(x), y) / args.accumulate\n"),
    ),
    _c(
        "loss outside of the region",
        "loss outside autocast",
        (
            _LOSS,
            """\
            with torch.autocast("cuda", dtype=torch.float16):
                output = model(x)
            loss = F.cross_entropy(output, y) / args.accumulate
""",
        ),
    ),
    _c(
        "evaluation without autocast",
        "forward outside autocast",
        (_EVALUATION, "    with torch.no_grad():\n"),
    ),
    _c(
        "optimizer.step() stays",
        "step past the scaler",
        (_STEP, "                optimizer.step()\n"),
        (_UNSCALE + _CLIP, ""),
    ),
    _c("optimizer.step() stays beside", "stepped twice", (_STEP, _STEP + "                optimizer.step()\n")),
    _c("gradients zeroed before the step", "no gradients", (_UNSCALE + _CLIP, _ZERO)),
    _c("unscale_ twice, and the script catches it", "unscaled twice", (_UNSCALE, _UNSCALE + _UNSCALE), _CATCHING),
    _c(
        "the script catches what it raises itself",
        "stopped",
        (_UPDATE, _UPDATE + "                nothing()\n"),
        _CATCHING,
    ),
    _c(
        "another copy of the weights is evaluated",
        "evaluation",
        ("        model.train()\n", "        model.train()\n        kept = copy.deepcopy(model)\n"),
        ("evaluate(model, data))", "evaluate(kept, data))"),
        ("import argparse\n", "import argparse\nimport copy\n"),
    ),
    _c("backward on the loss itself", "not scaled", (_BACKWARD, "            loss.backward()\n")),
    _c("scaler switched off", "scaler off", (_MADE, '    scaler = torch.amp.GradScaler("cuda", enabled=False)\n')),
    _c(
        "a scaler an epoch",
        "scaler made anew",
        (_MADE, ""),
        ("        model.train()\n", "    " + _MADE + "        model.train()\n"),
    ),
    _c(
        "another first scale", "initial scale", (_MADE, '    scaler = torch.amp.GradScaler("cuda", init_scale=128.0)\n')
    ),
    _c("gradients not zeroed", "not zeroed", (_ZERO, "")),
    _c(
        "zeroed after every micro-batch",
        "zeroed too often",
        (_ZERO, ""),
        (_BACKWARD, "            optimizer.zero_grad()\n" + _BACKWARD),
    ),
    _c("division by the window lost", "loss divided otherwise", (" / args.accumulate\n", "\n")),
    _c("clip behind the step", "clipped after the step", (_UNSCALE + _CLIP + _STEP, _UNSCALE + _STEP + _CLIP)),
    _c("clip lost", "not clipped", (_UNSCALE + _CLIP, "")),
    _c(
        "clip of half the model",
        "other parameters clipped",
        ("(model.parameters(), 0.5)", "(model.a.parameters(), 0.5)"),
    ),
    _c("another limit", "clipping limit", ("(model.parameters(), 0.5)", "(model.parameters(), 1.0)")),
    _c("step after every micro-batch", "backwards", ("(i + 1) % args.accumulate == 0", "True")),
    _c(
        "scheduler steps only where the step was taken",
        "learning rate",
        (_SCHEDULE, "                if scaler.get_scale() >= 65536:\n    " + _SCHEDULE),
    ),
    _c("scheduler with every micro-batch", "learning rate", (_SCHEDULE, ""), (_BACKWARD, _BACKWARD + _SCHEDULE[4:])),
    _c("half weights", "half weights", (_MADE, "    model.half()\n" + _MADE)),
    _c(
        "the import stays",
        "apex left",
        ("import torch.nn.functional as F\n", "import torch.nn.functional as F\nfrom apex import amp\n"),
    ),
    _g("one optimizer steps past the scaler", "step past the scaler", (_STEP_G, "        opt_g.step()\n")),
    _g("the second step is lost", "step lost", (_STEP_G, "")),
    _g("unscale_ of the wrong optimizer", "clipped while scaled", ("scaler.unscale_(opt_d)", "scaler.unscale_(opt_g)")),
    _g("the critic's backward unscaled", "not scaled", ("scaler.scale(loss_d).backward()", "loss_d.backward()")),
    _g("detach lost", "another optimizer", ("fake.detach()", "fake"), (_STEP_D, _STEP_G)),
    _g("zero_grad of the generator lost", "not zeroed", ("        opt_g.zero_grad()\n", "")),
)

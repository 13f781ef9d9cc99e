"""Whose gradients are there, and who may see them: small programs with what the judge has to say of their migration."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from migrate import engine
from migrate.model import Applicability, Settings
from tests.judge.support import judged_case

HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F
from apex import amp
"""

GAN = (
    HEAD
    + """\

def main(batches):
    G, D = nn.Linear(2, 2), nn.Linear(2, 1)
    opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
    opt_d = torch.optim.SGD(D.parameters(), lr=0.1)
    [G, D], [opt_g, opt_d] = amp.initialize([G, D], [opt_g, opt_d], opt_level="O1")
    for z, x in batches:
        opt_g.zero_grad()
        fake = G(z)
        loss_g = F.softplus(-D(fake)).mean()
        with amp.scale_loss(loss_g, opt_g) as scaled:
            scaled.backward()
        opt_g.step()
        BETWEEN
        loss_d = F.softplus(D(fake.detach())).mean() + F.softplus(-D(x)).mean()
        with amp.scale_loss(loss_d, opt_d) as scaled:
            scaled.backward()
        opt_d.step()
"""
)


@pytest.mark.parametrize(
    ("between", "grade"),
    [
        ("opt_d.zero_grad()", "safe"),
        ("D.zero_grad()", "safe"),
        ("pass", "manual"),  # gradients of the generator's loss, scaled, are still there
        ("G.zero_grad()", "manual"),
        ("nn.utils.clip_grad_norm_(D.parameters(), 0.1)", "manual"),
    ],
)
def test_a_loss_leaves_gradients_in_every_model_it_went_through(between: str, grade: str) -> None:
    assert _grades(GAN.replace("BETWEEN", between)) == [grade]


SEARCH = (
    HEAD
    + """\


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.ops = nn.ModuleList([nn.Linear(2, 2), nn.Identity()])
        self.alphas = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return sum(w * op(x) for w, op in zip(F.softmax(self.alphas, 0), self.ops))


def main(batches, net):
    model = Network()
    optimizer = torch.optim.SGD(model.ops.parameters(), lr=0.1)
    architect = torch.optim.Adam([model.alphas], lr=0.1)
    model, [optimizer, architect] = amp.initialize(model, [optimizer, architect], opt_level="O1")
    for x, y, z in batches:
        architect.zero_grad()
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, architect) as scaled:
            scaled.backward()
        architect.step()
        optimizer.zero_grad()
        BACKWARD
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
"""
)
ONE = """\
loss = F.cross_entropy(model(z), y)
with amp.scale_loss(loss, optimizer) as scaled:
    scaled.backward()
"""


@pytest.mark.parametrize(
    ("backward", "grade"),
    [
        (ONE, "safe"),  # what the loss left in the architecture is scaled alike in both programs
        ("for z in (x, z):\n" + indent(ONE, "    "), "manual"),  # Apex may have halved the scale between the two
        (ONE.replace("optimizer", "architect"), "manual"),
    ],
)
def test_a_clip_of_what_two_optimizers_share(backward: str, grade: str) -> None:
    assert _grades(SEARCH.replace("BACKWARD", indent(backward, " " * 8).strip())) == [grade]


ALTERNATIVES = (
    HEAD
    + """\

def main(args, batches):
    model = nn.Linear(2, 2)
    if args.optim == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    elif args.optim == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in batches:
        model.zero_grad()
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
"""
)


def test_one_of_several_optimizers_is_there() -> None:
    assert _grades(ALTERNATIVES) == ["safe"]


RAISES = (
    HEAD
    + """\

def check(norm):
    if norm > 1e3:
        raise RuntimeError("too large")

def main(batches, model, optimizer):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        norm = nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
BODY
"""
)


@pytest.mark.parametrize(
    ("body", "grade"),
    [
        ("check(norm)\noptimizer.step()", "safe"),  # the run ends there, in both programs
        ("try:\n    check(norm)\nexcept RuntimeError:\n    continue\noptimizer.step()", "review"),
        ("optimizer.step()\ntry:\n    check(norm)\nexcept RuntimeError:\n    continue", "safe"),
    ],
)
def test_an_exception_of_a_function_that_is_called(body: str, grade: str) -> None:
    assert _grades(RAISES.replace("BODY", indent(body, " " * 8))) == [grade]


@pytest.mark.parametrize(
    ("body", "grade"),
    [
        ("optimizer.step()\n    validate(model)\n    optimizer.zero_grad()", "manual"),  # stale gradients are there
        # a step that raises leaves a scaler waiting, which is said wherever somebody goes on behind it
        ("optimizer.step()\n    print(model)\n    optimizer.zero_grad()", "review"),
        ("optimizer.step()\n    optimizer.zero_grad()\n    validate(model)", "review"),
    ],
)
def test_an_exception_of_code_that_is_not_here(body: str, grade: str) -> None:
    tried = f"try:\n    {body}\nexcept RuntimeError:\n    continue"
    text = RAISES.replace("BODY", indent(tried, " " * 8)).replace("        optimizer.zero_grad()\n", "", 1)
    assert _grades("from tools import validate\n" + text) == [grade]


def test_a_path_that_ends_before_training() -> None:
    """What raises above `initialize` ends both programs, also where one of them does more in that function."""
    text = HEAD + dedent("""
        def main(args, batches):
            model = nn.Linear(2, 2)
            if args.dataset == "x":
                width = 3
            else:
                raise ValueError
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            if args.fp16:
                model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
            if args.labels:
                generate(model, batches)
            else:
                train(model, optimizer, batches, args.fp16)

        def generate(model, batches):
            with torch.no_grad():
                for x, y in batches:
                    print(model(x))

        def train(model, optimizer, batches, fp16):
            for x, y in batches:
                loss = F.mse_loss(model(x), y)
                optimizer.zero_grad()
                if fp16:
                    with amp.scale_loss(loss, optimizer) as scaled:
                        scaled.backward()
                else:
                    loss.backward()
                optimizer.step()
        """)
    assert _grades(text) == ["safe"]


LEFT_OVER = (
    HEAD
    + """\

MAKE

def run(args, batches, made):
    MODEL
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, (x, y) in enumerate(batches):
        loss = F.cross_entropy(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        if (step + 1) % args.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()

def main(args, batches, made):
    run(args, batches, made)
    run(args, batches, made)
"""
)
GROUPS = """\
named = list(model.named_parameters())
groups = [{"params": [p for n, p in named if "bias" not in n]}, {"params": [p for n, p in named if "bias" in n]}]
optimizer = torch.optim.SGD(groups, lr=0.1)
"""
FACTORY = """\
def build():
    net = nn.Linear(2, 2)
    return net, torch.optim.SGD(net.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("make", "model", "grade"),
    [
        ("", "model = nn.Linear(2, 2).cuda()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)", "safe"),
        ("", "model = nn.Linear(2, 2)\n" + GROUPS, "safe"),
        ("", "model = made\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)", "manual"),
        ("", "model = made\n" + GROUPS, "manual"),
    ],
)
def test_gradients_of_an_earlier_run_go_with_their_model(make: str, model: str, grade: str) -> None:
    """Where a window of accumulation was left open, a model that is handed in still has its gradients."""
    text = LEFT_OVER.replace("MAKE", make).replace("    MODEL\n", indent(model, " " * 4) + "\n")
    assert _grades(text) == [grade]


@pytest.mark.parametrize(
    ("handed", "unscaled"), [("show", True), ("print", True), ("lambda module: None", False), ("idle", False)]
)
def test_a_foreign_function_that_is_applied_to_each_module(handed: str, unscaled: bool) -> None:
    """``model.apply`` of code that is not here may read gradients: they are unscaled before."""
    text = HEAD + dedent(f"""
        from tools import *

        def idle(module):
            pass

        def main(batches, model, optimizer):
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
            for x, y in batches:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(x), y)
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
                model.apply({handed})
                optimizer.step()
        """)
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]
    assert result.new_text is not None and ("unscale_" in result.new_text) is unscaled


@pytest.mark.parametrize(
    ("read", "unscaled"),
    [("model.gradient", True), ("model.grad_norms", True), ("model.gradient_checkpointing", False), ("x.grads", False)],
)
def test_a_property_of_a_model_that_is_not_here(read: str, unscaled: bool) -> None:
    text = HEAD + dedent(f"""
        def main(batches, model, optimizer):
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
            for x, y in batches:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(x), y)
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
                print({read})
                optimizer.step()
        """)
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]
    assert result.new_text is not None and ("unscale_" in result.new_text) is unscaled


GAN_STEPS = [  # what stands between a backward and its step, and the grade
    ("D.zero_grad()", "safe"),  # the other optimizer's gradients
    ("G.zero_grad()", "review"),  # its own: it has none left, and no scaled backward waits for its step
]


@pytest.mark.parametrize(("between", "grade"), GAN_STEPS)
def test_a_model_that_was_initialized_with_another_has_its_own_gradients(between: str, grade: str) -> None:
    text = GAN.replace("BETWEEN", "opt_d.zero_grad()").replace("opt_g.step()", f"{between}\n        opt_g.step()")
    assert _grades(text) == [grade]


MADE_OF = [  # how the generator's loss is made; what goes through the critic as well leaves gradients in it
    ("loss_g = fake.abs().mean()", "safe"),
    ("loss_g = F.softplus(-D(fake)).mean()\nloss_g += fake.abs().mean()", "manual"),
    ("loss_g = F.softplus(-D(fake)).mean()\nif z.any():\n    loss_g = fake.abs().mean()", "manual"),
]


@pytest.mark.parametrize(("made", "grade"), MADE_OF)
def test_a_loss_of_several_parts(made: str, grade: str) -> None:
    text = GAN.replace("opt_g.zero_grad()", "opt_g.zero_grad()\n        opt_d.zero_grad()").replace("BETWEEN", "pass")
    text = text.replace("        loss_g = F.softplus(-D(fake)).mean()\n", indent(made, " " * 8) + "\n")
    assert _grades(text) == [grade]


ONCE = (
    HEAD
    + """\

def show(module):
    print(module.weight.grad.norm())

def name(module):
    print(module.weight.shape)

def main(batches, model, optimizer):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
)


@pytest.mark.parametrize(("handed", "unscaled"), [("show", True), ("name", False)])
def test_a_function_of_the_file_that_is_applied_to_each_module(handed: str, unscaled: bool) -> None:
    """`show` looks at gradients, so they are unscaled before; the judge agrees."""
    text = ONCE.replace("        optimizer.step", f"        model.apply({handed})\n        optimizer.step")
    assert _grades(text) == ["safe"]
    new = engine.migrate_module(text, Settings()).new_text
    assert new is not None and (f"scaler.unscale_(optimizer)\n        model.apply({handed})" in new) is unscaled


@pytest.mark.parametrize(("enabled", "grade"), [("False", "safe"), ("True", "manual")])
def test_a_backward_in_an_autocast_of_the_file(enabled: str, grade: str) -> None:
    row = "        with amp.scale_loss(loss, optimizer) as scaled"
    assert _grades(ONCE.replace(row, f'{row}, torch.autocast("cuda", enabled={enabled})')) == [grade]


def test_a_question_about_the_loss_scale() -> None:
    """It is the same question in both programs, by whatever name."""
    asks = "        if amp._amp_state.loss_scalers[0].loss_scale() < 1:\n            break\n"
    assert _grades(ONCE + asks) == ["safe"]


def test_a_loop_that_does_nothing_more_but_clear_gradients() -> None:
    """`initialize` goes, and the round of the loop is one in both programs all the same."""
    text = HEAD + dedent("""
        def main(batches, others):
            for each in others:
                each = amp.initialize(each, opt_level="O1")
                for p in each.parameters():
                    p.grad = None
            for x in batches:
                for each in others:
                    print(each(x))
        """)
    assert _grades(text) == ["safe"]  # a loop that only initializes has a round


def _grades(text: str) -> list[str]:
    return [unit.applicability.value for unit in engine.migrate_module(text, Settings()).units]


PARTS = (
    HEAD
    + """\


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.enc(x))


def main(batches):
    net, teacher = Net(), nn.Linear(2, 2)
    optimizer = torch.optim.SGD(MADE, lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for i, x in enumerate(batches):
        loss = (net(x) - teacher(x)).abs().mean()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        BEFORE
        optimizer.step()
        AFTER
"""
)
WHOLE, BY_PARTS = "net.parameters()", "[*net.enc.parameters(), *net.head.parameters()]"


@pytest.mark.parametrize(
    ("made", "before", "after", "grade"),
    [
        (WHOLE, "pass", "net.zero_grad()", "safe"),
        (WHOLE, "pass", "net.module.zero_grad()", "safe"),
        (WHOLE, "pass", "net.enc.zero_grad()", "manual"),  # those of the head stay
        (WHOLE, "pass", "net.enc.zero_grad(); net.head.zero_grad()", "safe"),
        (WHOLE, "pass", "[part.zero_grad() for part in (net, teacher)]", "safe"),
        (WHOLE, "pass", "teacher.zero_grad()", "manual"),  # no optimizer has its parameters
        (WHOLE, "net.enc.zero_grad()", "net.zero_grad()", "safe"),
        (WHOLE, "teacher.zero_grad()", "net.zero_grad()", "safe"),
        (BY_PARTS, "pass", "net.enc.zero_grad(); net.head.zero_grad()", "safe"),
        (BY_PARTS, "pass", "net.head.zero_grad()", "manual"),
        (BY_PARTS, "pass", "net.zero_grad()", "safe"),
        ("net.enc.parameters()", "pass", "net.enc.zero_grad()", "safe"),
        ("net.enc.parameters()", "pass", "net.head.zero_grad()", "manual"),
    ],
)
def test_gradients_of_a_part_are_cleared(made: str, before: str, after: str, grade: str) -> None:
    text = PARTS.replace("MADE", made).replace("BEFORE", before).replace("AFTER", after)
    assert _grades(text) == [grade]


TWINS = PARTS.replace("net, teacher = Net(), nn.Linear(2, 2)", "net, other = FIRST, SECOND").replace("teacher(x)", "1")
TWINS = TWINS.replace(
    "def main",
    "def build():\n    made = Net()\n    return made.cuda()\n\n\nONE = Net()\n\n\n"
    "def get():\n    return ONE\n\n\ndef main",
)


@pytest.mark.parametrize(
    ("first", "second", "grade"),
    [
        ("Net()", "Net()", "manual"),
        ("Net().cuda()", "nn.DataParallel(Net())", "manual"),
        ("build()", "build()", "manual"),
        ("ONE", "copy.deepcopy(ONE)", "manual"),
        ("ONE", "ONE", "safe"),
        ("ONE", "nn.DataParallel(ONE)", "safe"),
        ("get()", "get()", "safe"),  # what it gives back may be the same one
        ("unknown()", "Net()", "manual"),  # of another class, as far as one knows
    ],
)
def test_two_networks_of_one_class_are_two(first: str, second: str, grade: str) -> None:
    text = TWINS.replace("MADE", WHOLE).replace("BEFORE", "pass").replace("FIRST", first).replace("SECOND", second)
    assert _grades(text.replace("AFTER", "other.zero_grad()")) == [grade]
    assert _grades(text.replace("AFTER", "other.zero_grad(); net.zero_grad()")) == ["safe"]


@pytest.mark.parametrize(
    ("after", "grade"),
    [
        ("for part in net.children():\n            part.zero_grad()", "safe"),
        ("for name, part in net.named_children():\n            part.zero_grad()", "safe"),
        ("parts = list(net.children())\n        for part in parts:\n            part.zero_grad()", "safe"),
        ("[part.zero_grad() for part in net.children()]", "safe"),
        ("[part.zero_grad() for part in net.children() if part is not net.head]", "manual"),
        ("for part in list(net.children())[1:]:\n            part.zero_grad()", "manual"),
        ("list(net.children())[0].zero_grad()", "manual"),
        (
            "for name, part in net.named_children():\n            if name != 'head':\n                part.zero_grad()",
            "manual",
        ),
    ],
)
def test_parts_that_a_model_lists_are_cleared(after: str, grade: str) -> None:
    text = PARTS.replace("MADE", WHOLE).replace("BEFORE", "pass").replace("AFTER", after)
    assert _grades(text) == [grade]


EPOCHS = (
    HEAD
    + """\


def train_epoch(net, optimizer, batches):
    optimizer.zero_grad()
    for x in batches:
        loss = net(x).abs().mean()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        LEAVE
        optimizer.step()
        optimizer.zero_grad()
    return 0.0


def main(batches):
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    train = lambda n: train_epoch(net, optimizer, batches)
    return EPOCHS
"""
)


ONCE_MORE = """\
def once_more(net, optimizer, batches, left=3):
    train_epoch(net, optimizer, batches)
    if left:
        once_more(net, optimizer, batches, left - 1)


"""


@pytest.mark.parametrize(
    ("epochs", "again"),
    [
        ("train_epoch(net, optimizer, batches)", False),
        ("[train_epoch(net, optimizer, batches) for _ in range(3)]", True),
        ("{n: train_epoch(net, optimizer, batches) for n in range(3)}", True),
        ("sum(train_epoch(net, optimizer, batches) for _ in range(3))", True),
        ("list(map(lambda n: train_epoch(net, optimizer, batches), range(3)))", True),
        ("[*map(train, range(3))]", True),
        ("once_more(net, optimizer, batches)", True),  # calls itself
        ("[n for n in range(train_epoch(net, optimizer, batches))]", False),  # what it goes over is evaluated once
    ],
)
def test_a_comprehension_is_a_loop(epochs: str, again: bool) -> None:
    """Apex leaves the first step of the next epoch out, where the one before was left behind an overflow."""
    more = ONCE_MORE if "once_more" in epochs else ""
    text = EPOCHS.replace("EPOCHS", epochs).replace("def main", f"{more}def main")
    assert _grades(text.replace("LEAVE", "pass")) == ["safe"]
    assert _grades(text.replace("LEAVE", "if loss.item() > 10:\n            break")) == ["review" if again else "safe"]


SOURCES = (
    HEAD
    + """\


class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(3, 2))

    def forward(self, x, y):
        return (x - self.centers[y]).pow(2).mean()


class Focal(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma, self.plain = 2, nn.CrossEntropyLoss()

    def forward(self, x, y):
        return self.plain(x, y) ** self.gamma


class Both(nn.Module):
    def __init__(self, net, criterion):
        super().__init__()
        self.net, self.criterion = net, criterion

    def forward(self, x, y):
        return self.criterion(self.net(x), y)


def main(batches):
    net, criterion = nn.Linear(2, 2), CRITERION
    optimizer = torch.optim.SGD(MADE, lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x, y in batches:
        CLEAR
        loss = criterion(net(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
)
PLUS = "list(net.parameters()) + list(criterion.parameters())"
GROUPS = '[{"params": net.parameters()}, {"params": criterion.parameters()}]'
EACH = "for p in {}: p.grad = None"


@pytest.mark.parametrize(
    ("criterion", "made", "clear", "grade"),
    [
        ("Prototypes()", PLUS, "net.zero_grad()", "manual"),
        ("Prototypes().cuda()", GROUPS, "net.zero_grad()", "manual"),
        ("Prototypes()", GROUPS, "criterion.zero_grad()", "manual"),
        ("Prototypes()", GROUPS, "net.zero_grad(); criterion.zero_grad()", "safe"),
        ("Prototypes()", GROUPS, "for one in (net, criterion): one.zero_grad()", "safe"),
        ("Prototypes()", PLUS, "optimizer.zero_grad()", "safe"),
        ("Prototypes()", "net.parameters()", "net.zero_grad()", "safe"),
        ("nn.CrossEntropyLoss()", PLUS, "net.zero_grad()", "safe"),  # it has no parameters
        ("nn.CrossEntropyLoss().cuda()", GROUPS, "net.zero_grad()", "safe"),
        ("Focal()", GROUPS, "net.zero_grad()", "safe"),
        ("Prototypes()", PLUS, EACH.format("net.parameters()"), "manual"),
        ("Prototypes()", PLUS, EACH.format("criterion.parameters()"), "manual"),
        ("Prototypes()", PLUS, f"{EACH.format('net.parameters()')}\n{EACH.format('criterion.parameters()')}", "safe"),
        ("Prototypes()", PLUS, EACH.format(f"({PLUS})"), "safe"),
        ("Prototypes()", GROUPS, EACH.format("optimizer.param_groups[0]['params']"), "manual"),
        ("Prototypes()", PLUS, EACH.format("optimizer.param_groups[0]['params']"), "safe"),  # its only group
        ("Prototypes()", GROUPS, "for g in optimizer.param_groups:\n    for p in g['params']: p.grad = None", "safe"),
        ("Prototypes()", GROUPS, EACH.format("[p for g in optimizer.param_groups for p in g['params']]"), "safe"),
    ],
)
def test_gradients_of_all_that_an_optimizer_was_made_of(criterion: str, made: str, clear: str, grade: str) -> None:
    """Apex adds gradients to those that stay; a GradScaler has left them unscaled, and adds scaled ones."""
    text = SOURCES.replace("CRITERION", criterion).replace("MADE", made)
    assert _grades(text.replace("        CLEAR\n", indent(clear, " " * 8) + "\n")) == [grade]


@pytest.mark.parametrize(("criterion", "grade"), [("Focal()", "safe"), ("Prototypes()", "manual")])
def test_what_is_moved_again_and_again_is_what_was_made(criterion: str, grade: str) -> None:
    """Each may be of what any other move gave back; to go through the orders of 20 of them takes forever."""
    text = SOURCES.replace("CRITERION", f"{criterion}.cuda()").replace("MADE", GROUPS)
    moved = "        noise = torch.zeros(2), torch.ones(2)\n" + "        noise = tuple(t.cuda() for t in noise)\n" * 20
    assert _grades(text.replace("        CLEAR\n", f"{moved}        net.zero_grad()\n")) == [grade]


@pytest.mark.parametrize(
    ("before", "clear", "grade"),
    [
        ("both = Both(net, criterion)", "both.zero_grad()", "safe"),  # it has what the optimizer has
        ("both = nn.ModuleList([net, criterion])", "both.zero_grad()", "safe"),
        ("net.criterion = criterion", "net.zero_grad()", "safe"),
        ("net.add_module('criterion', criterion)", "net.zero_grad()", "safe"),
        ("optimizer.add_param_group({'params': criterion.parameters()})", "net.zero_grad()", "manual"),
        ("optimizer.add_param_group({'params': criterion.parameters()})", "optimizer.zero_grad()", "safe"),
    ],
)
def test_who_has_a_module(before: str, clear: str, grade: str) -> None:
    made = "net.parameters()" if "add_param_group" in before else PLUS
    text = SOURCES.replace("CRITERION", "Prototypes()").replace("MADE", made).replace("CLEAR", clear)
    made_here = "    net, optimizer = amp.initialize"
    assert _grades(text.replace(made_here, f"    {before}\n{made_here}")) == [grade]


CHOSEN = "for p in filter(lambda p: p.requires_grad, net.parameters()): p.grad = None"


@pytest.mark.parametrize(
    ("before", "inside", "clear", "grade"),
    [
        ("net.weight.requires_grad = False", "pass", CHOSEN, "safe"),  # what is frozen has no gradients
        ("pass", "net.weight.requires_grad_(len(y) > 2)", CHOSEN, "manual"),  # but what is frozen from now on has
        ("pass", "net.weight.requires_grad_(len(y) > 2)", "optimizer.zero_grad()", "safe"),
        ("pass", "pass", "for p in net.parameters():\n    if p.requires_grad: p.grad = None", "safe"),
        ("pass", "pass", "for p in [p for p in net.parameters() if p.dim() > 1]: p.grad = None", "manual"),
        ("pass", "pass", "getattr(net, ('enc', 'head')[len(y) % 2]).zero_grad()", "manual"),
        ("pass", "pass", "head = net.head\nhead.zero_grad()", "manual"),
    ],
)
def test_gradients_of_some_parameters(before: str, inside: str, clear: str, grade: str) -> None:
    text = SOURCES.replace("CRITERION", "nn.CrossEntropyLoss()").replace("MADE", "net.parameters()")
    text = text.replace("    for x, y in", f"    {before}\n    for x, y in")
    assert _grades(text.replace("        CLEAR\n", indent(f"{inside}\n{clear}", " " * 8) + "\n")) == [grade]


def test_what_stays_is_said() -> None:
    text = SOURCES.replace("CRITERION", "Prototypes()").replace("MADE", GROUPS).replace("CLEAR", "net.zero_grad()")
    (said,) = [f.message for f in engine.migrate_module(text, Settings()).findings if f.rule == "APX091"]
    assert said == (
        "the result would not be the same program: `net.zero_grad()` clears only some gradients of this optimizer: "
        "those of `criterion` stay, unscaled by the step before, and the next backward adds scaled ones to them; "
        "`optimizer.zero_grad()` clears all. Write that at line 39"
    )


WINDOWS = (
    HEAD
    + """\


def train_epoch(net, optimizer, batches, every):
    AHEAD
    for i, x in enumerate(batches):
        loss = net(x).abs().mean() / every
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        if TEST:
            optimizer.step()
            optimizer.zero_grad()
    BEHIND


def main(batches, every):
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for epoch in range(3):
        train_epoch(net, optimizer, batches, every)
"""
)
DUE = "(i + 1) % every == 0"


@pytest.mark.parametrize(
    ("ahead", "test", "behind", "grade"),
    [
        ("pass", DUE, "pass", "safe"),  # what is left of a window goes on into the next epoch
        ("optimizer.zero_grad()", DUE, "pass", "review"),
        ("pass", DUE, "optimizer.zero_grad()", "review"),
        ("for p in net.parameters(): p.grad = None", DUE, "pass", "review"),
        ("optimizer.zero_grad()", f"{DUE} or i + 1 == len(batches)", "pass", "safe"),  # none is left
    ],
)
def test_what_is_left_of_a_window(ahead: str, test: str, behind: str, grade: str) -> None:
    """Thrown away behind an overflow, Apex left out the next step, whose gradients are good."""
    text = WINDOWS.replace("AHEAD", ahead).replace("TEST", test).replace("BEHIND", behind)
    assert _grades(text) == [grade]


def test_a_window_that_is_left_in_the_one_loop_there_is() -> None:
    """Gradients that are cleared once for all are those of no window."""
    text = WINDOWS.replace("TEST", DUE).replace("BEHIND", "pass").replace("        train_epoch(", "        print(")
    text = text.replace("    AHEAD\n    for i, x", "    optimizer.zero_grad()\n    for i, x")
    assert _grades(text + "    train_epoch(net, optimizer, batches, every)\n") == ["safe"]


def test_modules_that_are_moved_to_and_fro() -> None:
    """Each call of `.cuda()` may give back what the other one gave."""
    text = SOURCES.replace("CRITERION", "nn.MSELoss()").replace("MADE", PLUS).replace("CLEAR", "net.zero_grad()")
    moved = "        criterion = criterion.cpu()\n        criterion = criterion.cuda()\n"
    assert _grades(text.replace("        loss =", f"{moved}        loss =")) == ["safe"]


MANAGED = (
    "from contextlib import contextmanager\n"
    + HEAD
    + """\


@contextmanager
def around(net, optimizer):
    FIRST
    yield optimizer
    LAST


def main(batches):
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x in batches:
        loss = net(x).abs().mean()
        optimizer.zero_grad()
        with around(net, optimizer):
            LEAVE
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        STEP
"""
)


@pytest.mark.parametrize(
    ("first", "leave", "last", "step", "grade"),
    [
        ("pass", "pass", "pass", "optimizer.step()", "safe"),
        ("pass", "pass", "optimizer.step()", "pass", "safe"),
        ("print(net.weight.grad)", "pass", "pass", "optimizer.step()", "safe"),
        ("pass", "pass", "print(net.weight.grad)", "optimizer.step()", "manual"),  # they are scaled there
        ("pass", "pass", "net.zero_grad()", "optimizer.step()", "manual"),  # a step without gradients
        ("pass", "if x.sum() > 3:\n                continue", "optimizer.step()", "pass", "manual"),
        ("pass", "if x.sum() > 3:\n                continue", "pass", "optimizer.step()", "safe"),
    ],
)
def test_a_generator_as_a_context_manager_runs_around_its_block(
    first: str, leave: str, last: str, step: str, grade: str
) -> None:
    text = MANAGED.replace("FIRST", first).replace("LEAVE", leave).replace("LAST", last).replace("STEP", step)
    assert _grades(text) == [grade]


@pytest.mark.parametrize(
    "block",
    [
        "handed(net, optimizer)",
        "ExitStack() as stack",
        "Probe(net, optimizer)(3)",
        "Probe(net, optimizer).later",
        "handed(net, optimizer) if x.sum() > 3 else around(net, optimizer)",
    ],
)
@pytest.mark.parametrize("last", ["print(net.weight.grad)", "print(net.weight)"])
def test_a_generator_that_somebody_hands_a_block_is_its_manager(block: str, last: str) -> None:
    handing = """\
def handed(net, optimizer):
    return around(net, optimizer)


class Probe:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer
        self.later = around(net, optimizer)

    def __call__(self, step):
        return handed(self.net, self.optimizer)


def main"""
    text = MANAGED.replace("FIRST", "pass").replace("LEAVE", "pass").replace("LAST", last)
    text = text.replace("STEP", "optimizer.step()").replace("with around(net, optimizer)", f"with {block}")
    text = text.replace("as stack:", "as stack:\n            stack.enter_context(around(net, optimizer))")
    case = judged_case("from contextlib import ExitStack\n" + text.replace("def main", handing))
    assert case is not None and case.grade is Applicability.SAFE
    unscale = "            scaler.unscale_(optimizer)\n"  # inside of the block, whose end looks at gradients
    assert (unscale in case.text) is ("grad" in last)
    assert (case.judged(case.text.replace(unscale, "")) is not None) is ("grad" in last)


TWICE = (
    HEAD
    + """\


class Net(nn.Module):
    def forward(self, x):
        return x


def train(net, cfg, batches):
    optimizer = MADE(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for i, (x, y) in enumerate(batches):
        loss = F.cross_entropy(net(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def main(cfg, batches):
    train(Net(), cfg, batches)
    train(Net(), cfg, batches)
"""
)


@pytest.mark.parametrize(
    "made",
    ["torch.optim.SGD", "getattr(torch.optim, cfg.optimizer)", "torch.optim.__dict__[cfg.optimizer]", "make_optimizer"],
)
def test_whoever_makes_an_optimizer_of_parameters_reads_no_gradients(made: str) -> None:
    """An open window is left behind at the end of a training, and another one begins."""
    assert _grades(TWICE.replace("MADE", made)) == ["safe"]

"""What stands under autocast."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from migrate.plan.decide import decide
from migrate.plan.regions.marks import Region
from migrate.plan.regions.planner import Planner
from migrate.units.unit import Manual
from tests.asking import context, unit

TOP = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
model, optimizer = amp.initialize(build(), SGD(1), opt_level="O1")
"""
TRAIN = """\
optimizer.zero_grad()
with amp.scale_loss(loss, optimizer) as scaled:
    scaled.backward()
optimizer.step()
"""


def regions(text: str) -> list[str]:
    """The lines of each region, and the losses that get a line of their own."""
    ctx = context(text)
    planner = decide(ctx, unit(ctx), []).planner
    found = []
    for region in planner.regions:
        body = region.block.body
        first, last = body[region.first].lineno, body[region.last].end_lineno
        assert last is not None
        rows = [ctx.m.line_text(n).strip() for n in range(first, last + 1)]
        found.append("; ".join(row for row in rows if row))
    return found + [f"{h.name} = {ctx.m.src(h.expr)}" for h in planner.hoists]


#: What stands in the loop above the step, and what of it runs under autocast.
TRAINING = {
    "forward and loss": ("out = model(x)\nloss = F.mse_loss(out, y)", ["out = model(x); loss = F.mse_loss(out, y)"]),
    "what is moved first stays out": ("x = x.cuda()\nloss = model(x)", ["loss = model(x)"]),
    "what the data hands out stays out": (
        "x, y = next(model.get_iterator(True))\nprint(1)\nprint(2)\nprint(3)\nprint(4)\nloss = model(x)",
        ["loss = model(x)"],
    ),
    "what is printed behind stays out": ("loss = model(x)\nprint(loss)", ["loss = model(x)"]),
    "what stands between": (
        "out = model(x)\nlog(1)\nloss = F.mse_loss(out, y)",
        ["out = model(x); log(1); loss = F.mse_loss(out, y)"],
    ),
    "numbers that are told behind": (
        "loss = model(x)\nif name.startswith('ot'):\n    one, other = loss\n    n = one.item()\n    meter['one'](n)\n"
        "    loss = one.mean() + other.sum()\n    meter['ot'](loss.item())",
        ["loss = model(x)", "loss = one.mean() + other.sum()"],
    ),
    "a tensor that is handed on behind": (
        "loss = model(x)\nif name.startswith('ot'):\n    loss = loss.sum()\n    meter['ot'](loss)",
        ["loss = model(x); if name.startswith('ot'):; loss = loss.sum(); meter['ot'](loss)"],
    ),
    "zero_grad between": (
        "out = model(x)\noptimizer.zero_grad()\nloss = F.mse_loss(out, y)",
        ["out = model(x)", "loss = F.mse_loss(out, y)"],
    ),
    "a sum of losses": (
        "a = F.mse_loss(model(x), y)\nb = F.l1_loss(model(y), x)\nloss = a + b",
        ["a = F.mse_loss(model(x), y); b = F.l1_loss(model(y), x)"],
    ),
    "a part of it": (
        "losses = model(x)\nloss = sum(losses.values())",
        ["losses = model(x); loss = sum(losses.values())"],
    ),
    "a condition around the forward": (
        "if mix:\n    loss = model(x)\nelse:\n    loss = model(y)",
        ["if mix:; loss = model(x); else:; loss = model(y)"],
    ),
    "a loop": (
        "out = []\nfor part in x:\n    out.append(model(part))\nloss = F.mse_loss(torch.stack(out), y)",
        ["for part in x:; out.append(model(part)); loss = F.mse_loss(torch.stack(out), y)"],
    ),
    "a loop that loads and moves": (
        "out = []\nfor part in loader_2:\n    part = part.cuda()\n    out.append(model(part))\n"
        "loss = F.mse_loss(torch.stack(out), y)",
        ["out.append(model(part))", "loss = F.mse_loss(torch.stack(out), y)"],
    ),
    "an arm that moves": (
        "if mix:\n    x = x.cuda()\n    out = model(x)\nelse:\n    out = model(y)\nloss = F.mse_loss(out, y)",
        ["out = model(x)", "out = model(y)", "loss = F.mse_loss(out, y)"],
    ),
    "an arm that raises, and says in which mode it is": (
        "if mix:\n    if told:\n        raise RuntimeError('no')\n    x = x.cuda()\n    x = x.cuda()\n"
        "    model.train()\n    out = model(x)\nelse:\n    out = model(y)\nloss = F.mse_loss(out, y)",
        ["out = model(x)", "out = model(y)", "loss = F.mse_loss(out, y)"],
    ),
    "an arm that asks for the next batch": (
        "loss = model(x)\nif extra:\n    try:\n        z = next(more)\n    except StopIteration:\n"
        "        z = next(iter(more))\n    z = z.cuda()\n    loss = loss + F.mse_loss(model(z), y)",
        ["loss = model(x)", "loss = loss + F.mse_loss(model(z), y)"],
    ),
    "an arm that prints a loss": (
        "out = model(x)\nif told:\n    print(F.l1_loss(out, y))\nloss = F.mse_loss(out, y)",
        ["out = model(x); if told:; print(F.l1_loss(out, y)); loss = F.mse_loss(out, y)"],
    ),
    "an arm whose condition computes": (
        "out = model(x)\nif torch.norm(out) > 1:\n    print(1)\n    out = model(y)\nloss = F.mse_loss(out, y)",
        ["out = model(x); if torch.norm(out) > 1:; print(1); out = model(y); loss = F.mse_loss(out, y)"],
    ),
    "a block that may say something of casts": (
        "with island():\n    print(1)\n    out = model(x)\nloss = F.mse_loss(out, y)",
        ["with island():; print(1); out = model(x); loss = F.mse_loss(out, y)"],
    ),
    "what is only told to others": (
        "loss = model(x)\nif apart:\n    told = loss.clone().detach_()\n    torch.distributed.all_reduce(told)\n"
        "else:\n    loss = loss.mean()",
        ["loss = model(x)"],
    ),
    "a page of logging between": (
        "out = model(x)\n" + "print(1)\n" * 5 + "loss = F.mse_loss(out, y)",
        ["out = model(x)", "loss = F.mse_loss(out, y)"],
    ),
    "a second model call that trains nothing": (
        "loss = model(x)\nwith torch.no_grad():\n    other = model(y)",
        ["loss = model(x)", "other = model(y)"],
    ),
}


@pytest.mark.parametrize("case", TRAINING)
def test_training(case: str) -> None:
    body, answer = TRAINING[case]
    assert regions(TOP + "for x, y in loader:\n" + indent(body + "\n" + TRAIN, "    ")) == answer


HANDED = """\
import torch
import torch.nn.functional as F
from apex import amp
def evaluate(model, loader):
    for x, y in loader:
        print(model(x))
def train(fp16):
    model, optimizer = build(), SGD(1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", enabled=fp16)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
    evaluate(model, loader)
"""


def test_an_evaluation_that_cannot_say_the_condition_is_handed_the_scaler() -> None:
    assert regions(HANDED) == ["print(model(x))", "loss = F.mse_loss(model(x), y)"]


@pytest.mark.parametrize("more", ["run_later(evaluate)\n", "pool.map(evaluate, [1, 2])\n"])
def test_one_that_others_call_too_is_not(more: str) -> None:
    assert regions_or_manual(HANDED + more) != ["print(model(x))", "loss = F.mse_loss(model(x), y)"]


def test_one_that_says_the_condition_is_not() -> None:
    text = HANDED.replace("evaluate(model, loader", "evaluate(model, loader, fp16")
    ctx = context(text)
    plan = decide(ctx, unit(ctx), [])
    assert not plan.homes.parameters
    assert sorted(plan.enabled_at.values()) == ["bool(fp16)", "scaler.is_enabled()"]


def test_a_loss_of_an_evaluation_under_o2_is_of_the_region() -> None:
    text = LOOP.replace("O1", "O2") + "out = model(x)\nloss = F.cross_entropy(out, y)\nother = F.softmax(out, 1)\n"
    assert regions(text)[1:] == ["out = model(x); loss = F.cross_entropy(out, y)"]


def regions_or_manual(text: str) -> list[str]:
    try:
        return regions(text)
    except Manual:
        return []


def test_a_loss_made_in_the_argument_gets_a_line() -> None:
    body = TRAIN.replace("(loss,", "(F.mse_loss(model(x), y),")
    assert regions(TOP + "for x, y in loader:\n" + indent(body, "    ")) == ["loss = F.mse_loss(model(x), y)"]
    body = "loss = model(x)\n" + TRAIN.replace("(loss,", "(F.mse_loss(loss, y),")
    assert regions(TOP + "for x, y in loader:\n" + indent(body, "    ")) == [
        "loss = model(x)",
        "loss_2 = F.mse_loss(loss, y)",
    ]


FUNCTIONS = {
    "the loss is a parameter": (
        """
        def backward(loss):
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        def train():
            for x, y in loader:
                optimizer.zero_grad()
                loss = F.mse_loss(model(x), y)
                backward(loss)
                optimizer.step()
        train()
        """,
        ["loss = F.mse_loss(model(x), y)"],
    ),
    "the forward is a function's": (
        """
        def compute(x, y):
            x = x.cuda()
            return F.mse_loss(model(x), y)
        def train():
            for x, y in loader:
                loss = compute(x, y)
                optimizer.zero_grad()
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
                optimizer.step()
        train()
        """,
        ["loss = compute(x, y)"],
    ),
    "a generator's": (
        """
        def losses():
            for x, y in loader:
                yield F.mse_loss(model(x), y)
        for loss in losses():
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
        """,
        ["loss = F.mse_loss(model(x), y)"],
    ),
    "an attribute": (
        """
        class T:
            def forward(self, x, y):
                self.out = model(x)
                self.loss = F.mse_loss(self.out, y)
            def backward(self):
                with amp.scale_loss(self.loss, optimizer) as scaled:
                    scaled.backward()
            def run(self, x, y):
                optimizer.zero_grad()
                self.forward(x, y)
                self.backward()
                optimizer.step()
        t = T()
        for x, y in loader:
            t.run(x, y)
        """,
        ["self.forward(x, y)"],
    ),
}


@pytest.mark.parametrize("case", FUNCTIONS)
def test_through_functions(case: str) -> None:
    text, answer = FUNCTIONS[case]
    assert regions(TOP + dedent(text)) == answer


LOOP = TOP + "for x, y in loader:\n" + indent("loss = model(x)\n" + TRAIN, "    ")

@pytest.mark.parametrize(
    ("scaled", "answer"),
    [
        ("loss.mean()", ["loss = F.mse_loss(model(x), y, reduction='none')"]),
        ("self.loss.mean()", None),
        ("(loss ** 2).mean()", ["loss = F.mse_loss(model(x), y, reduction='none')", "loss_2 = (loss ** 2).mean()"]),
        ("loss.sum()", ["loss = F.mse_loss(model(x), y, reduction='none')", "loss_2 = loss.sum()"]),
    ],
)
def test_what_is_made_of_the_loss_as_it_is_scaled(scaled: str, answer: list[str] | None) -> None:
    loss = "self.loss" if answer is None else "loss"
    first = f"{loss} = F.mse_loss(model(x), y, reduction='none')\n"
    step = TRAIN.replace("scale_loss(loss,", f"scale_loss({scaled},")
    found = regions(TOP + "for x, y in loader:\n" + indent(first + step, "    "))
    assert found == (answer or [first.strip()])


#: What follows the training, and what of it runs under autocast.
EVALUATION = {
    "a call": ("out = model(x)\nprint(out)\n", ["out = model(x)"]),
    "a loss behind lines that lead to it": (
        "out = model(x)\na = out[0]\nb = a[1:]\nc = b.view(-1)\nd = c[1:]\nloss = F.mse_loss(d, y)\nprint(1)\n",
        ["out = model(x); a = out[0]; b = a[1:]; c = b.view(-1); d = c[1:]; loss = F.mse_loss(d, y)"],
    ),
    "a loss behind as many that do not": (
        "out = model(x)\na = z[0]\nb = a[1:]\nc = b.view(-1)\nd = c[1:]\nloss = F.mse_loss(out, y)\nprint(1)\n",
        ["out = model(x)", "loss = F.mse_loss(out, y)"],
    ),
    "arms without an else": (
        "if half:\n    out = model(x)\nelif less:\n    out = model(-x)\nprint(out)\n",
        ["if half:; out = model(x); elif less:; out = model(-x)"],
    ),
    "such arms in another": (
        "if mix:\n    if half:\n        out = model(x)\n    elif less:\n        out = model(-x)\nelse:\n"
        "    out = model(y)\n",
        ["if mix:; if half:; out = model(x); elif less:; out = model(-x); else:; out = model(y)"],
    ),
    "plots between it and what no list casts": (
        "out = model(x)\nimport matplotlib.pyplot as plt\nfor row in out.cpu():\n    figure = plt.figure(1)\n"
        "    plt.close(figure)\nif vocoder:\n    out = F.pad(out, (1, 1))\n",
        ["out = model(x)"],
    ),
    "plots between it and a loss": (
        "out = model(x)\nimport matplotlib.pyplot as plt\nfor row in out.cpu():\n    figure = plt.figure(1)\n"
        "    print(figure)\n    print(row)\nif more:\n    loss = F.mse_loss(out, y)\n",
        ["out = model(x)", "if more:; loss = F.mse_loss(out, y)"],
    ),
    "losses in arms behind arms": (
        "if half:\n    out = model(x)\nelse:\n    out = model(-x)\nn = [1]\nif less:\n    loss = F.mse_loss(out, y)\n"
        "else:\n    loss = F.l1_loss(out, y)\nprint(loss)\n",
        [
            "if half:; out = model(x); else:; out = model(-x)",
            "if less:; loss = F.mse_loss(out, y); else:; loss = F.l1_loss(out, y)",
        ],
    ),
    "one arm alone": ("if half:\n    out = model(x)\nprint(1)\n", ["out = model(x)"]),
    "an arm that runs none": (
        "if half:\n    out = model(x)\nelif less:\n    out = x\nelse:\n    out = model(y)\n",
        ["out = model(x)", "out = model(y)"],
    ),
    "what is computed of it": (
        "out = model(x)\nprobabilities = F.softmax(out, 1)\nprint(probabilities.argmax())\n",
        ["out = model(x); probabilities = F.softmax(out, 1)"],
    ),
    "a loss behind the block": (
        "with torch.no_grad():\n    out = model(x)\nprint(1)\nloss = criterion(out, y)\nprint(loss)\n",
        ["out = model(x)", "loss = criterion(out, y)"],
    ),
    "no loss of what left torch": (
        "with torch.no_grad():\n    out = model(x).tolist()\nloss = criterion(out, y)\n",
        ["out = model(x).tolist()"],
    ),
    "not what left torch": (
        "out = model(x)\nrow = out.tolist()\nvalue = F.softmax(row, 1)\n",
        ["out = model(x)"],
    ),
    "all of a no_grad": (
        "with torch.no_grad():\n    rows = len(x)\n    out = model(x)\n    best = out.max()\n",
        ["rows = len(x); out = model(x); best = out.max()"],
    ),
    "all of an inference_mode": (
        "with torch.inference_mode():\n    rows = len(x)\n    out = model(x)\n",
        ["rows = len(x); out = model(x)"],
    ),
    "not what is moved and printed in one": (
        "with torch.no_grad():\n    x = x.cuda()\n    out = model(x)\n    print(out)\n",
        ["out = model(x)"],
    ),
    "a function that hands one result back": (
        "def predict(x):\n    return model(x)\nfor x in test:\n    out = predict(x)\n",
        ["out = predict(x)"],
    ),
    "a function that hands numbers back": (
        "def score(x):\n    if x is None:\n        return x\n    return model(x).argmax(1).item(), len(x)\n"
        "for x in test:\n    out = score(x)\n",
        ["return model(x).argmax(1).item(), len(x)"],
    ),
    "a function that hands a sum of numbers back": (
        "def score():\n    return sum(F.mse_loss(model(x), y).item() for x, y in test) / len(test)\nprint(score())\n",
        ["return sum(F.mse_loss(model(x), y).item() for x, y in test) / len(test)"],
    ),
    "a function that hands a number and a result back": (
        "def score(x):\n    out = model(x)\n    return out.mean().item(), out\nn, out = score(x)\n",
        ["n, out = score(x)"],
    ),
    "a function that hands a mean back": (
        "def score(x):\n    return model(x).mean()\nn = score(x)\n",
        ["n = score(x)"],
    ),
    "a function with a loop": (
        "def evaluate():\n    for x in test:\n        out = model(x)\n        print(out)\nevaluate()\n",
        ["out = model(x)"],
    ),
    "a function that nothing here calls": ("def predict(x):\n    return model(x)\n", ["return model(x)"]),
    "with a break behind": ("for x in test:\n    out = model(x)\n    break\n", ["out = model(x)"]),
    "a lambda that is called": ("f = lambda x: model(x)\nout = f(x)\n", ["out = f(x)"]),
    "a generator that is unpacked": ("a, b = (model(p) for p in test)\n", ["a, b = (model(p) for p in test)"]),
    "a generator that is gone through": (
        "for out in (model(p) for p in test):\n    print(out)\n",
        ["for out in (model(p) for p in test):; print(out)"],
    ),
    "a generator in a list": ("outs = [*(model(p) for p in test)]\n", ["outs = [*(model(p) for p in test)]"]),
    "other weights in between": (
        "def evaluate():\n    return model(x)\n"
        "a = evaluate()\nwith ema.average_parameters():\n    b = evaluate()\nc = evaluate()\nd = evaluate()\n",
        ["a = evaluate()", "b = evaluate()", "c = evaluate(); d = evaluate()"],
    ),
    "a function that gives it other weights": (
        "def evaluate():\n    return model(x)\n"
        "def averaged():\n    for p, s in zip(model.parameters(), shadow):\n        p.data = s\n"
        "    found = evaluate()\n    return found\n"
        "a = evaluate()\nb = averaged()\n",
        ["found = evaluate()", "a = evaluate()"],
    ),
    "nothing but a name in between": (
        "def evaluate():\n    return model(x)\na = evaluate()\nself.data = x\nb = evaluate()\n",
        ["a = evaluate(); self.data = x; b = evaluate()"],
    ),
    "far apart": (
        "out = model(x)\n" + "".join(f"a{i} = b{i}\n" for i in range(6)) + "loss = F.mse_loss(out, y)\n",
        ["out = model(x)", "loss = F.mse_loss(out, y)"],
    ),
}


@pytest.mark.parametrize("case", EVALUATION)
def test_evaluation(case: str) -> None:
    text, answer = EVALUATION[case]
    assert regions(LOOP + text)[1:] == answer


MAPPED = """\
class T:
    def generate(self, x):
        out = model(x)
        rows = map(lambda r: model(r), x)
        return self.join(out, rows)
    def join(self, out, rows):
        return [out, *rows]
    def evaluate(self, x):
        out = self.generate(x)
        print(out)
    def show(self, x):
        print(1)
        out = self.generate(x)
        print(out)
"""


def test_a_lambda_of_a_function_that_only_runs_in_regions() -> None:
    ctx = context(LOOP + MAPPED)
    one = unit(ctx)
    assert decide(ctx, one, []).planner.regions
    assert not [text for _, _, text in one.reviews if "a lambda runs the model here" in text]


def test_what_is_said_twice_names_both_places() -> None:
    text = LOOP + "run(lambda x: model(x))\nrun(lambda y: model(y))\n"
    ctx = context(text)
    one = unit(ctx)
    decide(ctx, one, [])
    assert len([text for _, _, text in one.reviews if "a lambda runs the model here" in text]) == 2


BESIDE = """\
class T:
    def fit(self, x):
        loss = model(x)
{train}        return loss.item()
    def test(self, x):
        return model(x).mean().item()
t = T()
for x, y in loader:
    {stmt}
"""


@pytest.mark.parametrize(
    "stmt",
    [
        "out += [t.fit(x), t.test(y)]",
        "out += [t.test(x), t.fit(y)]",
        "print(dict(train=t.fit(x), test=t.test(y)))",
        "tr, te = t.fit(x), t.test(y)",
        "if t.fit(x) > t.test(y): print(1)",
    ],
)
def test_functions_that_train_and_evaluate_in_one_statement(stmt: str) -> None:
    text = BESIDE.format(train=indent(TRAIN, "        "), stmt=stmt)
    assert regions(TOP + text) == ["loss = model(x)", "return model(x).mean().item()"]


def test_what_a_training_hands_back_may_be_handed_to_anything() -> None:
    text = BESIDE.replace("fit", "train").format(train=indent(TRAIN, "        "), stmt="log.add(t.train(x))")
    assert regions(TOP + text)[0] == "loss = model(x)"


MANUAL = {
    "behind a training in one statement": (
        TOP + BESIDE.format(train=indent(TRAIN, "        "), stmt="out += [t.fit(x), model(y)]"),
        "in the statement that also runs a backward or step",
    ),
    "no model": (
        TOP + "for x, y in loader:\n" + indent("loss = make(x)\n" + TRAIN, "    "),
        "where `loss` comes from is not known",
    ),
    "a box out of a pair": (
        TOP + "def train(box, optimizer):\n" + indent(TRAIN.replace("loss,", "box.loss,"), "    ")
        + "for x, y in loader:\n    pair = Box(model(x)), optimizer\n    train(*pair)\n",
        "where `box.loss` comes from is not known",
    ),
    "a generator expression": (LOOP + "outs = (model(x) for x in test)\n", "a generator calls the model here"),
    "a generator read between steps": (
        LOOP + "for out in (model(x) for x in test):\n    optimizer.zero_grad()\n",
        "a generator calls the model here",
    ),
    "a generator that an object keeps": (
        LOOP + "class Kept:\n    def __init__(self, g):\n        self.g = g\nkept = Kept(model(x) for x in test)\n",
        "a generator calls the model here",
    ),
    "a condition of a generator": (LOOP + "outs = (x for x in test if model(x))\n", "a generator calls the model here"),
    "a generator under a name": (LOOP + "outs = other = (model(x) for x in test)\n", "a generator calls the model"),
    "a header": (LOOP + "for out in model(x):\n    optimizer.zero_grad()\n", "in the header of a block"),
}


@pytest.mark.parametrize("case", MANUAL)
def test_by_hand(case: str) -> None:
    text, why = MANUAL[case]
    with pytest.raises(Manual) as missing:
        regions(text)
    assert why in missing.value.message


@pytest.mark.parametrize(
    "name",
    "map filter zip enumerate iter tqdm trange chain chain.from_iterable itertools.islice starmap takewhile dropwhile "
    "cycle tee zip_longest accumulate groupby pairwise batched product".split(),
)
def test_a_generator_that_is_read_later(name: str) -> None:
    with pytest.raises(Manual, match="a generator calls the model here"):
        regions(LOOP + f"outs = {name}((model(x) for x in test))\n")


ALONE = """\
import torch
import torch.nn.functional as F
from apex import amp

parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()


def smoke(net):
    net = amp.initialize(net, opt_level=LEVEL)
    print(net(torch.rand(2, 4)))


def main(net, optimizer):
    if args.fp16:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


net = torch.nn.Linear(4, 2)
if args.smoke:
    smoke(net)
else:
    main(net, torch.optim.SGD(net.parameters(), lr=0.1))
"""


def test_an_initialize_right_above_says_when_a_region_is_on() -> None:
    new = migrate_module(ALONE.replace("LEVEL", '"O1"'), Settings()).new_text
    assert new is not None
    assert 'with torch.autocast("cuda", dtype=torch.float16):\n        print(net(torch.rand(2, 4)))' in new


ARMS = """\
import torch
import torch.nn.functional as F
from apex import amp

args = parser.parse_args()
net = torch.nn.Linear(4, 2)
optimizer = None if args.evaluate else torch.optim.SGD(net.parameters(), lr=0.1)
if args.fp16:
    if optimizer is None:
        net = amp.initialize(net, opt_level="O1")
    else:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
if args.evaluate:
    print(net(x))
else:
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
"""


def test_casts_are_on_also_where_only_a_model_was_handed_over() -> None:
    new = migrate_module(ARMS, Settings()).new_text
    assert new is not None
    assert 'if args.evaluate:\n    with torch.autocast("cuda", dtype=torch.float16, enabled=bool(args.fp16)):' in new


NO_GRADIENTS_FIRST = """\
import torch
from apex import amp


@torch.no_grad()
def guess(model, u):
    return model(u).softmax(1)


def main(model, teacher, optimizer, loader):
    [model, teacher], optimizer = amp.initialize([model, teacher], optimizer, opt_level="O1")
    for x, u, y in loader:
        FIRST
        out = model(x)
        loss = torch.nn.functional.mse_loss(out, t)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()


model, teacher = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
main(model, teacher, torch.optim.SGD(model.parameters(), lr=0.1), [])
"""


@pytest.mark.parametrize(
    ("first", "regions"),
    [
        ("with torch.no_grad():\n            t = model(u)", 2),
        ("t = guess(model, u)", 2),
        ("with torch.no_grad():\n            t = teacher(u)", 1),
        ("t = guess(teacher, u)", 1),
        ("t = model(u)", 1),
    ],
)
def test_a_model_that_runs_without_gradients_first_has_a_region_of_its_own(first: str, regions: int) -> None:
    """Autocast keeps the copies of weights of one region, and older torch those without a gradient, too."""
    result = migrate_module(NO_GRADIENTS_FIRST.replace("FIRST", first), Settings())
    assert (result.new_text or "").count("torch.autocast(") == regions


CHAIN = """\
import torch
from apex import amp
model, optimizer = amp.initialize(build(), SGD(1), opt_level="O1")
for x in loader:
    if kind == "plain":
        y = x
    elif kind == "soft":
        y = model(x)
    elif kind == "sharp":
        y = model(2 * x)
    loss = model(x).sum()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""


def test_a_region_that_would_begin_at_an_elif_begins_at_its_if() -> None:
    """Nothing can stand around an elif alone: the text did not compile."""
    ctx = context(CHAIN)
    joined = Planner(ctx, unit(ctx)).joined
    first, soft, sharp = sorted(ctx.m.all(ast.If), key=ctx.m.start)
    for stmt in (first, soft, sharp):
        block, index = ctx.m.place[stmt]
        region = joined._whole_chain(Region(block, index, index, "loss"))
        assert region.block.body[region.first] is first

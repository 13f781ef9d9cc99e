"""Is the object there yet that a region's condition is read from?"""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from migrate.plan.decide import decide
from migrate.plan.regions.made import _may_be_none, not_made
from migrate.plan.regions.marks import Region
from tests.asking import context, marked, unit

HEAD = """\
import torch
import torch.nn.functional as F
from apex import amp
class Gan(torch.nn.Module):
    def __init__(self, fp16):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        if fp16:
            self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")
class Trainer:
    def __init__(self, fp16):
        self.fp16 = fp16
        FIRST
    def make(self):
        self.gan = Gan(self.fp16)
        return self.gan.net(torch.zeros(1, 4))
    def use(self):
        return self.gan.net
    def rest(self):
        return self.fp16
    def evaluate(self, x):
EVALUATE
    def train(self, loader):
        BEGIN
        for x, y in loader:
            loss = F.mse_loss(self.gan.net(x), y)
            self.gan.opt.zero_grad()
            if self.fp16:
                with amp.scale_loss(loss, self.gan.opt) as scaled:
                    scaled.backward()
            else:
                loss.backward()
            self.gan.opt.step()
"""


def left_out(evaluate: str, first: str = "self.gan = None", begin: str = "self.gan.train()") -> list[str]:
    """What is said of regions without a condition, and the lines of those with one ahead of ``train``."""
    body = indent(dedent(evaluate).strip(), "        ")
    text = HEAD.replace("EVALUATE", body).replace("FIRST", first).replace("BEGIN", begin)
    ctx = context(text)
    one = unit(ctx)
    plan = decide(ctx, one, [])
    missing = [text for _, rule, text in one.reviews if rule == "APX031" and "may not be there yet" in text]
    train = text.splitlines().index("    def train(self, loader):")
    regions = [r for r in plan.planner.regions if r.block.body[r.first].lineno <= train]
    lines = [ctx.m.line_text(r.block.body[r.first].lineno).strip() for r in regions]
    return ["missing"] * len(missing) + [line for line in lines if "self.gan.net(x)" in line or "make()" in line]


CALL = "print(self.gan.net(x))"
CASES = {
    "the region in an arm uses it": (f"if x.sum() > 0:\n    {CALL}", [CALL]),
    "the region itself uses it": (CALL, [CALL]),
    "the region makes it": ("if self.gan is None:\n    self.out = self.make()\nself.gan.eval()", ["missing"]),
    "it was made": ("self.gan = Gan(True)\nif x.sum():\n    self.out = self.make()", ["self.out = self.make()"]),
    "it was made where it was missing": (
        "if self.gan is None:\n    self.gan = fresh()\nif x.sum():\n    self.out = self.make()",
        ["self.out = self.make()"],
    ),
    "it is left where it is missing": (
        "if not self.gan:\n    return\nif x.sum():\n    self.out = self.make()",
        ["self.out = self.make()"],
    ),
    "it was used": ("self.gan.eval()\nself.out = self.make()", ["self.out = self.make()"]),
    "a method used it": ("self.use()\nself.out = self.make()", ["self.out = self.make()"]),
    "a method did not use it": ("self.rest()\nself.out = self.make()", ["missing"]),
    "a method that is not here may have": ("self.other()\nself.out = self.make()", ["missing"]),
    "it is used behind the region": ("print(frozen(model=self.make()))\nself.gan.eval()", ["missing"]),
    "it was one or another": (
        "self.gan = self.gan or fresh()\nself.out = self.make()",
        ["self.out = self.make()"],
    ),
    "it was one if there was one": (
        "self.gan = self.gan if self.gan is not None else fresh()\nself.out = self.make()",
        ["self.out = self.make()"],
    ),
    "it was used at times": ("if x.sum():\n    self.gan.eval()\nself.out = self.make()", ["missing"]),
    "a condition says so": (
        "if x.sum() and self.gan is not None:\n    self.out = self.make()",
        ["self.out = self.make()"],
    ),
    "a condition says the contrary": (
        "if not self.gan:\n    pass\nelse:\n    self.out = self.make()",
        ["self.out = self.make()"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_there(case: str) -> None:
    evaluate, answer = CASES[case]
    assert left_out(evaluate) == answer


def test_the_callers_are_asked() -> None:
    assert left_out("self.out = self.make()", begin="self.gan.train()\n        self.evaluate(1)") == [
        "self.out = self.make()"
    ]
    assert left_out("self.out = self.make()", begin="self.evaluate(1)") == ["missing"]


@pytest.mark.parametrize(
    ("behind", "answer"),
    [
        ("pass", "self.gan"),
        ("self.gan.step()", None),
        ("if self.gan.fp16:\n    pass", None),
        ("if x:\n    self.gan.step()", "self.gan"),
        ("self.gan = fresh()", "self.gan"),
    ],
)
def test_used_behind_the_region(behind: str, answer: str | None) -> None:
    head = "class T:\n    def __init__(self):\n        self.gan = None\n    def f(self, x):\n        out = g(x)  # ?\n"
    ctx = context(head + indent(behind, "        "))
    (stmt,) = marked(ctx.m)
    block, index = ctx.m.place[stmt]
    assert not_made(ctx, Region(block, index, index, "evaluation"), "self.gan.scaler.is_enabled()") == answer


@pytest.mark.parametrize(
    ("parameters", "calls", "answer"),
    [
        ("x", "gan.eval()\n    f(1)", None),
        ("x", "f(1)\n    gan.eval()", "gan"),
        ("x", "gan.eval()\n    f(1)\ndef other():\n    f(2)", "gan"),
        ("x, gan=None", "f(1, build())", None),
        ("x, gan=None", "f(1)", "gan"),
        ("x, gan=None", "f(1, None)", "gan"),
        ("x, gan=None", "mine.eval()\n    f(1, mine)", None),
    ],
)
def test_callers_are_asked_in_their_own_words(parameters: str, calls: str, answer: str | None) -> None:
    """A name of the file is the same in all of them, a parameter is what was handed."""
    ctx = context(f"gan = None\ndef f({parameters}):\n    out = g(x)  # ?\n    return out\ndef main():\n    {calls}\n")
    (stmt,) = marked(ctx.m)
    block, index = ctx.m.place[stmt]
    assert not_made(ctx, Region(block, index, index, "evaluation"), "gan.scaler.is_enabled()") == answer


DERIVED = """\
import torch
from apex import amp
from base import Learner


class Classifier(Learner):
    def __init__(self, model: torch.nn.Module, fp16=True):
        super().__init__(model, fp16)

    def fit(self, optimizer, loader):
        if self.fp16:
            self.model, optimizer = amp.initialize(self.model, optimizer, opt_level="O1")
        self.model = torch.nn.DataParallel(self.model)
        for batch in loader:
            optimizer.zero_grad()
            loss = self.model(batch)[0]
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()


def build():
    model = MODEL.from_pretrained("base")
    model.to(device)
    return Classifier(model)
"""


def test_the_constructor_of_a_base_runs_no_model() -> None:
    """A region around it would ask ``self.fp16``, which that constructor sets."""
    new = migrate_module(DERIVED, Settings()).new_text
    assert new is not None and "\n        super().__init__(model, fp16)\n" in new
    assert new.count("with torch.autocast") == 1


NONE = {
    "an attribute of it": ("self.net", "class C:\n    def f(self):\n        self.net = None\n", True),
    "a class's attribute": ("self.net", "class C:\n    net = None\n    def f(self):\n        pass\n", True),
    "an annotated one": ("self.net", "class C:\n    net: object = None\n    def f(self):\n        pass\n", True),
    "a name of the file is no attribute": ("self.net", "net = None\nclass C:\n    def f(self):\n        pass\n", False),
    "a name of a function is none": ("self.net", "class C:\n    def f(self):\n        net = None\n", False),
    "a name": ("net", "def f():\n    net = None\n", True),
    "a name of the file": ("net", "net = None\ndef f():\n    return net\n", True),
    "another function's": ("net", "net = make()\ndef g():\n    net = None\ndef f():\n    return net\n", False),
    "a class's attribute is no name": ("net", "net = m()\nclass C:\n    net = None\ndef f():\n    return net\n", False),
    "an attribute is no name": ("net", "def f(x):\n    net = make()\n    x.net = None\n", False),
    "another name": ("net", "def f():\n    net = make()\n    other = None\n", False),
}


@pytest.mark.parametrize("case", NONE)
def test_what_may_be_none(case: str) -> None:
    owner, text, answer = NONE[case]
    ctx = context(text)
    (scope,) = (s for s in ctx.m.scope_of.values() if getattr(s.node, "name", "") == "f")
    assert _may_be_none(ctx, owner, scope) is answer

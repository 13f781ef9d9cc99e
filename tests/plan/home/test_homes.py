"""Where the scaler is made, under which condition, and how each function reaches it."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from migrate.engine import migrate_module
from migrate.facts.module import Module
from migrate.model import Settings
from migrate.plan.decide import decide
from migrate.plan.home.cases import either
from migrate.plan.inserted import free_name
from migrate.plan.plan import Plan
from migrate.units.conditions import FALSE, TRUE, Term
from migrate.units.unit import Manual
from tests.asking import context, unit

TOP = "import torch\nfrom apex import amp\n"
INIT = "model, optimizer = amp.initialize(model, optimizer, opt_level='O1')"
STEP = """\
optimizer.zero_grad()
with amp.scale_loss(model(x).sum(), optimizer) as scaled:
    scaled.backward()
optimizer.step()
"""


def planned(text: str, exported: str = "") -> Plan:
    """INIT and STEP in a text stand for a whole statement and a step of training."""
    rows = []
    for row in (TOP + dedent(text)).splitlines():
        space = row[: len(row) - len(row.lstrip())]
        for word, lines in (("INIT", INIT), ("STEP", STEP)):
            if row.strip() == word:
                rows += [space + line for line in lines.splitlines()]
                break
        else:
            rows.append(row)
    ctx = context("\n".join(rows) + "\n", exported)
    return decide(ctx, unit(ctx), [])


def shown(plan: Plan) -> list[str]:
    """The creations, then the parameters."""
    found = []
    for made in plan.homes.creations:
        where = "before" if made.before else "behind"
        line = plan.ctx.m.line_text(made.anchor.lineno).strip()
        line = line if len(line) < 60 else line.split("(")[0] + "(…)"
        found.append(f"{made.text} {where} {line}" + ("" if made.enabled == TRUE else f" if {made.enabled.text}"))
    for one in plan.homes.parameters:
        name = getattr(one.function.node, "name", "")
        found.append(f"{name}({one.name} behind {one.after}) from {', '.join(one.calls.values())}")
    found += [f"{text} behind {plan.ctx.m.src(stmt)}" for stmt, text in plan.homes.kept]
    return found


MADE = "model, optimizer = amp.initialize(…)"
HOMES = {
    "beside the optimizer": (
        "model, optimizer = A(), SGD()\nINIT\nfor x in y:\n    STEP",
        [f"scaler behind {MADE}"],
    ),
    "behind a condition": (
        "model, optimizer = A(), SGD()\nif fp16:\n    INIT\nfor x in y:\n    STEP",
        ["scaler behind if fp16: if fp16"],
    ),
    "behind two": (
        "model, optimizer = A(), SGD()\nif a:\n    if b:\n        INIT\nfor x in y:\n    STEP",
        ["scaler behind if a: if a and b"],
    ),
    "of the other arm": (
        "model, optimizer = A(), SGD()\nif cpu:\n    pass\nelse:\n    INIT\nfor x in y:\n    STEP",
        ["scaler behind if cpu: if not cpu"],
    ),
    "all in one arm": (
        "if train:\n    model, optimizer = A(), SGD()\n    INIT\n    for x in y:\n        STEP",
        [f"scaler behind {MADE}"],
    ),
    "two initialize": (
        "model, optimizer = A(), SGD()\nif a:\n    INIT\nelif b:\n    INIT\nfor x in y:\n    STEP",
        ["scaler behind if a: if a or b"],
    ),
    "in both arms": (
        "model, optimizer = A(), SGD()\nif a:\n    INIT\nelse:\n    INIT\nfor x in y:\n    STEP",
        ["scaler behind if a:"],
    ),
    "a level": (
        "model, optimizer = A(), SGD()\n"
        "model, optimizer = amp.initialize(model, optimizer, opt_level=level)\nfor x in y:\n    STEP",
        [f'scaler behind {MADE} if level != "O0"'],
    ),
    # functions
    "handed on": (
        """
        def train(model, optimizer):
            for x in y:
                STEP
        def main():
            model, optimizer = A(), SGD()
            INIT
            train(model, optimizer)
        """,
        [f"scaler behind {MADE}", "train(scaler behind optimizer) from scaler"],
    ),
    "through two": (
        """
        def step(model, optimizer, x):
            STEP
        def train(model, optimizer):
            for x in y:
                step(model, optimizer, x)
        def main():
            model, optimizer = A(), SGD()
            INIT
            train(model, optimizer=optimizer)
        """,
        [
            f"scaler behind {MADE}",
            "step(scaler behind optimizer) from scaler",
            "train(scaler behind optimizer) from scaler",
        ],
    ),
    "by two calls": (
        """
        def train(model, optimizer):
            for x in y:
                STEP
        def main():
            model, optimizer = A(), SGD()
            INIT
            train(model, optimizer)
            train(model, optimizer)
        """,
        [f"scaler behind {MADE}", "train(scaler behind optimizer) from scaler, scaler"],
    ),
    "a call without an optimizer": (
        """
        def train(model, optimizer=None):
            for x in y:
                STEP
        def main():
            model, optimizer = A(), SGD()
            INIT
            train(model, optimizer)
            train(model, None)
        """,
        [f"scaler behind {MADE}", "train(scaler behind optimizer) from scaler, None"],
    ),
    "a global": (
        """
        model, optimizer = A(), SGD()
        INIT
        def train():
            for x in y:
                STEP
        """,
        [f"scaler behind {MADE}"],
    ),
    "a function that initializes a global": (
        """
        def setup():
            global model, optimizer
            model, optimizer = A(), SGD()
            INIT
        def train():
            for x in y:
                STEP
        setup()
        train()
        """,
        [f"scaler behind {MADE}"],
    ),
    "a function that hands both back": (
        """
        def setup(model, optimizer):
            INIT
            return model, optimizer
        def main():
            model, optimizer = setup(A(), SGD())
            for x in y:
                STEP
        """,
        ["scaler behind model, optimizer = setup(A(), SGD())"],
    ),
    "one that hands it back to two that train": (
        """
        def setup(model, optimizer):
            if fp16:
                if plain:
                    INIT
                else:
                    INIT
            return model, optimizer
        def train(model, optimizer):
            model, optimizer = setup(model, optimizer)
            for x in y:
                STEP
        def tune(model, optimizer):
            model, optimizer = setup(model, optimizer)
            for x in y:
                STEP
        """,
        [
            "scaler behind model, optimizer = setup(model, optimizer) if fp16",
            "scaler behind model, optimizer = setup(model, optimizer) if fp16",
        ],
    ),
    "what one that trains is handed anew": (
        """
        def setup(optimizer):
            model, optimizer = amp.initialize(A(), optimizer)
            return model, optimizer
        def train(optimizer):
            model, optimizer = setup(optimizer)
            for x in y:
                STEP
        train(SGD())
        """,
        ["scaler behind model, optimizer = setup(optimizer)"],
    ),
    # classes
    "an attribute": (
        """
        class T:
            def __init__(self):
                self.model, self.optimizer = A(), SGD()
                self.model, self.optimizer = amp.initialize(self.model, self.optimizer)
            def train(self):
                model, optimizer = self.model, self.optimizer
                for x in y:
                    STEP
        """,
        ["self.scaler behind self.model, self.optimizer = amp.initialize(…)"],
    ),
    "switched on in a method that __init__ calls": (
        """
        class T:
            def __init__(self):
                self.model, self.optimizer = A(), SGD()
                self.setup()
            def setup(self):
                self.model, self.optimizer = amp.initialize(self.model, self.optimizer)
            def train(self):
                model, optimizer = self.model, self.optimizer
                for x in y:
                    STEP
        """,
        ["self.scaler behind self.model, self.optimizer = amp.initialize(…)"],
    ),
    "under a condition": (
        """
        class T:
            def __init__(self, fp16):
                self.model, self.optimizer = A(), SGD()
                if fp16:
                    self.model, self.optimizer = amp.initialize(self.model, self.optimizer)
            def train(self):
                for x in y:
                    self.optimizer.zero_grad()
                    with amp.scale_loss(self.model(x).sum(), self.optimizer) as scaled:
                        scaled.backward()
                    self.optimizer.step()
        """,
        ["self.scaler behind if fp16: if fp16"],
    ),
    "made outside": (
        """
        class T:
            def __init__(self, model, optimizer):
                self.model, self.optimizer = model, optimizer
            def train(self):
                for x in y:
                    self.optimizer.zero_grad()
                    with amp.scale_loss(self.model(x).sum(), self.optimizer) as scaled:
                        scaled.backward()
                    self.optimizer.step()
        def main(fp16):
            model, optimizer = A(), SGD()
            if fp16:
                INIT
            T(model, optimizer).train()
        """,
        [
            "scaler behind if fp16: if fp16",
            "__init__(scaler behind optimizer) from scaler",
            "self.scaler = scaler behind self.model, self.optimizer = model, optimizer",
        ],
    ),
    "a mixin that the constructors of other classes set up": (
        """
        class Mixed:
            def setup(self, fp16):
                self.fp16 = fp16
                if fp16:
                    self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
            def backward(self, loss):
                if self.fp16:
                    with amp.scale_loss(loss, self.optimizer) as scaled:
                        scaled.backward()
                else:
                    loss.backward()
        class Task(Mixed):
            def __init__(self, fp16):
                self.model = A()
                self.optimizer = SGD(self.model.parameters())
                self.setup(fp16)
            def run(self):
                for x in y:
                    loss = self.model(x).sum()
                    self.optimizer.zero_grad()
                    self.backward(loss)
                    self.optimizer.step()
        class Other(Task):
            pass
        """,
        ["self.scaler behind if fp16: if fp16"],
    ),
    "made and initialized where a wrapper is given it": (
        """
        def build(model, opt):
            optimizer = SGD(model.parameters())
            if opt.fp16:
                model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
            return optimizer
        class Optimizer:
            def __init__(self, optimizer, clip):
                self._optimizer = optimizer
            def backward(self, loss):
                with amp.scale_loss(loss, self._optimizer) as scaled:
                    scaled.backward()
            def step(self):
                self._optimizer.step()
        def main(opt):
            model = A()
            optim = Optimizer(build(model, opt), 1)
            for x in y:
                loss = model(x).sum()
                optim._optimizer.zero_grad()
                optim.backward(loss)
                optim.step()
        """,
        [
            "scaler before optim = Optimizer(build(model, opt), 1) if opt.fp16",
            "__init__(scaler behind optimizer) from scaler",
            "self.scaler = scaler behind self._optimizer = optimizer",
        ],
    ),
    "made outside and set later": (
        """
        class T:
            def take(self, model, optimizer):
                self.model, self.optimizer = model, optimizer
            def train(self):
                for x in y:
                    self.optimizer.zero_grad()
                    with amp.scale_loss(self.model(x).sum(), self.optimizer) as scaled:
                        scaled.backward()
                    self.optimizer.step()
        def main(fp16):
            model, optimizer = A(), SGD()
            if fp16:
                INIT
            t = T()
            t.take(model, optimizer)
            t.train()
        """,
        ["condition"],
    ),
    "a wrapper steps, and the optimizer is at hand": (
        """
        class Warmup:
            def __init__(self, optimizer, rate=0.1):
                self.optimizer = optimizer
            def step(self):
                self.optimizer.step()
        def main():
            model, optimizer = A(), SGD()
            INIT
            warmup = Warmup(optimizer)
            for x in y:
                optimizer.zero_grad()
                with amp.scale_loss(model(x).sum(), optimizer) as scaled:
                    scaled.backward()
                warmup.step()
        """,
        [
            f"scaler behind {MADE}",
            "__init__(scaler behind optimizer) from scaler",
            "self.scaler = scaler behind self.optimizer = optimizer",
        ],
    ),
    "a wrapper of a wrapper": (
        """
        class Inner:
            def __init__(self, base):
                self.base = base
            def step(self):
                self.base.step()
        class Outer:
            def __init__(self, base):
                self.inner = Inner(base)
            def step(self):
                self.inner.step()
        def main(fp16):
            model, optimizer = A(), SGD()
            if fp16:
                INIT
            outer = Outer(optimizer)
            for x in y:
                optimizer.zero_grad()
                with amp.scale_loss(model(x).sum(), optimizer) as scaled:
                    scaled.backward()
                outer.step()
        """,
        [
            "scaler behind if fp16: if fp16",
            "__init__(scaler behind base) from scaler",
            "__init__(scaler behind base) from scaler",
            "self.scaler = scaler behind self.base = base",
        ],
    ),
    "a list of optimizers steps them": (
        """
        class Several(list):
            def step(self):
                for one in self:
                    one.step()
        def main():
            model, optimizer = A(), SGD()
            INIT
            several = Several([optimizer])
            for x in y:
                several[0].zero_grad()
                with amp.scale_loss(model(x).sum(), several) as scaled:
                    scaled.backward()
                several.step()
        """,
        [f"scaler behind {MADE}", "step(scaler behind self) from scaler"],
    ),
    "a wrapper of any number": (
        """
        class Several:
            def __init__(self, *each):
                self.each = each
            def step(self):
                for one in self.each:
                    one.step()
        def main():
            model, optimizer = A(), SGD()
            INIT
            several = Several(optimizer)
            for x in y:
                optimizer.zero_grad()
                with amp.scale_loss(model(x).sum(), optimizer) as scaled:
                    scaled.backward()
                several.step()
        """,
        [
            f"scaler behind {MADE}",
            "__init__(scaler behind each) from scaler",
            "self.scaler = scaler behind self.each = each",
        ],
    ),
    "made outside, always": (
        """
        class T:
            def __init__(self, model, optimizer):
                self.model, self.optimizer = model, optimizer
            def train(self):
                for x in y:
                    self.optimizer.zero_grad()
                    with amp.scale_loss(self.model(x).sum(), self.optimizer) as scaled:
                        scaled.backward()
                    self.optimizer.step()
        def main():
            model, optimizer = A(), SGD()
            INIT
            T(model, optimizer).train()
        """,
        ["self.scaler behind self.model, self.optimizer = model, optimizer"],
    ),
    "a generator has no optimizer": (
        """
        def losses(model):
            for x in y:
                yield model(x).sum()
        def main():
            model, optimizer = A(), SGD()
            fp16 = f()
            if fp16:
                INIT
            for loss in losses(model):
                optimizer.zero_grad()
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
                optimizer.step()
        """,
        ["scaler behind if fp16: if fp16", "losses(scaler behind None) from scaler"],
    ),
    "a helper that is called anew for another stage": (
        """
        def setup(model, optimizer, level):
            if level != "O0":
                model, optimizer = amp.initialize(model, optimizer, opt_level=level)
            return model, optimizer
        def main(level):
            model, optimizer = setup(A(), SGD(), level)
            for x in y:
                STEP
            model, optimizer = setup(model, SGD(), "O1")
            for x in y:
                STEP
        """,
        [
            'scaler behind model, optimizer = setup(A(), SGD(), level) if level != "O0"',
            'scaler behind model, optimizer = setup(model, SGD(), "O1")',
        ],
    ),
    "an object that is made anew for each epoch": (
        """
        class Compute:
            def __init__(self, optimizer=None):
                self.optimizer = optimizer
            def __call__(self, loss):
                with amp.scale_loss(loss, self.optimizer) as scaled:
                    scaled.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
        def main():
            model, optimizer = A(), SGD()
            INIT
            for epoch in epochs:
                compute = Compute(optimizer)
                for x in y:
                    compute(model(x).sum())
        """,
        [
            f"scaler behind {MADE}",
            "__init__(scaler behind optimizer) from scaler",
            "self.scaler = scaler behind self.optimizer = optimizer",
        ],
    ),
    # a scaler that is disabled at first
    "a match": (
        "model, optimizer = A(), SGD()\nmatch mode:\n    case 1:\n        INIT\nfor x in y:\n    STEP",
        ["scaler before match mode: if False", f"scaler behind {MADE}"],
    ),
    "what is made under the same condition": (
        "model, optimizer = A(), SGD()\nif fp16:\n    level = f()\n"
        "    model, optimizer = amp.initialize(model, optimizer, opt_level=level)\nfor x in y:\n    STEP",
        ["scaler before if fp16: if False", f'scaler behind {MADE} if level != "O0"'],
    ),
    "an epoch before": (
        """
        def main():
            model, optimizer = A(), SGD()
            for epoch in epochs:
                if epoch == 3:
                    INIT
                for x in y:
                    STEP
        """,
        ["scaler before for epoch in epochs: if False", f"scaler behind {MADE}"],
    ),
    "a name for an attribute, initialized under that name": (
        """
        class Trainer:
            def __init__(self, model):
                self.optimizer = SGD(model.parameters())
            def train(self, model):
                optimizer = self.optimizer
                if fp16:
                    INIT
                for x in y:
                    with amp.scale_loss(model(x).sum(), optimizer) as scaled:
                        scaled.backward()
                    self.optimizer.step()
                    optimizer.zero_grad()
        Trainer(A()).train(A())
        """,
        ["self.scaler behind if fp16: if fp16"],
    ),
}


@pytest.mark.parametrize("case", HOMES)
def test_home(case: str) -> None:
    text, answer = HOMES[case]
    if answer == ["condition"]:
        with pytest.raises(Manual, match="the condition `fp16` cannot be said"):
            planned(text)
    else:
        assert shown(planned(text)) == answer


WRAPPED = (
    "DECORATOR\nclass Warmup:\n    def __init__(self, optimizer):\n        self.optimizer = optimizer\n"
    "    def step(self):\n        self.optimizer.step()\n"
    "def main():\n    model, optimizer = A(), SGD()\n    INIT\n    warmup = Warmup(optimizer)\n    HANDED\n"
    "    for x in y:\n        with amp.scale_loss(model(x).sum(), optimizer) as scaled:\n"
    "            scaled.backward()\n        warmup.step()\n"
)


def wrapped(decorator: str = "", handed: str = "pass") -> str:
    """Training through a wrapper that one scaler has to serve besides."""
    return WRAPPED.replace("DECORATOR\n", decorator).replace("HANDED", handed)


MANUAL = {
    "a wrapper that other files make": (wrapped(), "Warmup", "called from other files too"),
    "a wrapper that somebody registers": (wrapped("@register\n"), "", "handed to a decorator"),
    "a wrapper that somebody may make": (wrapped(handed="build(Warmup)"), "", "handed on as a value"),
    "that other files call": (
        "def train(model, optimizer):\n    for x in y:\n        STEP\n"
        "model, optimizer = A(), SGD()\nINIT\ntrain(model, optimizer)",
        "train",
        "train() is called from other files too",
    ),
    "with a decorator": (
        "@timed\ndef train(model, optimizer):\n    for x in y:\n        STEP\n"
        "model, optimizer = A(), SGD()\nINIT\ntrain(model, optimizer)",
        "",
        "train() is handed to a decorator",
    ),
    "handed on as a value": (
        "def train(model, optimizer):\n    for x in y:\n        STEP\n"
        "model, optimizer = A(), SGD()\nINIT\ntrain(model, optimizer)\nspawn(train)",
        "",
        "train is handed on as a value",
    ),
    "by a splat": (
        "def train(model, optimizer):\n    for x in y:\n        STEP\n"
        "model, optimizer = A(), SGD()\nINIT\npair = (model, optimizer)\n"
        "if z:\n    pair = load(model, optimizer)\ntrain(*pair)",
        "",
        "through *args or **kwargs",
    ),
    "through a lambda": (
        "def train(model, optimizer):\n    for x in y:\n        STEP\n"
        "model, optimizer = A(), SGD()\nINIT\nagain = lambda opt: train(model, opt)\nagain(optimizer)",
        "",
        "the optimizer comes in through a lambda",
    ),
    "one that begins a training that its caller goes on with": (
        "def setup(model, optimizer):\n    INIT\n    STEP\n    return model, optimizer\n"
        "def train(model, optimizer):\n    model, optimizer = setup(model, optimizer)\n    for x in y:\n        STEP\n",
        "",
        "one scaler has to serve all",
    ),
    "two that train, of which one does not begin": (
        "def setup(model, optimizer):\n    INIT\n    return model, optimizer\n"
        "def train(model, optimizer):\n    model, optimizer = setup(model, optimizer)\n    for x in y:\n        STEP\n"
        "class T:\n    def __init__(self):\n        self.model, self.optimizer = A(), SGD()\n"
        "    def go(self):\n        setup(self.model, self.optimizer)\n"
        "    def step(self):\n        model = self.model\n"
        "        loss = model(x).sum()\n        with amp.scale_loss(loss, self.optimizer) as scaled:\n"
        "            scaled.backward()\n        self.optimizer.step()\n",
        "",
        "one scaler has to serve all",
    ),
    "a part of an expression in a loop": (
        "model, optimizer = A(), SGD()\nfor epoch in epochs:\n    if epoch == 3:\n"
        "        model, optimizer = amp.initialize(model, optimizer) if fp16 else (model, optimizer)\n"
        "    for x in y:\n        STEP",
        "",
        "inside a loop",
    ),
}


@pytest.mark.parametrize("case", MANUAL)
def test_by_hand(case: str) -> None:
    text, exported, why = MANUAL[case]
    with pytest.raises(Manual) as missing:
        planned(text, exported)
    assert why in missing.value.message


CLASS = """
def tune():
    FLAGS.fp16 = False
def width(opt):
    return opt.width
class Model:
    def __init__(self, opt):
        self.net = A()
BODY
    def optimize(self, x):
        self.optimizer.zero_grad()
        with amp.scale_loss(self.net(x).sum(), self.optimizer) as scaled:
            scaled.backward()
        self.optimizer.step()
"""
OPTIMIZER = "self.optimizer = SGD()"
SWITCHED = "self.net, self.optimizer = amp.initialize(self.net, self.optimizer)"
AHEAD = ["self.scaler before if opt.train: if opt.train and FLAGS.fp16"]
ANEW = ["self.scaler before if opt.train: if False", "self.scaler behind self.net, self.optimizer = amp.initialize(…)"]
SOME_TRAIN = {
    "": AHEAD,
    "self.lr = opt.lr": AHEAD,
    "self.width = width(3)": AHEAD,
    # what the condition reads may change: a scaler is made anew where the old program switched Apex on
    "FLAGS.fp16 = False": ANEW,
    "tune()": ANEW,
    "self.width = width(FLAGS)": ANEW,
    "FLAGS.read()": ANEW,
}


@pytest.mark.parametrize("between", SOME_TRAIN)
def test_an_object_that_gets_its_optimizer_under_a_condition(between: str) -> None:
    """It has methods that run without, so it has a scaler in any case."""
    lines = ["if opt.train:", f"    {OPTIMIZER}", f"    {between}", "    if FLAGS.fp16:", f"        {SWITCHED}"]
    body = "\n".join(f"        {line}" for line in lines)
    assert shown(planned(CLASS.replace("BODY", body))) == SOME_TRAIN[between]


def test_an_object_whose_constructor_returns_without_an_optimizer() -> None:
    lines = ["if not opt.train:", "    return", OPTIMIZER, SWITCHED]
    body = "\n".join(f"        {line}" for line in lines)
    assert shown(planned(CLASS.replace("BODY", body))) == ["self.scaler before if not opt.train: if False", ANEW[1]]


def test_a_name_that_is_free() -> None:
    def made(text: str) -> Module:
        return context(text).m

    assert free_name(made("x = 1"), "scaler", set()) == "scaler"
    assert free_name(made("x = 1"), "scaler", {"scaler"}) == "grad_scaler"
    assert free_name(made("scaler = 1"), "scaler", set()) == "grad_scaler"
    assert free_name(made("x.scaler = 1"), "scaler", set()) == "grad_scaler"
    assert free_name(made("def f(scaler): pass"), "scaler", set()) == "grad_scaler"
    assert free_name(made("def scaler(x): pass"), "scaler", set()) == "grad_scaler"  # other files may import it
    assert free_name(made("class scaler: pass"), "scaler", set()) == "grad_scaler"
    assert free_name(made("try: pass\nexcept E as scaler: pass"), "scaler", set()) == "grad_scaler"
    assert free_name(made("import scaler.x"), "scaler", set()) == "grad_scaler"
    assert free_name(made("from x import y as scaler"), "scaler", set()) == "grad_scaler"
    every = "scaler = grad_scaler = amp_scaler = loss_scaler = scaler_2 = 1"
    assert free_name(made(every), "scaler", set()) == "scaler_3"
    assert free_name(made("scaler_D = 1"), "scaler_D", set()) == "grad_scaler_D"


def test_either() -> None:
    a, b, not_a = Term("a"), Term("b"), Term("not a", 3, boolean=True, opposite=Term("a"))
    assert either([[a], [b]]).text == "a or b"
    assert either([[a], [not_a]]) == TRUE
    assert either([[a, b], [a]]) == a
    assert either([[a, b], [a, Term("c")]]).text == "a and (b or c)"
    assert either([[a], [FALSE]]) == a
    assert either([[FALSE]]) == FALSE
    assert either([[TRUE], [b]]) == TRUE
    assert either([[not_a, b], [a]]).text == "b or a"
    not_b = Term("not b", 3, boolean=True, opposite=b)
    assert either([[a, b], [a, not_b, Term("c")]]).text == "a and (b or c)"
    assert either([[b], [b]]) == b
    not_b = Term("not b", 3, boolean=True, opposite=Term("b"))
    assert either([[Term("c"), a], [Term("c"), not_a, b], [Term("c"), not_a, not_b]]).text == "c"
    assert either([[a], [not_a, b]]).text == "a or b"


def test_a_region_asks_the_scaler_beside_it() -> None:
    plan = planned("model, optimizer = A(), SGD()\nif fp16:\n    INIT\nfor x in y:\n    STEP\n    model(x)")
    assert set(plan.enabled_at.values()) == {"scaler.is_enabled()"}
    plan = planned("model, optimizer = A(), SGD()\nINIT\nfor x in y:\n    STEP\n    model(x)")
    assert set(plan.enabled_at.values()) == {""}


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("model(x)\n                if optimizer:\n                    STEP", "scaler, scaler"),
        ("if optimizer:\n                    STEP", "scaler, None"),
    ],
    ids=["asked by an evaluation", "asked by a step alone"],
)
def test_a_call_without_an_optimizer_hands_the_scaler_on_where_one_is_asked(body: str, given: str) -> None:
    plan = planned(
        f"""
        def each(model, loader, optimizer):
            for x in loader:
                {body}
        def every(model, loader, optimizer):
            each(model, loader, optimizer)
        def main(args):
            model, optimizer = A(), SGD()
            if args.fp16:
                INIT
            every(model, [1], optimizer)
            every(model, [1], None)
        """
    )
    assert f"every(scaler behind optimizer) from {given}" in shown(plan)


def test_the_condition_is_said_where_there_is_no_scaler() -> None:
    plan = planned(
        """
        def main(args):
            model = A()
            if args.fp16:
                model = amp.initialize(model, opt_level="O1")
            evaluate(model, args.fp16)
        def evaluate(net, on):
            for x in y:
                z = net(x)
        """
    )
    assert list(plan.enabled_at.values()) == ["bool(on)"]


def test_the_plan_of_a_unit_without_a_loss() -> None:
    plan = planned("model = amp.initialize(A(), opt_level='O1')\nfor x in y:\n    z = model(x)\n")
    assert not plan.scaled and not plan.homes.creations
    assert [type(r.block.body[r.first]) for r in plan.planner.regions] == [ast.Assign]


BUILDER = """
def build(args, model):
    CHANGED
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        INIT
    return model, optimizer

def fit(args, model, x):
    model, optimizer = build(args, model)
    for _ in range(3):
        STEP
"""


def test_what_a_function_hands_on_itself_says_the_condition_whoever_calls_it() -> None:
    plan = planned(BUILDER.replace("CHANGED", "pass"), exported="fit")
    assert [one.enabled.text for one in plan.homes.creations] == ["args.fp16"]


def test_what_the_builder_makes_of_its_argument_is_not_what_was_handed_on() -> None:
    with pytest.raises(Manual, match="cannot be said"):
        planned(BUILDER.replace("CHANGED", "args = args.amp"), exported="fit")


LISTED = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, net):
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.net, self.optimizer = amp.initialize(net, self.optimizer, opt_level="O1")

    def state(self, other):
        return LIST

    def step(self, x):
        loss = self.net(x).sum()
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()


Trainer(build()).step(x)
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("vars(self)", True),
        ("self.__dict__.items()", True),
        ("[k for k in dir(self)]", True),
        ("vars(other)", False),
        ("self.net", False),
    ],
)
def test_who_lists_all_attributes_is_told_of_the_scaler(text: str, told: bool) -> None:
    result = migrate_module(LISTED.replace("LIST", text), Settings())
    assert result.new_text is not None
    assert any("this lists self.scaler, too" in found.message for found in result.findings) is told


def test_who_lists_the_attributes_of_an_object_that_it_is_handed_is_told_of_the_scaler() -> None:
    listing = "def stateful(obj):\n    return [k for k in dir(obj) if hasattr(getattr(obj, k), 'state_dict')]\n\n\n"
    text = LISTED.replace("LIST", "None").replace("class Trainer", listing + "class Trainer")
    text = text.replace("Trainer(build()).step(x)", "trainer = Trainer(build())\ntrainer.step(x)\nstateful(trainer)")
    result = migrate_module(text, Settings())
    assert [f.message for f in result.findings if f.rule == "APX020"] == ["this lists obj.scaler, too, from now on"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("locals()", True),
        ("sorted(vars())", True),
        ("dir()", True),
        ('locals()["loss"]', False),
        ('"loss" in locals()', False),
        ('locals().get("loss")', False),
        ("vars(args)", False),
        ("other()", False),
        ("globals()", False),
    ],
)
def test_who_lists_all_variables_of_a_function_is_told_of_the_scaler(text: str, told: bool) -> None:
    result = migrate_module(LOCAL.replace("LIST", text), Settings())
    assert result.new_text is not None
    assert any("this lists `scaler`, too" in found.message for found in result.findings) is told


LOCAL = """\
import torch
from apex import amp


def other():
    return locals()


def main(args, model, optimizer, loader):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    print(LIST)
"""

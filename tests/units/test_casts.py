"""``f = amp.float_function(g)``: where ``custom_fwd``, which marks the first argument, can stand for it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Leads, Settings, Standing

TEXT = """\
import torch
from apex import amp
from extension import _C


def boxes(a, b):
    return torch.max(a[:, :2], b[:, :2])


def levels(xs, scale):
    return torch.cat([x * scale for x in xs])


class Pooler(torch.nn.Module):
    pass


pooler = Pooler()
LINE
"""


@pytest.mark.parametrize(
    ("line", "migrated"),
    [
        ("f = amp.float_function(_C.nms)", True),
        ("f = amp.float_function(boxes)\nf(p, q)", True),
        ("f = amp.float_function(boxes)\nf(a=p, b=q)", False),
        ("f = amp.float_function(boxes)\nf(0.5, q)", False),
        ("f = amp.float_function(_C.nms)\nf((p, q), 2)", False),
        ("f = amp.float_function(levels)\nf([p, q], 2)", False),
        ("pooler.pool = amp.float_function(pooler.pool)", False),
        ("pooler.pool = amp.float_function(boxes)", False),
        ("f = amp.float_function(pooler.pool)", False),
    ],
)
def test_functions_that_are_wrapped(line: str, migrated: bool) -> None:
    training = (
        "model = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        'model, optimizer = amp.initialize(model, optimizer, opt_level="O1")\n'
        "for x in loader:\n    with amp.scale_loss(model(x).sum(), optimizer) as s:\n        s.backward()\n"
        "    optimizer.step()\n    optimizer.zero_grad()\n"
    )
    text = migrate_module(TEXT.replace("LINE", line) + training, Settings()).new_text or ""
    assert ("custom_fwd(" in text) is migrated


TRAINING = """\
import torch
import torch.nn.functional as F
from apex import amp
from extension import _C


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.weight = torch.nn.Parameter(torch.ones(2, 2))

    def helper(self, x):
        return x * 2

    @amp.DECORATOR
    def forward(self, x):
        return BODY


model = Head().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    loss = model(x).sum()
    with amp.scale_loss(loss, optimizer) as s:
        s.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("decorator", "body", "migrated"),
    [
        ("float_function", "_C.pool(x) * self.weight", True),
        ("float_function", "F.softmax(self.helper(x), 1)", True),
        ("float_function", "self.layer(x)", False),  # half under O1, float32 under custom_fwd
        ("float_function", "F.linear(x, self.weight)", False),
        ("float_function", "x @ x.t()", False),
        ("half_function", "_C.pool(self.helper(x))", True),
        ("half_function", "torch.matmul(x, x)", True),
        ("half_function", "self.layer(x)", False),  # half times float32: an error of torch's
        ("half_function", "x @ self.weight", False),
        ("half_function", "F.softmax(x, 1)", False),  # float32 under O1
    ],
)
def test_what_apex_cast_inside_of_a_decorated_function(decorator: str, body: str, migrated: bool) -> None:
    text = migrate_module(TRAINING.replace("DECORATOR", decorator).replace("BODY", body), Settings()).new_text or ""
    assert ("custom_fwd(" in text) is migrated
    assert ("GradScaler(" in text) is migrated


@pytest.mark.parametrize(
    ("body", "migrated"),
    [
        ("F.interpolate(x, size=size)", True),
        ("torch.nn.functional.interpolate(x, size=size)", True),
        ("x[:, :2] * size", True),
        ("helper(x, size)", False),  # x may be a list, which cannot be marked
        ("F.interpolate(size, x)", False),
    ],
)
def test_a_plain_function_whose_callers_are_not_read(body: str, migrated: bool) -> None:
    head = "import torch\nimport torch.nn.functional as F\nfrom apex import amp\n\n\n"
    text = f"{head}@amp.float_function\ndef up(x, size):\n    return {body}\n"
    result = migrate_module(text, Settings(), standing=Standing(Leads.NOBODY))
    assert ("custom_fwd(" in (result.new_text or "")) is migrated


@pytest.mark.parametrize(
    ("call", "migrated"),
    [
        ("op(x, 2)", True),
        ("op(2, x)", False),
        ("op(-1.5, x)", False),
        ("op('mean', x)", False),
        ("op({'x': x}, 2)", False),
        ("op(parts, 2)", False),
        ("op(gamma, x)", False),
        ("wrapped(x)", False),  # None by default
        ("wrapped(x, x)", True),
        ("op(x if x.any() else 0, 2)", False),
    ],
)
def test_what_is_handed_first_has_to_take_an_attribute(call: str, migrated: bool) -> None:
    head = "import torch\nfrom apex import amp\n\n\n"
    defined = "@amp.float_function\ndef op(a, b):\n    return a * b\n\n\n"
    text = (
        f"{head}{defined}def wrapped(b, a=None):\n    return op(a, b)\n\n\n" if "wrapped" in call else head + defined
    )
    text += f"def run(x):\n    gamma, parts = 2.0, []\n    gamma = 2.0\n    parts.append(x)\n    return {call}\n"
    result = migrate_module(text, Settings(), standing=Standing(Leads.NOBODY))
    assert ("custom_fwd(" in (result.new_text or "")) is migrated


@pytest.mark.parametrize(
    ("handed", "migrated"),
    [
        ("[x, x]", True),
        ("{'x': x}", True),
        ("torch.nn.ModuleList([torch.nn.ReLU()])", False),
        ("range(3)", False),
        ("(y for y in x)", False),
        ("Pair(x, x)", False),
        ("Named(x, x)", False),
        ("Rows()", False),
        ("Plain()", True),
    ],
)
def test_what_is_gone_through_is_torn(handed: str, migrated: bool) -> None:
    """``custom_fwd`` makes a generator of it, or cannot make another of its kind."""
    text = (
        "import collections\nimport typing\nimport torch\nfrom apex import amp\n\n\n"
        "Pair = collections.namedtuple('Pair', 'a b')\n\n\n"
        "class Named(typing.NamedTuple):\n    a: object\n    b: object\n\n\n"
        "class Rows:\n    def __iter__(self):\n        return iter([1])\n\n\nclass Plain:\n    pass\n\n\n"
        "@amp.float_function\ndef op(a, b):\n    return a\n\n\n"
        f"def run(x):\n    return op(x, {handed})\n"
    )
    result = migrate_module(text, Settings(), standing=Standing(Leads.NOBODY))
    assert ("custom_fwd(" in (result.new_text or "")) is migrated


@pytest.mark.parametrize(("base", "migrated"), [("Module", True), ("Sequential", False), ("ModuleList", False)])
def test_a_method_is_handed_its_object(base: str, migrated: bool) -> None:
    text = (
        "import torch\nfrom apex import amp\n\n\n"
        f"class Net(torch.nn.{base}):\n    @amp.float_function\n    def forward(self, x):\n        return x * 2\n"
    )
    result = migrate_module(text, Settings(), standing=Standing(Leads.NOBODY))
    assert ("custom_fwd(" in (result.new_text or "")) is migrated

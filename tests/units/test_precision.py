"""In which type values leave autocast: half, float, other (none whose type autocast decides), or maybe half."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from migrate.facts.module import Module
from migrate.flow.values import Values
from migrate.plan.decide import decide
from migrate.plan.regions.coverage import Coverage
from migrate.units.dimensions import dimensions
from migrate.units.halves import FLOAT, HALF, MAYBE, OTHER, Value, doubtful, join, of, proved
from migrate.units.precision import Precision
from tests.asking import context, marked, unit

TOP = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
model, optimizer = amp.initialize(build(), SGD(1), opt_level="O1")
"""
LOOP = """\
for x, y in loader:
    out = model(x)
    loss = F.mse_loss(out, y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""


def types(text: str) -> str:
    """What the value of the marked assignment may be."""
    ctx = context(text)
    one = unit(ctx)
    planner = decide(ctx, one, []).planner
    precision = Precision(ctx, one, planner.compute, Coverage(ctx, planner))
    precision.run()
    (stmt,) = marked(ctx.m)
    assert isinstance(stmt, ast.Assign)
    held = precision.value(stmt.value)
    if held.each is not None:
        return "/".join(sorted(Value(held.facts).flat)) + " [" + "/".join(sorted(held.each.flat)) + "]"
    rest = " (" + ", ".join("/".join(sorted(i.flat)) for i in held.items) + ")" if held.items is not None else ""
    return "/".join(sorted(Value(held.facts).flat)) + rest


#: An expression behind the step, of `out` (a model's output) and `loss`.
OUTSIDE = {
    "out": "half",
    "loss": "float",
    "x": "other",
    "1.0": "other",
    "SimpleNamespace(a=out, b=x).a": "half",
    "SimpleNamespace(a=out, b=x).b": "other",
    "SimpleNamespace(a=(out, x), b=loss).a": " (half, other)",
    "out.detach()": "half",
    "out.detach().cpu()": "float",
    "out.cpu()": "float",
    "out.float()": "float",
    "out.half()": "half",
    "out.double()": "double",
    "out.to(device)": "half",
    "out.to(torch.float32)": "float",
    "out.to(y.dtype)": "maybe",
    "y.to(out.dtype)": "half",
    "y.to(dtype=out.dtype)": "half",
    "y.type_as(out)": "half",
    "y.to(loss)": "float",
    "y.to(device)": "other",
    "torch.zeros(3, dtype=out.dtype)": "half",
    "out.type(torch.float64)": "double",
    "torch.zeros(3, dtype=torch.double)": "double",
    "torch.from_numpy(np.random.rand(3))": "double",
    "torch.from_numpy(np.random.rand(3).astype(np.float32))": "other",
    "torch.from_numpy(np.random.rand(3)).float()": "float",
    "torch.from_numpy(unknown)": "other",
    "torch.tensor(np.array([0.5, 1.0])).cuda() / 255": "double",
    "torch.tensor(np.array([1, 2]))": "other",
    "torch.tensor([0.5])": "other",
    "tuple(torch.from_numpy(v) for v in (np.random.rand(3), np.arange(3)))": " (double, other)",
    "[torch.tensor(np.array(v)) for v in unknown([np.random.rand(3)])]": " [other]",
    "tuple(map(torch.from_numpy, (np.random.rand(3), np.arange(3))))": " (double, other)",
    "tuple(map(lambda v: torch.as_tensor(v), (np.random.rand(3), np.arange(3))))": " (double, other)",
    "list(map(np.stack, zip(*[(np.random.rand(3), y) for i in x])))": " (array, other)",
    "list(map(torch.tensor, [np.random.rand(3) for i in x]))": " [double]",
    "torch.from_numpy(np.stack([np.random.rand(3) for i in x]))": "double",
    "torch.from_numpy(np.concatenate((np.random.rand(3), y)))": "double",
    "torch.tensor(np.array(random.sample([np.random.rand(3) for i in x], 2)))": "double",
    "torch.from_numpy([np.random.rand(3), np.arange(3)][i])": "double/other",
    "torch.from_numpy(np.array([1, 2]))": "other",
    "out.long()": "other",
    "out.argmax(1)": "other",
    "out.shape": "other",
    "out.size(0)": "other",
    "out.max(1)": " (half, other)",
    "out.max(1)[0]": "half",
    "out.max(1)[1]": "other",
    "out.max(1).values": "half",
    "out.max(1).indices": "other",
    "out.max()": "half",
    "torch.max(out, 1)[1]": "other",
    "torch.max(out, y)": " (half, other)",
    "out.topk(5)[0]": "half",
    "out[0]": "half",
    "out['logits']": "half",
    "out['labels']": "maybe",
    "out.logits": "half",
    "out > 0": "other",
    "not out": "other",
    "-out": "half",
    "out + 1": "half",
    "out + loss": "float",
    "out * y": "half",
    "out + unknown(out)": "half",
    "out if a else loss": "float/half",
    "out if a else None": "half",
    "out or None": "half",
    "(out, loss)": " (half, float)",
    "(out, loss)[1]": "float",
    "(out, loss)[-2]": "half",
    "(out, loss)[:1]": " (half)",
    "[out, loss][i]": "float/half",
    "{'a': out, 'b': loss}": " (half, float)",
    "{'a': out, 'b': loss}['a']": "half",
    "{'a': out, **x}": " [half/other]",
    "[o for o in [out, x]]": " (half, other)",
    "[(out, y) for i in x][0]": " (half, other)",
    "[(out, y)] + [(out, y)]": " [half/other]",
    "[out, *[out]]": " [half]",
    "{'a': out}.get('a')": "half",
    "{'a': out}.get('b', x)": "half/other",
    "{k: out for k in x}['a']": "half",
    "next(iter({'a': out}.values()))": "half",
    "sorted([(0, out)])[0][1]": "half",
    "list(zip(*[(out, y) for i in x]))[0]": " [half]",
    "unknown(out)": "maybe",
    "xm.mesh_reduce('out', out, torch.cat)": "half",
    "hvd.allgather(x)": "other",
    "unknown(x)": "other",
    "torch.cat([out, out])": "half",
    "torch.cat([out, y])": "half",
    "torch.stack([x, y])": "other",
    "torch.zeros(3)": "float",
    "torch.zeros(3, dtype=torch.long)": "other",
    "F.relu(out)": "half",
    "F.linear(x, y)": "other",
    "F.linear(out, y)": "maybe",
    "F.softmax(out, 1)": "float",
    "out.sigmoid()": "half",
    "out.sum()": "float",
    "sum([out, out])": "half",
    "torch.where(a, out, loss)": "float",
    "torch.where(loss, out, out)": "half",  # what it asks is no part of it
    "out.mul(2)": "half",
    "out.mul(loss)": "float",
    "out ** 2": "float",
    "out.mean()": "half",
    "out.item()": "other",
    "len(out)": "other",
    "dict(a=out)": " (half)",
    "lambda: out": "other",
    "f'{out}'": "other",
    "(z := out)": "half",
}


@pytest.mark.parametrize("expression", OUTSIDE)
def test_behind_the_step(expression: str) -> None:
    assert types(TOP + LOOP + f"    value = {expression}  # ?\n") == OUTSIDE[expression]


#: Statements behind the step that make `value`.
STATEMENTS = {
    "value = x\nif a:\n    value = out": "half/other",
    "value = x\nif a:\n    value = out\nelse:\n    value = loss": "float/half",
    "value = out\nif a:\n    value = loss\n    break": "half",
    "value = out\nif a:\n    raise E": "half",
    "value = out\nvalue += loss": "half",  # in place it stays what it was
    "value: object = out": "half",
    "value, b = out, loss": "half",
    "b, value = out.max(1)": "other",
    "b, *value = out, loss, x": " (float, other)",
    "*value, b = out, loss, x": " (half, float)",
    "b, *c, value = out, x": "other",
    "b, *value = f3(out)": " [half/other]",
    "value = []\nvalue.append(out)": " [half]",
    "value = []\nvalue.append((out, y))\nvalue = value[-1]": " (half, other)",
    "value = []\nvalue.extend([out])": " [half]",
    "value = {'a': y}\nvalue['b'] = out\nvalue = value['b']": "half",
    "value = {}\nvalue.update(a=out)\nvalue = value['a']": "half",
    "value = {}\nvalue.setdefault('a', []).append(out)\nvalue = value['a'][0]": "half",
    "value = deque(maxlen=2)\nvalue.append(out)": " [half]",
    "value = defaultdict(list)\nvalue['a'].append(out)\nvalue = value[k]": " [half]",
    "for b, value in f5([out]):\n    pass": "half",
    "value = f6(out, *[out])": "half",
    "value = f6()": "other",
    "value = {}\nvalue['a'] = out": " (half)",
    "value = x\nfor i in y:\n    value = out": "half/other",
    "value = x\nfor i in y:\n    if i:\n        value = out\n        continue\n    value = loss": "float/half/other",
    "value = x\nwhile a:\n    value = out\n    break": "half/other",
    "for value in [out, x]:\n    pass": "half/other",
    "for i, value in enumerate([out]):\n    pass": "half",
    "for value, b in enumerate([out]):\n    pass": "other",
    "for b, value in zip([x], [out]):\n    pass": "half",
    "for k, value in {'a': out}.items():\n    pass": "half",
    "for k, value in out.items():\n    pass": "maybe",
    "for value in out.values():\n    pass": "maybe",
    "with f(out) as value:\n    pass": "maybe",
    "value = x\ntry:\n    value = out\nexcept E:\n    pass": "half/other",
    "try:\n    value = out\nfinally:\n    value = loss": "float",
    "value = x\nmatch a:\n    case 1:\n        value = out": "half/other",
    "value = f1(out)": "half",
    "value = f2(out)": "float",
    "value = f3(out)": " [half/other]",
    "value = f4()": "other",
    "value = out\ndel value\nvalue = x": "other",
}
FUNCTIONS = """\
def f1(a):
    return a.detach()
def f2(a):
    return f1(a).float()
def f3(a):
    for i in a:
        yield i
    yield 1
def f4():
    pass
def f5(several):
    yield from enumerate(several)
def f6(*several, **named):
    for one in [*several, *named.values()]:
        return one
"""


@pytest.mark.parametrize("body", STATEMENTS)
def test_statements(body: str) -> None:
    text = TOP + FUNCTIONS + LOOP + indent(body, "    ") + "\n    answer = value  # ?\n"
    assert types(text) == STATEMENTS[body]


#: What a statement between forward and loss makes: there autocast is on.
INSIDE = {
    "F.linear(out, y)": "half",
    "F.softmax(out, 1)": "float",
    "out.sum()": "float",
    "out ** 2": "float",
    "out @ out": "half",
    "criterion(out, y)": "float",
    "unknown(out)": "maybe",
    "out.cpu()": "float",
    "model.head(out)": "maybe",
}


@pytest.mark.parametrize("expression", INSIDE)
def test_under_autocast(expression: str) -> None:
    part = f"part = {expression}  # ?\n    loss = F.mse_loss(part, y)"
    loop = LOOP.replace("loss = F.mse_loss(out, y)", part)
    assert types(TOP + loop) == INSIDE[expression]


def test_a_model_of_the_file() -> None:
    text = """
        import torch.nn as nn
        from apex import amp
        class Net(nn.Module):
            def __init__(self):
                self.fc, self.soft, self.act = nn.Linear(2, 2), nn.Softmax(1), nn.Sigmoid()
            def forward(self, x):
                h = self.fc(x)
                return {body}
        model, optimizer = amp.initialize(Net(), SGD(1), opt_level="O1")
    """
    for body, answer in {
        "h": "half",
        "self.soft(h)": "float",
        "self.act(h)": "half",
        "h, h.argmax(1)": " (half, other)",
        "h.float()": "float",
        "self.layers[0](h)": "maybe",
    }.items():
        top = dedent(text.replace("{body}", body))
        loop = LOOP.replace("loss = F.mse_loss(out, y)", "loss = criterion(out, y)")
        assert types(top + loop + "    value = out  # ?\n") == answer, body


def test_a_network_that_derives_from_one_of_a_library() -> None:
    text = """
        import torch.nn as nn
        from apex import amp
        from transformers import BertModel
        class Encoder(BertModel):
            def __init__(self, size):
                super().__init__(CONFIG)
                self.project = nn.Linear(4, size) if size else None
            def forward(self, x):
                every, pooled = super().forward(unknown(x))
                return {body}
        model, optimizer = amp.initialize(Encoder(2), SGD(1), opt_level="O1")
    """
    for body, answer in {"every[:, 0]": "half", "pooled": "half", "self.project(unknown(pooled))": "half"}.items():
        top = dedent(text.replace("{body}", body))
        loop = LOOP.replace("loss = F.mse_loss(out, y)", "loss = criterion(out, y)")
        assert types(top + loop + "    value = out  # ?\n") == answer, body


#: What outlives the function that made it; the marked value is read somewhere else.
LEFT_BEHIND = {
    "a hook's dictionary": ("feats = {}\ndef hook(m, i, o):\n    feats['a'] = o", "feats['a']", "float/half"),
    "another key": ("feats = {}\ndef hook(m, i, o):\n    feats['a'] = o", "feats['b']", "float/half"),
    "a lambda's list": ("feats = []\nhook = lambda m, i, o: feats.append(o)", "feats[-1]", "float/half"),
    "a global name": ("def hook(m, i, o):\n    global last\n    last = o.detach()", "last", "float/half"),
    "an object": (
        "class Keeper:\n    def __call__(self, m, i, o):\n        self.out = o\nhook = Keeper()",
        "hook.out",
        "float/half",
    ),
    "shapes": ("feats = []\ndef hook(m, i, o):\n    feats.append(o.shape)", "feats[-1]", ""),
    "a float": ("feats = []\ndef hook(m, i, o):\n    feats.append(o.float())", "feats[-1]", ""),
    "not empty before": ("feats = [0]\ndef hook(m, i, o):\n    feats.append(o)", "feats[-1]", "float/half/other"),
    "empty before": ("feats = {'a': None}\ndef hook(m, i, o):\n    feats['a'] = o", "feats['a']", "float/half"),
    "a class's own": (
        "class Keeper:\n    out = 0\n    def __call__(self, m, i, o):\n        self.out = o\nhook = Keeper()",
        "hook.out",
        "float/half/other",
    ),
    "or None": ("feats = {}\ndef hook(m, i, o):\n    feats['a'] = o if a else None", "feats['a']", "float/half"),
    "lists by name": (
        "feats = defaultdict(list)\ndef hook(m, i, o):\n    feats['a'].append(o)",
        "feats['a'][0]",
        "float/half",
    ),
    "lists in a dictionary": (
        "feats = {'a': []}\ndef hook(m, i, o):\n    feats['a'].append(o)",
        "feats['a'][0]",
        "float/half",
    ),
    "a namespace": ("st = SimpleNamespace(out=None)\ndef hook(m, i, o):\n    st.out = o", "st.out", "float/half"),
    "its number": ("st = SimpleNamespace(out=0)\ndef hook(m, i, o):\n    st.out = o", "st.out", "float/half/other"),
    "a number at times": ("last = 0\ndef hook(m, i, o):\n    global last\n    last = o", "last", "float/half/other"),
    "its input": ("feats = []\ndef hook(m, i, o):\n    feats.append(i[0])", "feats[-1]", ""),
    "a method's name": (
        "class Keeper:\n    def __init__(self):\n        self.out = None\n    def hook(self, m, i, o):\n"
        "        self.out = o\nkeeper = Keeper()\nhook = keeper.hook",
        "keeper.out",
        "float/half",
    ),
}


@pytest.mark.parametrize("case", LEFT_BEHIND)
def test_left_behind_by_a_hook(case: str) -> None:
    before, read, answer = LEFT_BEHIND[case]
    text = f"{TOP}{before}\nmodel.fc.register_forward_hook(hook)\n{LOOP}    value = {read}  # ?\n"
    assert types(text) == answer


def test_left_behind_by_a_function() -> None:
    keeps = "def keeps(out):\n    BANK['out'] = out.detach()\n    BANK['n'] = 1\n    return out\n"
    reads = "def reads():\n    value = {}  # ?\n"
    loop = LOOP.replace("out = model(x)", "out = keeps(model(x))") + "    reads()\n"
    for read, answer in {"BANK['out']": "half", "BANK['n']": "other", "BANK[k]": "half/other"}.items():
        assert types(TOP + "BANK = {}\n" + keeps + reads.replace("{}", read) + loop) == answer, read


def test_beside_a_tensor_without_dimensions() -> None:
    """O1 made float32 of both, so the other operand is cast."""
    floats = ["8.0", "1 / 7", "2 * 0.5", "0.5 * 2", "-2 * -0.5", "1 + sqrt(2)"]
    made_of = {**dict.fromkeys(floats, "float"), "8": "half", "2 * 4": "half", "-2 - 1": "half"}
    every = {f"torch.tensor({number})": answer for number, answer in made_of.items()}
    for made, answer in {**every, "torch.ones([])": "float"}.items():
        for expression in ("out / temperature", "temperature * out.detach()"):
            text = f"{TOP}temperature = {made}.cuda()\n{LOOP}    value = {expression}  # ?\n"
            assert types(text) == answer, (made, expression)
    given = "temperature = torch.tensor(8.0).cuda()\n" + LOOP + "    value = x / temperature.to(out)  # ?\n"
    assert types(TOP + given) == "half"  # nothing says that x is half: it is not cast


NUMBERS = """\
class Net(torch.nn.Module):
    def __init__(self):
        self.gate = torch.nn.Parameter(torch.tensor(0.3))
    def number(self, x):
        scale = 1 + self.gate
        negative = -self.gate
        mean = x.mean() * self.gate
        two = self.gate
        two = x
        return NAMED
net = Net()
"""


@pytest.mark.parametrize(
    ("named", "answer"),
    [("scale", 0), ("negative", 0), ("mean", 0), ("two", None), ("x", None), ("-(scale * 2)", 0)],
)
def test_how_many_dimensions_a_name_has(named: str, answer: int | None) -> None:
    module = Module(TOP + NUMBERS.replace("NAMED", named))
    returned = [node.value for node in module.all(ast.Return)]
    assert returned[-1] is not None and dimensions(Values(module), returned[-1]) == answer


@pytest.mark.parametrize(("depth", "answer"), [(1, "half"), (3, "half"), (8, "maybe/other")])
def test_a_model_that_is_run_further_down(depth: int, answer: str) -> None:
    """At any depth: to a certain one it is known what comes back, and beyond that it may be half."""
    chain = "def f0(x):\n    return model(x)\n"
    chain += "".join(f"def f{n}(x):\n    return f{n - 1}(x)\n" for n in range(1, depth + 1))
    assert types(TOP + chain + LOOP.replace("model(x)", f"f{depth}(x)") + "    value = out  # ?\n") == answer


def test_values() -> None:
    assert proved(of(HALF)) and proved(of(HALF, FLOAT)) and not proved(of(FLOAT)) and not proved(of(HALF, OTHER))
    assert doubtful(of(HALF, OTHER)) and doubtful(of(MAYBE)) and not doubtful(of(HALF)) and not doubtful(of(FLOAT))
    pair = Value(frozenset(), (of(HALF), of(OTHER)))
    assert join(pair, pair) == pair and join(pair, Value()) == pair and join(Value(), pair) == pair
    assert join(pair, Value(frozenset(), (of(FLOAT), of(OTHER)))).items == (of(HALF, FLOAT), of(OTHER))
    assert join(pair, of(FLOAT)) == of(HALF, OTHER, FLOAT)

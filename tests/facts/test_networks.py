"""Networks by what made them, and by the headers of other files."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.elsewhere import NOWHERE, Elsewhere, elsewhere, outline
from migrate.facts.module import Module
from migrate.facts.networks import (
    handed_elsewhere,
    is_network,
    kept_elsewhere,
    may_be_network,
    runs_elsewhere,
    widens_elsewhere,
)
from migrate.flow.values import Values

HEAD = """\
import timm
import torch
import torch.nn as nn
from torchvision.models import resnet50, vgg16
from transformers import BertModel, BertTokenizer
from nets import Judge
from tools import Judged, get_transform


class Net(nn.Module):
    pass


class Own(Net):
    pass


class Ranking(Judge):
    pass


class MarginLoss(nn.Module):
    pass


class Runner:
    pass


"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("Net()", True),
        ("Own()", True),
        ("Ranking()", True),
        ("Judge(3)", True),
        ("timm.create_model('x')", True),
        ("resnet50(pretrained=True).cuda()", True),
        ("vgg16().features", True),
        ("BertModel.from_pretrained('b')", True),
        ("BertTokenizer.from_pretrained('b')", False),
        ("MarginLoss()", False),
        ("Runner()", False),
        ("Judged()", False),
        ("get_transform()", False),
        ("vgg16().training", False),
        ("torch.zeros(3)", False),
        ("Judge(3)(1)", False),
        ("torch.Judge()", False),  # as torch.Generator beside a GAN's
        ("nets.Judge()", True),
        ("resnet50()(1).float()", False),
    ],
)
def test_what_made_it(made: str, found: bool) -> None:
    m = Module(HEAD + f"thing = {made}\n")
    v = Values(m)
    last = m.files[0].tree.body[-1]
    assert isinstance(last, ast.Assign)
    assert any(is_network(v, obj, Elsewhere(frozenset({"Judge"}))) for obj in v.of(last.value)) is found


@pytest.mark.parametrize(
    ("made", "run", "found"),
    [
        ("t = make()", "t(x)", True),
        ("_, t = lib.pair()", "t(x)", True),
        ("t = make()", "t.encode_image(x)", True),
        ("t = make()", "t.write(x)", False),
        ("t = make()", "t.to(device)", False),
        ("t = make()", "t()", False),
        ("t = get_transform()", "t(x)", False),
        ("mixup = make()", "mixup(x, y)", False),
        ("stopper = deepcopy(y)", "stopper(score)", False),
        ("early_stopping = make()", "early_stopping(loss)", False),
        ("t = here()", "t(x)", False),
        ("t = lib.TextEncoder()", "t(x)", False),
        ("t = lib.MODELS[name](3)", "t(x)", True),
        ("t = lib.EXTRACTORS[name]()", "t.extract_spans(x)", False),
        ("t = lib.OTHERS[name]()", "t.extract_spans(x)", True),
        ("t = globals()[name]()", "t(x)", True),
        ("t = getattr(lib, name)(3)", "t(x)", True),
        ("t = Writer()", "t.add_scalar('loss', x)", False),
        ("t = namedtuple('State', 'a b')", "t(x, y)", False),
        ("t = deepcopy(y)", "t(x)", True),
        ("t = max(lib.nets(), key=len)", "t(x)", True),
        ("t = cv2.cvtColor(y, 1)", "t(x)", False),
        ("t = int(y)", "t(x)", False),
        ("t = type(y)", "t(x)", False),
        ("t = min(y, 255)", "t(x)", False),
    ],
)
def test_what_may_be_one(made: str, run: str, found: bool) -> None:
    head = "import cv2, lib\nfrom collections import namedtuple\nfrom copy import deepcopy\n"
    head += "from lib import make, get_transform, TextEncoder\ndef here():\n    return print\n"
    m = Module(f"{head}{made}\n{run}\n")
    last = m.files[0].tree.body[-1]
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    others = Elsewhere(plain=frozenset({"TextEncoder", "EXTRACTORS"}))
    assert bool(may_be_network(Values(m), last.value, others)) is found


@pytest.mark.parametrize("run", ["model(x)", "self.encoder(x)", "net(x).float()", "self.nets.generator(x)"])
def test_what_a_network_gives_is_none(run: str) -> None:
    m = Module(f"def step(self, model, net, x):\n    return {run}\n")
    v = Values(m)
    (stmt,) = (node for node in m.nodes if isinstance(node, ast.Return))
    assert stmt.value is not None and not any(is_network(v, obj, NOWHERE) for obj in v.of(stmt.value))


NETS = """\
class Net(nn.Module):
    def forward(self, x):
        return x


class Deep(Net): pass


class Loss(nn.Module): pass


def make(name):
    net = Deep()
    return net


def pair(): return make("a"), make("b")
"""
TOOLS = """\
from nets import Net, make

class Frozen:
    def __init__(self): self.inner = Net().eval()
    @torch.no_grad()
    def __call__(self, x): return self.inner(x)
    def name(self): return "frozen"

class Twice(Frozen):
    def twice(self, x):
        return self(x), self.targets(x)

class Wrapper:
    def __init__(self, teacher):
        self.teacher = teacher
    def targets(self, x, *, temperature=(1, 2)):
        return self._soft(x)
    def _soft(self, x):
        return self.teacher.extract_features(x)
    def fit(self, x):
        self.teacher(x).backward()

class Labels:
    def __init__(self): self.label_encoder = {}
    def __call__(self, y): return self.label_encoder[y]

class Masks:
    def __init__(self): self.mask_generator = Labels()
    def __call__(self, x): return self.mask_generator(x)

class Bound(SomebodysBase): pass

def labels(): return Labels()
def bank(net, xs): return [net(x) for x in xs]
def ensemble(xs, models): return sum(m(xs) for _, m in enumerate(models))
def by_name(nets, x):
    for name, net in nets.items():
        yield net(x)
def onward(x, net): return bank(net, [x])
def fid(x):
    inception = make("fid")
    return inception(x)
def report(x): print(fid(x))
def train(net, x): net(x).backward()
def transformed(transform, x): return transform(x)
def create_both(net): return net(3)
def create_other(classes): return classes.first(3)
def log_samples(net, prefix): print(net.generate(prefix, n=2))
def saved(net, path): torch.save(net.state_dict(), path)
"""


def test_what_other_files_make_of_networks() -> None:
    found = elsewhere([outline(TOOLS), outline(NETS)])
    assert found.networks == {"Net", "Deep", "make", "pair"}
    functions = {"labels", "bank", "ensemble", "onward", "report", "train", "transformed", "saved"}
    functions |= {"log_samples", "create_other"}
    assert found.plain == {"Frozen", "Twice", "Wrapper", "Labels", "Masks", *functions}
    methods = {"Frozen.__call__", "Twice.__call__", "Wrapper.targets", "Wrapper._soft"}
    assert found.running == {"fid", "report", *methods}
    assert found.applying == {
        "bank": {(0, "net")},
        "ensemble": {(1, "models")},
        "onward": {(0, "x"), (1, "net")},
        "create_both": {(0, "net")},
        "log_samples": {(0, "net")},
    }


def test_what_a_function_of_torchs_runs() -> None:
    """`functional_call(net, weights, (x,))` calls the network, as `net(x)` does."""
    mean = "class Mean:\n    def __init__(self, net): self.net = net\n"
    of = "    def of(self, x):\n        return torch.func.functional_call(self.net, self.mean, (x,))\n"
    keep = "    def keep(self, path): torch.save(self.net.state_dict(), path)\n"
    found = elsewhere([outline(f"{mean}{of}{keep}def split(net, x): return checkpoint_sequential(net, 2, x)\n")])
    assert found.running == {"Mean.of"} and found.applying == {"split": {(0, "net")}}


@pytest.mark.parametrize(
    "text",
    ["", "class", "def f(", "class A(\n" * 50, "def f(x:\n\tx(", "\0\ufffd", "class A:\n" + " def f(a): a(1)\n" * 500],
)
def test_any_text_has_an_outline(text: str) -> None:
    assert elsewhere([outline(text)]).networks == frozenset()


@pytest.mark.parametrize(
    "text", ["def f(a):\n " + "self.a," * 50_000, "class A(" * 50_000, "def f(\n" * 50_000, "for a in b " * 50_000]
)
def test_the_outline_of_a_hostile_text_ends(text: str) -> None:
    outline(text)


@pytest.mark.parametrize(
    ("made", "run", "found"),
    [
        ("t = lib.Frozen()", "t(x)", True),
        ("t = F()", "t(x)", True),
        ("t = lib.Frozen()", "t.name(x)", False),
        ("t = lib.Twice()", "t(x)", True),
        ("t = lib.Wrapper(make())", "t.targets(x)", True),
        ("t = lib.Labels()", "t(x)", False),
        ("t = make('a')", "bank(t, x)", True),
        ("t = make('a')", "b(net=t, xs=x)", True),
        ("t = make('a')", "lib.bank(x, t)", False),
        ("t = lib.unknown()", "bank(t, x)", True),
        ("t = [make('a'), make('b')]", "lib.ensemble(x, t)", True),
        ("t = 3", "bank(t, x)", False),
        ("t = 3", "lib.report(t)", True),
        ("t = make('a')", "lib.saved(t, 'a.pt')", False),
        ("def bank(net, xs): return xs", "bank(make('a'), x)", False),
    ],
)
def test_what_runs_one_in_another_file(made: str, run: str, found: bool) -> None:
    m = Module(f"import lib\nfrom lib import bank as b, Frozen as F, make\nfrom lib import *\n{made}\n{run}\n")
    last = m.files[0].tree.body[-1]
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    assert runs_elsewhere(Values(m), last.value, elsewhere([outline(TOOLS), outline(NETS)])) is found


@pytest.mark.parametrize(
    ("name", "found"),
    [("postprocessor", True), ("post_process", True), ("preprocess", False), ("postprocessors['bbox']", True),
     ("criterion", False)],
)  # fmt: skip
def test_what_is_called_as_a_class_of_networks_is_one(name: str, found: bool) -> None:
    root = name.partition("[")[0]
    m = Module(f"from lib import build\n_, {root} = build()\n{name}(x)\n")
    last = m.files[0].tree.body[-1]
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    networks = frozenset({"PostProcess", "Criterion"})
    assert bool(may_be_network(Values(m), last.value, Elsewhere(networks))) is found


WORK = """\
import torch
import torch.nn.functional as F


def psnr(a, b):
    return 20 * torch.log10(1 / (a - b).pow(2).mean().sqrt())


def accuracy(out, target):
    correct = out.argmax(1).eq(target)
    return correct.float().sum(), (out.argmax(1) == target).sum()


def to_numpy(t):
    return t.detach().cpu().numpy()


def to_lists(t):
    return t.detach().float().cpu().numpy().tolist()


def rows(t):
    return to_numpy(t).shape


def shifted(t):
    return torch.rows(t + 1), t.numpy_like(t)


def all_to_cpu(held):
    return {name: one.cpu() for name, one in held.items()}


def said(name):
    print("recall @ k", name)
    logger.log(name)


class Bank:
    def update(self, idx, out):
        self.z[idx] = F.softmax(out.detach(), 1)

    def similar(self, out):
        return out.detach() @ self.w.t()

    def compute(self):
        return torch.cat(self.kept).sum()


class Own(Bank):
    pass
"""


def test_what_others_widen_multiply_and_take_from_the_gpu() -> None:
    found = elsewhere([outline(WORK)])
    assert found.widening == {"psnr", "Bank.update", "Bank.compute"}
    assert found.multiplying == {"Bank.similar"}
    assert found.leaving == {"to_numpy": {(0, "t")}, "rows": {(0, "t")}}
    assert found.emptying == {"all_to_cpu": {(0, "held")}}


@pytest.mark.parametrize(
    ("line", "widens"),
    [
        ("loss.float().mean() + torch.cat(self.kept).sum()", True),
        ("(loss > 1).long() * self.kept[-1].sum()", True),
        ("float(a == b) + torch.sum(self.kept[0])", True),
        ("self.kept[-1].float().sum()", False),
        ("(self.kept[-1] > 0).sum()", False),
        ("self.kept[-1].argmax(1).eq(a).sum()", False),
        ("self.num_right + self.kept[-1].sum()", False),
    ],
)
def test_what_else_a_line_converts_is_another_matter(line: str, widens: bool) -> None:
    source = f"import torch\n\nclass Bank:\n    def compute(self, loss):\n        return {line}\n"
    assert elsewhere([outline(source)]).widening == ({"Bank.compute"} if widens else set())


@pytest.mark.parametrize(
    ("line", "leaves"),
    [("x.float().mean(), y.cpu()", True), ("x.mean(), y.float().cpu()", False), ("(x == y).cpu()", False)],
)
def test_who_takes_a_half_result_from_the_gpu(line: str, leaves: bool) -> None:
    found = elsewhere([outline(f"import torch\n\ndef said(x, y):\n    return {line}\n")])
    assert bool(found.leaving) == leaves



MANY = """
class Single(nn.Module):
    def forward(self, x):
        return self.head(x).view(x.size(0), -1)


class Fields(nn.Module):
    def forward(self, x):
        return {"a": x}


class Derived(Fields):
    pass


class Levels(nn.Module):
    def forward(self, x):
        out = []
        for part in self.parts:
            out.append(part(x))
        return out


class Heads(nn.Module):
    def forward(self, x):
        return (self.cls(x),
                self.box(x))


class Auxiliary(nn.Module):
    def forward(self, x):
        if self.training:
            return x, self.aux(x)
        return x


def build():
    model = Levels()
    return model
"""


def test_networks_whose_result_is_no_tensor() -> None:
    assert elsewhere([outline(MANY)]).several == {"Fields", "Derived", "Levels", "Heads", "build"}
    layers = "def make(width):\n    return nn.Sequential(nn.Linear(5, width), nn.Linear(width, 3)).cuda()\n"
    known = elsewhere([outline(layers)])
    assert "make" in known.networks and not known.several


def test_the_product_that_o1_left_alone_is_none_of_its() -> None:
    text = "def gram(f):\n    return torch.linalg.matmul(f, f.mT)\ndef close(f):\n    return f.matmul(f.mT)\n"
    assert elsewhere([outline(text)]).multiplying == {"close"}


def test_what_asks_whether_it_has_a_tensor_may_be_handed_something_else() -> None:
    asks = "def to_cpu(x):\n    if isinstance(x, dict):\n        return {}\n    return x.detach().cpu()\n"
    found = elsewhere([outline(asks)])
    assert not found.leaving and found.emptying == {"to_cpu": {(0, "x")}}


def test_what_autocast_leaves_in_half() -> None:
    """O1 ran `std` and `var` in float32 wherever they were; no region does, so that what they are handed has to be."""
    found = elsewhere([outline("def contrast(x, y):\n    return x.std() / torch.var(x, 1).sqrt() + y\n")])
    assert found.computing == {"contrast": {(0, "x")}} and not found.widening
    assert not elsewhere([outline("def contrast(x):\n    return np.std(x) + x.float().std()\n")]).computing


@pytest.mark.parametrize(
    ("call", "handed"),
    [
        ("lib.to_numpy(x)", ["x"]),
        ("rows(t=x[0])", ["x[0]"]),
        ("lib.Bank().update(i, x)", ["x"]),
        ("Trainer().similar(x)", ["x"]),
        ("Trainer().own(x)", []),
        ("lib.all_to_cpu(x)", []),
        ("lib.accuracy(x, y)", []),
    ],
)
def test_what_is_handed_to_them(call: str, handed: list[str]) -> None:
    m = Module(f"import lib\nfrom lib import rows\nclass Trainer(lib.Bank):\n    def own(self, x): pass\n{call}\n")
    last = m.files[0].tree.body[-1]
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    found = elsewhere([outline(WORK)])
    given = handed_elsewhere(Values(m), last.value, {**found.leaving, **found.computing})
    assert [ast.unparse(one) for one in given] == handed


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("lib.psnr(x, y)", True),
        ("lib.Bank().compute()", True),
        ("lib.METRICS['a'](x)", True),
        ("np.TABLE['a'](x)", False),
        ("lib.accuracy(x, y)", False),
        ("psnr(x, y)", False),
    ],
)
def test_what_widens(call: str, found: bool) -> None:
    m = Module(f"import lib\nimport numpy as np\ndef psnr(a, b): return a\n{call}\n")
    last = m.files[0].tree.body[-1]
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    assert widens_elsewhere(Values(m), last.value, elsewhere([outline(WORK)])) is found


HOLDING = """\
class Holder:
    def __init__(self, model, name):
        self.ema, self.name = model.eval(), name
        self.kept = model
        self.made = build(model)
    def get(self):
        return self.kept
    def said(self):
        return self.made


class Own(Holder):
    pass
"""


@pytest.mark.parametrize(
    ("expr", "found"),
    [
        ("held.kept", True),
        ("held.get()", True),
        ("held.ema", True),
        ("lib.Holder(copy.deepcopy(model), 'a').kept", True),
        ("lib.Own(model, 1).kept", True),
        ("held.made", False),
        ("held.said()", False),
        ("lib.Holder(3, 'a').kept", False),
        ("own.kept", False),
    ],
)
def test_what_an_object_of_another_file_keeps(expr: str, found: bool) -> None:
    text = "import lib\nclass Mine:\n    pass\nmodel = nn.Linear(1, 1)\nheld = lib.Holder(model, 'a')\nown = Mine()\n"
    v = Values(Module(f"{text}{expr}\n"))
    last = v.m.files[0].tree.body[-1]
    models = v.of(v.m.files[0].tree.body[2].value)  # type: ignore[attr-defined]
    assert isinstance(last, ast.Expr) and models
    known = elsewhere([outline(HOLDING)])
    assert any(not models.isdisjoint(kept_elsewhere(v, obj, known)) for obj in v.of(last.value)) is found

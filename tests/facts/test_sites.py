"""Where Apex is used, taken apart."""

from __future__ import annotations

import ast
import textwrap

import pytest

from migrate.facts.sites import Initialize, Scale, opened
from migrate.units.unit import group
from tests.asking import asked, context, said

TOP = "from apex import amp\n"


def texts(nodes: object) -> str:
    return ", ".join(ast.unparse(n) for n in nodes)  # type: ignore[attr-defined]


#: A call of initialize: its models, its optimizers, its options.
INITIALIZES = {
    "amp.initialize(m, o)": ("m", "o", ""),
    "amp.initialize(m)": ("m", "", ""),
    "amp.initialize(m, None)": ("m", "", ""),
    "amp.initialize([m, n], (o, p))": ("m, n", "o, p", ""),
    "amp.initialize(optimizers=o, models=m)": ("m", "o", ""),
    "amp.initialize(m, o, True, 'O1')": ("m", "o", "enabled opt_level"),
    "amp.initialize(m, o, loss_scale=1, opt_level='O1')": ("m", "o", "loss_scale opt_level"),
    "amp.initialize(m, o, **kw)": ("m", "o", "**kw"),
    "amp.initialize(*both)": ("", "", "**both"),
    "amp.frontend.initialize(m, o)": ("m", "o", ""),
}


@pytest.mark.parametrize("call", INITIALIZES)
def test_initialize(call: str) -> None:
    (one,) = context(TOP + call).facts.initializes
    options = sorted(one.options)
    if one.splat is not None:
        options.append(f"**{ast.unparse(one.splat)}")
    assert (texts(one.models), texts(one.optimizers), " ".join(options)) == INITIALIZES[call]


#: A statement: the loss, the optimizer, the name of the scaled loss, whether it is entered by with.
SCALES = {
    "with amp.scale_loss(l, o) as s: pass": ("l", "o", "s", True),
    "with amp.scale_loss(l, o): pass": ("l", "o", None, True),
    "with amp.scale_loss(optimizers=o, loss=l) as s: pass": ("l", "o", "s", True),
    "with amp.scale_loss(l, [o, p]) as (s, t): pass": ("l", "[o, p]", None, True),
    "with a, amp.scale_loss(l, o) as s: pass": ("l", "o", "s", True),
    "s = amp.scale_loss(l, o)": ("l", "o", None, False),
    "with amp.scale_loss(*a) as s: pass": (None, None, "s", True),
    "with amp.handle.scale_loss(l, o) as s: pass": ("l", "o", "s", True),
    "with f(amp.scale_loss(l, o)) as s: pass": ("l", "o", None, False),
}


@pytest.mark.parametrize("text", SCALES)
def test_scale_loss(text: str) -> None:
    (one,) = context(TOP + text).facts.scales
    loss = None if one.loss is None else ast.unparse(one.loss)
    optimizers = None if one.optimizers is None else ast.unparse(one.optimizers)
    assert (loss, optimizers, one.alias, one.with_ is not None) == SCALES[text]


#: A module, its uses and its ambiguous names.
USES = {
    TOP + "amp.initialize(m)": ("apex.amp.initialize", ""),
    "import apex\napex.amp.initialize(m)": ("apex.amp.initialize", ""),
    TOP + "a = amp\na.initialize(m)": ("apex.amp, apex.amp.initialize", ""),
    TOP + "f(amp)": ("apex.amp", ""),
    TOP + "amp.lists[0].x": ("apex.amp.lists[].x", ""),
    TOP + "def f(amp):\n    amp.x": ("", ""),
    "try:\n    from apex import amp\nexcept E:\n    from torch.cuda import amp\namp.x": ("apex.amp.x", "amp"),
    "import apex.amp\nimport torch.amp\napex.amp.x": ("apex.amp.x", ""),
    "from .apex import amp\namp.x": ("", ""),
}


@pytest.mark.parametrize("text", USES)
def test_uses(text: str) -> None:
    facts = context(text).facts
    assert (", ".join(sorted(facts.uses.values())), " ".join(facts.ambiguous)) == USES[text]


def test_names_that_only_look_like_it() -> None:
    facts = context(TOP + "def f(amp):\n    amp.x\n").facts
    assert [name.lineno for name in facts.spelled] == [3]


def test_the_old_api() -> None:
    ctx = context("""
        from apex import amp
        handle = amp.init(enabled=fp16)
        optimizer = handle.wrap_optimizer(SGD())
        with optimizer.scale_loss(loss) as scaled:
            scaled.backward()
    """)
    (init,), (scale,) = ctx.facts.initializes, ctx.facts.scales
    assert init.handle is not None and list(init.options) == ["enabled"] and init.models == []
    assert said(init.optimizer_objects) == said(scale.optimizer_objects) == "SGD()"
    assert scale.alias == "scaled" and scale.with_ is not None
    (alone,) = context("from apex import amp\nhandle = amp.init()").facts.initializes
    assert alone.optimizers == [] and alone.options == {}


def test_opened() -> None:
    ctx = context("x = A()\ny = [x, (B(), {'c': C()})]\ny.append(y)\nask(x, y)")
    one, other = (ctx.v.of(question) for question in asked(ctx.m))
    assert said(opened(ctx.v, one)) == "A()"
    assert said(opened(ctx.v, other)) == "A(), B(), C()"


INIT = "m, o = amp.initialize(M(), O())\n"
LOSS = "with amp.scale_loss(l, {}) as s: pass\n"

#: A module, and what its units hold.
GROUPS = {
    INIT + LOSS.format("o"): ["initialize, scale_loss"],
    INIT + LOSS.format("other"): ["initialize", "scale_loss"],
    INIT + "n, p = amp.initialize(N(), P())\n" + LOSS.format("p"): ["initialize", "initialize, scale_loss"],
    INIT + "n, p = amp.initialize(N(), P())\n" + LOSS.format("[o, p]"): ["initialize, initialize, scale_loss"],
    "n = M()\nm, o = amp.initialize(n, O())\nk = amp.initialize(n)\n": ["initialize, initialize"],
    INIT + "if y:\n    n = amp.initialize(N())\n": ["initialize, initialize"],
    INIT + "n = amp.initialize(N(), opt_level='O2')\n": ["initialize", "initialize"],
    "n = amp.initialize(N())\n" + INIT: ["initialize, initialize"],
    "n = amp.initialize(N(), opt_level='O2')\n" + INIT: ["initialize", "initialize"],
    "n = amp.initialize(N())\nif y:\n    raise y\n" + INIT: ["initialize", "initialize"],
    "if y:\n    n = amp.initialize(N())\n" + INIT: ["initialize", "initialize"],
    "if y:\n    m, o = amp.initialize(M(), O())\nn = amp.initialize(N())\n": ["initialize", "initialize"],
    "k = amp.initialize(M())\nm = amp.initialize(N())\n": ["initialize", "initialize"],
    LOSS.format("o") + LOSS.format("o") + "o = O()\n": ["scale_loss, scale_loss"],
}


@pytest.mark.parametrize("text", GROUPS)
def test_units(text: str) -> None:
    def word(site: Initialize | Scale) -> str:
        return "initialize" if isinstance(site, Initialize) else "scale_loss"

    ctx = context(TOP + text)
    units = group(ctx.facts, ctx.m)
    assert [", ".join(map(word, one.sites)) for one in units] == GROUPS[text]
    assert [one.number for one in units] == [*range(1, len(units) + 1)]


def test_schedulers_are_no_optimizers() -> None:
    """A list that a hook gave back, with its schedulers, is what somebody took its optimizers from."""
    text = """
    a = torch.optim.Adam(m.parameters())
    both = [[a], [torch.optim.lr_scheduler.StepLR(a, 1), Warmup(a), WarmupAdam(a)]]
    amp.initialize(m, both)
    """
    (one,) = context(TOP + "import torch\n" + textwrap.dedent(text)).facts.initializes
    assert sorted(o.label for o in one.optimizer_objects) == ["Adam", "Warmup", "WarmupAdam"]

"""What steps, what reads gradients, and in which order a run meets them."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from migrate.units import events, lifted, readers, steps
from migrate.units.degree import scale_free_reader
from migrate.units.unit import Context, Manual, Unit
from tests.asking import context, marked, unit

TOP = """\
import torch
from apex import amp
model, optimizer = build(), torch.optim.SGD(params, lr=0.1)
model, optimizer = amp.initialize(model, optimizer)
other = torch.optim.SGD(more, lr=0.1)
"""
SCALED = "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\n"


def training(body: str, top: str = "") -> tuple[Context, Unit]:
    """A loop with a scaled backward, then ``body``."""
    text = TOP + dedent(top) + "for x, y in loader:\n" + indent(SCALED + dedent(body), "    ")
    ctx = context(text)
    return ctx, unit(ctx)


# ---------------------------------------------------------------- steps

STEPS = {
    "optimizer.step()": "optimizer",
    "optimizer.step()\nother.step()": "optimizer",
    "scheduler.step()": "",
    "for o in [optimizer]:\n    o.step()": "o",
    "lr = optimizer.step()": "optimizer",
    "optimizer.step(None)": "optimizer",
    "optimizer.step(closure=None)": "optimizer",
    "def take(closure=None):\n    return optimizer.step(closure)\ntake()\ntake(closure=None)": "optimizer",
    "def take(closure=None):\n    optimizer.step(closure)\ndef two(c=None):\n    take(c)\ntwo()": "optimizer",
    "def f(c=None):\n    r = optimizer.step(c) if c is not None else optimizer.step()\nf()": "optimizer, optimizer",
    "holder = {'o': optimizer}\nholder['o'].step()": "holder['o']",
    "torch.optim.lr_scheduler.StepLR(optimizer, 2).step()": "",
    "Progress(optimizer).step()": "",
    "optimizer.get_step()": "",
    "optimizer.step_size": "",
    "optimizer.step.profiled = True": "",
}
NO_STEPS = {
    "optimizer.step(closure)": "a step with arguments",
    "optimizer.step(closure=closure)": "a step with arguments",
    "def take(closure=None):\n    optimizer.step(closure)": "a step with arguments",
    "def take(closure=None):\n    optimizer.step(closure)\ntake()\ntake(loss_of)": "a step with arguments",
    "def take(closure=None):\n    optimizer.step(closure)\ntake()\ntake(*given)": "a step with arguments",
    "def take(closure=None):\n    optimizer.step(closure)\ntake()\nrun(take)": "a step with arguments",
    "def take(closure=None):\n    closure = closure or f\n    optimizer.step(closure)\ntake()": "a step with arguments",
    "def take(closure=loss_of):\n    optimizer.step(closure)\ntake()": "a step with arguments",
    "print(optimizer.step())": "the value of optimizer.step() is used",
    "if optimizer.step() is None:\n    pass": "the value of optimizer.step() is used",
    "optimizer.train_step()": "would see gradients that are still scaled",
    "run(optimizer.step)": "is handed on as a function",
    "skipped = optimizer.step.__name__ == 'skip_step'": "is known here by its name",
    "Lookahead(optimizer).step()": "wraps the optimizer and steps it",
    "any_of = optimizer if x else scheduler()\nany_of.step()": "steps an optimizer or something else",
}


@pytest.mark.parametrize("body", STEPS)
def test_steps(body: str) -> None:
    ctx, one = training(body)
    assert ", ".join(step.text or "" for step in steps.find_steps(ctx, one)) == STEPS[body]


@pytest.mark.parametrize("body", NO_STEPS)
def test_steps_that_cannot_be_carried_over(body: str) -> None:
    ctx, one = training(body)
    with pytest.raises(Manual) as missing:
        steps.find_steps(ctx, one)
    assert NO_STEPS[body] in missing.value.message


def test_a_step_before_any_backward_has_nothing_to_do_with_it() -> None:
    ctx, one = training("optimizer.step()", "optimizer.step()\n")
    assert [step.call.lineno for step in steps.find_steps(ctx, one)] == [10]
    ctx, one = training("", "")
    assert steps.find_steps(ctx, one) == []


def test_a_step_at_the_top_of_the_loop_follows_the_round_before() -> None:
    text = TOP + "for x in y:\n    optimizer.step()\n" + indent(SCALED, "    ")
    ctx = context(text)
    assert len(steps.find_steps(ctx, unit(ctx))) == 1


def test_the_loop_over_optimizers_is_what_an_update_follows() -> None:
    ctx, one = training("for o in [optimizer]:\n    if x:\n        o.step()\nfor i in y:\n    optimizer.step()\n")
    over, plain = steps.find_steps(ctx, one)
    assert isinstance(over.anchor, ast.For)
    assert plain.anchor is plain.stmt


# ---------------------------------------------------------------- readers

READERS = {
    "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)": True,
    "torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)": True,
    "model.clip_gradients(1.0)": True,
    "clip(image, 0, 1)": False,
    "a = (policy(s) + rng.normal(0, 0.1)).clip(-1, 1)": False,
    "a = np.clip(np.random.normal(0, 0.1), -1, 1)": False,
    "a = (policy(s) + rng.normal(0, model_config.noise)).clip(0, model_config.bound)": False,
    "(grad / norm).clip(-1, 1)": True,
    "for p in model.parameters():\n    p.grad.mul_(2)": True,
    "for p in model.parameters():\n    print(p.grad is None)": False,
    "for p in model.parameters():\n    if p.grad is not None:\n        p.grad.data.zero_()": True,
    "torch.autograd.grad(loss, x)": False,
    "total = total_norm(model.parameters())": True,
    "total = total_norm(images)": False,
    "log_gradients(model)": False,
    "wandb.watch(model, log='all')": False,
    "watch_gradients(model)": True,
    "watch_gradients(optimizer)": True,
    "watch_gradients([model])": True,
    "watch_gradients(net=model)": True,
    "reader()": True,
    "two_deep()": True,
    "no_reader()": False,
    "params = list(amp.master_params(optimizer))": False,
    "params: list = amp.master_params(optimizer)": False,
    "for p in amp.master_params(optimizer):\n    pass": True,
    "f = lambda: model.weight.grad": True,
    "x = (lambda: model.weight.grad)()": True,
    "loss = loss / 2": False,
    "optimizer.zero_grad()": False,
    # not by an attribute's name
    "x = getattr(model.weight, 'grad')": True,
    "x = [getattr(p, what) for p in model.parameters()]": True,
    "x = getattr(model, what)": False,
    "print(stats)": True,
    "x = stats['a']": True,
    "with stats:\n    pass": True,
    "print(plain)": False,
    "x = list(map(norm, model.parameters()))": True,
    "x = list(map(size, model.parameters()))": False,
}


@pytest.mark.parametrize("body", READERS)
def test_reads_gradients(body: str) -> None:
    top = """
        def reader():
            for p in model.parameters():
                print(p.grad)
        def two_deep():
            reader()
        def no_reader():
            print(model)
        class Stats:
            def __str__(self):
                return str(self.net.weight.grad)
        class Plain:
            def grad(self):
                return model.weight.grad
        stats, plain = Stats(), Plain()
        norm, size = lambda p: p.grad.norm(), lambda p: p.numel()
    """
    ctx, one = training(body.replace("\n", "  # ?\n", 1) if "\n" in body else body + "  # ?", top)
    (stmt,) = marked(ctx.m)
    assert readers.reads_gradients(ctx, one, stmt) == READERS[body]


UNKNOWN = {
    "inspect(model)": True,
    "inspect([model])": True,
    "inspect(net=optimizer)": True,
    "inspect(images)": False,
    "here(model)": False,
    "print(model)": False,
    "Thing(model)": False,
    "adjust_learning_rate(optimizer)": False,
    "thing.after_backward()": True,
    "average.after_backward()": False,
    "plain.after_backward()": False,
    "inspect(thing)": True,
    "amp.master_params(optimizer)": False,
    # its parameters, by whatever name the function goes
    "cgn(model.parameters(), 1)": True,
    "CLIPS[kind](model.parameters(), 1)": True,
    "(a if b else c)(model.parameters())": True,
    "out.append(cgn([*model.parameters()], 1))": False,
    "cgn(params, 1)": True,
    "cgn(other.parameters(), 1)": False,
    "cgn(optimizer.param_groups)": True,
    "sum(model.parameters())": False,
    "ours(model)": True,
    "here(model.parameters())": False,
    # headers
    "if inspect(model):\n    pass": True,
    "with inspect(model):\n    pass": True,
    "for z in inspect(model):\n    pass": True,
    "while x:\n    inspect(model)": False,
    "for p in model.parameters():\n    pass": False,
}


@pytest.mark.parametrize("body", UNKNOWN)
def test_code_of_other_files_may_read(body: str) -> None:
    top = "def here(m):\n    pass\nthing, average, plain = Thing(model), EMA(model), Thing()\n"
    top += "def ours(m):\n    cgn(m.parameters(), 1)\nparams = list(model.parameters())\n"
    ctx, one = training(body.replace("\n", "  # ?\n", 1) if "\n" in body else body + "  # ?", top)
    (stmt,) = marked(ctx.m)
    assert bool(readers.unknown_readers(ctx, one, stmt)) == UNKNOWN[body]


CLEARS = {
    "for p in q:\n    p.grad = None": True,
    "for p in q:\n    p.grad = 0": True,
    "for p in q:\n    p.grad = f(p)": False,
    "for p in q:\n    if p.grad is not None:\n        p.grad = None": True,
    "for p in q:\n    p.grad.zero_()": False,
    "x = 1": False,
}


@pytest.mark.parametrize("body", CLEARS)
def test_only_clears(body: str) -> None:
    ctx, _ = training(body.replace("\n", "  # ?\n", 1) if "\n" in body else body + "  # ?")
    (stmt,) = marked(ctx.m)
    assert readers.only_clears(ctx, stmt) == CLEARS[body]


NORMS = {
    "norm = clip_grad_norm_(model.parameters(), 1.0)": 1,
    "norm = clip_grad_norm_(model.parameters(), max_norm=1.0)": 1,
    "norm = clip_grad_norm_(model.parameters())": 0,
    "norm = compute_grad_norm(model)": 1,
    "norm = compute_grad_norm(model, 2)": 0,
    "norm = other_norm(model)": 0,
    "norm = clip_grad_norm_(a, 1.0) + grad_norm(b)": 2,
    "norm = clip_grad_norm_(a, 1.0) + p.grad.norm()": 0,
    "for p in q:\n    clip_grad_norm_(p, 1.0)": 0,
}


@pytest.mark.parametrize("body", NORMS)
def test_norms(body: str) -> None:
    ctx, _ = training(body.replace("\n", "  # ?\n", 1) if "\n" in body else body + "  # ?")
    (stmt,) = marked(ctx.m)
    assert len(readers.norms_read(ctx, stmt)) == NORMS[body]


# ---------------------------------------------------------------- order


def _run(text: str, function: str) -> str:
    ctx = context(text)
    one = unit(ctx)
    one.steps = steps.find_steps(ctx, one)
    scope = next(s for n, s in ctx.m.scope_of.items() if getattr(n, "name", "") == function)
    found = events.events(ctx, one, scope)
    return ", ".join(e.what + (f" under {len(e.under)}" if e.under else "") for e in found)


def test_a_run_goes_into_the_functions_it_calls() -> None:
    text = TOP + dedent("""
        def backward(loss):
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        def update():
            if ready:
                optimizer.step()
        def train():
            for x in y:
                backward(f(x))
                update()
                later = lambda: update()
            def never():
                update()
            try:
                pass
            except E:
                update()
    """)
    assert _run(text, "train") == "backward under 1, step under 2, step under 1"


def test_steps_and_backwards_seen_from_the_caller() -> None:
    text = TOP + dedent("""
        class T:
            def __init__(self):
                self.o = optimizer
            def back(self, loss):
                with amp.scale_loss(loss, self.o) as scaled:
                    scaled.backward()
            def update(self, o, n):
                if n % 2:
                    o.step()
                self.o.step()
        def train(t):
            t.back(loss)
            t.update(optimizer, 3)
        train(T())
    """)
    ctx = context(text)
    one = unit(ctx)
    one.steps = steps.find_steps(ctx, one)
    scope = next(s for n, s in ctx.m.scope_of.items() if getattr(n, "name", "") == "train")
    found = lifted.lifted_steps(ctx, one, scope)
    assert [(s.text, len(s.within)) for s in found] == [("optimizer", 1), ("t.o", 0)]
    assert len(lifted.lifted_backwards(ctx, one, scope)) == 1


# ---------------------------------------------------------------- readers to whom the size is all one

#: Bodies of a function that is called after the backward, and whether scaled gradients do for it.
SCALE_FREE = {
    "p.data.add_(p.grad / p.grad.norm())": True,
    "p.data.add_(p.grad)": False,
    "p.data.add_(0.1 * p.grad / (p.grad.norm() + 1e-8))": True,
    "p.data.add_(0.1 * p.grad / (p.grad.norm() + 0.1))": False,
    "e = 1e-6\np.data.add_(0.1 * p.grad / (p.grad.norm() + e))": True,
    "e = 0.1\np.data.add_(0.1 * p.grad / (p.grad.norm() + e))": False,
    "e = 1e-6\ne = p.numel()\np.data.add_(0.1 * p.grad / (p.grad.norm() + e))": False,
    "p.data.add_(0.1 * p.grad / (p.grad.norm() + kept))": False,
    "g, size = p.grad, p.grad.norm()\np.data.add_(g / size)": True,
    "g, size = p.grad, p.norm()\np.data.add_(g / size)": False,
    "p.data.add_(p.grad.sign())": True,
    "self.kept[n] = p.grad.clone()": True,
    "self.kept[n] = p.grad * 2": False,
    "p.grad = self.kept[n]": True,
    "p.grad = p.grad * p.grad": False,
    "p.grad = None": True,
    "p.grad.mul_(2.0)": True,
    "p.grad.mul_(p.grad)": False,
    "p.grad.add_(p.grad)": True,
    "p.grad.add_(p.data)": False,
    "p.grad.zero_()": True,
    "norm = p.grad.norm()\nif norm > 0:\n    p.data.add_(p.grad / norm)": True,
    "norm = p.grad.norm()\nif norm > 1.0:\n    p.data.add_(p.grad / norm)": False,
    "norm = p.grad.norm()\nif norm != 0 and not torch.isnan(norm):\n    p.data.add_(p.grad / norm)": True,
    "return p.grad": False,
    "return p.grad / p.grad.norm()": True,
    "print(p.grad)": False,
    "print(p.shape)": True,
    "g = p.grad\ng = 1": False,
    "g = p.grad - p.data": False,
    "g = [p.grad, p.data]": False,
    "total = p.grad.norm() + p.grad.abs().max()\np.data.add_(p.grad / total)": True,
    "p.data.mul_(1.0)": True,
    "p.data *= 2": True,
    "p.grad += p.grad": True,
    "p.data += p.grad": False,
    "while p.grad.norm() > p.grad.max():\n    pass": True,
    "with hold(p.grad):\n    pass": False,
    "assert p.grad.norm() > 1": False,
    "raise E": False,
}


@pytest.mark.parametrize("body", SCALE_FREE)
def test_the_size_is_all_one(body: str) -> None:
    top = "class Attack:\n    def run(self, model, kept):\n        for n, p in model.named_parameters():\n"
    top += indent(body, " " * 12) + "\n    def other(self, n, p):\n        self.kept[n] = p.grad.clone()\n"
    ctx, _ = training("Attack().run(model, {})  # ?", top)
    (stmt,) = marked(ctx.m)
    assert bool(scale_free_reader(ctx, stmt)) == SCALE_FREE[body]


def test_the_size_of_what_a_lambda_reads() -> None:
    """Degrees are known of whole functions alone."""
    ctx, _ = training("(quiet(), show())  # ?", "def quiet():\n    pass\nshow = lambda: print(model.weight.grad)\n")
    (stmt,) = marked(ctx.m)
    assert scale_free_reader(ctx, stmt) == []

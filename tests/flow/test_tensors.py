"""Whose gradient is it: of a tensor that the program made for itself, or of one that an optimizer may hold."""

from __future__ import annotations

import ast
import textwrap

import pytest

from migrate.facts.module import Module
from migrate.flow.tensors import own_gradient
from migrate.flow.values import Values


def ask(text: str) -> bool:
    m = Module(textwrap.dedent(text))
    v = Values(m)
    grads = [n for n in m.nodes if isinstance(n, ast.Attribute) and n.attr == "grad"]
    assert grads
    return all(own_gradient(m, v, n) for n in grads)


OWN = {
    "a perturbation": """
        def f(model, x):
            delta = torch.zeros_like(x).uniform_(-1, 1)
            for _ in range(3):
                delta.requires_grad_()
                model(x + delta).backward()
                delta = (delta + 0.1 * delta.grad / delta.grad.norm()).detach()
        """,
    "an input from the loader": """
        def f(model, loader):
            for i, (x, y) in enumerate(loader):
                x, y = x.cuda(), y.cuda()
                x.requires_grad = True
                loss(model(x), y).backward()
                x.grad.sign()
        """,
    "a copy that a function gives back": """
        def attack(model, x):
            x_adv = x.clone().detach().requires_grad_(True)
            model(x_adv).backward()
            x_adv = x_adv + 0.1 * x_adv.grad.sign()
            return x_adv

        def main(model, x):
            x_adv = attack(model, x)
            return model(x_adv).item()
        """,
    "handed to a function of the file": """
        def update(noise, eps):
            return eps * noise.grad.sign()

        def f(model, x):
            noise = torch.autograd.Variable(torch.randn(3), requires_grad=True)
            model(x + noise).backward()
            return update(noise, 0.1)
        """,
    "made by a function of the file": """
        def noise(x):
            print("made for", x)
            return torch.zeros_like(x).requires_grad_()

        def f(model, x):
            delta = noise(x)
            model(x + delta).backward()
            delta.grad.sign()
        """,
    "a variable over a part of something": """
        def f(model, noises, n):
            noise = Variable(noises[0:n], requires_grad=True)
            model(noise).backward()
            noise.grad.sign()
        """,
    "an embedding that a network is handed by its key": """
        def f(model, embeds, batch, optimizer):
            noisy = (embeds.data.detach() + embeds.data.new(embeds.size()).normal_(0, 1) * 1e-5).detach()
            noisy.requires_grad_()
            inputs = {"inputs_embeds": noisy, "attention_mask": batch[1]}
            inputs["token_type_ids"] = batch[2]
            noisy.grad = opt_grad(model(**inputs), noisy)[0]
            return noisy + 0.1 * noisy.grad
        """,
    "an embedding that a network of the file is handed by its key": """
        class Net(nn.Module):
            def forward(self, ids=None, inputs_embeds=None):
                return self.layer(inputs_embeds)

        def f(embeds):
            model = Net()
            noisy = embeds.detach().clone().requires_grad_()
            inputs = {"inputs_embeds": noisy}
            model(**inputs).backward()
            return noisy.grad.norm()
        """,
}
NOT_OWN = {
    "what a dictionary hands to who keeps it": """
        def f(embeds):
            noisy = embeds.detach().clone().requires_grad_()
            row = {"params": noisy}
            model(noisy).backward()
            make_optimizer(**row)
            return noisy.grad
        """,
    "what is taken out of a dictionary again": """
        def f(embeds):
            noisy = embeds.detach().clone().requires_grad_()
            row = {"x": noisy}
            model(**row).backward()
            optimizer = SGD([row["x"]], lr=0.1)
            return noisy.grad
        """,
    "what a dictionary hands to a function of the file that keeps it": """
        def trained(x=None):
            return SGD([x], lr=0.1)

        def f(embeds):
            noisy = embeds.detach().clone().requires_grad_()
            row = {"x": noisy}
            optimizer = trained(**row)
            return noisy.grad
        """,
    "a dictionary that is handed on as it is": """
        def f(embeds):
            noisy = embeds.detach().clone().requires_grad_()
            row = {"x": noisy}
            run(row)
            return noisy.grad
        """,
    "what a function of the file looks up": """
        def weight(model, x):
            if x is None:
                return torch.zeros(3)
            return model.weight

        def f(model, x):
            delta = weight(model, x)
            delta.grad.norm()
        """,
    "what a generator gives": """
        def weights(model):
            yield model.weight
            return torch.zeros(3)

        def f(model):
            delta = weights(model)
            delta.grad.norm()
        """,
    "what a function without a result gives": """
        def nothing(x):
            print(x)

        def f(x):
            delta = nothing(x)
            delta.grad.norm()
        """,
    "a parameter": "for p in model.parameters():\n    p.grad.mul_(2)",
    "a parameter of the batch norms": "for p in batch_params:\n    p.grad.mul_(2)",
    "an attribute": "def f(self):\n    self.delta.grad.sign()",
    "a part of the model": "def f(model):\n    w = model.weight\n    w.grad.norm()",
    "a parameter that was made here": "def f():\n    p = torch.nn.Parameter(torch.zeros(3))\n    p.grad.norm()",
    "an unknown argument": "def f(x):\n    x.grad.norm()",
    "one of two": """
        def f(model, x, how):
            delta = torch.zeros_like(x)
            if how:
                delta = model.weight
            delta.grad.norm()
        """,
    "an optimizer over it": """
        def f(x):
            delta = torch.zeros_like(x).requires_grad_()
            optimizer = torch.optim.Adam([delta])
            delta.grad.norm()
        """,
    "an optimizer over it under another name": """
        def f(x):
            delta = torch.zeros_like(x)
            patch = delta.requires_grad_()
            params = []
            params.append(patch)
            delta.grad.norm()
        """,
    "a group of an optimizer": """
        def f(x, optimizer):
            delta = torch.zeros_like(x)
            optimizer.add_param_group({"params": delta})
            delta.grad.norm()
        """,
    "an optimizer in a function that it is handed to": """
        def optimizer_of(patch):
            return torch.optim.Adam([patch])

        def f(x):
            delta = torch.zeros_like(x)
            opt = optimizer_of(delta)
            delta.grad.norm()
        """,
    "an optimizer over what a function gave back": """
        def make(x):
            delta = torch.zeros_like(x)
            delta.grad
            return delta

        def f(x):
            patch = make(x)
            opt = torch.optim.Adam([patch])
        """,
    "a part of a model from now on": """
        def f(model, x):
            delta = torch.zeros_like(x)
            model.prompt = delta
            delta.grad.norm()
        """,
}


@pytest.mark.parametrize("name", OWN)
def test_nobody_else_holds_it(name: str) -> None:
    assert ask(OWN[name])


@pytest.mark.parametrize("name", NOT_OWN)
def test_an_optimizer_may_hold_it(name: str) -> None:
    assert not ask(NOT_OWN[name])

"""Functions of other files that only ask what they are handed for its state."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, outline

#: The body of ``def evaluate_it(net, opt, hist, writer=None)``, and the parameters that it only asks.
CASES = {
    "saves": ("torch.save({'net': net.state_dict(), 'opt': opt.state_dict()}, hist)", "net opt writer"),
    "saves what is wrapped": ("torch.save(net.module.state_dict(), path(hist))\n    opt.step()", "net writer"),
    "never says it": ("print(hist.mean())", "net opt writer"),
    "a mode": ("net.eval()\n    print(hist)", "net opt writer"),
    "hands on what a mode gives": ("out = net.eval()\n    print(out(hist))", "opt writer"),
    "asks whether it is there": ("if net is not None:\n        torch.save(net.state_dict(), hist)", "net opt writer"),
    "asks an attribute that is called alike": ("print(run.net is None, net(hist))", "opt writer"),
    "runs it": ("print(net(hist))", "opt writer"),
    "runs a part": ("for m in net.modules():\n        m(hist)", "opt writer"),
    "hands it on": ("score(net, hist)", "opt writer"),
    "under another name": ("model = net\n    model(hist)", "opt writer"),
    "within a function": ("return lambda x: net(x)", "opt hist writer"),
    "in a text": ("writer.add_text('net', hist)", "net opt"),
    "looks around": ("f(locals())", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    body, names = CASES[case]
    found = elsewhere([outline(f"def evaluate_it(net, opt, hist, writer=None):\n    {body}\n")]).asking["evaluate_it"]
    assert {name for _, name in found} - {"hist"} == {*names.split()} - {"hist"}
    assert all(("net", "opt", "hist", "writer")[at] == name for at, name in found)


def test_of_two_functions_both_have_to() -> None:
    one = outline("def f(net):\n    net.state_dict()\n")
    other = outline("def f(net):\n    net(1)\n")
    assert elsewhere([one]).asking["f"]
    assert not elsewhere([one, other]).asking["f"]
    assert not elsewhere([one]).with_(elsewhere([other])).asking["f"]
    assert not elsewhere([other]).with_(elsewhere([one])).asking["f"]
    assert not elsewhere([one, outline("class f:\n    pass\n")]).asking["f"]


def test_parameters_that_are_not_told_apart() -> None:
    assert not elsewhere([outline("def f(size=(1, 2), net=None):\n    net.state_dict()\n")]).asking["f"]
    assert not elsewhere([outline("def f(*args, net=None):\n    net.state_dict()\n")]).asking["f"]

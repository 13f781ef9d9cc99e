"""What is found by a name that code makes at run time."""

from __future__ import annotations

import pytest

from migrate.facts.module import Module
from migrate.flow.values import Values
from tests.asking import asked, said

CHECKS = """\
import sys
class SumCheck:
    pass
class MeanCheck:
    pass
class Net(nn.Module):
    pass
def run_all():
    return A()
def run_one():
    return B()
def other():
    return C()
kind = read()
"""

FOUND = {
    "a name that is written": ('globals()["SumCheck"]()', "<SumCheck>"),
    "a network's as well": ('globals()["Net"]()', "<Net>"),
    "by eval": ('eval("SumCheck")()', "<SumCheck>"),
    "of the file as a module": ('getattr(sys.modules[__name__], "SumCheck")()', "<SumCheck>"),
    "in the file's own table": ('vars()["SumCheck"]()', "<SumCheck>"),
    "asked of the table": ('globals().get("SumCheck")()', "<SumCheck>"),
    "one that is put there": ('globals()["late"] = A()\nask(late)', "A()"),
    # of a name that is known in part
    "those that may be meant": ('globals()[kind + "Check"]()', "<MeanCheck>, <SumCheck>, call()"),
    "by a text that is filled": ('eval(f"{kind}Check")()', "<MeanCheck>, <SumCheck>, call()"),
    "a function": ('globals()["run_" + kind]()', "A(), B(), call()"),
    # of one of which nothing is known, what nobody mentions, and a text of the program spells
    "a class that nobody mentions": ("mean = MeanCheck()\nask(globals()[kind]())", "<SumCheck>, call()"),
    "one that a text spells": (
        'mean = MeanCheck()\nnames = ["MeanCheck"]\nask(globals()[kind]())',
        "<MeanCheck>, <SumCheck>, call()",
    ),
    "no function": ("globals()[kind]()", "<MeanCheck>, <SumCheck>, call()"),
    "all of them": ("[c for c in vars().values()][0]()", "<MeanCheck>, <SumCheck>, call()"),
    "all of them with their names": (
        "[c for _, c in globals().items()][0]()",
        "<MeanCheck>, <SumCheck>, call()",
    ),
    "as a module's members": (
        "[c for _, c in getmembers(sys.modules[__name__])][0]()",
        "<MeanCheck>, <SumCheck>, call()",
    ),
    "made by a text": ('eval("SumCheck(1)")', "<SumCheck>"),
    "made by a text that is filled": ('eval(f"{kind}Check()")', "<MeanCheck>, <SumCheck>"),
    # nothing
    "a table of a function": ('def f():\n    ask(locals()["SumCheck"]())', "call()"),
    "of another module": ('getattr(sys.modules["os"], "SumCheck")()', "call()"),
}


@pytest.mark.parametrize("case", FOUND)
def test_found(case: str) -> None:
    code, answer = FOUND[case]
    m = Module(CHECKS + (code if "ask(" in code else f"ask({code})"))
    assert said(Values(m).of(asked(m)[0])) == answer


def test_a_partial_of_a_class_makes_an_object() -> None:
    m = Module("class C:\n    def __init__(self, x, y):\n        ask(x, y)\nmade = partial(C, A())(B())\nask(made)\n")
    v = Values(m)
    x, y, made = asked(m)
    assert (said(v.of(x)), said(v.of(y)), said(v.of(made))) == ("A()", "B()", "<C>")


@pytest.mark.parametrize("text", ["C(y, x)", "C(y=x, x=y)", "C( y , y=x)"])
def test_a_constructor_is_handed_what_a_text_says(text: str) -> None:
    made = f"def f(x, y):\n    return eval('{text}')\nf(A(), B())\n"
    m = Module("class C:\n    def __init__(self, x, y):\n        ask(x, y)\n" + made)
    v = Values(m)
    x, y = asked(m)
    assert (said(v.of(x)), said(v.of(y))) == ("B(), x", "A(), y")


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("C(box.net)", True),
        ("C(x=box.net)", True),
        ("C(wrapped(box.net).eval())", True),
        ("C([box.net])", True),
        ("C(*[box.net])", True),
        ("C(**{1: box.net})", True),
        ("C(box.net", False),
        ("C(1)", False),
    ],
)
def test_what_a_text_hands_over_may_be_an_attribute_or_made_of_one(text: str, held: bool) -> None:
    made = f"class Box:\n    def __init__(self):\n        self.net = N()\nbox = Box()\nmade = eval('{text}')\n"
    m = Module("class C:\n    def __init__(self, x=None):\n        ask(x)\n" + made)
    (asks,) = asked(m)
    assert ("N()" in said(Values(m).of(asks)).split(", ")) is held


LOSSES = "class Focal:\n    pass\n"


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("import pack.losses\nask(pack.losses.Focal())", {"pack.losses": 0}),
        ("import pack.losses as L\nask(L.Focal())", {"pack.losses": 0}),
        ("import pack.losses as L\nask(vars(L)['Focal']())", {"pack.losses": 0}),
        ("import pack.losses as L\nask(L.__dict__['Focal']())", {"pack.losses": 0}),
        ("import pack.losses as L\nask(eval('L.Focal')())", {"pack.losses": 0}),
        ("import_module('pack.losses')\nask(import_module('pack.losses').Focal())", {"pack.losses": 0}),
        ("ask(__import__('losses').Focal())", {"losses": 0}),
        ("ask(pydoc.locate('pack.losses.Focal')())", {"pack.losses": 0}),
        ("ask(resolve_name('pack.losses:Focal')())", {"pack.losses": 0}),
        ("ask(locate('pack.losses.' + kind)())", {"pack.losses": 0}),
        ("ask(locate(kind)())", {"pack.losses": 0}),
        ("def f():\n    import pack.losses\n    ask(pack.losses.Focal())", {"pack.losses": 0}),
    ],
)
def test_of_another_file(text: str, links: dict[str, int]) -> None:
    m = Module(LOSSES, text, links=({}, links))
    assert said(Values(m).of(asked(m)[0])).removesuffix(", call()") == "<Focal>"


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("ask(locate('pack.other.Focal')())", {"pack.losses": 0}),
        ("import pack.losses\ndef f(pack):\n    ask(pack.losses.Focal())", {"pack.losses": 0}),
        ("import pack.losses\nask(pack.other.Focal())", {"pack.losses": 0}),
        ("ask(__import__('pack.losses').Focal())", {"pack.losses": 0}),
    ],
)
def test_not_of_another_file(text: str, links: dict[str, int]) -> None:
    m = Module(LOSSES, text, links=({}, links))
    assert "<Focal>" not in said(Values(m).of(asked(m)[0]))

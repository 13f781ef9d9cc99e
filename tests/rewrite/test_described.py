"""Docstrings follow the parameters of their functions: just the entries, and nothing beside them."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from migrate.facts.module import Module
from migrate.rewrite.described import described

#: A docstring, the parameters that go, and what becomes of it where ``scaler`` comes behind ``opt`` as well.
GOOGLE = """\
    Train.

    Args:
        net (Module): the network
        opt (Optimizer): steps
        fp16 (bool): whether
            half: is used
        *rest: more

    Returns:
        fp16: no parameter
    """
CASES = {
    "google": (
        GOOGLE,
        "fp16",
        """\
    Train.

    Args:
        net (Module): the network
        opt (Optimizer): steps
        scaler (torch.amp.GradScaler): the gradient scaler
        *rest: more

    Returns:
        fp16: no parameter
    """,
    ),
    "numpy": (
        """\
    Train.

    Parameters
    ----------
    net, fp16 : object
        What.
    opt : Optimizer
        Steps.

    Returns
    -------
    fp16 : no parameter
    """,
        "fp16",
        """\
    Train.

    Parameters
    ----------
    net : object
        What.
    opt : Optimizer
        Steps.
    scaler : torch.amp.GradScaler
        The gradient scaler.

    Returns
    -------
    fp16 : no parameter
    """,
    ),
    "sphinx": (
        """\
    Train, with fp16: if asked for.

    :param net: the network
    :param torch.optim.Optimizer opt: Steps.
    :param fp16: whether half
        is used
    :type fp16: bool
    :return: nothing
    """,
        "fp16",
        """\
    Train, with fp16: if asked for.

    :param net: the network
    :param torch.optim.Optimizer opt: Steps.
    :param torch.amp.GradScaler scaler: The gradient scaler.
    :return: nothing
    """,
    ),
    "epydoc, where the quotes close in the last line": (
        "    Train.\n    @param opt: steps\n    @type opt: Optimizer\n    @param fp16: whether",
        "fp16",
        "    Train.\n    @param opt: steps\n    @type opt: Optimizer\n    @param scaler: the gradient scaler\n"
        "    @type scaler: torch.amp.GradScaler",
    ),
    "a plain list": (
        "    Train.\n    net: network\n    optim: what\n    fp16: whether\n      half\n    return: nothing\n    ",
        "fp16",
        "    Train.\n    net: network\n    scaler: the gradient scaler\n    optim: what\n    return: nothing\n    ",
    ),
    "marks and dashes": (
        "    Train.\n\n    Arguments:\n      * `net` - Network.\n      * `opt` - Steps.\n      * `fp16` - Half.\n    ",
        "fp16",
        "    Train.\n\n    Arguments:\n      * `net` - Network.\n      * `opt` - Steps.\n"
        "      * `scaler` - The gradient scaler.\n    ",
    ),
    "text below the name": (
        "    Args:\n        opt (Optimizer):\n            Steps.\n\n        fp16:\n            Half.\n\n        net:\n"
        "            Net.\n    ",
        "fp16",
        "    Args:\n        opt (Optimizer):\n            Steps.\n        scaler (torch.amp.GradScaler):\n"
        "            The gradient scaler.\n\n        net:\n            Net.\n    ",
    ),
    "one after the other": (
        "    Args:\n        net: n\n        fp16: half\n        level: which\n        opt: o\n    ",
        "fp16 level",
        "    Args:\n        net: n\n        opt: o\n        scaler: the gradient scaler\n    ",
    ),
    "a stale entry behind it": (
        "    Args:\n        opt: o\n        fp16: half\n        and more\n        old: gone\n    ",
        "fp16",
        "    Args:\n        opt: o\n        scaler: the gradient scaler\n        old: gone\n    ",
    ),
    "the only one": (
        "    Train.\n\n    Args:\n        fp16: half\n\n    Returns:\n        x\n    ",
        "fp16",
        "    Train.\n\n    Returns:\n        x\n    ",
    ),
    "the only one, at the end": ("    Train.\n\n    Args:\n        fp16: half\n    ", "fp16", "    Train.\n    "),
    "a sentence": ("    Train.\n\n    fp16: half is used where it says so, opt steps.\n    ", "fp16", None),
    "not a header": ("    Train.\n    Args\n        fp16: half\n        opt: o\n    ", "fp16", None),
    "no list": ("    Train `net` with opt, fp16: half.\n    And more.\n    ", "fp16", None),
    "a continued line": ("    Args:\n        opt: o \\\n            x\n        fp16: half\n    ", "fp16", None),
}


def _program(doc: str, first: str = '"""') -> str:
    return f'def f(net, opt, fp16=False, level=\'O1\', *rest):\n    {first}\n{doc}"""\n    train()\n'


def _follow(text: str, gone: str, new: bool = True) -> str:
    m = Module(text)
    (node,) = m.all(ast.FunctionDef)
    added: dict[str, tuple[str | None, bool]] = {"scaler": ("opt", False)} if new else {}
    for one in sorted(described(m, node, gone.split(), added), key=lambda s: (s.start, s.end), reverse=True):
        assert text[one.start : one.end] or one.text
        text = text[: one.start] + one.text + text[one.end :]
    return text


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    doc, gone, wanted = CASES[case]
    assert _follow(_program(doc), gone) == _program(doc if wanted is None else wanted)


@pytest.mark.parametrize("case", CASES)
def test_only_what_goes(case: str) -> None:
    """Without a new parameter lines go, and none comes or changes but for a name among several."""
    doc, gone, _ = CASES[case]
    new = _follow(_program(doc), gone, new=False)
    ast.parse(new)
    kept = [line for line in new.splitlines() if line.strip() and "net : object" not in line]
    assert set(kept) <= set(_program(doc).splitlines()) | {'    @type opt: Optimizer"""'}
    assert _follow(new, gone, new=False) == new


def test_the_text_of_several_strings_stays() -> None:
    text = _program("    Args:\n        fp16: half\n        opt: o\n    ").replace("o\n", 'o\n""" """\n')
    assert _follow(text, "fp16") == text
    once = 'def f(opt, fp16):\n    "Args: fp16: half"\n    train()\n'
    assert _follow(once, "fp16") == once


def test_a_raw_string_with_tabs_and_crlf() -> None:
    doc = "\tArgs:\n\t\topt: o\n\t\tfp16: half\n\t"
    text = f'def f(opt, fp16):\n\tr"""\n{doc}"""\n\ttrain()\n'.replace("\n", "\r\n")
    wanted = text.replace("\t\tfp16: half\r\n", "")
    assert _follow(text, "fp16", new=False) == wanted


def test_the_docstring_of_the_class() -> None:
    inner = indent(dedent("def __init__(self, opt, fp16):\n    self.opt = opt\n"), "    ")
    text = f'class C:\n    """C.\n\n    Args:\n        opt: o\n        fp16: half\n    """\n\n{inner}'
    wanted = text.replace("        fp16: half\n", "        scaler: the gradient scaler\n")
    assert _follow(text, "fp16") == wanted

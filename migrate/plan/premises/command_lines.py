"""What a command line that is written out says of an option: ``parser.parse_args(["--no-fp16"])``.

Source: Python docs, argparse (``add_argument``, ``set_defaults``).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...facts.module import Module
from ...units.conditions import argparse_dest

_NO = frozenset({"", "0", "O0", "false", "False", "no", "off", "None"})


def said_on(m: Module, words: Sequence[str], attr: str) -> bool:
    """Whether an option is on, by what a command line says, or by its default; where no parser declares it, whether
    it is named."""
    declared = [call for call in m.calls("add_argument") if argparse_dest(call) == attr]
    if not declared:
        return any(_dest(word) == attr for word in words)
    option = declared[-1]
    names = {arg.value for arg in option.args if isinstance(arg, ast.Constant)}
    given = [number for number, word in enumerate(words) if word.split("=")[0] in names]
    action = _constant(option, "action")
    if not given:
        return _by_default(m, option, attr, action == "store_false")
    if action in ("store_true", "store_false"):
        return action == "store_true"
    _option, inline, value = words[given[-1]].partition("=")
    following = words[given[-1] + 1 : given[-1] + 2]
    said = value if inline else "".join(one for one in following if not one.startswith("--"))
    alone = not inline and not said  # `nargs="?"`
    return bool(_constant(option, "const")) if alone else said not in _NO


def _by_default(m: Module, option: ast.Call, attr: str, otherwise: bool) -> bool:
    for call in m.calls("set_defaults"):
        for keyword in call.keywords:
            if keyword.arg == attr and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value) not in _NO
    if any(keyword.arg == "default" for keyword in option.keywords):
        return str(_constant(option, "default")) not in _NO
    return otherwise


def _constant(call: ast.Call, name: str) -> object:
    given = (k.value for k in call.keywords if k.arg == name)
    return next((value.value for value in given if isinstance(value, ast.Constant)), None)


def _dest(word: str) -> str:
    return word.split("=")[0].lstrip("-").replace("-", "_")

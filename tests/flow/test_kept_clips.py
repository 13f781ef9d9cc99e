"""Torch's clips by another name, and what may run one."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.flow.kept_clips import KeptClips
from migrate.flow.values import Values

TOP = """\
import torch
from torch import nn
from torch.nn import utils
from torch.nn.utils import clip_grad_norm_ as limit_

def mine(parameters):
    pass
"""
KEEPS = "kept = {'norm': utils.clip_grad_norm_}\n"
#: A program, and whether its last call may run a clip of torch's.
CALLS = {
    "by its own name": ("utils.clip_grad_norm_(ps, 1.0)", False),  # found by that
    "imported by another": ("limit_(ps, 1.0)", True),
    "put in a table": (KEEPS + "kept[kind](ps)", True),
    "a name for it": ("bound = nn.utils.clip_grad_value_\nbound(ps, 1.0)", True),
    "asked for by a pattern": ("getattr(torch.nn.utils, f'clip_grad_{kind}_')(ps, 1.0)", True),
    "asked for by any name": ("bound = getattr(nn.utils, kind)\nbound(ps, 1.0)", True),
    "any name of another module": ("make = getattr(torch.optim, kind)\nmake(ps, 1.0)", False),
    "an item of the module": ("vars(torch.nn.utils)[kind](ps, 1.0)", True),
    "found by a text": ("bound = locate('torch.nn.utils.clip_grad_norm_')\nbound(ps, 1.0)", True),
    "an option called so": ("parser.add_argument('--clip_grad_norm_')\nkept[kind](ps)", False),
    "an attribute": (KEEPS + "self.bound = kept['norm']\nself.bound(ps)", True),
    "a method that nobody sets": (KEEPS + "meter.bound(ps)", False),
    "a function of the program": (KEEPS + "bound = mine\nbound(ps)", False),
    "an object of a class": (KEEPS + "criterion = nn.MSELoss()\ncriterion(ps)", False),
    "what only shows something": (KEEPS + "log = kept['norm']\nlog_it = print\nlog(ps)", False),
    "asked of the module of clips": ("getattr(nn.utils.clip_grad, kind)(ps, 1.0)", True),
    "only what it says of itself": ("print(utils.clip_grad_norm_.__doc__)\nbound = choose()\nbound(ps, 1.0)", False),
    "nothing kept": ("bound = choose()\nbound(ps, 1.0)", False),
}


@pytest.mark.parametrize(("text", "expected"), CALLS.values(), ids=CALLS)
def test_calls_of_a_kept_clip(text: str, expected: bool) -> None:
    m = Module(TOP + text + "\n")
    last = m.statement(m.in_order(m.all(ast.Call))[-1])
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    assert KeptClips(m, Values(m)).run_by(last.value) is expected

"""The help of the option that is the level says what it does now.

``help="For fp16: Apex AMP optimization level selected in ['O0', 'O1', 'O2', and 'O3']."`` is not true any more: O0
switches mixed precision off, and every other level is what O1 was. The help of other options is theirs.

Source: readings of migrated repositories by people who had not written the tool.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..facts.module import Module
from ..units.conditions import argparse_dest
from .common import Plan, Stage, Work

ID = "APX096"
STAGE = Stage.UNIT
BEFORE = """\
parser.add_argument("--opt_level", default="O1", help="level of Apex's amp: O0, O1, O2 or O3")
"""
AFTER = """\
parser.add_argument(
    "--opt_level", default="O1", help="O0 switches mixed precision off, any other level on"
)
"""
NOTES: dict[str, str] = {}

_SPEAKS = re.compile(r"\bapex\b", re.I)
_HELP = "O0 switches mixed precision off, any other level on"


def apply(plan: Plan, work: Work) -> None:
    """Write the help of the options from which the levels of a unit come anew, where it speaks of Apex."""
    done = {one.line for _, one in work.noted if one.rule == ID}
    for options in plan.unit.options.values():
        for level, term in options.enabled:
            if not isinstance(level, ast.Attribute) or not term.text.endswith(' != "O0"'):
                continue
            for said in _helps(work.m, level.attr):
                if said.lineno not in done:
                    done.add(said.lineno)
                    quote = "'" if work.m.src(said).startswith("'") else '"'
                    work.draft.replace(said, f"{quote}{_HELP}{quote}")
                    work.note(plan.unit.number, ID, said, "the help says what the level does now")


def _helps(m: Module, name: str) -> Iterator[ast.Constant]:
    """The help of the options of a name that speaks of Apex, a text that is written there."""
    for call in m.calls("add_argument"):
        if isinstance(call.func, ast.Attribute) and argparse_dest(call) == name:
            for keyword in call.keywords:
                match keyword:
                    case ast.keyword(arg="help", value=ast.Constant(value=str() as text) as said):
                        if _SPEAKS.search(text):
                            yield said
                    case _:
                        pass

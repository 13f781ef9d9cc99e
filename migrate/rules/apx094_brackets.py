"""Words in brackets that speak of Apex go from comments and from the help of options.

``# multi-gpu training (should be after apex fp16 initialization)`` and ``help="16-bit (mixed) precision (through NVIDIA
apex)"`` are not true any more once the training is native, and what stands outside of the brackets is. Other words are
named (APX093), as only the author knows which are right instead.

Source: readings of migrated repositories by people who had not written the tool.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator

from ..facts.files import File
from ..facts.tokens import tokens
from ..units.unit import Context
from .common import Stage, Work

ID = "APX094"
STAGE = Stage.TIDY
BEFORE = """\
# multi-gpu training (should be after apex fp16 initialization)
model = torch.nn.DataParallel(model)
"""
AFTER = """\
# multi-gpu training
model = torch.nn.DataParallel(model)
"""

# Words alone: code in brackets is something else.
_BRACKETS = re.compile(r"(?<=[\w)]) \((?=[^()]*\bapex\b)[A-Za-z][A-Za-z0-9 ,/'-]*\)", re.I)


def apply(ctx: Context, work: Work) -> None:
    """Cut them in files that use Apex, in a program that is migrated."""
    if not work.migrated:
        return
    m = ctx.m
    using = {m.file(stmt).number for stmt in ctx.facts.imports}
    for file in m.files:
        if file.number not in using or not _BRACKETS.search(file.text):
            continue
        for line, column, text in _texts(ctx, file):
            for found in _BRACKETS.finditer(text):
                start = m.starts[line - 1] + column + found.start()
                work.draft.cut(start, start + len(found[0]))
                work.note_lines(None, ID, line, line, "words about Apex")


def _texts(ctx: Context, file: File) -> Iterator[tuple[int, int, str]]:
    """Comments and help texts of one line, with their line and column."""
    helps = {
        line
        for call in ctx.m.calls("add_argument")
        for keyword in call.keywords
        if keyword.arg == "help" and isinstance(keyword.value, ast.Constant) and ctx.m.file(call) is file
        for line in range(keyword.value.lineno, (keyword.value.end_lineno or keyword.value.lineno) + 1)
    }
    if "\r" in file.text.replace("\r\n", ""):
        return  # whose lines are others to tokenize
    for token in tokens(file.text):
        line = file.first + token.start[0] - 1
        help_text = token.type == tokenize.STRING and line in helps
        if (help_text or token.type == tokenize.COMMENT) and token.start[0] == token.end[0]:
            yield line, token.start[1], token.string

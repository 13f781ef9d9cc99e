"""Frameworks that were told to use Apex are told nothing, or to use native AMP.

``Trainer(amp_backend="apex", amp_level="O2", precision=16)`` of Lightning and
``TrainingArguments(fp16=True, fp16_backend="apex", fp16_opt_level="O1")`` of Hugging Face train natively where no
backend is named; so the words go, and the level with them, as native AMP has none. Ignite's ``amp_mode="apex"`` is
``amp_mode="amp", scaler=True``. A level of O2 or O3 kept weights in half precision, which nobody does natively.

Source: pytorch_lightning 1.x Trainer (amp_backend, gone in 2.0); transformers TrainingArguments
(half_precision_backend, whose "apex" is gone in 5.0); ignite/engine/__init__.py (create_supervised_trainer).
"""

from __future__ import annotations

import ast

from ..knowledge.apex import FRAMEWORK_BACKENDS, FRAMEWORK_LEVELS
from ..model import Severity
from ..parts.arguments import cut_keywords
from ..units.unit import Context
from .common import Stage, Work

ID = "APX140"
STAGE = Stage.PARTS
BEFORE = """\
import pytorch_lightning as pl

trainer = pl.Trainer(gpus=1, precision=16, amp_backend="apex", amp_level="O1")
"""
AFTER = """\
import pytorch_lightning as pl

trainer = pl.Trainer(gpus=1, precision=16)
"""

_FRAMEWORKS = ("pytorch_lightning", "lightning", "transformers", "ignite", "accelerate")
_SAID = "this framework was told to train with Apex{level}; where no backend is named it uses native AMP"


def apply(ctx: Context, work: Work) -> None:
    """Cut the words from each call that says them."""
    for call in ctx.m.all(ast.Call):
        words = {keyword.arg: keyword for keyword in call.keywords if keyword.arg is not None}
        named = [name for name in FRAMEWORK_BACKENDS if _says_apex(words.get(name))]
        if not named or not _of_framework(ctx, call):
            continue
        level = next((words[name] for name in FRAMEWORK_LEVELS if name in words), None)
        said = _SAID.format(level="" if level is None else f" at level {ctx.m.src(level.value)}")
        if ctx.settings.safe_only:
            work.find(None, ID, Severity.REVIEW, words[named[0]], f"held back by --safe-only: {said}")
            continue
        if named == ["amp_mode"]:
            more = "" if "scaler" in words else ", scaler=True"
            work.draft.replace(words["amp_mode"], f'amp_mode="amp"{more}')
        else:
            cut_keywords(ctx.m, work.draft, call, {*named, *FRAMEWORK_LEVELS})
        work.note(None, ID, call, "the framework's native AMP serves", review=True)
        work.find(None, ID, Severity.REVIEW, words[named[0]], said)


def _of_framework(ctx: Context, call: ast.Call) -> bool:
    """Whether what is called comes from a framework by an import of the file."""
    root: ast.AST = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    return any(_source(ctx, alias).split(".")[0] in _FRAMEWORKS for alias in ctx.m.declared(root.id))


def _source(ctx: Context, alias: ast.AST) -> str:
    """The module that an imported name comes from."""
    stmt = ctx.m.parent[alias]
    if isinstance(stmt, ast.ImportFrom):
        return stmt.module or ""
    return alias.name if isinstance(alias, ast.alias) else ""


def _says_apex(keyword: ast.keyword | None) -> bool:
    return keyword is not None and isinstance(keyword.value, ast.Constant) and keyword.value.value == "apex"

"""Frameworks that were told to use Apex are told nothing, or to use native AMP.

``Trainer(amp_backend="apex", amp_level="O2", precision=16)`` of Lightning and
``TrainingArguments(fp16=True, fp16_backend="apex", fp16_opt_level="O1")`` of Hugging Face train natively where no
backend is named; so the words go, and the level with them, as native AMP has none. Ignite's ``amp_mode="apex"`` is
``amp_mode="amp", scaler=True``, Catalyst's ``dl.APEXEngine(…)`` its ``dl.AMPEngine(…)``. An engine by its own name or
with other arguments, and ``fp16={"apex": True}``, are only named. A level of O2 or O3 kept weights in half precision,
which nobody does natively.

Source: pytorch_lightning 1.x Trainer (amp_backend, gone in 2.0); transformers TrainingArguments
(half_precision_backend, whose "apex" is gone in 5.0); ignite/engine/__init__.py (create_supervised_trainer);
catalyst/engines/apex.py and amp.py (21.03 to 21.12).
"""

from __future__ import annotations

import ast

from ..facts.names import last_name
from ..knowledge.apex import ENGINE_OPTIONS, FRAMEWORK_BACKENDS, FRAMEWORK_ENGINES, FRAMEWORK_LEVELS
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

_FRAMEWORKS = ("pytorch_lightning", "lightning", "transformers", "ignite", "accelerate", "catalyst")
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
    for call in ctx.m.all(ast.Call):
        _engine(ctx, work, call)
        _fp16(ctx, work, call)


def _engine(ctx: Context, work: Work, call: ast.Call) -> None:
    """Catalyst's engine of Apex is its native one, where nothing but the device and Apex's own options is said."""
    native = FRAMEWORK_ENGINES.get(last_name(call.func))
    if native is None or not _of_framework(ctx, call):
        return
    device = {"device"} if native == "AMPEngine" else set()
    plain = len(call.args) <= len(device) and all(k.arg in ENGINE_OPTIONS | device for k in call.keywords)
    said = f"this framework was told to train with Apex: {native} is its native engine"
    if isinstance(call.func, ast.Attribute) and plain and not ctx.settings.safe_only:
        work.draft.replace(call.func, f"{ctx.m.src(call.func.value)}.{native}")
        cut_keywords(ctx.m, work.draft, call, ENGINE_OPTIONS)
        work.note(None, ID, call, "the framework's native AMP serves", review=True)
    work.find(None, ID, Severity.REVIEW, call, said)


def _fp16(ctx: Context, work: Work, call: ast.Call) -> None:
    """``runner.train(fp16={"apex": True})`` of Catalyst: told, as the runner may be any object."""
    for keyword in call.keywords:
        if keyword.arg == "fp16" and _asks_for_apex(keyword.value):
            said = 'this asks for Apex: fp16={"amp": True} is Catalyst\'s native AMP'
            work.find(None, ID, Severity.REVIEW, keyword, said)


def _asks_for_apex(options: ast.expr) -> bool:
    match options:
        case ast.Dict(keys=keys):
            return any(isinstance(key, ast.Constant) and key.value == "apex" for key in keys)
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return any(keyword.arg == "apex" for keyword in keywords)
        case _:
            return False


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

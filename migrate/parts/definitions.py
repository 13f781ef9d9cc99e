"""Classes that are written out in a user's file, in that file's own words."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import resources

from ..rules.common import Work
from ..units.unit import Context
from .outcome import Native
from .sites import Site
from .specialised import Known, specialised

_INDENT = "    "


def written_out(
    ctx: Context, work: Work, site: Site, module: str, name: str, first: str | None = None, *, alone: bool = False
) -> Native:
    """A class (or function) of the file's own in the place of Apex's, which takes the same arguments.

    ``first`` is how its text begins, where something stands above it; ``alone`` leaves out what stands below it."""
    m = ctx.m
    taken = [one for one in m.declared(name) if m.statement(one) not in ctx.facts.imports]
    stored = [n for n in m.named(name) if isinstance(n.ctx, ast.Store) and not _only_renamed(ctx, n)]
    own = (f"apex_{name}" if name.islower() else f"Apex{name}") if taken or stored else name
    lines = definition(module, work.native(site.use).torch, name, own, first or f"class {name}", alone=alone)
    what = "class" if any(line.startswith("class ") for line in lines) else "function"
    return Native(
        own,
        spelled=own,
        alias=False,
        definition=lines,
        template=(module, name) if first is None else None,
        said=f"{name} is written out in this file",
        review=f"torch has no counterpart: the {what} {own} that is written out here computes what Apex's did",
    )


def _only_renamed(ctx: Context, name: ast.Name) -> bool:
    """``multi_tensor_scale = amp_C.multi_tensor_scale``: the file's own level gives a part the name that it has."""
    stmt = ctx.m.parent[name]
    plain = isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and stmt in ctx.m.file(stmt).tree.body
    return plain and {one.rpartition(".")[2] for one in ctx.v.apex_names(stmt.value)} == {name.id}  # type: ignore[attr-defined]


def definition(
    module: str, torch: str, name: str, own: str, first: str, *, alone: bool = False, known: Known | None = None
) -> tuple[str, ...]:
    """The lines of a class of `migrate.parts.written`, one level of indentation as a tab.

    ``torch`` is what the file calls torch, ``own`` what the class is called there instead of ``name``; what is
    ``known`` of its use says what need not be in it."""
    text = _text(module, first)
    if alone:
        text = text.split("\n\n\n")[0]
    if known is not None:
        text = specialised(text, known)
    text = re.sub(rf"\b(class|def) {name}\b", rf"\1 {own}", text)
    return tuple(_line(re.sub(r"\btorch\.", f"{torch}.", line)) for line in text.split("\n"))


def _text(module: str, first: str) -> str:
    source = (resources.files(f"{__package__}.written") / f"{module}.py").read_text(encoding="utf-8")
    return source[source.index(first) :].rstrip("\n")


@cache
def template(module: str, name: str) -> ast.ClassDef:
    """A class of `migrate.parts.written` as a tree."""
    return next(stmt for stmt in ast.parse(_text(module, f"class {name}")).body if isinstance(stmt, ast.ClassDef))


def _line(line: str) -> str:
    bare = line.lstrip(" ")
    depth, rest = divmod(len(line) - len(bare), len(_INDENT))
    return "\t" * depth + " " * rest + bare

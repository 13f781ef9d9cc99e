"""Classes that are written out in a user's file, in that file's own words."""

from __future__ import annotations

import ast
import re
from importlib import resources

from ..rules.common import Work
from ..units.unit import Context
from .outcome import Native
from .sites import Site

_INDENT = "    "


def written_out(
    ctx: Context, work: Work, site: Site, module: str, name: str, first: str | None = None
) -> Native:
    """A class (or function) of the file's own in the place of Apex's, which takes the same arguments.

    ``first`` is how its text begins, where something stands above it."""
    taken = [one for one in ctx.m.declared(name) if ctx.m.statement(one) not in ctx.facts.imports]
    own = f"Apex{name}" if taken or any(isinstance(n.ctx, ast.Store) for n in ctx.m.named(name)) else name
    return Native(
        own,
        spelled=own,
        alias=False,
        definition=definition(module, work.native(site.use).torch, name, own, first or f"class {name}"),
        said=f"{name} is written out in this file",
        review=f"torch has no counterpart: the class {own} that is written out here computes what Apex's did",
    )


def definition(module: str, torch: str, name: str, own: str, first: str) -> tuple[str, ...]:
    """The lines of a class of `migrate.parts.written`, one level of indentation as a tab.

    ``torch`` is what the file calls torch, ``own`` what the class is called there instead of ``name``."""
    source = (resources.files(f"{__package__}.written") / f"{module}.py").read_text(encoding="utf-8")
    text = re.sub(rf"\b(class|def) {name}\b", rf"\1 {own}", source[source.index(first) :].rstrip("\n"))
    return tuple(_line(re.sub(r"\btorch\.", f"{torch}.", line)) for line in text.split("\n"))


def _line(line: str) -> str:
    bare = line.lstrip(" ")
    depth, rest = divmod(len(line) - len(bare), len(_INDENT))
    return "\t" * depth + " " * rest + bare

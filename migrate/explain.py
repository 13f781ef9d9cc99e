"""``apex2native explain``: a rule's module is its page."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from . import rules as all_rules
from .errors import UserError
from .rules.discovery import modules


@dataclass(frozen=True)
class Page:
    """What a rule's module says about the rule."""

    id: str
    title: str
    text: str
    before: str
    after: str
    notes: Mapping[str, str] = field(default_factory=dict)  # ids of other findings that it makes, a sentence each


def pages(package: ModuleType = all_rules) -> tuple[Page, ...]:
    """The pages of all rules, sorted by their number."""
    return tuple(sorted((_page(module) for module in modules(package)), key=lambda page: page.id))


def listing(known: Sequence[Page]) -> str:
    """One line a rule."""
    lines = [(page.id, page.title) for page in known]
    lines += [note for page in known for note in page.notes.items()]
    return "".join(f"{id}  {title}\n" for id, title in sorted(lines))


def page_text(wanted: str, known: Sequence[Page]) -> str:
    """The page of the rule ``wanted``."""
    for page in known:
        if page.id == wanted.upper():
            return _render(page)
        if wanted.upper() in page.notes:
            return f"{wanted.upper()}  {page.notes[wanted.upper()]}\n\nA finding of:\n\n{_render(page)}"
    ids = ", ".join(sorted({page.id for page in known}.union(*(page.notes for page in known)))) or "there are none"
    raise UserError(f"there is no rule {wanted or 'of an empty name'}; the rules are: {ids}.")


def _words(module: ModuleType) -> str:
    """What stands at the top of a module, also where Python was told to forget it (-OO). A test asks each for some."""
    return inspect.getdoc(module) or ast.get_docstring(ast.parse(inspect.getsource(module))) or ""


def _page(module: ModuleType) -> Page:
    title, _, text = _words(module).partition("\n")
    return Page(
        id=module.ID,
        title=title.strip(),
        text=text.strip("\n"),
        before=getattr(module, "BEFORE", ""),
        after=getattr(module, "AFTER", ""),
        notes=getattr(module, "NOTES", {}),
    )


def _render(page: Page) -> str:
    parts = [f"{page.id}  {page.title}", page.text]
    for name, code in (("Before", page.before), ("After", page.after)):
        if code.strip():
            parts.append(f"{name}:\n\n" + textwrap.indent(textwrap.dedent(code).strip("\n"), "    "))
    return "\n\n".join(part for part in parts if part) + "\n"

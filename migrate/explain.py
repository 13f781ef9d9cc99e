"""``apex2native explain``: a rule's module is its page."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import migrate.rules
from migrate.errors import UserError
from migrate.rules.discovery import modules


@dataclass(frozen=True)
class Page:
    """What a rule's module says about the rule."""

    id: str
    title: str
    text: str
    before: str
    after: str


def pages(package: ModuleType = migrate.rules) -> tuple[Page, ...]:
    """The pages of all rules, sorted by their number."""
    return tuple(sorted((_page(module) for module in modules(package)), key=lambda page: page.id))


def listing(known: Sequence[Page]) -> str:
    """One line a rule."""
    return "".join(f"{page.id}  {page.title}\n" for page in known)


def page_text(wanted: str, known: Sequence[Page]) -> str:
    """The page of the rule ``wanted``."""
    for page in known:
        if page.id == wanted.upper():
            return _render(page)
    ids = ", ".join(page.id for page in known) or "there are none"
    raise UserError(f"there is no rule {wanted}; the rules are: {ids}.")


def _page(module: ModuleType) -> Page:
    title, _, text = inspect.getdoc(module).partition("\n")  # type: ignore[union-attr]  # a test asks for one
    return Page(
        id=module.ID,
        title=title.strip(),
        text=text.strip("\n"),
        before=getattr(module, "BEFORE", ""),
        after=getattr(module, "AFTER", ""),
    )


def _render(page: Page) -> str:
    parts = [f"{page.id}  {page.title}", page.text]
    for name, code in (("Before", page.before), ("After", page.after)):
        if code.strip():
            parts.append(f"{name}:\n\n" + textwrap.indent(textwrap.dedent(code).strip("\n"), "    "))
    return "\n\n".join(part for part in parts if part) + "\n"

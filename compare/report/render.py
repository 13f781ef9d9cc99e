"""From the page's content to HTML and Markdown, with the templates beside this file."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..figures.colours import look
from .blocks import Page

_TEMPLATES = Path(__file__).parent / "templates"
_MARKDOWN = re.compile(r"([\\`*_\[\]|~])")


def to_html(page: Page) -> str:
    """report.html: one file that loads nothing."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["colour"] = lambda arm: look(arm).colour
    style = Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8"))  # our own file
    return environment.get_template("report.html.jinja").render(page=page, style=style)


def to_markdown(page: Page) -> str:
    """report.md, with links to the figures beside it."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters["fenced"] = fenced
    return environment.get_template("report.md.jinja").render(page=page)


def escape_markdown(text: str) -> str:
    """The text so that Markdown shows it as it is, on one line."""
    text = " ".join(text.split())
    text = html.escape(text, quote=False)
    text = _MARKDOWN.sub(r"\\\1", text)
    # A line that begins so would be a heading, a list or a rule.
    return re.sub(
        r"^(#+|[-+](?= |$)|\d+[.)](?= ))",
        lambda found: "\\" + found[0] if not found[0][0].isdigit() else f"{found[0][:-1]}\\{found[0][-1]}",
        text,
    )


def fenced(code: str) -> Markup:
    """A block of code behind a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if code.endswith("\n") else "\n"
    return Markup(f"{fence}\n{code}{end}{fence}")


def _finalize(value: Any) -> Any:
    return value if isinstance(value, Markup) or not isinstance(value, str) else escape_markdown(value)

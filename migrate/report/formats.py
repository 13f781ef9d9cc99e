"""The formats by their names; each loads what it needs only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .given import Given

TEXT, JSON = "text", "json"
RENDERED = ("sarif", "html", "patch", "github", "markdown")
NAMES = (TEXT, JSON, *RENDERED)

Render: TypeAlias = "Callable[[Given], Iterator[bytes]]"


def renderer(name: str) -> Render | None:
    """The function that makes a format's bytes, None for text and JSON. Raises UserError where it lacks a library."""
    match name:
        case "sarif":
            from . import sarif

            return sarif.render
        case "html":
            from .html import page

            page.require()
            return page.render
        case "patch":
            from . import patch

            return patch.render
        case "github":
            from . import github

            return github.render
        case "markdown":
            from . import markdown

            return markdown.render
    return None

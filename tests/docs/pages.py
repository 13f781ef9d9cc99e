"""The rules' pages, made of their modules' docstrings and examples.

python -m tests.docs.pages        writes docs/rules/
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from migrate import explain

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "rules"
_MADE = "<!-- Made by `make docs` from the rule's own module: change that. -->\n"


def pages() -> dict[str, str]:
    """The text of each page by its file's name."""
    known = explain.pages()
    made = {f"{page.id}.md": _page(page) for page in known}
    made["README.md"] = _index(known)
    return made


def _page(page: explain.Page) -> str:
    parts = [_MADE, f"# {page.id}: {page.title}", page.text]
    for name, code in (("Before", page.before), ("After", page.after)):
        if code.strip():
            parts.append(f"{name}:\n\n```python\n{textwrap.dedent(code).strip(chr(10))}\n```")
    if page.notes:
        rows = [f"* **{name}**: {title}" for name, title in sorted(page.notes.items())]
        parts.append("It also makes findings of these numbers:\n\n" + "\n".join(rows))
    return "\n\n".join(part for part in parts if part) + "\n"


def _index(known: tuple[explain.Page, ...]) -> str:
    rows = [f"| [{page.id}]({page.id}.md) | {page.title} |" for page in known]
    return f"{_MADE}\n# Rules, a page each\n\n| rule | |\n|---|---|\n" + "\n".join(rows) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    made = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

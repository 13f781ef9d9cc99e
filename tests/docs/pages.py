"""The rules' pages, made of their modules' docstrings and examples.

python -m tests.docs.pages        writes docs/rules/
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from migrate import explain
from migrate.rules.discovery import modules

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "rules"
_MADE = "<!-- Made by `make docs` from the rules' own modules: change those. -->"


def pages() -> dict[str, str]:
    """The text of each page by its file's name."""
    known = explain.pages()
    made = {f"{page.id}.md": _page(page) for page in known}
    made["README.md"] = _index(known)
    return made


def _page(page: explain.Page) -> str:
    parts = [_MADE, f"# {page.id}: {_plain(page.title)}", _plain(page.text)]
    for name, code in (("Before", page.before), ("After", page.after)):
        if code.strip():
            parts.append(f"{name}:\n\n```python\n{textwrap.dedent(code).strip(chr(10))}\n```")
    if page.notes:
        rows = [f"* **{name}**: {_plain(title)}" for name, title in sorted(page.notes.items())]
        parts.append("It also makes findings of these numbers:\n\n" + "\n".join(rows))
    parts.append(f"[All rules](README.md) · [the rule's module](../../{_module(page.id)})")
    return "\n\n".join(part for part in parts if part) + "\n"


def _index(known: tuple[explain.Page, ...]) -> str:
    rows = [(page.id, page.id, page.title) for page in known]
    rows += [(name, page.id, title) for page in known for name, title in page.notes.items()]
    lines = [f"| [{name}]({page}.md) | {_plain(title)} |" for name, page, title in sorted(rows)]
    head = "`apex2native explain APX050` prints the same at a terminal."
    return "\n\n".join([_MADE, "# Rules, a page each", head, "| rule | |\n|---|---|\n" + "\n".join(lines)]) + "\n"


def _plain(text: str) -> str:
    """Markdown of a docstring: code stands in single backticks."""
    return text.replace("``", "`")


def _module(rule: str) -> str:
    """The path of the module below the project's root."""
    file = next(str(module.__file__) for module in modules() if rule == module.ID)
    return Path(file).relative_to(ROOT).as_posix()


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

"""What of Apex is left: imports in the files of repositories, before and after a migration, by module.

    python -m tests.bench.left REPOSITORY...

Nothing is written: each tree is analysed as ``apex2native --write`` would, and the texts that it would write are read.
A file needs Apex where it imports anything of it, at any place, guarded or not.
"""

from __future__ import annotations

import argparse
import ast
import warnings
from collections import Counter
from pathlib import Path

from migrate.model import Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool


def modules(text: str) -> set[str]:
    """The modules of Apex that a text imports: ``apex``, ``apex.amp``, ``apex.parallel``, …"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] in ("apex", "amp_C")}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            first = node.module.split(".")[0]
            if first == "amp_C" or (first == "apex" and "." in node.module):
                found.add(node.module)
            elif first == "apex":
                found |= {f"apex.{alias.name}" for alias in node.names}
    return {".".join(name.split(".")[:2]) for name in found}


def measure(root: Path, jobs: int) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The modules of Apex that each file of a tree imports, before and after."""
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    selection = collect([str(root)], ())
    with Spool() as spool:
        outcome = analyse(selection, Settings(), spool, jobs=jobs)
        changed = {one.result.path: spool.get(one.texts.new) for one in outcome.changed if one.texts is not None}
    for source in selection.candidates:
        old = Path(source.location).read_bytes().decode("utf-8", "replace").lstrip("\ufeff")
        if needs := modules(old):
            before[source.shown] = needs
            new = changed.get(source.shown)
            after[source.shown] = needs if new is None else modules(new.decode("utf-8", "replace").lstrip("\ufeff"))
    return before, after


def main() -> None:
    """Measure each repository and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--files", action="store_true", help="list the files that go on needing Apex")
    options = parser.parse_args()
    rid, files, free, repositories = 0, 0, 0, 0
    had: Counter[str] = Counter()
    has: Counter[str] = Counter()
    for root in options.roots:
        before, after = measure(root, options.jobs)
        if not before:
            continue
        left = sum(bool(needs) for needs in after.values())
        repositories, files, free = repositories + 1, files + len(before), free + len(before) - left
        rid += left == 0
        had.update(name for needs in before.values() for name in needs)
        has.update(name for needs in after.values() for name in needs)
        print(f"{root.name:60} {len(before):4} files import Apex, {left:4} afterwards", flush=True)
        for path, needs in sorted(after.items()) if options.files else ():
            if needs:
                print(f"    {path}: {', '.join(sorted(needs))}")
    print(f"\n{repositories} repositories, {rid} need no Apex any more; {files} files, {free} need none any more")
    for name, count in had.most_common():
        print(f"{name:30} {count:4} files, {has[name]:4} afterwards")


if __name__ == "__main__":
    main()

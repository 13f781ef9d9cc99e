"""A program says the same however it is written out, so the tool has to do the same to it: each bracket opened at a
line's end, each method on a line of its own; or all of it as `ast.unparse` writes it."""

from __future__ import annotations

import ast
import io
import re
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from tests.effort import some
from tests.shell.support import environment

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))
PROJECTS = sorted(path for path in (HERE / "projects").iterdir() if path.is_dir())
#: A statement over several lines in front of a semicolon stays, or goes elsewhere than one on a line.
SEMICOLONS = ("one_line_suites_with_regions", "semicolons_across_regions")
#: What went another way once: texts that were moved out of their brackets, patterns that knew one line.
FIRST = {
    *("init_kwargs_splat", "loop_mutual_learning", "manual_made_late", "registered_sigmoid_as_a_gate"),
    *("sam_or_plain_step", "sam_steps_of_its_own", "clip_each_microbatch", "body_clip_gpt2", "guard_level_string"),
    *("threads_run_the_model", "types_put_in_networks", "apex_asked_for_by_name", "bert_accumulate"),
}


def broken(text: str) -> str:
    """Over as many lines as there are brackets and dots within them; as it is where that cannot be done."""
    lines, places, depth = text.splitlines(keepends=True), [], 0
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, token, behind in zip(tokens, tokens[1:], tokens[2:]):  # noqa: B905
        opens, closes = token.string in "([{", token.string in ")]}"
        if token.type != tokenize.OP:
            continue
        depth += opens - closes
        if opens and behind.string not in ")]}":
            places.append(token.end)
        elif depth and token.string == "." and before.end == token.start:
            places.append(token.start)
    for row, column in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = f"{line[:column]}\n        {line[column:]}"
    new = "".join(lines)
    try:
        return new if ast.dump(ast.parse(new)) == ast.dump(ast.parse(text)) else text
    except SyntaxError:  # a format string is one token for some Pythons, and several for others
        return text


def unparsed(text: str) -> str:
    return ast.unparse(ast.parse(text)) + "\n"


def first(paths: list[Path], part: int) -> list[Path]:
    """Those that went another way once, and some of the others, taken evenly."""
    known = [path for path in paths if path.stem in FIRST]
    others = [path for path in paths if path.stem not in (*FIRST, *SEMICOLONS)]
    count = some(len(others), part)
    return known + others[:: max(1, len(others) // count)][:count]


@pytest.mark.parametrize("script", first(SCRIPTS, 12), ids=lambda path: path.stem)
@pytest.mark.parametrize("written", [broken, unparsed])
def test_a_script_that_is_written_otherwise(script: Path, written: Callable[[str], str]) -> None:
    try:
        text = script.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        pytest.skip("it is written in latin-1")
    usual, other = (migrate_module(one, Settings()) for one in (text, written(text)))
    assert [one.applicability for one in other.units] == [one.applicability for one in usual.units]
    made, wanted = (ast.dump(ast.parse(one.new_text or text)) for one in (other, usual))
    assert made == wanted


@pytest.mark.parametrize("project", first(PROJECTS, 3), ids=lambda path: path.name)
def test_a_project_that_is_written_otherwise(project: Path, tmp_path: Path) -> None:
    units, trees = [], []
    for number, written in enumerate((str, broken)):
        folder = tmp_path / str(number)
        shutil.copytree(project, folder)
        for path in folder.rglob("*.py"):
            path.write_bytes(written(path.read_bytes().decode()).encode())
        command = [sys.executable, "-P", "-m", "migrate", str(folder), "--write"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=HERE.parents[1])
        said = re.search(r"^Units.*$", done.stdout, re.M)
        assert said is not None, (done.stdout, done.stderr)
        units.append(said[0])
        trees.append({str(p.relative_to(folder)): ast.dump(ast.parse(p.read_bytes())) for p in folder.rglob("*.py")})
    assert units[0] == units[1] and trees[0] == trees[1]

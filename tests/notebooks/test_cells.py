"""Where the sources of a notebook's cells stand, and that nothing else is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from migrate.notebooks.cells import NotebookError, code_cells, with_sources
from migrate.notebooks.joined import join, split


def notebook(*sources: object, indent: int | None = 1, **more: object) -> str:
    cell = {"cell_type": "code", "execution_count": 3, "metadata": {"source": ["no"]}, "outputs": [{"text": ["{\"}"]}]}
    cells: list[dict[str, Any]] = [{**cell, "source": one} for one in sources]
    cells.insert(1, {"cell_type": "markdown", "metadata": {}, "source": ["# apex\n", "text"]})
    whole = {"cells": cells, "metadata": {"a": [1.5e3, None]}, "nbformat": 4, "nbformat_minor": 2, **more}
    return json.dumps(whole, indent=indent)


SOURCES: list[object] = [["import os\n", "x = 'é \\n \"'"], "one = 1\ntwo = 2\n", [], ["only"]]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_all_sources_are_found(indent: int | None) -> None:
    cells = code_cells(notebook(*SOURCES, indent=indent))
    assert [cell.index for cell in cells] == [0, 2, 3, 4]
    assert [cell.source for cell in cells] == ["".join(one) for one in SOURCES]  # type: ignore[arg-type]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("end", ["\n", "", "\r\n"])
def test_only_what_is_given_anew_is_written(indent: int | None, end: str) -> None:
    text = (notebook(*SOURCES, indent=indent) + end).replace("\n", "\r\n" if end == "\r\n" else "\n")
    cells = code_cells(text)
    assert with_sources(text, cells, {cell.index: cell.source for cell in cells}) == text
    new = with_sources(text, cells, {0: "import os\ny = 1\nz = 2", 2: "two = 2"})
    before, after = json.loads(text), json.loads(new)
    assert after["cells"][0]["source"] == ["import os\n", "y = 1\n", "z = 2"]
    assert after["cells"][2]["source"] == "two = 2"
    for index in (0, 2):
        before["cells"][index]["source"] = after["cells"][index]["source"]
    assert before == after
    assert new[:30] == text[:30] and new.endswith(text[-40:])


def test_a_list_keeps_the_manner_in_which_it_is_written() -> None:
    text = notebook(["a\n", "b\n", "c"])
    new = with_sources(text, code_cells(text), {0: "a\nc"})
    assert set(new.splitlines()) <= set(text.splitlines()) and len(new.splitlines()) == len(text.splitlines()) - 1


def test_escapes_of_lines_that_stay() -> None:
    text = notebook(["x = '\\u00e9 </a>'\n", "y"]).replace("</a>", "<\\/a>")
    new = with_sources(text, code_cells(text), {0: "x = '\\u00e9 </a>'\nz"})
    assert "<\\/a>" in new


NONE = ["", "apex", "[]", "{}", '{"cells": 1}', '{"cells": [1]}', '{"worksheets": []}', '{"cells": [{}]}', "[" * 9999]
NONE += [notebook(*sources) for sources in ([None], [5], [["x", 5]], [[["x"]]], [{"import apex": "x"}])]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_notebook(text: str) -> None:
    with pytest.raises(NotebookError):
        code_cells(text)


def test_what_is_said_twice_is_what_json_says_last() -> None:
    first, last = notebook("import apex\n", "y = 1\n"), notebook("x = 1\n")
    text = f'{first[:-1]}, "cells": {json.dumps(json.loads(last)["cells"])}}}'
    assert [cell.source for cell in code_cells(text)] == ["x = 1\n"]
    without = f'{first[:-1]}, "cells": [{{"cell_type": "code"}}]}}'
    assert code_cells(without) == []


# ---------------------------------------------------------------- one text


MAGICS = [
    "%matplotlib inline\nimport os",
    "!pip install x \\\n  --upgrade\nfor a in b:\n    !ls $a\n    c = %time f()",
    "%%bash\nls",
    "%%time\nx = 1",
    "x?\n??y",
    "files = !ls",
    'text = """\n%d\n!x\n"""',
    "def broken(:",
    "",
]


def test_cells_are_one_text_and_cells_again() -> None:
    text = notebook(*MAGICS)
    cells = code_cells(text)
    joined = join(cells)
    compile(joined.text, "joined", "exec")
    assert "def broken" not in joined.text and "%%bash" not in joined.text and '%d\n!x' in joined.text
    again = split(joined.text, joined)
    assert again is not None
    assert again == {cell.index: cell.source for cell in cells if cell.index in joined.indexes}
    assert len(again) == len(MAGICS) - 2


def test_lines_are_found_again() -> None:
    cells = code_cells(notebook("a\nb", "c\n", "d\ne"))
    joined = join(cells)
    lines = joined.text.split("\n")
    assert {one: joined.place(lines.index(one) + 1) for one in "abcde"} == {
        "a": (0, 1),
        "b": (0, 2),
        "c": (2, 1),
        "d": (3, 1),
        "e": (3, 2),
    }


def test_what_reaches_over_cells_cannot_be_split() -> None:
    joined = join(code_cells(notebook("a", "b", "%c")))
    mark = next(line for line in joined.text.split("\n") if line.startswith("#") and "2" in line)
    assert split(joined.text.replace(mark, f"    {mark}"), joined) is None
    assert split(joined.text.replace(mark, ""), joined) is None
    assert split(joined.text.replace("pass", "pass; pass"), joined) is not None
    assert split("x = 1\n" + joined.text, joined) is None

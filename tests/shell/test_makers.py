"""Functions of a tree that give back a network, found without looking into every file."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.components import makers
from migrate.facts.elsewhere import makers_of
from migrate.imports.tree import Imports
from tests.shell.support import tree

TREES = {
    "by its class": {"a.py": "def build():\n    return Net()\n", "b.py": "def other():\n    return 1\n"},
    "a class of one letter": {"a.py": "def build():\n    net = G()\n    return net\n", "b.py": "x = 1\n"},
    "by a function that does": {
        "a.py": "def build():\n    return Net()\n",
        "b.py": "from a import build\n\n\ndef wrapped():\n    return build()\n",
        "c.py": "import b\n\n\ndef again():\n    net = b.wrapped()\n    return net\n",
    },
    "from a table": {"a.py": "NETS = {}\n\n\ndef pick(name):\n    return NETS[name]()\n", "b.py": "y = 2\n"},
    "from a table behind a module": {"a.py": "import zoo\n\n\ndef pick(name):\n    return zoo.NETS_2[name]\n"},
    "none": {"a.py": "def build():\n    return Other()\n", "b.py": "LIMIT = 3\n\n\ndef f():\n    return LIMIT + 1\n"},
}


@pytest.mark.parametrize("files", TREES.values(), ids=TREES)
def test_it_is_what_looking_into_all_files_finds(tmp_path: Path, files: dict[str, str]) -> None:
    tree(tmp_path, files)
    every = sorted(str(one) for one in tmp_path.rglob("*.py"))
    imports = Imports(every)
    found = makers(every, {"Net", "G"}, imports)
    assert found == makers_of(map(imports.outline, every), {"Net", "G"})


def test_files_that_speak_of_none_are_not_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, TREES["by a function that does"] | {"z.py": "def far():\n    return 1\n"})
    every = sorted(str(one) for one in tmp_path.rglob("*.py"))
    imports = Imports(every)
    asked: set[str] = set()
    outline = imports.outline
    monkeypatch.setattr(imports, "outline", lambda one: (asked.add(Path(one).name), outline(one))[1])
    assert makers(every, {"Net"}, imports) == {"build", "wrapped", "again"}
    assert asked == {"a.py", "b.py", "c.py"}

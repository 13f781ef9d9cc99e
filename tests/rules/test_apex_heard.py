"""What tells others whether Apex is there is another answer only where all who hear it are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.engine import migrate_module
from migrate.model import ModuleResult, Outside, Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

FLAG = """\
try:
    from apex import amp

    _has_apex = True
except ImportError:
    _has_apex = False
"""
NAME = "try:\n    from apex import amp\nexcept ImportError:\n    amp = None\n"
TRAINS = """\
import torch
from apex import amp

model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    optimizer.zero_grad()
    loss = model(x).sum()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
FUNCTION = "\n\ndef is_apex_available():\n    return _has_apex\n"
#: Who hears it, and a part of why that is not known.
ESCAPES = {
    FLAG + FUNCTION: "is_apex_available() gives the answer back",
    FLAG + "\n\ndef there():\n    if _has_apex:\n        return True\n    return False\n": "there() gives the answer",
    FLAG + "\n\nclass Env:\n    @property\n    def apex(self):\n        return _has_apex\n": "apex() gives the answer",
    FLAG + "\n\nclass Env:\n    def apex(self):\n        return _has_apex\n": "apex() gives the answer back",
    FLAG + "\n\nclass Env:\n    apex = _has_apex\n": "is kept in Env.apex",
    FLAG + "\n\nclass Env:\n    def __init__(self):\n        self.apex = _has_apex\n": "is kept in self.apex",
    FLAG + "\nimport lib\nlib.register(_has_apex)\n": "is handed to register()",
    FLAG + "\nimport lib\nlib.register(apex=_has_apex)\n": "is handed to register()",
    FLAG + "\nimport lib\nHAS = not _has_apex\nlib.register(HAS)\n": "is handed to register()",
    FLAG + "\nimport lib\n\n\ndef use(x):\n    lib.register(x)\n\n\nuse(_has_apex)\n": "is handed to register()",
    FLAG + "\nimport lib\nlib.cfg.apex = _has_apex\n": "is kept in lib.cfg.apex",
    FLAG + "\nINFO = {'apex': _has_apex}\n": "used in a way that is not followed",
    FLAG + "\nINFO = {}\nINFO['apex'] = _has_apex\n": "is kept in INFO['apex']",
    FLAG + "\nprint(_has_apex)\n": "is handed to print()",
    FLAG + "\nthere = lambda: _has_apex\n": "a lambda gives the answer back",
    FLAG + "\n__all__ = ['_has_apex']\n": "other files may take _has_apex",
    NAME + "\n\ndef is_apex_available():\n    return amp is not None\n": "is_apex_available() gives the answer back",
    NAME + "\nINFO = {'apex': amp is not None}\n": "used in a way that is not followed",
    NAME + "\nHAS_APEX = amp is not None\n__all__ = ['HAS_APEX']\n": "other files may take HAS_APEX",
}


def _found(folder: Path, files: dict[str, str], path: str) -> tuple[str, list[tuple[str, str]]]:
    """What becomes of a file, and what is said of it."""
    root = tree(folder, files)
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        (one,) = (one for one in outcome.files if one.result.path == path)
        text = files[path] if one.texts is None else spool.get(one.texts.new).decode()
    return text, [(finding.severity.value, finding.message) for finding in one.result.findings]


@pytest.mark.parametrize("text", ESCAPES)
@pytest.mark.parametrize("beside", [{}, {"train.py": TRAINS}])
def test_it_stays_where_somebody_else_hears_it(text: str, beside: dict[str, str], tmp_path: Path) -> None:
    after, said = _found(tmp_path, {"utils.py": text, **beside}, "utils.py")
    assert after == text
    ((severity, message),) = said
    assert severity == "info" and "only tells whether Apex is there" in message and ESCAPES[text] in message


@pytest.mark.parametrize("init", ["from .utils import is_apex_available\n", "from .utils import *\n"])
def test_it_stays_where_a_package_hands_it_on(init: str, tmp_path: Path) -> None:
    files = {"lib/__init__.py": init, "lib/utils.py": FLAG + FUNCTION, "train.py": TRAINS}
    after, said = _found(tmp_path, files, "lib/utils.py")
    assert after == FLAG + FUNCTION and [severity for severity, _ in said] == ["info"]


def test_it_says_yes_where_all_who_ask_are_here(tmp_path: Path) -> None:
    asked = FLAG + FUNCTION + "\n\nif is_apex_available():\n    print('mixed')\n"
    after, said = _found(tmp_path, {"utils.py": asked, "train.py": TRAINS}, "utils.py")
    assert "apex import" not in after and [severity for severity, _ in said] == ["review"]


def test_who_asks_in_a_file_alone_asks_on(tmp_path: Path) -> None:
    asked = FLAG + FUNCTION + "\n\nif is_apex_available():\n    print('mixed')\n"
    after, said = _found(tmp_path, {"utils.py": asked}, "utils.py")
    assert after == asked and [severity for severity, _ in said] == ["info"]


def _beside_amp(flag: str, exported: frozenset[str] = frozenset()) -> ModuleResult:
    text = TRAINS.replace("from apex import amp\n", FLAG + flag)
    return migrate_module(text, Settings(), Outside(exported))


@pytest.mark.parametrize("flag", [text.removeprefix(FLAG) for text in ESCAPES if text.startswith(FLAG + "\n")])
def test_beside_amp_it_says_yes_and_that_is_told(flag: str) -> None:
    result = _beside_amp(flag)
    assert result.new_text is not None and "apex import" not in result.new_text
    assert [one.severity.value for one in result.findings if "says yes from now on" in one.message] in (["info"], [])
    assert "says yes" in str(result.findings) or "_has_apex" not in result.new_text


@pytest.mark.parametrize(
    ("flag", "told"),
    [
        ("if not _has_apex:\n    raise SystemExit\n", False),
        ("\n\ndef there():\n    return _has_apex\n\n\nif there():\n    print(1)\n", False),
        ("\n\ndef use(x):\n    if x:\n        print(1)\n\n\nuse(_has_apex)\n", False),
        ("\n\ndef use(x=_has_apex):\n    if x:\n        print(1)\n\n\nuse()\n", False),
        ("\n\ndef there():\n    return _has_apex\n\n\nprint(there())\n", True),
    ],
)
def test_who_asks_for_truth_is_known(flag: str, told: bool) -> None:
    assert any("says yes from now on" in one.message for one in _beside_amp(flag).findings) is told

"""What a package hands on to whoever has it: its names stay, and its functions can be called as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from migrate.model import Applicability, Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

SETUP = 'from setuptools import setup, find_packages\nsetup(name="fastlib", packages=find_packages())\n'
PRECISION = """\
try:
    from apex import amp
    has_apex = True
except ImportError:
    amp = None
    has_apex = False
"""
LOOP = """\
import torch
import torch.nn.functional as F

from .precision import amp, has_apex


def train_step(model, batch, optimizer, fp16=False, max_norm=None):
    x, y = batch
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()


def fit(model, loader, fp16=False):
    if fp16 and not has_apex:
        raise ImportError("fit(fp16=True) needs apex")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for batch in loader:
        train_step(model, batch, optimizer, fp16, 1.0)
"""
BARE = "from .loop import fit, train_step\nfrom .precision import has_apex\n"
LISTED = BARE + '\n__all__ = ["fit", "train_step", "has_apex"]\n'


def _migrated(folder: Path, files: dict[str, str]) -> tuple[dict[str, str], list[Applicability], list[str]]:
    """The texts of the files, the grades of all units, and what is said."""
    root = tree(folder, files)
    texts = dict(files)
    with Spool() as spool:
        outcome = analyse(collect([str(root)]), Settings(), spool, jobs=1)
        for file in outcome.files:
            if file.texts is not None:
                texts[file.result.path] = spool.get(file.texts.new).decode()
    grades = {unit.number: unit.applicability for file in outcome.files for unit in file.result.units}
    said = [finding.message for file in outcome.files for finding in file.result.findings]
    return texts, list(grades.values()), said


def test_a_name_that_a_star_hands_on_stays(tmp_path: Path) -> None:
    """The file with the star is a program of its own, beside that which trains."""
    files = {"setup.py": SETUP, "fastlib/precision.py": PRECISION, "fastlib/loop.py": LOOP}
    texts, grades, _ = _migrated(tmp_path, files | {"fastlib/__init__.py": "from .precision import *\n"})
    assert grades == [Applicability.SAFE]
    assert texts["fastlib/precision.py"] == "has_apex = True\n"


def test_a_name_that_all_lists_stays(tmp_path: Path) -> None:
    files = {"fastlib/__init__.py": LISTED, "fastlib/precision.py": PRECISION, "fastlib/loop.py": LOOP}
    for name, more in (("bare", {}), ("installed", {"setup.py": SETUP}), ("run", {"train.py": "import fastlib\n"})):
        texts, grades, _ = _migrated(tmp_path / name, {**files, **more})
        assert grades == [Applicability.SAFE]
        assert texts["fastlib/__init__.py"] == LISTED
        assert texts["fastlib/precision.py"] == "has_apex = True\n"
        assert "has_apex" not in texts["fastlib/loop.py"]  # whose only reader is gone


def test_what_an_init_takes_stays_in_a_package_that_others_have(tmp_path: Path) -> None:
    files = {"fastlib/__init__.py": BARE, "fastlib/precision.py": PRECISION, "fastlib/loop.py": LOOP}
    texts, _, _ = _migrated(tmp_path / "bare", files)
    assert texts["fastlib/__init__.py"] == BARE
    assert texts["fastlib/precision.py"] == "has_apex = True\n"
    run = {"train.py": "import torch\nfrom fastlib import fit\n\nfit(torch.nn.Linear(2, 2), [], fp16=True)\n"}
    texts, _, _ = _migrated(tmp_path / "run", {**files, **run})
    assert texts["fastlib/__init__.py"] == "from .loop import fit, train_step\n"  # a script's own, all of which is here


STEP = """\
import torch
from apex import amp


def {header}:
    \"\"\"One step.\"\"\"
    loss = model(x).sum()
    optimizer.zero_grad()
    {body}
    optimizer.step()


def fit(model, loader, fp16=False):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in loader:
        {call}
"""
SCALES = "with amp.scale_loss(loss, optimizer) as scaled_loss:\n        scaled_loss.backward()"
EITHER = f"""\
if fp16:
        {SCALES.replace(chr(10), chr(10) + "    ")}
    else:
        loss.backward()"""
OFF = '        scaler = torch.amp.GradScaler("cuda", enabled=False)\n'
PRELUDE = f"""\
    if scaler is None:
        if fp16:
            raise ValueError("step() takes a torch.amp.GradScaler for mixed precision: scaler=...")
{OFF}"""


def _step(
    folder: Path, header: str, call: str, body: str = EITHER, **more: str
) -> tuple[str, list[Applicability], str]:
    """What becomes of a step, its grade, and what is said."""
    text = STEP.format(header=header, call=call, body=body)
    files = {"fastlib/__init__.py": "", "fastlib/loop.py": text, "setup.py": SETUP, **more}
    texts, grades, said = _migrated(folder, files)
    return texts["fastlib/loop.py"], grades, "\n".join(said)


def test_a_public_function_takes_the_scaler_last(tmp_path: Path) -> None:
    for number, (header, call) in enumerate(
        (
            ("model, x, optimizer, fp16=False", "model, x, optimizer, fp16"),
            ("model, optimizer, x, fp16", "model, optimizer, x, fp16"),
            ("model, optimizer, *, x, fp16=False", "model, optimizer, x=x, fp16=fp16"),
            ("model, optimizer, x, fp16, *rest", "model, optimizer, x, fp16"),
        )
    ):
        text, grades, said = _step(tmp_path / str(number), f"step({header})", f"step({call})")
        assert grades == [Applicability.SAFE]
        assert f"def step({header}, scaler=None):" in text
        assert f"step({call}, scaler=scaler)\n" in text
        assert f'    """One step."""\n{PRELUDE}    with torch.autocast(' in text
        assert "callers of step() outside of this tree hand it the GradScaler for mixed precision (scaler=…)" in said


def test_any_keywords_come_behind_it(tmp_path: Path) -> None:
    text, _, _ = _step(tmp_path, "step(model, optimizer, x, fp16=False, **more)", "step(model, optimizer, x, fp16)")
    assert "def step(model, optimizer, x, fp16=False, scaler=None, **more):" in text


def test_who_always_scales_has_to_be_handed_it(tmp_path: Path) -> None:
    call = "step(model, optimizer, x)"
    text, grades, said = _step(tmp_path, "step(model, optimizer, x, lr=0.1)", call, SCALES)
    assert grades == [Applicability.REVIEW]
    assert "def step(model, optimizer, x, lr=0.1, *, scaler):" in text
    assert "scaler is None" not in text
    assert "step() has to be handed the GradScaler by callers outside of this tree, too (scaler=…)" in said


def test_what_a_helper_needs_is_asked_of_who_initializes(tmp_path: Path) -> None:
    """Nothing in the function itself asks for amp: that somebody initialized is its only condition."""
    call = f"step(model, optimizer, x, fp16)\n\n\ndef _back(loss, optimizer, fp16):\n    {EITHER}"
    header = "step(model, optimizer, x, fp16=False)"
    text, grades, _ = _step(tmp_path, header, call, "_back(loss, optimizer, fp16)")
    assert grades == [Applicability.SAFE]
    assert f'    """One step."""\n{PRELUDE}' in text


def test_old_calls_run(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    header = "step(  # of one batch: no more\n    model,\n    optimizer,\n    x,\n    fp16=False,\n)"
    text, _, _ = _step(tmp_path, header, "step(model, optimizer, x, fp16)", EITHER)
    text = text.replace('    """One step."""\n', "    # loss\n").replace('"cuda"', '"cpu"')
    assert "    fp16=False,\n    scaler=None,\n):\n" in text
    names: dict[str, Any] = {}
    exec(text, names)
    model = torch.nn.Linear(2, 1)
    optimizer, x = torch.optim.SGD(model.parameters(), lr=0.1), torch.ones(3, 2)
    before = model.weight.clone()
    names["step"](model, optimizer, x)
    names["step"](model, optimizer, x, False)
    assert torch.allclose(model.weight, before - 2 * 0.1 * 3)
    with pytest.raises(ValueError, match="GradScaler"):
        names["step"](model, optimizer, x, True)


def test_one_on_the_line_of_its_header_has_to_be_handed_it(tmp_path: Path) -> None:
    header, call = "step(model, optimizer, x, fp16)", "step(model, optimizer, x, fp16)"
    text = STEP.format(header=header, call=call, body=EITHER)
    text = text.replace("    optimizer.step()\n", "    go(optimizer, fp16)\n")
    text += "\n\ndef go(optimizer, fp16): print(fp16); optimizer.step()\n"
    texts, grades, _ = _migrated(tmp_path, {"lib/__init__.py": "", "lib/loop.py": text, "setup.py": SETUP})
    text = texts["lib/loop.py"]
    compile(text, "loop.py", "exec")
    assert "def go(optimizer, fp16, *, scaler): " in text and grades == [Applicability.REVIEW]


def test_what_is_private_or_a_scripts_own_takes_it_beside_the_optimizer(tmp_path: Path) -> None:
    call = "step(model, optimizer, x, fp16)"
    header = "step(model, optimizer, x, fp16=False)"
    private, _, _ = _step(tmp_path / "private", f"_{header}", f"_{call}")
    assert "def _step(model, optimizer, scaler, x):" in private
    main = "\n\nif __name__ == '__main__':\n    fit(torch.nn.Linear(2, 2), [])\n"
    script, _, _ = _step(tmp_path / "script", header, call + main)
    assert "def step(model, optimizer, scaler, x" in script
    alone, _, _ = _step(tmp_path / "alone", header, call, **{"setup.py": ""})
    assert "def step(model, optimizer, scaler, x" in alone  # nobody is told of it by the package
    text, grades, _ = _step(
        tmp_path / "listed", header, call, **{"setup.py": "", "fastlib/__init__.py": "from .loop import step\n"}
    )
    assert grades == [Applicability.SAFE] and "def step(model, optimizer, x, fp16=False, scaler=None):" in text


def test_no_parameter_of_a_public_function_goes(tmp_path: Path) -> None:
    body = EITHER + "\n    optimizer.step()"
    text, _, _ = _step(tmp_path, "step(model, optimizer, x, fp16)", "step(model, optimizer, x, fp16)", body)
    assert "def step(model, optimizer, x, fp16" in text


RUNNER = """\
class Runner:
    def __init__(self, model, hook=None, optimizer=None, meta=None):
        self.model = model
        self.optimizer = optimizer
        self.hook, self.meta = hook, meta

    def run(self, loader):
        for x in loader:
            self.hook.after(self, self.model(x).sum())
"""
HOOK = """\
from apex import amp


class Hook:
    def __init__(self, use_fp16=False):
        self.use_fp16 = use_fp16

    def after(self, runner, loss):
        runner.optimizer.zero_grad()
        if self.use_fp16:
            with amp.scale_loss(loss, runner.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        runner.optimizer.step()
"""
FIT = """\
import torch
from apex import amp

from .hook import Hook
from .runner import Runner


def fit(model, loader, fp16=False):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    Runner(model, Hook(fp16), optimizer=optimizer).run(loader)
"""


def test_an_object_keeps_one_that_is_switched_off(tmp_path: Path) -> None:
    files = {"lib/__init__.py": "", "setup.py": SETUP, "lib/runner.py": RUNNER, "lib/hook.py": HOOK, "lib/fit.py": FIT}
    texts, grades, said = _migrated(tmp_path, files)
    assert grades == [Applicability.REVIEW]
    assert "def __init__(self, model, hook=None, optimizer=None, meta=None, scaler=None):" in texts["lib/runner.py"]
    assert f"        if scaler is None:\n    {OFF}        self.model = model\n" in texts["lib/runner.py"]
    assert "Runner(model, Hook(fp16), optimizer=optimizer, scaler=scaler).run(loader)" in texts["lib/fit.py"]
    assert any(one.startswith("callers of Runner() outside of this tree that hand it no scaler") for one in said)


def test_amp_itself_is_nothing_to_hand_on(tmp_path: Path) -> None:
    for number, init in enumerate(("from .precision import *\n", "from .precision import amp, has_apex\n")):
        init = "from .loop import fit\n" + init
        files = {"fastlib/__init__.py": init, "fastlib/precision.py": PRECISION, "fastlib/loop.py": LOOP}
        texts, grades, _ = _migrated(tmp_path / str(number), {**files, "setup.py": SETUP})
        assert grades == [Applicability.SAFE]
        assert texts["fastlib/precision.py"] == "has_apex = True\n"
        assert texts["fastlib/__init__.py"] == init.replace("amp, ", "")


def test_a_condition_that_changes_in_the_function_is_told(tmp_path: Path) -> None:
    call = "step(model, optimizer, x, fp16)"
    body = "fp16 = fp16 and torch.cuda.is_available()\n    " + EITHER
    text, grades, said = _step(tmp_path, "step(model, optimizer, x, fp16=True)", call, body)
    assert "scaler=None" in text and "ValueError" not in text
    assert grades == [Applicability.REVIEW]
    assert "callers of step() outside of this tree that hand it no scaler get one that is switched off" in said

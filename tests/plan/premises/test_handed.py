"""A library's runner trains: what initializes and what scales the loss stand in files that nothing joins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from migrate import cli
from migrate.engine import migrate_program
from migrate.model import FileText, ModuleResult, Settings, Standing

TRAIN = """\
import torch
from apex import amp
from loops import Runner, build_hook


def train(model, config):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    Runner(model, optimizer, build_hook(config)).run()
"""
HOOK = """\
import torch
from apex import amp
from loops import Hook


class ApexHook(Hook):
    def __init__(self, fp16=True):
        self.fp16 = fp16

    def after_train_iter(self, runner):
        if self.fp16:
            with amp.scale_loss(runner.outputs["loss"], runner.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            runner.outputs["loss"].backward()
        runner.optimizer.step()
        runner.optimizer.zero_grad()
"""
SAVE = """\
from apex import amp


def save(model):
    state = {"model": model.state_dict()}
    state["amp"] = amp.state_dict()
    return state
"""


def migrated(*texts: str, scattered: bool = True) -> Sequence[ModuleResult]:
    files = [FileText(text, f"{number}.py") for number, text in enumerate(texts)]
    return migrate_program(files, Settings(), Standing(scattered=scattered))


def messages(results: Sequence[ModuleResult]) -> str:
    return "\n".join(finding.message for one in results for finding in one.findings)


def test_the_hook_makes_its_scaler_and_the_model_runs_under_autocast() -> None:
    train, hook, save = migrated(TRAIN, HOOK, SAVE)
    assert train.new_text is not None and hook.new_text is not None and save.new_text is not None
    assert 'model.forward = torch.autocast("cuda", dtype=torch.float16)(model.forward)\n' in train.new_text
    assert 'self.scaler = torch.amp.GradScaler("cuda", enabled=bool(self.fp16))\n' in hook.new_text
    assert '        self.scaler.scale(runner.outputs["loss"]).backward()\n' in hook.new_text
    assert "        self.scaler.step(runner.optimizer)\n        self.scaler.update()\n" in hook.new_text
    assert "amp" not in save.new_text
    assert {unit.applicability.value for one in (train, hook, save) for unit in one.units} == {"review"}


def test_what_other_hooks_find_where_the_step_is_left_out_is_told() -> None:
    """Apex had unscaled gradients behind every backward; a scaler does it when the step comes."""
    said = "where no step is taken, gradients that other code looks at behind this are scaled"
    assert said not in messages(migrated(TRAIN, HOOK))
    step = "        runner.optimizer.step()\n"
    at_times = HOOK.replace(step, f"        if runner.iter % 2:\n    {step}")
    at_times = at_times.replace("        runner.optimizer.zero_grad()", "            runner.optimizer.zero_grad()")
    assert said in messages(migrated(TRAIN, at_times))


PLAIN = """\
import torch
from apex import amp
from loops import Hook


class ApexHook(Hook):
    def after_train_iter(self, runner):
        with amp.scale_loss(runner.outputs["loss"], runner.optimizer) as scaled_loss:
            scaled_loss.backward()
        runner.optimizer.step()
        runner.optimizer.zero_grad()
"""


def test_a_class_without_a_constructor_has_the_scaler_beside_it() -> None:
    _, hook = migrated(TRAIN, PLAIN)
    assert hook.new_text is not None
    assert '\n\n\nscaler = torch.amp.GradScaler("cuda")\n\n\nclass ApexHook(Hook):\n' in hook.new_text
    assert '        scaler.scale(runner.outputs["loss"]).backward()\n' in hook.new_text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.fp16 = fp16", "self.set(fp16)"),  # whether it is on is not known
        ("runner.optimizer", "runner"),  # an optimizer, and no runner that brings it
        ("runner.outputs[\"loss\"]", "self.loss"),  # the loss is not the runner's
        ("        runner.optimizer.zero_grad()\n", ""),  # nor who clears the gradients
        ("self.fp16 = fp16\n", "self.fp16 = fp16\n\n    def switch(self, on):\n        self.fp16 = on\n"),
    ],
)
def test_what_is_not_known_of_a_hook_keeps_all(old: str, new: str) -> None:
    assert old in HOOK
    assert all(one.new_text is None for one in migrated(TRAIN, HOOK.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('opt_level="O1"', "opt_level=config.level"),  # may be O0, and the hook does not know it
        ('opt_level="O1"', 'opt_level="O1", loss_scale=config.scale'),
        ("initialize(model,", "initialize([model, ema],"),
        ("model, optimizer = amp.", "both = amp."),
    ],
)
def test_what_is_not_known_of_the_model_keeps_all(old: str, new: str) -> None:
    assert old in TRAIN
    assert all(one.new_text is None for one in migrated(TRAIN.replace(old, new), HOOK))


def test_two_places_that_initialize_keep_all() -> None:
    assert all(one.new_text is None for one in migrated(TRAIN, TRAIN.replace("def train", "def tune"), HOOK))


LOAD = """\
from apex import amp


def load(model, state, logger):
    model.load_state_dict(state["model"])
    if "amp" in state:
        BESIDE
        amp.load_state_dict(state["amp"])
    return state
"""


def test_the_question_whether_a_state_is_there_goes_with_what_it_logs() -> None:
    load = migrated(TRAIN, HOOK, LOAD.replace("BESIDE", 'logger.info("amp")'))[-1]
    assert load.new_text is not None and "logger" not in load.new_text.partition(":")[2] and "if " not in load.new_text


@pytest.mark.parametrize("beside", ['model.amp = state["amp"]', "model.prepare()", 'state.pop("amp")'])
def test_the_question_stays_with_what_it_does_beside(beside: str) -> None:
    load = migrated(TRAIN, HOOK, LOAD.replace("BESIDE", beside))[-1]
    assert load.new_text is not None and f'    if "amp" in state:\n        {beside}\n    return' in load.new_text


def test_a_state_that_is_read_elsewhere_keeps_all() -> None:
    assert all(one.new_text is None for one in migrated(TRAIN, HOOK, SAVE.replace('state["amp"]', "return")))


def test_a_program_that_something_joins_is_not_taken_apart() -> None:
    results = migrated(TRAIN, HOOK, scattered=False)
    assert all(one.new_text is None for one in results) and "initialized in another file" in messages(results)


def test_files_of_one_folder_are_joined_and_of_two_are_not(tmp_path: Path) -> None:
    for name, text in {"one/train.py": TRAIN, "one/hook.py": HOOK, "one/save.py": SAVE, "two/train.py": TRAIN}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert cli.main([str(tmp_path), "--write", "-j", "1"]) in (0, 1)
    left = {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*.py") if "apex" in one.read_text()}
    assert left == {"two/train.py"}


MAIN = """\
import begin.train
import run.hook
import run.load
from begin.train import train

train(build(), None)
"""


def test_folders_that_a_script_joins_are_one_program(tmp_path: Path) -> None:
    """Which takes each of the two from where the imports begin: neither lies below the other's."""
    load = LOAD.replace("BESIDE", 'logger.info("amp")')
    texts = {"main.py": MAIN, "begin/train.py": TRAIN, "run/hook.py": HOOK, "run/load.py": load}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert cli.main([str(tmp_path), "--write", "-j", "1"]) == 0
    assert [one for one in tmp_path.rglob("*.py") if "apex" in one.read_text()] == []


def test_where_one_of_two_trainings_does_both_nothing_is_taken_apart(tmp_path: Path) -> None:
    both = TRAIN + HOOK
    texts = {"main.py": MAIN, "begin/train.py": both, "run/hook.py": HOOK, "run/load.py": "x = 1\n"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert cli.main([str(tmp_path), "--write", "-j", "1"]) == 1
    assert (tmp_path / "run/hook.py").read_text() == HOOK

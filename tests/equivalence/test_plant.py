"""What plant.py plants into migrated scripts is a violation: the mutant runs and does something else.

Some of each kind are tried; all of them, some 1,700, with ``EVERY_MUTANT=1``.
"""

from __future__ import annotations

import ast
import difflib
import functools
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest

pytest.importorskip("torch")

from tests.effort import some

from .harness import SCRIPTS, Header, Trace, read_header, read_script, server
from .plant import KINDS, Planted, lot, planted

engine = pytest.importorskip("migrate.engine", reason="the engine is not there yet")

EVERY = bool(os.environ.get("EVERY_MUTANT"))
EACH = 2000 if EVERY else some(5, 3)  # mutants of each kind

WITH_RARE_KINDS = (
    "gan_one_forward",
    "gan_stepping_apart",
    "grad_norm_logging",
    "hf_train_accumulation",
    "import_alias",
    "several_optimizers_one_loss",
    "skip_nan_continue",
)

#: Mutants that do the same as the right text, and why. See also `excuse`.
SAME_IN_EITHER_TYPE = "what the region ends with is computed in the same type outside of it"
SCALER_IS_OFF = "the scaler of this loop is off in every run"
EQUIVALENT = {
    ("args_amp_attribute", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("bce_float_before", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("bce_registered_sigmoid", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("body_allreduce", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("init_in_class_init", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("no_guard_overflow", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("opt_level_conditional", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("region_with_branches", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("several_optimizers_one_overflow", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("torch_as_th", "loss-outside"): SAME_IN_EITHER_TYPE,
    ("clip_at_step_and_flush", "drop-condition"): "the condition of its flush always holds",
    ("guard_level_string", "drop-enabled"): "the region stands in an arm that is entered only where it is on",
    ("backward_by_attribute", "drop-unscale"): "the method for runs in full precision has one, and is not run",
    ("two_backends", "drop-unscale"): "no run hands it a threshold to clip at, so nobody reads the gradients",
    ("guard_arms_unequal", "update-before-step"): SCALER_IS_OFF,
    ("guard_arms_unequal", "bare-step"): SCALER_IS_OFF,
    ("native_in_same_file", "update-before-step"): SCALER_IS_OFF,
    ("native_in_same_file", "bare-step"): SCALER_IS_OFF,
    ("native_in_same_file", "drop-scale"): SCALER_IS_OFF,
}


class Mutant(NamedTuple):
    script: str
    header: Header
    right: str
    planted: Planted


class World(NamedTuple):
    """How a mutant is run: where it does no harm in one of them, the next is tried."""

    overflow: tuple[int, ...] = ()
    casts: bool = False


WORLDS = (World(), World(overflow=(1,)), World(overflow=(0, 2, 3)), World(casts=True))


@functools.cache
def mutants() -> tuple[Mutant, ...]:
    """Of all scripts that are migrated; of some, where they are not all tried."""
    found = []
    scripts = sorted(SCRIPTS.glob("*.py"))
    for script in (s for s in scripts if EVERY or lot(s.stem) % 5 == 0 or s.stem in WITH_RARE_KINDS):
        header = read_header(read_script(script))
        text = engine.migrate_module(read_script(script), header.settings).new_text
        if text is not None:
            found += [Mutant(script.stem, header, text, one) for one in planted(text)]
    return tuple(found)


def behaviour(text: str, header: Header, argv: Sequence[str], world: World) -> tuple[Trace, object]:
    """All that a run shows; of an error the message, as a mutant's lines have other numbers."""
    trace = server().run_text("native", text, argv, header.leaves, casts=world.casts, overflow=world.overflow)
    error = None if trace.error is None else trace.error.strip().splitlines()[-1]
    return replace(trace, error=error), trace.scalers


@functools.cache
def right_behaviour(text: str, header: Header, argv: tuple[str, ...], world: World) -> tuple[Trace, object]:
    return behaviour(text, header, argv, world)


def differs(mutant: Mutant) -> bool:
    for world in WORLDS:
        for argv in mutant.header.runs:
            right = right_behaviour(mutant.right, mutant.header, argv, world)
            if behaviour(mutant.planted.text, mutant.header, argv, world) != right:
                return True
    return False


def excuse(mutant: Mutant) -> str | None:
    """Why a mutant may do the same as the right text."""
    kind = mutant.planted.kind
    traces = [right_behaviour(mutant.right, mutant.header, argv, World())[0] for argv in mutant.header.runs]
    switches = [scaler["enabled"] for trace in traces for scaler in trace.scalers]
    if kind in ("drop-enabled", "scaler-in-one-arm"):
        if all(switches) and not any(trace.regions.get("disabled") for trace in traces):
            return "no run of this script switches it off"
    elif not any(switches) and not kind.endswith(("region", "outside")):
        return SCALER_IS_OFF
    return EQUIVALENT.get((mutant.script, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutant_does_something_else(kind: str) -> None:
    of_kind = [one for one in mutants() if one.planted.kind == kind]
    assert of_kind
    chosen = sorted(of_kind, key=lambda one: lot(f"{one.script} {kind} {one.planted.line}"))[:EACH]
    same = [one for one in chosen if not differs(one) and excuse(one) is None]
    shown = [f"{one.script}, line {one.planted.line}\n{one.planted.text}" for one in same]
    assert not same, f"{len(same)} of {len(chosen)}, the first: {shown[0]}"


def test_every_mutant_is_another_program() -> None:
    for one in mutants():
        assert ast.dump(ast.parse(one.planted.text)) != ast.dump(ast.parse(one.right)), one.script


# ---------------------------------------------------------------- what is planted, and where

NATIVE = """\
def main(args, loader):
    scaler = torch.amp.GradScaler("cuda", enabled=args.fp16)
    for step, (x, y) in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            out = model(x)
            loss = criterion(out, y)  # mean
        if bad(loss):
            continue
        scaler.scale(loss).backward()
        if step % 2:
            scaler.unscale_(opt)
            clip(model.parameters())
            log(step)
            scaler.step(opt)
            scaler.step(other)
            scaler.update()
    return model
"""

#: Of each kind: the lines of all its mutants that are named, and the lines that are gone (-) or new (+).
PLANTED = {
    "drop-unscale": [("clip(model.parameters())", "-scaler.unscale_(opt)")],
    "move-unscale": [("scaler.unscale_(opt)", "-scaler.unscale_(opt)", "+scaler.unscale_(opt)")],
    "unscale-twice": [("scaler.unscale_(opt)", "+scaler.unscale_(opt)")],
    "drop-update": [("return model", "-scaler.update()")],
    "duplicate-update": [("scaler.update()", "+scaler.update()")],
    "update-before-step": [("scaler.update()", "-scaler.update()", "+scaler.update()")] * 2,
    "update-after-loop": [("scaler.update()", "-scaler.update()", "+scaler.update()")],
    "bare-step": [
        ("opt.step()", "-scaler.step(opt)", "+opt.step()"),
        ("other.step()", "-scaler.step(other)", "+other.step()"),
    ],
    "step-twice": [("scaler.step(opt)", "+scaler.step(opt)"), ("scaler.step(other)", "+scaler.step(other)")],
    "swap-steps": [("scaler.step(other)", "-scaler.step(other)", "+scaler.step(other)")],
    "drop-scale": [("loss.backward()", "-scaler.scale(loss).backward()", "+loss.backward()")],
}


def _changes(mutant: str) -> list[str]:
    """Lines that went or came, without their indentation; a line that moved does both."""
    rows = difflib.ndiff(NATIVE.splitlines(), mutant.splitlines())
    return [row[0] + row[2:].strip() for row in rows if row[0] in "+-"]


@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_planted(kind: str) -> None:
    found = [one for one in planted(NATIVE) if one.kind == kind]
    for one, (named, *changed) in zip(found, PLANTED[kind], strict=True):
        lines = [*one.text.splitlines(), ""]
        assert lines[one.line - 1].strip() == named
        assert sorted(_changes(one.text)) == sorted(changed)


MAKING = 'scaler = torch.amp.GradScaler("cuda", enabled=args.fp16)'
REGIONS = {
    "backward-in-region": ("scaler.scale(loss).backward()", "        with torch.autocast("),
    "drop-region": ("out = model(x)", "        loss = criterion(out, y)  # mean\n"),
    "forward-outside": ("out = model(x)", "        out = model(x)\n        with torch.autocast"),
    "loss-outside": ("loss = criterion(out, y)  # mean", "            out = model(x)\n        loss ="),
    "drop-guard": ("scaler.scale(loss).backward()", "# mean\n        scaler.scale(loss)"),
    "drop-condition": ("scaler.unscale_(opt)", "backward()\n        scaler.unscale_(opt)\n        clip"),
    "scaler-in-loop": (MAKING, "enumerate(loader):\n        scaler ="),
    "scaler-behind-return": (MAKING, "return model\n    scaler ="),
    "scaler-in-one-arm": (MAKING, "    if args.fp16:\n        scaler ="),
}


@pytest.mark.parametrize("kind", REGIONS)
def test_what_is_planted_around(kind: str) -> None:
    (one,) = (one for one in planted(NATIVE) if one.kind == kind)
    named, part = REGIONS[kind]
    assert one.text.splitlines()[one.line - 1].strip() == named
    assert part in one.text


def test_what_is_always_on() -> None:
    first, second = (one for one in planted(NATIVE) if one.kind == "drop-enabled")
    assert 'scaler = torch.amp.GradScaler("cuda")' in first.text.replace("'", '"') and first.line == 2
    assert 'with torch.autocast("cuda", dtype=torch.float16):' in second.text.replace("'", '"') and second.line == 4


def test_every_kind_is_tested() -> None:
    assert {*PLANTED, *REGIONS, "drop-enabled"} == set(KINDS)


def test_one_line_suites_and_tabs() -> None:
    text = "scaler = GradScaler()\nfor x in xs:\n\twith autocast(): loss = f(x)\n\tscaler.scale(loss).backward(); g()\n"
    text += "\tscaler.step(o); scaler.update()\n"
    assert {one.kind for one in planted(text)} <= {"scaler-in-loop", "scaler-in-one-arm"}
    text = text.replace("; ", "\n\t").replace("(): loss", "():\n\t\tloss")
    arm = next(one for one in planted(text) if one.kind == "backward-in-region")
    assert "\twith autocast():\n\t\tscaler.scale(loss).backward()\n\tg()\n" in arm.text

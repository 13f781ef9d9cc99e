"""The judge finds what is planted into right migrations, and finds nothing where nothing was planted.

tests/equivalence/plant.py plants violations that were seen to change what a run does. One in so many is tried;
all of them, some 1,800, with ``EVERY_MUTANT=1``.
"""

from __future__ import annotations

import functools
import os
from typing import NamedTuple

import pytest

from migrate.model import Applicability
from tests.effort import some
from tests.equivalence.plant import KINDS, Planted, lot, planted

from .support import SCRIPTS, Found, aligned, composed, script_case

EACH = 10_000 if os.environ.get("EVERY_MUTANT") else some(6, 3)  # mutants of each kind

#: What changes only how fast the scale moves: both halve it on an overflow and unscale by what they scaled with, and
#: the judge compares the scale where it is read.
SPEED = "an update of several in a round went, or came, or moved: the scale moves slower or faster, no step differs"
OFF = "the scaler of this loop is off in every run"
ON = "no run of this script switches it off"
ARITHMETIC = "the last statement of the region is arithmetic: the judge looks at models and at losses by name only"
ANNOUNCED = "the report says that steps are skipped otherwise here, or may find no gradients"
LEFT_OVER = "a scaler that is off, made behind one that is on, is taken for a second run in one process"
THRESHOLD = "the threshold of this clip was divided by the scale: the judge does not compute thresholds"
LISTED = "the parts that `model.children()` lists are the planner's alone: the judge takes them for no model"
NO_SCALE = "O3 has no loss scale: the scaler never scales"

#: Mutants that the judge lets pass, and why.
PASSES = {
    ARITHMETIC: {
        "loss-outside": "args_amp_attribute bce_float_before bce_functional bce_registered_sigmoid body_allreduce "
        "init_in_class_init loss_expr_in_call loss_scale_one no_guard_overflow opt_level_conditional "
        "region_with_branches semicolons_one_line_suites several_optimizers_one_overflow static_scale_overflow "
        "tacotron_is_overflow text_comments torch_as_th",
        "drop-region": "region_with_branches",
    },
    SPEED: {
        "drop-update": "cyclegan_methods gan_alternating init_in_class_init init_two_optimizers_one_model "
        "loss_backwards_loss_id loss_backwards_partial num_losses_dcgan optimizers_of_those_that_train",
        "update-after-loop": "gan_alternating init_in_class_init init_two_optimizers_one_model num_losses_dcgan",
        "duplicate-update": "gan_stepping_apart",
        "update-before-step": "gan_stepping_apart",
    },
    OFF: dict.fromkeys(
        "bare-step drop-scale drop-unscale drop-update duplicate-update move-unscale unscale-twice update-after-loop "
        "update-before-step".split(),
        "guard_arms_unequal loss_scale_one native_in_same_file opt_level_o0_literal two_backends",
    ),
    NO_SCALE: dict.fromkeys(
        "bare-step drop-scale drop-update duplicate-update update-after-loop update-before-step".split(),
        "opt_level_o3",
    ),
    ON: dict.fromkeys(
        ("drop-enabled", "scaler-in-one-arm"),
        "amp_as_attribute backward_left_out_for_nan condition_under_another_name eval_before_and_after_init "
        "gan_one_forward init_global_amp gradients_deleted_after_memory init_in_class_init loss_backwards_loss_id "
        "one_line_body "
        "one_line_suites_with_regions semicolons_one_line_suites state_dict_load "
        "tacotron_is_overflow",
    ),
    ANNOUNCED: {
        "bare-step": "clip_each_microbatch clip_each_microbatch_loose hf_train_accumulation list_of_optimizers "
        "opt_level_format step_left_out_by_continue",
        "duplicate-update": "clip_at_step_and_flush step_left_out_by_continue",
    },
    LEFT_OVER: {"scaler-in-loop": "init_in_sibling_arms"},
    THRESHOLD: dict.fromkeys(("drop-unscale", "move-unscale"), "body_clip_inside"),
    LISTED: {"drop-region": "parts_that_a_model_lists"},
}
PASSING = {
    (script, kind): why for why, kinds in PASSES.items() for kind, names in kinds.items() for script in names.split()
}


class Mutant(NamedTuple):
    script: str
    planted: Planted


NAMES = sorted(script.stem for script in SCRIPTS.glob("*.py") if not script.stem.startswith("manual_"))


@functools.cache
def mutants() -> dict[str, list[Mutant]]:
    """Of all scripts that are migrated and that the judge can follow."""
    found: dict[str, list[Mutant]] = {kind: [] for kind in KINDS}
    for name in NAMES:
        case = script_case(name)
        if case is not None and case.grade is not Applicability.MANUAL and case.verdict.unknown is None:
            for one in planted(case.text):
                found[one.kind].append(Mutant(name, one))
    return found


def said_of(mutant: Mutant) -> Found | None:
    case = script_case(mutant.script)
    assert case is not None
    return case.judged(mutant.planted.text)


def chosen(kind: str) -> list[Mutant]:
    return sorted(mutants()[kind], key=lambda one: lot(f"{one.script} {kind} {one.planted.line}"))[:EACH]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_found(kind: str) -> None:
    missed = [one for one in chosen(kind) if (one.script, kind) not in PASSING and said_of(one) is None]
    assert not missed, f"{len(missed)}, the first: {missed[0].script}, line {missed[0].planted.line}"


def test_its_place_is_named() -> None:
    """The line is near to the fault: a violation shows where it is met, which may be a round or a call later."""
    distances = []
    for kind in KINDS:
        for one in chosen(kind):
            said = said_of(one)
            if said is not None:
                assert said.line, f"{one.script}, line {one.planted.line}: {said}"
                distances.append(abs(said.line - old_line(one)))
    near = sum(one < 8 for one in distances) / len(distances)
    assert near > 0.8, near


def old_line(mutant: Mutant) -> int:
    """The line of the old text that stands nearest to the fault."""
    case = script_case(mutant.script)
    assert case is not None
    rows = mutant.planted.text.splitlines(keepends=True)
    at = sum(map(len, rows[: mutant.planted.line - 1]))
    runs = composed(aligned(case.text, mutant.planted.text), case.runs)
    near = min(runs, key=lambda run: min(abs(run.new - at), abs(run.new + run.length - at)))
    return case.ctx.m.text.count("\n", 0, near.old) + 1


def test_what_was_not_spoilt_is_equal() -> None:
    for name in NAMES:
        case = script_case(name)
        if case is not None and case.grade is Applicability.SAFE:
            assert not case.verdict.differences and case.verdict.unknown is None, name


def test_a_text_in_place_of_itself_says_nothing_new() -> None:
    """What is found is found because of the fault, not because of how a mutant's text is laid beside the old."""
    for name in (one for one in NAMES if lot(one) % 4 == 0):
        case = script_case(name)
        if case is not None and case.grade is Applicability.SAFE:
            runs = composed(aligned(case.text, case.text), case.runs)
            words = sum(run.length for run in case.runs)
            assert words >= sum(run.length for run in runs) > 0.75 * words, name
            assert case.judged(case.text) is None, name


def test_what_passes_is_still_there() -> None:
    assert {kind for _, kind in PASSING} <= set(KINDS)
    assert {script for script, _ in PASSING} <= set(NAMES)

"""What the report says of other workloads: what each is, and what a loader leaves of the gain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compare import format as fmt
from compare.report.blocks import Table, Text
from compare.report.method import method, threats, workload_name
from compare.report.others import others
from compare.results import Interval, OtherSpeed, Pair, Results
from compare.spec import LOADER, VIT
from tests.compare.sample import make_results

NATIVE = "native-fp16"


def with_loader(ratio: float | None, whole: float = 3.0, differs: bool | None = True, recipe: str = "plain") -> Results:
    """An arm that is `whole` times as fast as FP32 without a loader, and `ratio` times with one."""
    results = make_results()
    about = Interval(whole, whole, whole, 3, "made up")
    pair = Pair(NATIVE, "fp32", about, differs, None, None, None)
    loaded = None if ratio is None else Interval(ratio, ratio, ratio, 3, "made up")
    return replace(
        results,
        pairs=(pair,),
        others=(
            OtherSpeed(VIT, "plain", NATIVE, about, None, about, True),
            OtherSpeed(LOADER, recipe, NATIVE, about, None, loaded, True, None if loaded else "out of memory"),
        ),
    )


def rows(results: Results) -> dict[str, tuple[str, str]]:
    """By workload: what it is in words, and the note."""
    (table,) = [block for block in others(results) if isinstance(block, Table)]
    assert all(row[0].text != row[0].sub for row in table.rows)
    return {row[0].text: (row[0].sub, row[-1].text) for row in table.rows}


def test_each_workload_is_named_in_words() -> None:
    named = rows(with_loader(2.0))
    assert named[VIT] == ("torchvision's vision transformer (6 layers, 384 wide, 6 heads, patches of 4x4)", "")
    assert named[LOADER][0].startswith(
        "torchvision's ResNet50 with batches from a DataLoader, whose workers decode JPEG"
    )


@pytest.mark.parametrize(
    ("differs", "words"), [(True, ""), (False, "not told apart"), (None, "not judged: the A/A control failed")]
)
def test_what_is_no_difference_is_said(differs: bool | None, words: str) -> None:
    found = with_loader(2.0)
    others = tuple(replace(one, speed_differs=differs) for one in found.others)
    assert rows(replace(found, others=others))[VIT][1] == words
    loaded = rows(replace(found, others=others))[LOADER][1]
    assert loaded.startswith(words) and loaded.endswith(f"of the gain without a loader (3.00{fmt.TIMES})")


def test_one_pair_alone_is_not_said_to_be_undecided() -> None:
    found = with_loader(2.0)
    once = Interval(2.0, None, None, 1, "one run, no interval")
    others = tuple(replace(one, speed_ratio=once, speed_differs=None) for one in found.others)
    assert rows(replace(found, others=others))[VIT][1] == ""


def test_a_workload_is_described_in_its_first_row() -> None:
    found = with_loader(2.0)
    several = replace(found, others=(found.others[0], replace(found.others[0], recipe="clip"), found.others[1]))
    (table,) = [block for block in others(several) if isinstance(block, Table)]
    assert [bool(row[0].sub) for row in table.rows] == [True, False, True]
    assert [row[0].text for row in table.rows] == [VIT, VIT, LOADER]


def test_the_share_of_the_gain_that_a_loader_leaves() -> None:
    assert rows(with_loader(2.0))[LOADER][1] == f"50 % of the gain without a loader (3.00{fmt.TIMES})"
    assert rows(with_loader(1.0))[LOADER][1].startswith("0 % of the gain")
    assert rows(with_loader(0.9))[LOADER][1].startswith(f"{fmt.MINUS}5 % of the gain"), "slower than the baseline's"


@pytest.mark.parametrize(
    "results",
    [with_loader(2.0, whole=0.9), with_loader(2.0, differs=False), with_loader(2.0, differs=None)],
    ids=["no gain", "no difference", "not judged"],
)
def test_where_there_is_no_gain_none_is_left(results: Results) -> None:
    assert rows(results)[LOADER][1] == ""


def test_a_share_is_one_of_the_same_network_and_recipe() -> None:
    assert rows(with_loader(2.0, recipe="clip"))[LOADER][1] == ""
    found = with_loader(2.0)
    assert rows(replace(found, spec=replace(found.spec, workload=VIT)))[LOADER][1] == ""
    assert rows(with_loader(None))[LOADER][1] == "out of memory"


def test_what_a_loader_is_stands_above_the_table_where_it_ran() -> None:
    (text,) = [block.text for block in others(with_loader(2.0)) if isinstance(block, Text)]
    assert text.startswith(f"In {LOADER} the batches come from a DataLoader within the timed steps: JPEG files")
    assert not any(isinstance(block, Text) for block in others(make_results()))
    assert others(replace(make_results(), others=())) == []


def test_a_session_of_its_own_says_that_batches_are_drawn_within_the_steps() -> None:
    results = make_results()
    own = replace(results, spec=replace(results.spec, workload=LOADER))
    assert "Nothing but steps and the drawing of their batches runs in a timed window" in str(method(own))
    assert "Nothing but steps runs in a timed window" in str(method(results))
    assert "A loader is part of every step" in str(threats(own)) and "kept out of the steps" not in str(threats(own))
    assert "kept out of the steps on purpose" in str(threats(results))
    assert workload_name(own.spec).endswith("augment on the CPU, with the CIFAR stem (3x3, stride 1, no max-pool)")

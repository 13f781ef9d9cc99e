"""For all tests: what has to be set before torch is imported."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

#: Modules that make something dear once for all of their tests: one process makes it, not each.
TOGETHER = frozenset(
    "tests.judge.test_faults tests.compare.test_analyse tests.compare.test_figures tests.compare.test_policy "
    "tests.compare.test_real_run tests.compare.test_report tests.compare.test_report_browser "
    "tests.compare.test_simulation tests.compare.test_typed tests.parts.test_ddp tests.verify.test_double_parts "
    "tests.verify.test_planted".split()
)

# Tests run two at a time on two cores. Threads that spin at every barrier would make a step several times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Who tests on a terminal that is none of a person's would wait for the pager's end for ever.
os.environ["PAGER"] = "cat"

# A busy machine is no fault of the code: how long something takes is for the benchmarks.
settings.register_profile("without a deadline", deadline=None)
settings.load_profile("without a deadline")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For `--dist loadgroup`, as the Makefile has it."""
    for item in items:
        name = item.nodeid.partition("::")[0].removesuffix(".py").replace("/", ".")
        if name in TOGETHER:
            item.add_marker(pytest.mark.xdist_group(name))

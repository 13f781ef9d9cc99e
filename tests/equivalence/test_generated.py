"""Made-up programs (see generate.py) are migrated, and both versions compute the same."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings

from .checks import examine
from .generate import Program, programs, render
from .harness import server

pytest.importorskip("torch")


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_generated(program: Program) -> None:
    engine = pytest.importorskip("migrate.engine", reason="the engine is not there yet")
    text = render(program)
    note(text)
    complaints = examine(text, program.header, engine.migrate_module)
    assert not complaints, "\n".join(complaints)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_generated_programs_run(program: Program) -> None:
    """The programs themselves are right: they run, scale where they should, and skip their overflows."""
    text = render(program)
    note(text)
    for argv in program.header.runs:
        trace = server().run_text("legacy", text, argv)
        assert trace.error is None, trace.error
        on = program.level != "O0" and (not program.guarded or bool(argv))
        assert {one.scale is not None for one in trace.backwards} == {on}
        assert {one.autocast for one in trace.forwards} == {on}
        skips = any(step.what == "skip" for step in trace.steps)
        reached = program.accumulate == 1 or any(
            at < 6 // program.accumulate * program.accumulate for at in program.bad
        )
        assert skips == (on and bool(program.bad) and reached and program.loss_scale != "128.0")

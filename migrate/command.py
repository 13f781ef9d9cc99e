"""The command ``migrate``: what its arguments ask for, from the files to the exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import config, journal, stops
from .analysis import Engine
from .errors import UserError, reason
from .gitstate import refuse_unsaved
from .model import Severity
from .outcome import Outcome, Texts
from .packaging.room import around
from .pipeline import analyse
from .report import console, formats, json_report
from .report.formats import Render
from .report.given import Given
from .sources import Selection, collect
from .spool import Spool
from .streams import DONE, FAILED, PENDING, close_output, complain


def run(options: argparse.Namespace, engine: Engine | None) -> int:
    """Migrate what was asked for, or show what would become of it; the exit code."""
    if options.report_json is not None:
        json_report.check_destination(options.report_json, options.paths)
    if options.interactive:
        from . import interactive  # with all rules, to explain them

        if options.format not in (None, formats.TEXT) or options.fix_packaging:
            raise UserError("--interactive goes with neither another --format nor --fix-packaging.")
        interactive.require()
        options.write = True
    render = formats.renderer(options.format or formats.TEXT)
    chosen = config.with_options(config.load(options.paths), vars(options))
    selection = _select(options, chosen.exclude)
    with Spool() as spool:
        step, end = console.progress_bar(len(selection.candidates))
        try:
            jobs = _jobs(options.jobs, chosen.jobs)
            outcome = analyse(selection, chosen.settings, spool, jobs=jobs, engine=engine, progress=step)
        finally:
            end()
        outcome = around(outcome, selection, spool, fix=options.fix_packaging)
        if options.interactive:
            outcome = _ask(options, outcome, spool)
        left = _write(options, outcome, spool) if options.write else ()
        try:
            _tell(options, outcome, selection, spool, render)
        except KeyboardInterrupt as stop:
            done = stops.written(len(left)) if options.write and outcome.changed else ""
            raise stops.said_of(stop, done) from None
    if left:
        complain(f"{', '.join(map(str, left))}: changed in the moment of writing and left alone; run again.")
    return _exit_code(outcome, written=options.write, left=left)


def _select(options: argparse.Namespace, exclude: Sequence[str]) -> Selection:
    selection = collect(options.paths, exclude)
    if not selection.journals:
        return selection
    if not options.write:
        where = selection.journals[0].parent
        complain(f"a run in {where} was interrupted while it wrote; the next one with --write settles that.")
        return selection
    finished = sum(journal.recover(found) for found in selection.journals)
    files = "1 file" if finished == 1 else f"{finished} files"
    done = f"finished: {files} written" if finished else "rolled back"
    complain(f"an earlier run had been interrupted while it wrote; it was {done}.")
    return collect(options.paths, exclude)


def _ask(options: argparse.Namespace, outcome: Outcome, spool: Spool) -> Outcome:
    """What the user accepts; files that could not be written are refused before the first question."""
    if not options.allow_dirty:
        refuse_unsaved([texts.location for group in outcome.groups() for texts in group])
    from . import interactive

    return interactive.choose(outcome, spool)


def _write(options: argparse.Namespace, outcome: Outcome, spool: Spool) -> tuple[Path, ...]:
    groups = outcome.groups()
    files = [texts.location for group in groups for texts in group]
    if not files:
        return ()
    if not options.allow_dirty:
        refuse_unsaved(files)
    root = Path(os.path.commonpath([file.parent for file in files]))
    return journal.write(root, [[_replacement(texts, spool) for texts in group] for group in groups])


def _replacement(texts: Texts, spool: Spool) -> journal.Replacement:
    return journal.Replacement(texts.location, texts.old_digest, lambda: spool.get(texts.new))


def _tell(
    options: argparse.Namespace, outcome: Outcome, selection: Selection, spool: Spool, render: Render | None
) -> None:
    """The report and what is printed: the files are as they shall be by now."""
    mode: json_report.Mode = "write" if options.write else "dry-run"
    report = json_report.build(outcome.results, scanned=outcome.scanned, mode=mode)
    but = ", but the files were" if options.write and outcome.changed else ""
    if options.report_json is not None:
        json_report.write(report, options.report_json, but)
    try:
        if render is None:
            _print(options, outcome, report, spool)
        else:
            sys.stdout.flush()
            for part in render(Given(outcome, spool, options.paths, selection.locations(), options.write)):
                sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        close_output()  # the reader has seen enough; the work is done
    except OSError as error:
        close_output()
        raise UserError(f"the output cannot be written: {reason(error)}{but}.") from error


def _print(options: argparse.Namespace, outcome: Outcome, report: dict[str, Any], spool: Spool) -> None:
    if options.format == formats.JSON:
        sys.stdout.write(json_report.render(report))
    else:
        terminal = console.terminal()
        if not (options.check or options.write):
            console.print_diffs(terminal, outcome.changed, spool, pager=not options.no_pager)
        console.print_summary(terminal, outcome, written=options.write, again=options.again)
    sys.stdout.flush()


def _exit_code(outcome: Outcome, *, written: bool, left: Sequence[Path]) -> int:
    if outcome.crashed or left:
        return FAILED
    pending = bool(outcome.changed) and not written
    manual = any(found.severity is Severity.MANUAL for file in outcome.results for found in file.findings)
    return PENDING if pending or manual else DONE


def _jobs(wanted: int | None, table: int | None) -> int:
    """How many processes: the target's own table may ask for fewer than there are cores, never for more."""
    cores = _cores()
    return wanted or min(table or cores, cores)


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

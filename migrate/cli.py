"""Arguments and exit codes.

0: nothing is left to do. 1: changes are pending, or a manual finding remains. 2: wrong usage, a
refusal or an internal error. 128 + n: a signal, 130 for Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import __version__, config, harmless, interactive, journal, memory, stops
from .analysis import Engine
from .arguments import Once, Parser, by
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

PROGRAM = "apex2native"
DONE, PENDING, FAILED = 0, 1, 2

_RESERVED_COMMANDS = ("lint",)
_MIGRATE = "migrate"

_EPILOG = """\
commands (the first word; anything else is a PATH, and so is ./explain):
  migrate    what is described here, also without the word
  explain    print the page of a rule: apex2native explain APX010
  verify     run a training command before and after the migration, and compare every step
  convert-checkpoint   turn what Apex saved into what the migrated code loads

exit codes:
  0  nothing is left to do
  1  changes are pending (dry run, --check), or a manual finding remains
  2  wrong usage, a refusal or an internal error
  128 + n  ended by signal n: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP
"""


def main(arguments: Sequence[str] | None = None, engine: Engine | None = None) -> int:
    """Run the command line and return its exit code; tests put an ``engine`` of their own."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    try:
        with stops.answered(), memory.seldom_collected():
            return _dispatch(words, engine)
    except UserError as error:
        _complain(str(error))
        return FAILED
    except BrokenPipeError:
        _close_output()
        return DONE
    except KeyboardInterrupt as stop:
        told = stops.said_of(stop)
        _complain(told.sentence)
        return told.exit_code
    except OSError as error:
        _complain(f"{error.filename or 'the file system'}: {reason(error)}.")
        return FAILED
    except SystemExit as ending:  # argparse ends --help and --version this way
        return ending.code if isinstance(ending.code, int) else FAILED
    except Exception:
        _print_error(harmless.paragraphs(traceback.format_exc()))
        _complain("this is an internal error: please report it with the lines above.")
        return FAILED


def _dispatch(words: list[str], engine: Engine | None) -> int:
    # File names and sources may hold what the output's encoding cannot say.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    command = words[0] if words else ""
    if command in _RESERVED_COMMANDS:
        raise UserError(
            f"the command {command} is not part of this version (a path of that name is ./{command})."
        )
    if command in _OTHERS:
        return _OTHERS[command](words[1:])
    return _migrate(words[1:] if command == _MIGRATE else words, engine)


def _print_completion(options: argparse.Namespace) -> int:
    from . import completion
    from .checkpoint import command as checkpoint
    from .verify import command as verify

    if options.paths:
        raise UserError("--print-completion goes alone: leave the paths out.")
    commands = {
        "explain": _explain_parser(choices=True),
        "verify": verify._parser(),
        "convert-checkpoint": checkpoint._parser(),
    }
    sys.stdout.write(completion.script(options.print_completion, _parser(), commands))
    sys.stdout.flush()
    return DONE


def _explain_parser(*, choices: bool = False) -> Parser:
    from . import explain

    parser = Parser(prog=f"{PROGRAM} explain", description="Print the page of a rule, or list all rules.")
    rules = parser.add_argument("rules", metavar="RULE", nargs="*", help="such as APX010; without one, the list")
    if choices:
        rules.choices = sorted(name for page in explain.pages() for name in (page.id, *page.notes))
    return parser


def _explain(words: Sequence[str]) -> int:
    from . import explain

    wanted = _explain_parser().parse_args(words).rules
    known = explain.pages()
    pages = [explain.page_text(rule, known) for rule in wanted]
    sys.stdout.write("\n\n".join(pages) if pages else explain.listing(known))
    sys.stdout.flush()
    return DONE


def _verify(words: Sequence[str]) -> int:
    from .verify import command

    return command.run(words)


def _convert_checkpoint(words: Sequence[str]) -> int:
    from .checkpoint import command

    return command.run(words)


# Each imports its room itself: a migration loads none of them.
_OTHERS = {"explain": _explain, "verify": _verify, "convert-checkpoint": _convert_checkpoint}


def _migrate(words: Sequence[str], engine: Engine | None) -> int:
    options = _options(words)
    if options.print_completion is not None:
        return _print_completion(options)
    if not options.paths:
        raise UserError(f"name at least one PATH to migrate ({PROGRAM} --help says more).")
    if options.report_json is not None:
        json_report.check_destination(options.report_json, options.paths)
    if options.interactive:
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
        _complain(f"{', '.join(map(str, left))}: changed in the moment of writing and left alone; run again.")
    return _exit_code(outcome, written=options.write, left=left)


def _select(options: argparse.Namespace, exclude: Sequence[str]) -> Selection:
    selection = collect(options.paths, exclude)
    if not selection.journals:
        return selection
    if not options.write:
        where = selection.journals[0].parent
        _complain(f"a run in {where} was interrupted while it wrote; the next one with --write settles that.")
        return selection
    finished = sum(journal.recover(found) for found in selection.journals)
    files = "1 file" if finished == 1 else f"{finished} files"
    done = f"finished: {files} written" if finished else "rolled back"
    _complain(f"an earlier run had been interrupted while it wrote; it was {done}.")
    return collect(options.paths, exclude)


def _ask(options: argparse.Namespace, outcome: Outcome, spool: Spool) -> Outcome:
    """What the user accepts; files that could not be written are refused before the first question."""
    if not options.allow_dirty:
        refuse_unsaved([texts.location for group in outcome.groups() for texts in group])
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
        _close_output()  # the reader has seen enough; the work is done
    except OSError as error:
        _close_output()
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


# ---------------------------------------------------------------- arguments


def _options(words: Sequence[str]) -> argparse.Namespace:
    """The arguments; whatever stands behind ``--`` is a path, also a file that is called ``--write``."""
    words = list(words)
    at = words.index("--") if "--" in words else len(words)
    options = _parser().parse_intermixed_args(words[:at])
    options.paths += words[at + 1 :]
    again = [*_told_again(words[:at]), "--write", *words[at:]]
    a_path = again[0] in (_MIGRATE, *_OTHERS, *_RESERVED_COMMANDS)  # that as the first word would be a command
    options.again = shlex.join([PROGRAM, *([_MIGRATE] if a_path else []), *again])
    return options


def _told_again(words: Sequence[str]) -> Iterator[str]:
    """The words that say what is migrated and how: not how it is shown, nor by how many processes."""
    skip = False
    for word in words:
        if not skip and word not in ("--check", "--no-pager") and not re.match(r"-j|--jobs\b", word):
            yield word
        skip = word in ("-j", "--jobs")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [COMMAND] PATH... [options]",
        description="Move training code from NVIDIA Apex amp to native PyTorch AMP. Without --write nothing "
        "is written: the diff and a summary are printed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="*", help="files and directories")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="change the files")
    action.add_argument("--check", action="store_true", help="print the summary alone")
    action.add_argument("-i", "--interactive", action="store_true", help="show, ask, and write what is accepted")
    add("--safe-only", action="store_true", default=None, help="apply only what is proved to stay the same")
    once: dict[str, Any] = {"action": Once}
    add(
        "--keep-fused",
        action="store_true",
        default=None,
        help="leave what current Apex still has: fused optimizers, normalization and other kernels",
    )
    add("--report-json", **once, metavar="FILE", help="also write the JSON report to FILE")
    add("--format", **once, type=_format, metavar="|".join(formats.NAMES), help="what is printed (text)")
    add("--dtype", **once, type=by(config.dtype), metavar="|".join(config.DTYPES), help="of autocast (float16)")
    add("--device-type", **once, type=by(config.device_type), metavar="TYPE", help="of autocast (cuda)")
    add("--target-torch", **once, type=by(config.target_torch), metavar="X.Y", help="oldest torch to support (2.4)")
    add(
        "--eval",
        **once,
        type=by(config.evaluation),
        metavar="|".join(config.EVALS),
        help="forwards in evaluation run under autocast, as they did under Apex, or in fp32 (autocast)",
    )
    add("--exclude", action="append", metavar="GLOB", help="leave out what fits; may be repeated")
    add("--fix-packaging", action="store_true", help="take Apex out of what installs it, once no file needs it")
    add("--allow-dirty", action="store_true", help="also write files with uncommitted changes")
    add("-j", "--jobs", **once, type=by(_number), metavar="N", help="processes (as many as there are cores)")
    add("--no-pager", action="store_true", help="print long diffs without a pager")
    add("--print-completion", **once, metavar="SHELL", help="print a completion script (needs shtab), and nothing else")
    add("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _number(value: str) -> int:
    if not value.isdecimal():
        raise ValueError(f"jobs is a whole number from 1 up, not {value!r}")
    return config.jobs(int(value))


def _format(value: str) -> str:
    if value not in formats.NAMES:
        raise argparse.ArgumentTypeError(f"the formats are {', '.join(formats.NAMES)}, not {value!r}")
    return value


def _jobs(wanted: int | None, table: int | None) -> int:
    """How many processes: the target's own table may ask for fewer than there are cores, never for more."""
    cores = _cores()
    return wanted or min(table or cores, cores)


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ---------------------------------------------------------------- output


def _open_streams() -> None:
    """Where the caller closed a standard stream nothing is printed, and no file takes its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # open as long as the program runs


def _complain(sentence: str) -> None:
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        _print_error(f"{PROGRAM}: {harmless.line(sentence)}\n")


def _print_error(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _close_output() -> None:
    """Nothing may be flushed into the broken pipe when the interpreter ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

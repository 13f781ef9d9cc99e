"""Arguments and exit codes.

0: nothing is left to do. 1: changes are pending, or a manual finding remains. 2: wrong usage, a
refusal or an internal error. 128 + n: a signal, 130 for Ctrl-C.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import __version__, config, harmless, memory, stops
from .arguments import Once, Parser, by
from .errors import UserError, reason
from .report import formats
from .streams import DONE, FAILED, PROGRAM, close_output, complain, open_streams, print_error

if TYPE_CHECKING:  # what asks for help waits for no engine
    from .analysis import Engine

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
    open_streams()
    try:
        with stops.answered(), memory.seldom_collected():
            return _dispatch(words, engine)
    except UserError as error:
        complain(str(error))
        return FAILED
    except BrokenPipeError:
        close_output()
        return DONE
    except KeyboardInterrupt as stop:
        told = stops.said_of(stop)
        complain(told.sentence)
        return told.exit_code
    except OSError as error:
        complain(f"{error.filename or 'the file system'}: {reason(error)}.")
        return FAILED
    except SystemExit as ending:  # argparse ends --help and --version this way
        return ending.code if isinstance(ending.code, int) else FAILED
    except Exception:
        print_error(harmless.paragraphs(traceback.format_exc()))
        complain("this is an internal error: please report it with the lines above.")
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


# Each imports its room itself, as the migration does: nobody waits for what another command needs.
_OTHERS = {"explain": _explain, "verify": _verify, "convert-checkpoint": _convert_checkpoint}


def _migrate(words: Sequence[str], engine: Engine | None) -> int:
    options = _options(words)
    if options.print_completion is not None:
        return _print_completion(options)
    if not options.paths:
        raise UserError(f"name at least one PATH to migrate ({PROGRAM} --help says more).")
    from . import command

    return command.run(options, engine)


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

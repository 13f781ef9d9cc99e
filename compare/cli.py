"""Arguments and exit codes.

0: the report is complete, unavailable arms included. 1: a run that was asked for failed. 2: wrong usage, an
environment that cannot do it, or an internal error. 130: Ctrl-C.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from . import __version__
from .errors import UserError
from .workloads.known import KNOWN

PROGRAM = "amp-compare"
COMPLETE, ARM_FAILED, FAILED, INTERRUPTED = 0, 1, 2, 130

_ENGINE_HELP = "where tasks run: here, as Slurm's jobs, or as jobs on this machine (to try that)"
_EPILOG = """\
exit codes:
  0  the report is complete, arms that are unavailable here included
  1  a run that was asked for failed (the report says how)
  2  wrong usage, an environment that cannot do it, or an internal error
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Lines of progress shall reach a log as they come, and a sign the locale lacks is no reason to stop.
        sys.stdout.reconfigure(line_buffering=True, errors="replace")
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _dispatch(_parser().parse_args(words))
    except UserError as error:
        _complain(str(error))
        return FAILED
    except KeyboardInterrupt:
        _complain("interrupted; started again in the same way, it goes on with what is missing.")
        return INTERRUPTED
    except ImportError as error:
        _complain(f"{error}: install what the comparison needs with pip install '.[compare]'.")
        return FAILED
    except BrokenPipeError:
        return _reader_gone(words)
    except SystemExit as ending:
        # argparse ends --help and wrong usage this way, and rich a write to a pipe that nobody reads.
        if ending.code == 1:
            return _reader_gone(words)
        return ending.code if isinstance(ending.code, int) else FAILED
    except Exception:
        traceback.print_exc()
        _complain("this is an internal error: please report it with the lines above.")
        return FAILED
    finally:
        signal.signal(signal.SIGTERM, previous)


def _dispatch(asked: argparse.Namespace) -> int:
    if asked.command == "run":
        from . import commands

        return commands.run(asked)
    if asked.command == "report":
        from . import commands

        return commands.report(asked.folder)
    if asked.command == "policy":
        from .policy import command

        return command.run(
            dtype=asked.dtype,
            only_differences=not asked.all,
            format=asked.format,
            live=asked.live,
            record=asked.record,
        )
    from rich.console import Console

    from .doctor import doctor

    return doctor(Console(), data=asked.data)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Trains under FP32, Apex amp and native AMP, and reports speed, memory and accuracy parity.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_run(commands.add_parser("run", help="run a comparison, or go on with one, and write its report"))
    report = commands.add_parser("report", help="write the report of recorded runs again; needs no GPU")
    report.add_argument("folder", metavar="DIR", type=Path, help="a folder below reports/")
    policy = commands.add_parser("policy", help="which type every operation runs in: Apex O1 beside native AMP; no GPU")
    policy.add_argument("--dtype", choices=("float16", "bfloat16"), default="float16", help="type of autocast")
    policy.add_argument("--all", action="store_true", help="also the operations that are the same")
    policy.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    policy.add_argument("--live", action="store_true", help="ask the Apex that is installed or named by APEX_SRC")
    policy.add_argument("--record", metavar="FILE", type=Path, help="write what that Apex does to FILE")
    doctor = commands.add_parser("doctor", help="say what this machine has and lacks for a comparison")
    doctor.add_argument("--data", metavar="DIR", help="the folder of CIFAR-10 to look at")
    return parser


def _add_run(run: argparse.ArgumentParser) -> None:
    what = run.add_argument_group("what runs")
    what.add_argument("--profile", metavar="NAME", help="smoke, quick, standard or full; standard where there is a GPU")
    what.add_argument("--arms", metavar="A,B,…", help="only these arms (amp-compare run --arms help lists them)")
    what.add_argument("--train", metavar="A,B,…", help="which of them are trained for accuracy; 'none' for speed alone")
    what.add_argument("--seeds", metavar="N", type=int, help="seeds to train; under 3 there is no verdict")
    what.add_argument("--epochs", metavar="N", type=int, help="epochs of each training")
    what.add_argument("--batch", metavar="N", type=int, help="samples of a batch, in each process")
    what.add_argument("--blocks", metavar="N", type=int, help="speed blocks: processes an arm")
    what.add_argument("--workload", metavar="NAME", help=f"{', '.join(KNOWN)}, or your own package.module:function")
    what.add_argument("--recipe", metavar="NAME", help="plain, clip, accumulate or gradient-penalty")
    what.add_argument("--stem", choices=("cifar", "imagenet"), help="of ResNet50: for 32x32 images, or torchvision's")
    what.add_argument("--data", metavar="DIR", help="folder of CIFAR-10, or train/CLASS and test/CLASS; or synthetic")
    what.add_argument("--nproc", metavar="N", type=int, help="processes of each task, one a GPU, with DDP")
    what.add_argument("--sweep", metavar="N,N,…", help="batch sizes of the sweep; 'none' for no sweep")
    what.add_argument("--margin", metavar="POINTS", type=float, help="equivalence margin of accuracy, 0.5 by default")
    what.add_argument("--target", metavar="PERCENT", type=float, help="accuracy of 'time to accuracy'")
    how = run.add_argument_group("how")
    how.add_argument("--plan", action="store_true", help="say what would run and about how long, and run nothing")
    how.add_argument("--budget", metavar="TIME", help="time for everything: 25m, 2h, 90s")
    how.add_argument("--timeout", metavar="TIME", help="time for one process; else by what it is expected to take")
    how.add_argument("--retry", action="store_true", help="run again what failed, timed out or ran out of memory")
    how.add_argument("--leave-out", metavar="A,B", help="do not count windows that ran throttled, shared (both: A,B)")
    how.add_argument("--gpus", metavar="N,N,…", help="run trainings side by side, one on each of these GPUs")
    how.add_argument("--engine", choices=("here", "slurm", "local"), default="here", help=_ENGINE_HELP)
    how.add_argument("--jobs", metavar="N", type=int, help="trainings queued on a cluster at a time, 8 by default")
    how.add_argument("--slurm", metavar="K=V,…", help="Slurm's parameters: partition=gpu,account=mine")
    how.add_argument("--nnodes", metavar="N", type=int, help="machines of a task, --nproc processes each; needs slurm")
    how.add_argument("--out", metavar="DIR", type=Path, help="folder of this session; else one below reports/")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _reader_gone(words: Sequence[str]) -> int:
    """Who read our output went away (`| head`): that ends a run early, and anything else in good order."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  what is still buffered has nowhere to go
    return INTERRUPTED if words[:1] == ["run"] else COMPLETE


def _complain(sentence: str) -> None:
    print(f"{PROGRAM}: {sentence}", file=sys.stderr)

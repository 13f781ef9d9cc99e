"""Why a script could not run here, in one sentence that says what to do."""

from __future__ import annotations

import re
from pathlib import PurePath

from .history import Event, History, problems, read
from .running import Run

_NETWORK = re.compile(
    r"URLError|ConnectionError|ConnectTimeout|ReadTimeout|Name or service not known|failure in name resolution"
    r"|Max retries exceeded|LocalEntryNotFoundError|Network is unreachable|proxyconnect"
)
_GPU_ONLY = re.compile(
    r"requires cuda|CUDA error|cudnn|No CUDA|not compiled with CUDA|NCCL|flash_attn|xformers|No NVIDIA driver", re.I
)
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")
_SAID = re.compile(r"^(?:\[rank\d+\]:\s*)?([\w.]*(?:Error|Exception): .*)$", re.M)
_OF_A_CHILD = ("ChildFailedError", "ProcessRaisedException", "ProcessExitedException", "CalledProcessError")
_ANSWER = "name an option that answers, or a command that does, such as bash -c 'yes | python train.py'."
_OPTIONS = re.compile(r"^.*error: .*(?:required|unrecognized|invalid|expected).*$", re.M)


def lacks(run: Run, bounds_text: str) -> str | None:
    """What kept this run from making a single step; None where it made one, or a forward and ended well."""
    said = problems(run.records)
    if said:
        return f"torch could not be listened to: {said[0]}"
    histories = read(run.records)
    if any(one.steps for one in histories):
        return None
    if run.ended == "time":
        return f"no step was made within {bounds_text}: let it train on less, or allow more with --timeout."
    if run.ended != "itself":
        return (
            "it took too much "
            + {"memory": "memory: --memory allows more", "output": "room for what it printed"}[run.ended]
            + "."
        )
    if not histories:
        return _without_torch(run)
    raised = [one.raised for one in _raising(run) if one.raised is not None]
    own = [event for event in raised if event["kind"] not in _OF_A_CHILD]
    if own:
        return _exception(own[0], run)
    if raised:
        return _of_a_child(run)
    if any(one.of("forward") for one in histories) and run.code == 0:
        return None  # a program that only evaluates
    return _code(run)


def _without_torch(run: Run) -> str:
    last = last_line(run)
    if run.code:
        missing = _MISSING.search(run.printed("stderr"))
        if missing:
            return _module(missing[1])
        return f"the command ended with exit code {run.code} before it imported torch: {last}"
    return (
        "no process of the command imported torch, or its Python ignores PYTHONPATH (-E, -I, -S): "
        "name the training command itself."
    )


def _of_a_child(run: Run) -> str:
    """A parent that started processes only says that one of them failed: they said why on stderr."""
    said = [one for one in _SAID.findall(run.printed("stderr")) if not any(kind in one for kind in _OF_A_CHILD)]
    missing = _MISSING.search(run.printed("stderr"))
    if missing:
        return _module(missing[1])
    return f"a process that it started fails before its first step: {_short(said[0]) if said else last_line(run)}"


def _exception(raised: Event, run: Run) -> str:
    kind, text = str(raised["kind"]), str(raised["text"])
    if kind == "ModuleNotFoundError" and raised["name"]:
        return _module(str(raised["name"]))
    if kind == "FileNotFoundError" and raised["starting"]:
        return (
            f"it starts the program {raised['file']}, which is not here: install it, put a stand-in on the PATH, "
            "or stand in with --stub for the file that starts it."
        )
    if kind == "EOFError":
        return f"it asks for input{f' at {raised.at}' if raised.at else ''} and gets none: {_ANSWER}"
    if kind == "FileNotFoundError" and raised["file"]:
        return _file(str(raised["file"]), run)
    whole = f"{kind}: {text}"
    if _NETWORK.search(whole):
        return (
            f"it wants the network ({_short(whole)}): fetch what it loads beforehand, or stand in for it with --stub."
        )
    if _GPU_ONLY.search(whole):
        return f"it needs a GPU ({_short(whole)}): run it on one, or stand in for that part with --stub."
    where = f" at {raised.at}" if raised.at is not None else ""
    return f"it raises before its first step{where}: {_short(whole)}"


def _raising(run: Run) -> tuple[History, ...]:
    return tuple(one for one in read(run.records) if one.raised is not None)


def _module(name: str) -> str:
    package = name.partition(".")[0]
    if package == "apex":
        return (
            f"the double of Apex that stands in for it here has no {name}: run it on a GPU with Apex itself, "
            "or stand in with --stub for the file that imports it."
        )
    return (
        f"the module {name} is missing: install {package} beside the command's torch, "
        f"or put a stand-in {package} into a folder and name it with --stub."
    )


def _file(name: str, run: Run) -> str:
    path = PurePath(name)
    if path.is_absolute() and not name.startswith(run.settings.tree):
        return f"{name} is not there: give the command data that is, or made-up data (see docs/verify.md)."
    shown = name[len(run.settings.tree) + 1 :] if path.is_absolute() else name
    return (
        f"{shown} is not in the tree: give the command data that is there, or lay it over the tree with --stub; "
        "a path that leads out of the tree has to be absolute."
    )


def _code(run: Run) -> str:
    wrong = _OPTIONS.findall(run.printed("stderr"))
    if wrong:
        return f"the command line is not accepted: {wrong[-1].strip()}"
    if run.code:
        return f"it ended with exit code {run.code} before its first step: {last_line(run)}"
    return "it ended without a single step of an optimizer: name a command that trains."


def last_line(run: Run) -> str:
    """What a run said last, of its errors if there are any."""
    lines = [line for line in run.printed("stderr").splitlines() if line.strip()]
    lines = lines or [line for line in run.printed("stdout").splitlines() if line.strip()]
    return _short(lines[-1]) if lines else "it printed nothing."


def _short(text: str) -> str:
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first if len(first) <= 200 else first[:197] + "…"

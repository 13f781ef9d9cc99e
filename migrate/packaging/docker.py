"""Dockerfiles: a RUN goes where it gets Apex, installs it, and does nothing else."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from .lines import spoken
from .mention import About, Mention
from .texts import comments_above, lines, whole_lines
from .words import SURE, WORD, requirement

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)\s")
_COMMENT = re.compile(r"\s*#")
_CLONE = re.compile(r"\S*[/:]apex(?:\.git)?/?", re.I)
_FOLDER = re.compile(r"(?:\S*/)?apex/?", re.I)
_IN_ANY_CASE = re.compile(r"\|\|\s*(?:true|:)(?=\s|;|&|$)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.S)
_VARIABLE = re.compile(r"\$\{\w+\}")
_OPTION_WITH_VALUE = frozenset({"-f", "--find-links", "-i", "--index-url", "--extra-index-url", "-b", "--branch"}) | {
    "--global-option", "--install-option", "--config-settings", "-C", "--depth", "-j", "--build-option"
}  # fmt: skip
_CONDA_OPTION_WITH_VALUE = frozenset({"-c", "--channel", "-n", "--name", "-p", "--prefix"})


@dataclass(frozen=True)
class _Instruction:
    first: int
    last: int
    name: str
    text: str  # without comments and continuations
    plain: bool  # no heredoc and no JSON


def look(text: str) -> list[Mention]:
    """Mentions, and for a RUN that only installs Apex its lines; none where another instruction may need its files."""
    rows = lines(text)
    instructions = _instructions(rows)
    apex = [one for one in instructions if WORD.search(one.text) or SURE.search(one.text)]
    parts = [installs(one.text) if one.name == "RUN" and one.plain else None for one in apex]
    found: list[Mention] = []
    # All of them or none: what else names Apex may need its folder.
    if None not in parts and any(parts) and "escape=`" not in text:
        for one in apex:
            cut = whole_lines(text, comments_above(rows, one.first, WORD), one.last)
            found.append(Mention(About.INSTALLS, one.first, one.last, SURE.search(one.text) is not None, cut))
    taken = {number for one in found for number in range(one.line, one.end_line + 1)}
    return found + [one for one in spoken(text, plain=True) if one.line not in taken]


def _instructions(rows: list[str]) -> list[_Instruction]:
    found: list[_Instruction] = []
    number = 0
    while number < len(rows):
        if not rows[number].strip() or _COMMENT.match(rows[number]):
            number += 1
            continue
        first, parts = number + 1, [rows[number].strip()]
        while parts[-1].endswith("\\") and number + 1 < len(rows):
            number += 1
            row = rows[number].strip()
            if row and not _COMMENT.match(row):  # both are left out of what goes on
                parts[-1] = parts[-1][:-1]
                parts.append(row)
        whole = " ".join(parts)
        match = _INSTRUCTION.match(whole + " ")
        heredoc = re.search(r"<<-?\s*[\"']?(\w+)", whole)
        if heredoc:
            while number + 1 < len(rows) and rows[number].strip() != heredoc[1]:
                number += 1
        plain = heredoc is None and not whole.endswith("\\") and "[" not in whole.partition(" ")[2][:2]
        body = "".join(rows[first - 1 : number + 1]) if heredoc else whole
        found.append(_Instruction(first, number + 1, match[1].upper() if match else "", body, plain))
        number += 1
    return found


def installs(run: str) -> bool | None:
    """Whether a RUN installs Apex (or only prepares that); None where it does anything else."""
    run = _VARIABLE.sub("variable", _IN_ANY_CASE.sub("", run))
    if re.search(r"[|`<>]|\$\(|[({]|--mount", run):
        return None
    commands = re.split(r"&&|;", run.partition(" ")[2])
    folder, installed = "", False
    for command in commands:
        try:
            words = shlex.split(command)
        except ValueError:
            return None
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words = words[1:]
        if not words:
            continue
        step = _step(words, folder)
        if step is None:
            return None
        folder = step[0]
        installed = installed or step[1]
    return installed


def _step(words: list[str], folder: str) -> tuple[str, bool] | None:
    """The folder after a command and whether it installs Apex; None for a command that has nothing to do with it.

    ``folder`` is "apex" inside of Apex's sources and empty elsewhere."""
    match words:
        case ["git", "clone", *rest]:
            names = _arguments(rest)
            ours = bool(names) and _CLONE.fullmatch(names[0]) is not None
            there = len(names) == 1 or (len(names) == 2 and _FOLDER.fullmatch(names[1]) is not None)
            return (folder, False) if ours and there else None
        case ["cd", place]:
            if _FOLDER.fullmatch(place):
                return "apex", False
            return ("", False) if place in ("..", "../", "/", "-", "~") or place.startswith("/") else None
        case ["git", "checkout" | "reset" | "pull" | "fetch" | "submodule", *_]:
            return (folder, False) if folder else None
        case ["git", "-C", place, "checkout" | "reset" | "submodule", *_]:
            return (folder, False) if _FOLDER.fullmatch(place) else None
        case ["python" | "python3", "setup.py", *_]:
            return (folder, True) if folder else None
        case ["rm", flags, *places] if flags.startswith("-"):
            mine = all(_FOLDER.fullmatch(one) or (folder and one in ("build", "./build")) for one in places)
            return (folder, False) if places and mine else None
        case ["set", _] | ["set", "-o", _]:
            return folder, False
        case ["echo", *rest]:
            return (folder, False) if WORD.search(" ".join(rest)) else None
        case ["export", one] if one.startswith(("TORCH_CUDA_ARCH_LIST=", "CUDA_HOME=", "MAX_JOBS=", "FORCE_CUDA=")):
            return folder, False
        case ["conda" | "mamba" | "micromamba", *rest]:
            names = _arguments(rest, conda=True)
            ours = len(names) > 1 and all(requirement(one) is not None for one in names[1:])
            return (folder, True) if names[:1] == ["install"] and ours else None
        case ["python" | "python3", "-m", "pip", *rest] | ["pip" | "pip3", *rest]:
            return _pip(rest, folder)
    return None


def _pip(words: list[str], folder: str) -> tuple[str, bool] | None:
    names = _arguments(words)
    if names[:1] == ["uninstall"] and names[1:] == ["apex"]:
        return folder, False
    if names[:1] != ["install"] or len(names) < 2 or {"-r", "--requirement", "-c"} & set(words):
        return None
    ours = all((folder and one in (".", "./")) or requirement(one) is not None for one in names[1:])
    return (folder, True) if ours else None


def _arguments(words: list[str], *, conda: bool = False) -> list[str]:
    """The words that are no options; the value of an option that takes one is none either."""
    found: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in (_CONDA_OPTION_WITH_VALUE if conda else _OPTION_WITH_VALUE)
        else:
            found.append(word)
    return found

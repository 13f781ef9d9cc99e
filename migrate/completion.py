"""``apex2native --print-completion SHELL``: a script for a shell, which shtab makes of the options themselves.

A first word that is no command is a path, which argparse's subcommands cannot say. So the script is made of the
migration's own options and paths with the commands below them; bash and zsh are told where a command may stand.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from .errors import UserError

_COMMANDS = "_apex2native_commands"  # offers commands and files, in zsh

_BASH = """\
# The first word is a path or a command.
_shtab_apex2native_pos_0_choices=({names})
"""

_ZSH = """\
{commands}() {{
  (( CURRENT == 2 )) && compadd -- {names}
  _files
}}
# Behind a command its own options are offered.
functions[_apex2native_migration]=$functions[_shtab_apex2native]
_shtab_apex2native() {{
  if (( CURRENT > 2 )); then
    case $words[2] in
    {cases}
    esac
  fi
  _apex2native_migration "$@"
}}
"""
_ZSH_CASE = "{name}) shift words; (( CURRENT -= 1 )); _arguments -s $_shtab_apex2native_{word}_options; return ;;"


def script(shell: str, migration: argparse.ArgumentParser, commands: Mapping[str, argparse.ArgumentParser]) -> str:
    """The script for ``shell``; the parsers are of no use for anything else afterwards.

    Raises `UserError` where shtab is not installed or does not know the shell.
    """
    try:
        import shtab
    except ImportError:
        raise UserError("--print-completion needs shtab: pip install shtab.") from None
    if shell not in shtab.SUPPORTED_SHELLS:
        raise UserError(f"name one shell: {', '.join(shtab.SUPPORTED_SHELLS)}.")
    for parser in (migration, *commands.values()):
        for action in parser._actions:
            _say_what_fits(action, shtab.FILE, shtab.DIRECTORY)
    below = migration.add_subparsers()
    for name, parser in commands.items():
        one = below.add_parser(name, parents=[parser], add_help=False, help=parser.description)
        one.description = parser.description
    names = " ".join(commands)
    cases = "\n    ".join(_ZSH_CASE.format(name=name, word=name.replace("-", "_")) for name in commands)
    told = {
        "bash": _BASH.format(names=names),
        "zsh": _ZSH.format(commands=_COMMANDS, names=names, cases=cases),
    }
    return shtab.complete(migration, shell=shell, preamble=told.get(shell, "")) + "\n"


def _say_what_fits(action: argparse.Action, file: Mapping[str, Any], folder: Mapping[str, Any]) -> None:
    """What a metavar says to readers, said to shtab: ``PATH``, ``FILE``, ``DIR``, ``a|b``."""
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if action.dest == "paths":
        action.complete = {**file, "zsh": _COMMANDS}  # type: ignore[attr-defined]  # shtab's own
    elif metavar in ("FILE", "PATH", "IN", "OUT"):
        action.complete = file  # type: ignore[attr-defined]
    elif metavar in ("DIR", "TREE"):
        action.complete = folder  # type: ignore[attr-defined]
    elif "|" in metavar:
        action.choices = metavar.split("|")

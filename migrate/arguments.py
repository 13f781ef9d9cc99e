"""How every command reads its arguments: one sentence where they are wrong, nothing guessed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .errors import UserError


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence instead of the usage text."""
        raise UserError(f"{message} ({self.prog} --help says more).")


class Once(argparse.Action):
    """An option with one value: said twice with two, neither can be what was meant."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest, None)
        if before not in (None, values):
            parser.error(f"{'/'.join(self.option_strings)} is given twice, with different values")
        setattr(namespace, self.dest, values)


def by(check: Callable[[Any], Any]) -> Callable[[str], Any]:
    """A check that raises ValueError as a type of argparse."""

    def convert(value: str) -> Any:
        try:
            return check(value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert

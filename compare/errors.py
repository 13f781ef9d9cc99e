"""The one exception that ends a command on purpose."""

from __future__ import annotations


class UserError(Exception):
    """A wrong call or an environment that cannot do it: its text is the one sentence the user reads, exit code 2."""

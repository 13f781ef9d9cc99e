"""``"apex" in sys.modules`` where only some runs import Apex: what it says is not known, and False once it is gone."""

from __future__ import annotations

import ast

from ...units.loaded import asks_loaded, loaded_at_once
from ...units.unit import Context, Manual


def check_loaded(ctx: Context) -> None:
    """Raise Manual where Python is asked whether Apex was imported, which some runs do and others do not."""
    if loaded_at_once(ctx.m):
        return
    for node in ctx.m.all(ast.Compare):
        if asks_loaded(node):
            raise Manual(
                node,
                "this asks whether Apex was imported, which is not the case in all runs, and never once it is gone",
                "ask for what the import hangs on instead",
            )

"""What `amp.initialize` keeps on an optimizer and the program asks for: ``optimizer._amp_stash.already_patched``.

No native optimizer has it. ``hasattr(optimizer, "_amp_stash")``, whether it was initialized, is followed (`decide.py`).
"""

from __future__ import annotations

import ast

from ...units.unit import Context, Manual

_KEPT = (
    "_amp_stash", "_lazy_init_maybe_master_weights", "_amp_lazy_init", "_master_params_to_model_params",
    "_prepare_amp_backward", "_post_amp_backward",
)  # fmt: skip


def check_stash(ctx: Context) -> None:
    """Raise Manual where one is read by name, or by a `getattr` that says it."""
    asked: list[ast.expr] = [node for name in _KEPT for node in ctx.m.attributes(name)]
    asked += [c for c in ctx.m.calls("getattr") if len(c.args) > 1 and getattr(c.args[1], "value", None) in _KEPT]
    for node in asked:
        raise Manual(
            node,
            "this reads what Apex keeps on its optimizers, which is not there natively",
            "a step that was left out: the scale is smaller behind scaler.update() than before it",
        )

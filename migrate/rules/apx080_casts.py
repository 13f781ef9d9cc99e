"""``amp.disable_casts`` and the cast decorators become autocast's own.

``disable_casts`` is a region in which autocast is off. ``float_function`` and ``half_function`` cast
the inputs of a function while mixed precision is on: ``torch.amp.custom_fwd`` does. Registering a
function of torch that autocast's own lists cast the same way says nothing new, and goes. One that autocast runs in the
type that it is handed (``sigmoid``) gets ``.float()`` where the program calls it; who else calls it is named. Of an
autograd function of the file that is registered (``amp.register_half_function(Conv, "apply")``) the two methods say
it themselves.

``custom_fwd`` also switches autocast off inside of the function, where O1 went on casting. A function with products or
layers inside ran in half there and would run in float32, or meet float32 weights with half inputs, which is an error:
such a one stays. The ``backward`` of an autograd function gets ``custom_bwd`` beside it.

Another name of one (``float_function = amp.float_function``, beside a function of that name for a missing Apex)
goes, and what it decorates, wraps or enters says torch's.

Casts in a file that no import joins to training go where nothing else of the tree needs Apex's amp, and are for review.

Source: apex/amp/amp.py at tag 25.05; torch/amp/autocast_mode.py (custom_fwd); ATen/autocast_mode.h.
"""

from __future__ import annotations

import ast

from ..knowledge.apex import REGISTRATIONS
from ..units.casts import another_name, known, of_a_backward, resolved, wraps_extension
from ..units.registered import registered
from ..units.registered_apply import DTYPES, Applied, applied
from ..units.unit import Context
from .common import Stage, Work
from .converting import convert

ID = "APX080"
STAGE = Stage.CASTS
BEFORE = """\
@amp.float_function
def forward(self, features, rois):
    ...
"""
AFTER = """\
@torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
def forward(self, features, rois):
    ...
"""


def apply(ctx: Context, work: Work) -> None:
    """Rewrite casts; what has no counterpart is left for the report."""
    for use, dotted in ctx.facts.uses.items():
        if work.draft.gone(use) or ctx.m.statement(use) in ctx.facts.imports:
            continue
        tail = dotted.split(".")[-1]
        above = ctx.m.parent[use]
        if tail == "disable_casts" and isinstance(above, ast.Call) and above.func is use:
            work.draft.replace(above, work.native(use).no_autocast())
            work.note(None, ID, use, "a region in which autocast is off")
        elif tail == "disable_casts" and (alias := another_name(ctx, use)) is not None:
            work.draft.delete(alias)
            work.note(None, ID, use, "another name of what switches casts off, whose calls say autocast's own")
        elif tail in ("float_function", "half_function") and resolved(ctx, use, tail):
            if (alias := another_name(ctx, use)) is not None:
                work.draft.delete(alias)
                work.note(None, ID, use, "another name of a decorator that becomes torch's")
                continue
            dtype = "float32" if tail == "float_function" else work.native(use).settings.dtype
            if of_a_backward(ctx, use):
                work.draft.replace(use, work.native(use).custom_bwd())
            elif wraps_extension(ctx, use):
                assert isinstance(above, ast.Call)
                work.draft.replace(above, work.native(use).custom_forward(dtype, ctx.m.src(above.args[0])))
            else:
                work.draft.replace(use, work.native(use).custom_forward(dtype))
            work.note(None, ID, use, "inputs are cast while autocast is on")
        elif tail in REGISTRATIONS and isinstance(above, ast.Call) and isinstance(ctx.m.parent[above], ast.Expr):
            if known(above, tail):
                work.draft.delete(ctx.m.statement(above))
                work.note(None, ID, above, "autocast casts this function by itself")
                continue
            if (method := applied(ctx, above, tail)) is not None:
                _decorate(work, use, method, tail)
                work.draft.delete(ctx.m.statement(above))
                work.note(None, ID, above, "the function says itself what it is handed while autocast is on")
                continue
            found = registered(ctx, above) if tail == "register_float_function" else None
            if found is None:
                continue
            work.draft.delete(ctx.m.statement(above))
            work.note(None, ID, above, "the calls of this function get float32 themselves")
            for operand in found.operands:
                if not work.draft.gone(operand):
                    convert(work, operand, ".float()")
                    work.note(None, ID, operand, "the operand is turned into float32, as Apex was told to")


def _decorate(work: Work, use: ast.expr, found: Applied, tail: str) -> None:
    """``forward`` casts what it is handed, ``backward`` runs as it did; next to the ``def``, inside of others."""
    native = work.native(use)
    dtype = DTYPES[tail] or native.settings.dtype
    for node, decorator in ((found.forward, native.custom_forward(dtype)), (found.backward, native.custom_bwd())):
        if node is not None:
            start = work.m.starts[node.lineno - 1] + node.col_offset
            work.draft.insert_at(start, f"@{decorator}\n{work.m.indent(node)}")
            work.note_header(None, ID, node, "inputs are cast while autocast is on")

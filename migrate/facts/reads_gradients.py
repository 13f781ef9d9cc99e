"""Which functions of another file look at gradients, by their text, or call one that does."""

from __future__ import annotations

import re

_GRADIENTS = re.compile(r"(?<!\bautograd)\._?grad\b|[\"']_?grad[\"']|\bclip_grad|\bget_total_norm\(")


def reads_gradients(body: str) -> bool:
    """Whether a function looks at gradients: ``p.grad``, ``getattr(p, "grad")``, torch's clips. Not ``autograd.grad``,
    which gives some that nobody scaled."""
    return "grad" in body and _GRADIENTS.search(body) is not None

"""Names of torch in a file's own words: ``nn.LayerNorm`` where the file calls ``torch.nn`` nn."""

from __future__ import annotations

from ..facts.files import File
from ..facts.module import Module
from ..facts.torchs import called
from ..rewrite.templates import Templates


def native(m: Module, file: File, templates: Templates, dotted: str) -> str:
    """How a file spells a dotted name of torch: by the longest part of it that the file has a name for. Any other name
    is what it is."""
    if not dotted.startswith("torch."):
        return dotted
    known = called(m, file)
    part, behind = dotted, list[str]()
    while part != "torch":
        if part in known:
            return ".".join([known[part], *behind])
        part, _, last = part.rpartition(".")
        behind.insert(0, last)
    return ".".join([templates.torch, *behind])

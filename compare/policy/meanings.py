"""What a difference means after a migration: one rule for all ops, from the dtypes alone.

An *effect* is the short name of one kind of difference, a *meaning* the sentence a reader gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .probe import FULL, Call, Observation

Effect = Literal[
    "faster",
    "less precise",
    "more precise",
    "more permissive",
    "refused",
    "in place",
    "float64 kept",
    "other",
]
"""What native does compared with Apex O1: `faster` means in the low dtype where O1 stayed in float32."""

Inside = Literal["same", "same values", "less precise", "more precise", "other ops", "not compared"]
"""What is different below an equal output. `same values`: native reads the low dtype and computes in float32."""

APEX_LOW = "float16"

_BANNED = "native bans it for every dtype: use the loss with logits, or leave autocast around it"
NOTES = {
    "Tensor.cpu": "numpy arrays made from it become float16",
    "F.binary_cross_entropy": _BANNED,
    "F.binary_cross_entropy(x.float())": _BANNED,
    "nn.BCELoss": _BANNED,
    "F.cross_entropy": "pass logits.float() for parity",
    "nn.CrossEntropyLoss": "pass logits.float() for parity",
}
_NOT_WRITTEN = "O1 cast a copy of `out`, and the tensor given stayed unwritten"
NOTES |= {"torch.mm(out=float32)": _NOT_WRITTEN, "torch.exp(out=)": _NOT_WRITTEN}
"""What to do, where the rule's sentence does not say it. Shown only where the probe finds a difference."""


_EXACT = frozenset("neg abs relu constant_pad_nd fill_ zero_ max_pool2d_with_indices index_select gather".split())
"""Ops that hand values on as they are: a lower dtype of their input loses nothing more in them."""


@dataclass(frozen=True)
class Clause:
    effect: Effect
    text: str


def same_as_apex(names: Sequence[str], low: str) -> tuple[str, ...]:
    """Native dtypes in Apex's terms: the low dtype of either side stands for the other's."""
    return tuple(APEX_LOW if name == low else name for name in names)


def clause(plain: Observation, apex: Observation, native: Observation, *, low: str, in_place: bool) -> Clause | None:
    """The difference in one case, None where the two agree or one was not probed."""
    if apex.unprobed or native.unprobed or (apex.error and native.error):
        return None
    gave, gives = ", ".join(apex.outputs), ", ".join(native.outputs)
    if native.error:
        return Clause("refused", f"native raises an error on {_given(native)} where O1 gave {gave}")
    if apex.error:
        return _only_native(plain, apex, native, low=low, in_place=in_place)
    pairs = zip(apex.outputs, same_as_apex(native.outputs, low), native.outputs, strict=False)
    parted = next(((ours, theirs) for ours, mapped, theirs in pairs if ours != mapped), None)
    if parted is None:
        if len(apex.outputs) == len(native.outputs):
            return None
        return Clause("other", f"native gives {gives} where O1 gave {gave}")
    before, after = parted
    if after == "float64":
        return Clause("float64 kept", f"native leaves float64 alone where O1 cast it to {before}")
    if in_place and before == FULL and after == low:
        return Clause("in place", f"in place, native stays {low} where O1 bound the name to a new float32 tensor")
    if before == FULL and after == low:
        if FULL in plain.outputs or (plain.error and FULL in plain.inputs):
            return Clause("faster", f"native runs it in {low} where O1 stayed in float32")
        advice = "" if in_place else ", add .float() for parity"
        return Clause("less precise", f"native keeps {low} where O1 gave float32: less precise{advice}")
    if before == APEX_LOW and after == FULL:
        return Clause("more precise", "native gives float32 where O1 kept float16: more precise, more memory")
    return Clause("other", f"native gives {gives} where O1 gave {gave}")


def _given(seen: Observation) -> str:
    return " with ".join(dict.fromkeys(seen.inputs))


def _only_native(plain: Observation, apex: Observation, native: Observation, *, low: str, in_place: bool) -> Clause:
    gives = ", ".join(native.outputs)
    if in_place and low in native.outputs:
        return Clause("in place", f"O1 refused it on float16 tensors; in place, native silently stays {low}")
    if plain.error:
        return Clause("more permissive", f"O1 raised an error on {_given(apex)}; native gives {gives}")
    kind = (apex.error or "").partition(":")[0]
    return Clause("more permissive", f"O1 raised an error ({kind}); native runs it")


def compare_inside(apex: Observation, native: Observation, low: str) -> tuple[Inside, tuple[str, ...]]:
    """What parts two calls with equal outputs, and the aten ops in which they part."""
    if apex.unprobed or native.unprobed or apex.error or native.error:
        return "not compared", ()
    if [call.op for call in apex.inside] != [call.op for call in native.inside]:
        return "other ops", ()
    worse, better, same = [], [], []
    for ours, theirs in zip(apex.inside, native.inside, strict=True):
        mapped = Call(theirs.op, same_as_apex(theirs.inputs, low), same_as_apex(theirs.outputs, low))
        if ours == mapped:
            continue
        if ours.op in _EXACT:
            same.append(ours.op)
        elif FULL in ours.outputs and APEX_LOW in mapped.outputs:
            worse.append(ours.op)
        elif APEX_LOW in ours.outputs and FULL in mapped.outputs:
            better.append(ours.op)
        else:
            same.append(ours.op)
    for name, ops in (("less precise", worse), ("more precise", better), ("same values", same)):
        if ops:
            return name, tuple(dict.fromkeys(ops))  # type: ignore[return-value]
    return "same", ()


def inside_text(inside: Inside, ops: Sequence[str], low: str) -> str:
    """A sentence part about the inside; empty where nothing is to be known."""
    names = ", ".join(op.lstrip("_") for op in ops)
    if inside == "less precise":
        return f"the output is the same, but inside native runs {names} in {low} where O1 used float32"
    if inside == "more precise":
        return f"the output is the same, but inside native runs {names} in float32 where O1 used float16"
    if inside == "other ops":
        return "the output is the same, but native runs other ops inside"
    return ""


def sentence(clauses: Sequence[Clause], inside: str, note: str) -> str:
    """One sentence from all cases of an op, each thing said once."""
    parts = list(dict.fromkeys(one.text for one in clauses))
    parts += [part for part in (inside, note) if part and part not in parts]
    return "; ".join(parts)

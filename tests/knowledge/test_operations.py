"""The lists of operations say what torch and Apex do.

Apex O1's side is what real Apex was seen to do (compare/policy/recorded.json), native autocast's side is what the
installed torch does with fake CUDA tensors. Where a list says something else it is named here, with the reason.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from migrate.knowledge import operations

RECORDED = Path(__file__).resolve().parents[2] / "compare" / "policy" / "recorded.json"
_NAME = re.compile(r"(?:torch|torch\.linalg|Tensor|F|nn)\.(\w+)")  # variants, in brackets, ask for something special

HALF, FULL = "float16", "float32"
#: By list: the type that comes out of (half, half), (float32, float32) and (half, float32), the cases of
#: compare.policy; None where the list says nothing about it.
LISTS: dict[str, tuple[str | None, str | None, str | None]] = {
    "NATIVE_HALF": (HALF, HALF, HALF),
    "NATIVE_FLOAT": (FULL, FULL, FULL),
    "HALF_RESULTS": (HALF, HALF, HALF),
    "FLOAT_RESULTS": (FULL, FULL, FULL),
    "FLOAT_PREDICTIONS": (FULL, FULL, FULL),
    "KEEP": (HALF, FULL, None),
    "PROMOTE": (HALF, FULL, FULL),
    "JOIN": (HALF, FULL, FULL),
    "PAIR": (HALF, FULL, None),
    "AS_HANDED": (HALF, FULL, None),
    "NATIVE_PROMOTE": (HALF, FULL, FULL),
    "INTEGER": ("", "", ""),
}

_IN_PLACE = "in place, a result has the type of its first operand"
_RUNS_AS_GIVEN = "runs in the type it is given; a result counts as half only where an operand is known to be"
_MISTAKEN = "runs in float32: the analysis takes a result for half, which costs a needless .float()"
_NOT_SEEN_BY_O1 = "O1 patched names in Python and missed this one, native autocast casts below them"
_FLOAT_IN_O1 = "O1 ran it in float32; the list is about what comes out natively"
NATIVE_DEVIATIONS = {
    "HALF_RESULTS": {"torch.dot": _RUNS_AS_GIVEN, "Tensor.dot": _RUNS_AS_GIVEN},
    "KEEP": {
        "torch.square": _MISTAKEN,
        "F.normalize": _MISTAKEN,
        "F.upsample": _MISTAKEN,
    },
    "PROMOTE": dict.fromkeys(("Tensor.add_", "Tensor.sub_", "Tensor.mul_", "Tensor.div_"), _IN_PLACE),
}
_MISSED_FLOATS = dict.fromkeys(
    (
        "torch.log1p", "Tensor.log1p", "torch.logsumexp", "Tensor.logsumexp", "torch.linalg.norm", "torch.softmax",
        "Tensor.softmax", "torch.log_softmax", "Tensor.log_softmax", "torch.layer_norm", "torch.cosine_similarity",
    ),
    _NOT_SEEN_BY_O1,
)  # fmt: skip
_MISSED_LOSSES = dict.fromkeys(("torch.cdist", "F.pdist", "torch.kl_div"), _NOT_SEEN_BY_O1)
_MISSED_PRODUCTS = dict.fromkeys(("torch.einsum", "torch.linalg.matmul"), _NOT_SEEN_BY_O1)
O1_DEVIATIONS = {
    "NATIVE_HALF": _MISSED_PRODUCTS
    | dict.fromkeys(
        ("torch.chain_matmul", "torch.linalg.multi_dot", "F.scaled_dot_product_attention", "F.prelu"), _NOT_SEEN_BY_O1
    ),
    "NATIVE_FLOAT": _MISSED_FLOATS | _MISSED_LOSSES,
    "HALF_RESULTS": _MISSED_PRODUCTS | NATIVE_DEVIATIONS["HALF_RESULTS"],
    "FLOAT_RESULTS": _MISSED_FLOATS | _MISSED_LOSSES,
    "FLOAT_PREDICTIONS": _MISSED_FLOATS,
    "AS_HANDED": dict.fromkeys(("torch.std", "Tensor.std", "torch.var", "Tensor.var", "F.gelu"), _FLOAT_IN_O1),
    "KEEP": dict.fromkeys(
        (
            "torch.std", "Tensor.std", "torch.var", "Tensor.var", "F.gelu", "F.normalize", "F.upsample",
            "F.grid_sample", "Tensor.cpu",
        ),
        _FLOAT_IN_O1,
    ),
    "PROMOTE": NATIVE_DEVIATIONS["PROMOTE"],
}  # fmt: skip

Seen = dict[str, list[list[str] | None]]  # by operation and case: the types that came out; None where it did not run


def _o1() -> Seen:
    seen: Seen = {}
    for name, found in json.loads(RECORDED.read_text(encoding="utf-8"))["ops"].items():
        cases: list[dict[str, Any]] = []
        for each in found:  # a number stands for what that case gave already
            cases.append(cases[each] if isinstance(each, int) else each)
        seen[name] = [None if "error" in one or "unprobed" in one else one["outputs"] for one in cases]
    return seen


@cache
def _native() -> Seen:
    pytest.importorskip("torch")
    from compare.policy import native

    if not native.native_lists():
        pytest.skip("this torch ships no lists of autocast")
    return {
        name: [None if one.error or one.unprobed else list(one.outputs) for one in found]
        for name, found in native.probe_native().items()
    }


def _elsewise(seen: Seen, name: str) -> set[str]:
    """The operations of a list that do something else than it says."""
    wanted = LISTS[name]
    found: set[str] = set()
    for operation, cases in seen.items():
        match = _NAME.fullmatch(operation)
        if match is None or match[1] not in getattr(operations, name):
            continue
        for want, outputs in zip(wanted, cases, strict=True):
            if want is None or outputs is None:
                continue
            floating = outputs[0] if outputs and "float" in outputs[0] else ""
            if floating != want:
                found.add(operation)
    return found


@pytest.mark.parametrize("name", LISTS)
def test_native_autocast_does_what_the_lists_say(name: str) -> None:
    assert _elsewise(_native(), name) == set(NATIVE_DEVIATIONS.get(name, {}))


@pytest.mark.parametrize("name", LISTS)
def test_o1_did_what_the_lists_say(name: str) -> None:
    assert _elsewise(_o1(), name) == set(O1_DEVIATIONS.get(name, {}))


@pytest.mark.parametrize("name", ["NATIVE_HALF", "NATIVE_FLOAT", "HALF_RESULTS", "FLOAT_PREDICTIONS", "PROMOTE"])
def test_every_entry_was_seen(name: str) -> None:
    seen = {operation.partition("(")[0].split(".")[-1] for operation in _o1()}
    assert getattr(operations, name) - {"Softmax"} <= seen


def test_interpolation_is_a_known_mistake() -> None:
    """It has no plain form in the table, so that the lists above do not meet it."""
    seen = [outputs for name, outputs in _native().items() if name.startswith("F.interpolate(bilinear")]
    assert "interpolate" in operations.KEEP and all(one[0] == [FULL] for one in seen)

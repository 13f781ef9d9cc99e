"""Products of sparse tensors: O1 left ``torch.sparse.mm`` alone, autocast hands it half, for which CUDA has no kernel
(``"addmm_sparse_cuda" not implemented for 'Half'``). Where one may run under autocast it is named.

Source: apex/amp/lists/torch_overrides.py at tag 25.05, which has none of them; pytorch issue 41069.
"""

from __future__ import annotations

from ...facts.usual_names import dotted
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage

_PRODUCTS = frozenset({"torch.sparse.mm", "torch.sparse.addmm", "torch.spmm"})  # torch.smm stays as it is


def review_sparse_products(ctx: Context, unit: Unit, coverage: Coverage) -> None:
    """Names those that autocast would run in half."""
    for name in sorted({one.rpartition(".")[2] for one in _PRODUCTS}):
        for call in ctx.m.calls(name):
            if dotted(call.func) in _PRODUCTS and coverage.may_within(call) and not coverage.off(call):
                unit.review(
                    call,
                    "APX037",
                    f"`{ctx.m.src(call.func)}` runs in {ctx.settings.dtype} under autocast, an error for sparse "
                    "tensors on CUDA; O1 left it in float32: compute it of `.float()` under "
                    f'torch.autocast("{ctx.settings.device_type}", enabled=False)',
                )

"""The ops that are probed, and how each is called.

Every function is looked up when it is called (`torch.mm`, never a name bound to it), since Apex replaces
attributes. The table covers every name that Apex O1 patches and every op on native autocast's CUDA lists, or
says why one cannot be probed, plus what is commonly used beside them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch as _torch
import torch.nn.functional as _functional
from torch import nn

from .probe import Inputs

torch: Any = _torch  # half of what is called here is private and not in torch's stubs
F: Any = _functional


@dataclass(frozen=True)
class Op:
    """One row of the policy table."""

    name: str
    group: str
    call: Callable[[Inputs], object]
    covers: tuple[str, ...] = ()
    """Names on either side's lists that this call reaches beside those of its own name: `softmax.int` (native,
    with the overload), `functional.conv2d`, `tensor.__add__`, `rnn.lstm_cell` (Apex)."""
    in_place: bool = False
    unprobed: str | None = None
    """Why it is not run at all, on any machine."""

    @property
    def reaches(self) -> frozenset[str]:
        """All names on the lists of either side that this row stands for."""
        match = re.match(r"(torch|F|Tensor)\.(\w+)", self.name)
        if match is None:
            return frozenset(self.covers)
        side, name = match.groups()
        where = {"torch": "torch", "F": "functional", "Tensor": "tensor"}[side]
        return frozenset({name, f"{where}.{name}", *self.covers})


Arguments = Callable[[Inputs], tuple[Any, ...]]


def _function(name: str, args: Arguments) -> Callable[[Inputs], object]:
    return lambda x: getattr(torch, name)(*args(x))


def _method(name: str, args: Arguments) -> Callable[[Inputs], object]:
    def call(x: Inputs) -> object:
        first, *rest = args(x)
        return getattr(first, name)(*rest)

    return call


def _pair(group: str, names: str, args: Arguments) -> Iterator[Op]:
    """Each name as a function of torch and, where there is one, as a method of Tensor."""
    for name in names.split():
        yield Op(f"torch.{name}", group, _function(name, args))
        if hasattr(_torch.Tensor, name):
            yield Op(f"Tensor.{name}", group, _method(name, args))


def _in_place(names: str, args: Arguments) -> Iterator[Op]:
    """Each name with an underscore, as a method and, where there is one, as a function of torch."""
    for name in names.split():
        if hasattr(_torch.Tensor, f"{name}_"):
            yield Op(f"Tensor.{name}_", "in place", _method(f"{name}_", args), in_place=True)
        if hasattr(_torch, f"{name}_"):
            yield Op(f"torch.{name}_", "in place", _function(f"{name}_", args), in_place=True)


def _functional_call(name: str, args: Arguments) -> Callable[[Inputs], object]:
    return lambda x: getattr(F, name)(*args(x))


def _functionals(group: str, names: str, args: Arguments) -> Iterator[Op]:
    for name in names.split():
        yield Op(f"F.{name}", group, _functional_call(name, args))


def _one(x: Inputs) -> tuple[Any, ...]:
    return (x.a(4, 4),)


def _two(x: Inputs) -> tuple[Any, ...]:
    return x.a(4, 4), x.b(4, 4)


def _three(x: Inputs) -> tuple[Any, ...]:
    return x.a(4, 4), x.b(4, 4), x.b(4, 4)


def _vectors(x: Inputs) -> tuple[Any, ...]:
    return x.a(4), x.b(4)


def _batches(x: Inputs) -> tuple[Any, ...]:
    return x.a(2, 4, 4), x.b(2, 4, 4)


def _with_dim(x: Inputs) -> tuple[Any, ...]:
    return x.a(4, 4), 0


# ---------------------------------------------------------------- matrix products, convolutions


def _matrix_products() -> Iterator[Op]:
    group = "matrix products"
    yield from _pair(group, "mm matmul", _two)
    yield from _pair(group, "mv", lambda x: (x.a(4, 4), x.b(4)))
    yield from _pair(group, "bmm", _batches)
    yield from _pair(group, "addmm", _three)
    yield from _pair(group, "addmv", lambda x: (x.a(4), x.b(4, 4), x.b(4)))
    yield from _pair(group, "addr", lambda x: (x.a(4, 4), x.b(4), x.b(4)))
    yield from _pair(group, "addbmm", lambda x: (x.a(4, 4), x.b(2, 4, 4), x.b(2, 4, 4)))
    yield from _pair(group, "baddbmm", lambda x: (x.a(2, 4, 4), x.b(2, 4, 4), x.b(2, 4, 4)))
    yield from _pair(group, "inner outer", _vectors)
    for name in ("__matmul__", "__rmatmul__"):
        yield Op(f"Tensor.{name}", group, _method(name, _two))
    yield Op("torch.mm(mat2=)", group, lambda x: torch.mm(x.a(4, 4), mat2=x.b(4, 4)))
    yield Op("torch.einsum", group, lambda x: torch.einsum("ij,jk->ik", x.a(4, 4), x.b(4, 4)))
    yield Op("torch.einsum(batched)", group, lambda x: torch.einsum("bij,bjk->bik", x.a(2, 4, 4), x.b(2, 4, 4)))
    yield Op("torch.einsum(one operand)", group, lambda x: torch.einsum("ij->i", x.a(4, 4)))
    yield Op("torch.tensordot", group, lambda x: torch.tensordot(x.a(4, 4), x.b(4, 4), dims=1))
    yield Op("torch.kron", group, lambda x: torch.kron(x.a(4, 4), x.b(4, 4)))
    yield Op("torch.chain_matmul", group, lambda x: torch.chain_matmul(x.a(4, 4), x.b(4, 4), x.b(4, 4)))
    yield Op(
        "torch.linalg.multi_dot",
        group,
        lambda x: torch.linalg.multi_dot([x.a(4, 4), x.b(4, 4), x.b(4, 4)]),
        covers=("linalg_multi_dot",),
    )
    yield Op("torch.linalg.matmul", group, lambda x: torch.linalg.matmul(x.a(4, 4), x.b(4, 4)))
    yield Op("torch.linalg.vecdot", group, lambda x: torch.linalg.vecdot(x.a(4), x.b(4)), covers=("linalg_vecdot",))
    yield Op("torch.linalg.matrix_power", group, lambda x: torch.linalg.matrix_power(x.a(4, 4), 2))
    yield Op("F.linear", group, lambda x: F.linear(x.a(2, 4), x.b(4, 4), x.b(4)))
    yield Op("nn.Linear", group, lambda x: x.module(lambda: nn.Linear(4, 4))(x.a(2, 4)))
    yield Op("torch._C._nn.linear", group, lambda x: torch._C._nn.linear(x.a(2, 4), x.b(4, 4)))
    yield Op("nn.Bilinear", group, lambda x: x.module(lambda: nn.Bilinear(4, 4, 4))(x.a(2, 4), x.a(2, 4)))
    yield Op("F.bilinear", group, lambda x: F.bilinear(x.a(2, 4), x.a(2, 4), x.b(4, 4, 4)))
    yield Op("torch.bilinear", group, lambda x: torch.bilinear(x.a(2, 4), x.a(2, 4), x.b(4, 4, 4), None))
    yield Op("torch.mm(sparse)", group, _sparse, unprobed="sparse tensors need data, which fake tensors do not have")


def _sparse(x: Inputs) -> object:
    return torch.mm(x.a(4, 4).to_sparse(), x.b(4, 4))


def _image_and_kernel(dimensions: int) -> Arguments:
    image, kernel = [8] * dimensions, [3] * dimensions
    return lambda x: (x.a(2, 4, *image), x.b(4, 4, *kernel), x.b(4))


def _convolutions() -> Iterator[Op]:
    group = "convolutions"
    for n in (1, 2, 3):
        args = _image_and_kernel(n)
        native = "conv_transpose1d" if n == 1 else f"conv_transpose{n}d.input"
        yield from _functionals(group, f"conv{n}d", args)
        yield Op(f"torch.conv{n}d", group, _function(f"conv{n}d", args))
        yield from _functionals(group, f"conv_transpose{n}d", args)
        yield Op(f"torch.conv_transpose{n}d", group, _function(f"conv_transpose{n}d", args), covers=(native,))
    yield Op("nn.Conv2d", group, lambda x: x.module(lambda: nn.Conv2d(4, 4, 3))(x.a(2, 4, 8, 8)))
    tbc: Arguments = lambda x: (x.a(5, 2, 4), x.b(3, 4, 4), x.b(4))  # noqa: E731
    yield Op("F.conv_tbc", group, lambda x: F.conv_tbc(*tbc(x)))
    yield from _pair(group, "conv_tbc", tbc)
    one = [1, 1]
    no_fake = "its fake kernel asks for a real GPU; torch.convolution and the public functions stand for it"
    yield Op(
        "torch.convolution",
        group,
        lambda x: torch.convolution(x.a(2, 4, 8, 8), x.b(4, 4, 3, 3), None, one, one, one, False, [0, 0], 1),
    )
    rest = (None, one, one, one, False, [0, 0], 1, False, False, True)
    yield Op(
        "torch.ops.aten._convolution",
        group,
        lambda x: torch.ops.aten._convolution.default(x.a(2, 4, 8, 8), x.b(4, 4, 3, 3), *rest, True),
        covers=("_convolution",),
        unprobed=no_fake,
    )
    yield Op(
        "torch.ops.aten._convolution.deprecated",
        group,
        lambda x: torch.ops.aten._convolution.deprecated(x.a(2, 4, 8, 8), x.b(4, 4, 3, 3), *rest),
        covers=("_convolution.deprecated",),
        unprobed=no_fake,
    )
    yield Op(
        "torch.cudnn_convolution",
        group,
        lambda x: torch.cudnn_convolution(x.a(2, 4, 8, 8), x.b(4, 4, 3, 3), one, one, one, 1, False, False, True),
        unprobed=no_fake,
    )
    yield Op(
        "torch.cudnn_convolution_transpose",
        group,
        lambda x: torch.cudnn_convolution_transpose(
            x.a(2, 4, 8, 8), x.b(4, 4, 3, 3), one, [0, 0], one, one, 1, False, False, True
        ),
        unprobed=no_fake,
    )
    yield Op("F.unfold", group, lambda x: F.unfold(x.a(2, 4, 8, 8), 3))
    yield Op("F.fold", group, lambda x: F.fold(x.a(2, 36, 36), (8, 8), 3))


# ---------------------------------------------------------------- attention, recurrent

_DRIVER = "cuDNN's recurrent kernels ask for a real GPU while they prepare their weights"


def _recurrent(kind: str) -> Callable[[Inputs], object]:
    return lambda x: x.module(lambda: getattr(nn, kind)(4, 4))(x.a(3, 2, 4))


def _networks() -> Iterator[Op]:
    group = "attention and recurrent"
    heads: Arguments = lambda x: (x.a(2, 2, 4, 8), x.b(2, 2, 4, 8), x.b(2, 2, 4, 8))  # noqa: E731
    yield Op("F.scaled_dot_product_attention", group, lambda x: F.scaled_dot_product_attention(*heads(x)))
    yield Op(
        "F.scaled_dot_product_attention(causal)",
        group,
        lambda x: F.scaled_dot_product_attention(*heads(x), is_causal=True),
    )
    yield Op(
        "torch.ops.aten._scaled_dot_product_flash_attention",
        group,
        lambda x: torch.ops.aten._scaled_dot_product_flash_attention(*heads(x)),
        covers=("_scaled_dot_product_flash_attention",),
    )

    def attend(x: Inputs) -> object:
        query = x.a(2, 4, 8)
        return x.module(lambda: nn.MultiheadAttention(8, 2, batch_first=True))(query, query, query)

    def encode(x: Inputs) -> object:
        return x.module(lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True))(x.a(2, 4, 8))

    yield Op("nn.MultiheadAttention(train)", group, attend)
    yield Op("nn.TransformerEncoderLayer(train)", group, encode)
    yield Op("F.embedding", group, lambda x: F.embedding(x.index(3), x.a(10, 4)))
    yield Op("F.embedding_bag", group, lambda x: F.embedding_bag(x.index(2, 3), x.a(10, 4)))
    for kind, native in (("LSTM", "lstm"), ("GRU", "gru"), ("RNN", "rnn_tanh")):
        also = ("rnn.RNN_TANH", "rnn.RNN_RELU") if kind == "RNN" else (f"rnn.{native}",)
        yield Op(f"nn.{kind}", group, _recurrent(kind), covers=also, unprobed=_DRIVER)
    for name, call in {
        "lstm_cell": lambda x: x.module(lambda: nn.LSTMCell(4, 4))(x.a(2, 4)),
        "rnn_tanh_cell": lambda x: x.module(lambda: nn.RNNCell(4, 4))(x.a(2, 4)),
        "rnn_relu_cell": lambda x: x.module(lambda: nn.RNNCell(4, 4, nonlinearity="relu"))(x.a(2, 4)),
    }.items():
        title = {"lstm_cell": "nn.LSTMCell", "rnn_tanh_cell": "nn.RNNCell", "rnn_relu_cell": "nn.RNNCell(relu)"}[name]
        yield Op(title, group, call, covers=(name, f"rnn.{name}"))
    no_gru = "its fused CUDA kernel asks for a real GPU"
    yield Op(
        "nn.GRUCell",
        group,
        lambda x: x.module(lambda: nn.GRUCell(4, 4))(x.a(2, 4)),
        covers=("gru_cell", "rnn.gru_cell"),
        unprobed=no_gru,
    )
    yield Op(
        "torch.ops.aten._thnn_fused_lstm_cell",
        group,
        lambda x: torch.ops.aten._thnn_fused_lstm_cell(x.a(2, 16), x.b(2, 16), x.b(2, 4)),
        covers=("_thnn_fused_lstm_cell",),
        unprobed="it has no fake kernel; nn.LSTMCell stands for it",
    )
    yield Op(
        "torch.ops.aten._thnn_fused_gru_cell",
        group,
        lambda x: torch.ops.aten._thnn_fused_gru_cell(x.a(2, 12), x.b(2, 12), x.b(2, 4)),
        covers=("_thnn_fused_gru_cell",),
        unprobed=no_gru,
    )


# ---------------------------------------------------------------- pointwise, reductions, norms

_FP32_POINTWISE = "acos asin cosh erfinv exp expm1 log log10 log2 reciprocal rsqrt sinh tan"


def _pointwise() -> Iterator[Op]:
    group = "pointwise"
    yield from _pair(group, f"{_FP32_POINTWISE} log1p", _one)
    for op in _pair(
        group,
        """atan sqrt erf erfc sigmoid tanh exp2 sin cos lgamma digamma square abs neg floor ceil round sign
        asinh acosh atanh trunc frac logit deg2rad""",
        _one,
    ):
        if op.name.startswith("torch."):
            yield op
    yield Op("torch.pow", group, lambda x: torch.pow(x.a(4, 4), 2), covers=("pow.Tensor_Scalar",))
    yield Op("torch.pow(t, t)", group, lambda x: torch.pow(x.a(4, 4), x.b(4, 4)), covers=("pow.Tensor_Tensor",))
    yield Op("torch.pow(2, t)", group, lambda x: torch.pow(2, x.a(4, 4)), covers=("pow.Scalar",))
    yield Op("Tensor.pow", group, lambda x: x.a(4, 4).pow(2))
    yield Op("Tensor.__pow__", group, lambda x: x.a(4, 4) ** 2)
    yield Op("Tensor.__rpow__", group, lambda x: 2 ** x.a(4, 4))
    yield Op("torch.float_power", group, lambda x: torch.float_power(x.a(4, 4), 2))
    yield Op("torch.clamp", group, lambda x: torch.clamp(x.a(4, 4), 0, 1))
    yield Op("torch.nan_to_num", group, lambda x: torch.nan_to_num(x.a(4, 4)))
    yield Op("torch.lerp", group, lambda x: torch.lerp(x.a(4, 4), x.b(4, 4), 0.5))
    yield Op("torch.logaddexp", group, lambda x: torch.logaddexp(x.a(4, 4), x.b(4, 4)))
    yield Op("torch.xlogy", group, lambda x: torch.xlogy(x.a(4, 4), x.b(4, 4)))


_NAMED = "named tensors cannot be fake"


def _reductions() -> Iterator[Op]:
    group = "reductions"
    yield from _pair(group, "sum prod mean std var", _one)
    yield from _pair(group, "cumsum cumprod", _with_dim)
    yield Op("Tensor.sum(0)", group, lambda x: x.a(4, 4).sum(0), covers=("sum.dim_IntList",))
    yield Op("Tensor.prod(0)", group, lambda x: x.a(4, 4).prod(0), covers=("prod.dim_int",))
    yield Op("torch.sum(dtype=float16)", group, lambda x: torch.sum(x.a(4, 4), dtype=torch.float16))
    yield Op("torch.std(0)", group, lambda x: torch.std(x.a(4, 4), 0))
    yield Op("torch.var(0)", group, lambda x: torch.var(x.a(4, 4), 0))
    for op in _pair(group, "var_mean std_mean nansum nanmean amax amin median aminmax count_nonzero", _one):
        if op.name.startswith("torch."):
            yield op
    for op in _pair(group, "logsumexp logcumsumexp cummax argmax sort", _with_dim):
        yield op
    yield Op("torch.topk", group, lambda x: torch.topk(x.a(4, 4), 2))
    yield Op("torch.trace", group, lambda x: torch.trace(x.a(4, 4)))
    yield Op("torch.trapezoid", group, lambda x: torch.trapezoid(x.a(4, 4)))
    for name in ("sum.dim_DimnameList", "prod.dim_Dimname", "cumsum.dimname", "cumprod.dimname"):
        yield Op(f"torch.ops.aten.{name}", group, _one, covers=(name,), unprobed=_NAMED)


def _norms() -> Iterator[Op]:
    group = "norms and distances"
    aten = torch.ops.aten
    yield Op("torch.norm", group, lambda x: torch.norm(x.a(4, 4)))
    yield Op("Tensor.norm", group, lambda x: x.a(4, 4).norm())
    yield Op("Tensor.norm(dim)", group, lambda x: x.a(4, 4).norm(dim=0))
    yield Op("torch.norm(nuc)", group, lambda x: torch.norm(x.a(4, 4), "nuc"))
    yield Op("torch.ops.aten.norm.Scalar", group, lambda x: aten.norm.Scalar(x.a(4, 4), 2), covers=("norm.Scalar",))
    yield Op(
        "torch.ops.aten.norm.ScalarOpt_dim",
        group,
        lambda x: aten.norm.ScalarOpt_dim(x.a(4, 4), 2, [0], False),
        covers=("norm.ScalarOpt_dim",),
    )
    yield Op("torch.ops.aten.norm.names_ScalarOpt_dim", group, _one, ("norm.names_ScalarOpt_dim",), unprobed=_NAMED)
    yield Op(
        "torch.frobenius_norm",
        group,
        lambda x: torch.frobenius_norm(x.a(4, 4), [0, 1]),
        covers=("frobenius_norm.dim",),
    )
    yield Op("torch.nuclear_norm", group, lambda x: torch.nuclear_norm(x.a(4, 4)))
    yield Op(
        "torch.nuclear_norm(dim)",
        group,
        lambda x: torch.nuclear_norm(x.a(4, 4), [0, 1]),
        covers=("nuclear_norm.dim",),
    )
    yield Op("torch.linalg.norm", group, lambda x: torch.linalg.norm(x.a(4, 4)))
    yield Op(
        "torch.linalg.vector_norm",
        group,
        lambda x: torch.linalg.vector_norm(x.a(4, 4)),
        covers=("linalg_vector_norm",),
    )
    yield Op(
        "torch.linalg.matrix_norm",
        group,
        lambda x: torch.linalg.matrix_norm(x.a(4, 4)),
        covers=("linalg_matrix_norm.str_ord",),
    )
    yield Op(
        "torch.linalg.matrix_norm(1)",
        group,
        lambda x: torch.linalg.matrix_norm(x.a(4, 4), 1),
        covers=("linalg_matrix_norm",),
    )
    yield from _pair(group, "dist", _two)
    yield Op("torch.cdist", group, lambda x: torch.cdist(x.a(4, 4), x.b(4, 4)))
    yield Op("F.pdist", group, lambda x: F.pdist(x.a(4, 4)))
    yield Op("F.pairwise_distance", group, lambda x: F.pairwise_distance(x.a(4, 4), x.b(4, 4)))
    yield from _pair(group, "renorm", lambda x: (x.a(4, 4), 2, 0, 1.0))
    yield Op(
        "torch.nn.utils.get_total_norm",
        group,
        lambda x: torch.nn.utils.get_total_norm([x.a(4, 4), x.a(4)], foreach=False),
    )


def _linalg(name: str) -> Callable[[Inputs], object]:
    return lambda x: getattr(torch.linalg, name)(x.a(4, 4))


def _linear_algebra() -> Iterator[Op]:
    group = "linear algebra"
    for name in "inv det cholesky qr svdvals eigvalsh pinv".split():
        yield Op(f"torch.linalg.{name}", group, _linalg(name))
    yield Op("torch.linalg.solve", group, lambda x: torch.linalg.solve(x.a(4, 4), x.b(4, 4)))
    yield Op("torch.linalg.cross", group, lambda x: torch.linalg.cross(x.a(4, 3), x.b(4, 3)))
    yield Op("torch.svd", group, lambda x: torch.svd(x.a(4, 4)))
    yield Op("torch.fft.rfft", group, lambda x: torch.fft.rfft(x.a(4, 4)))


# ---------------------------------------------------------------- activations, normalization, losses


def _activations() -> Iterator[Op]:
    group = "activations"
    yield from _functionals(
        group,
        """softplus gelu silu mish elu relu relu6 leaky_relu logsigmoid hardswish hardsigmoid hardtanh softsign
        tanhshrink softshrink hardshrink selu celu rrelu glu sigmoid tanh""",
        _one,
    )
    yield Op("F.threshold", group, lambda x: F.threshold(x.a(4, 4), 0.1, 0.0))
    yield from _functionals(group, "softmin softmax log_softmax gumbel_softmax", lambda x: (x.a(4, 4),))
    for name in ("softmax", "log_softmax"):
        yield Op(f"torch.{name}", group, _function(name, _with_dim), covers=(f"{name}.int",))
        yield Op(f"Tensor.{name}", group, _method(name, _with_dim))
        yield Op(f"torch.ops.aten.{name}.Dimname", group, _one, covers=(f"{name}.Dimname",), unprobed=_NAMED)
    yield Op("F.softmax(dtype=float32)", group, lambda x: F.softmax(x.a(4, 4), 0, dtype=torch.float32))
    yield Op("F.prelu", group, lambda x: F.prelu(x.a(4, 4), x.b(4)))
    yield from _pair(group, "prelu", lambda x: (x.a(4, 4), x.b(4)))
    yield Op("nn.PReLU", group, lambda x: x.module(lambda: nn.PReLU())(x.a(4, 4)))
    yield Op("nn.GELU", group, lambda x: nn.GELU()(x.a(4, 4)))
    yield Op("nn.Softmax", group, lambda x: nn.Softmax(0)(x.a(4, 4)))


def _normalization() -> Iterator[Op]:
    group = "normalization"
    yield Op("F.layer_norm", group, lambda x: F.layer_norm(x.a(2, 4), (4,), x.b(4), x.b(4)))
    yield Op("torch.layer_norm", group, lambda x: torch.layer_norm(x.a(2, 4), (4,), x.b(4), x.b(4)))
    yield Op("torch.native_layer_norm", group, lambda x: torch.native_layer_norm(x.a(2, 4), (4,), x.b(4), x.b(4), 1e-5))
    yield Op("nn.LayerNorm", group, lambda x: x.module(lambda: nn.LayerNorm(4))(x.a(2, 4)))
    yield Op("F.rms_norm", group, lambda x: F.rms_norm(x.a(2, 4), (4,), x.b(4)))
    yield Op("F.group_norm", group, lambda x: F.group_norm(x.a(2, 4, 4), 2, x.b(4), x.b(4)))
    yield Op("nn.GroupNorm", group, lambda x: x.module(lambda: nn.GroupNorm(2, 4))(x.a(2, 4, 4)))
    yield Op("nn.BatchNorm2d(train)", group, lambda x: x.module(lambda: nn.BatchNorm2d(4))(x.a(2, 4, 4, 4)))
    yield Op("nn.BatchNorm2d(eval)", group, lambda x: x.module(lambda: nn.BatchNorm2d(4).eval())(x.a(2, 4, 4, 4)))
    yield Op(
        "F.batch_norm(train)",
        group,
        lambda x: F.batch_norm(x.a(2, 4, 4), x.b(4), x.b(4), x.b(4), x.b(4), training=True),
    )
    yield Op("F.instance_norm", group, lambda x: F.instance_norm(x.a(2, 4, 4)))
    yield Op("F.local_response_norm", group, lambda x: F.local_response_norm(x.a(2, 4, 4), 2))
    yield Op("F.normalize", group, lambda x: F.normalize(x.a(4, 4)))
    yield Op("F.cosine_similarity", group, lambda x: F.cosine_similarity(x.a(4, 4), x.b(4, 4)))
    yield Op("torch.cosine_similarity", group, lambda x: torch.cosine_similarity(x.a(4, 4), x.b(4, 4)))
    yield Op("F.dropout", group, lambda x: F.dropout(x.a(4, 4)))


def _losses() -> Iterator[Op]:
    group = "losses"
    yield Op("F.cross_entropy", group, lambda x: F.cross_entropy(x.a(4, 4), x.index(4)))
    yield Op("F.cross_entropy(soft target)", group, lambda x: F.cross_entropy(x.a(4, 4), x.b(4, 4)))
    yield Op(
        "F.cross_entropy(label_smoothing)",
        group,
        lambda x: F.cross_entropy(x.a(4, 4), x.index(4), label_smoothing=0.1),
    )
    yield Op("F.cross_entropy(x.float())", group, lambda x: F.cross_entropy(x.a(4, 4).float(), x.index(4)))
    yield Op("F.nll_loss", group, lambda x: F.nll_loss(x.a(4, 4), x.index(4)))
    yield Op("F.nll_loss(2d)", group, lambda x: F.nll_loss(x.a(2, 4, 4, 4), x.index(2, 4, 4)), covers=("nll_loss2d",))
    yield Op("F.log_softmax, F.nll_loss", group, lambda x: F.nll_loss(F.log_softmax(x.a(4, 4), dim=1), x.index(4)))
    yield from _functionals(
        group,
        """l1_loss mse_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss soft_margin_loss
        binary_cross_entropy_with_logits binary_cross_entropy multilabel_soft_margin_loss""",
        _two,
    )
    yield Op(
        "F.binary_cross_entropy(x.float())",
        group,
        lambda x: F.binary_cross_entropy(x.a(4, 4).float(), x.b(4, 4).float()),
    )
    yield Op("torch.kl_div", group, lambda x: torch.kl_div(x.a(4, 4), x.b(4, 4)))
    yield Op("F.hinge_embedding_loss", group, lambda x: F.hinge_embedding_loss(x.a(4, 4), x.index(4, 4)))
    yield Op("F.margin_ranking_loss", group, lambda x: F.margin_ranking_loss(x.a(4), x.b(4), x.index(4)))
    yield Op("F.cosine_embedding_loss", group, lambda x: F.cosine_embedding_loss(x.a(4, 4), x.a(4, 4), x.index(4)))
    yield Op("F.triplet_margin_loss", group, lambda x: F.triplet_margin_loss(x.a(4, 4), x.b(4, 4), x.b(4, 4)))
    yield Op("F.multi_margin_loss", group, lambda x: F.multi_margin_loss(x.a(4, 4), x.index(4)))
    yield Op("F.multilabel_margin_loss", group, lambda x: F.multilabel_margin_loss(x.a(4, 4), x.index(4, 4)))
    yield Op(
        "F.gaussian_nll_loss",
        group,
        lambda x: F.gaussian_nll_loss(x.a(4, 4), x.b(4, 4), x.b(4, 4)),
        unprobed="it looks at the values of its variance, which a fake tensor does not have",
    )
    yield Op(
        "F.ctc_loss",
        group,
        lambda x: F.ctc_loss(x.a(4, 2, 4), x.index(2, 3), x.index(2), x.index(2)),
        unprobed="its CUDA kernel reads the lengths from a real GPU",
    )
    yield Op("nn.CrossEntropyLoss", group, lambda x: nn.CrossEntropyLoss()(x.a(4, 4), x.index(4)))
    yield Op("nn.MSELoss", group, lambda x: nn.MSELoss()(x.a(4, 4), x.b(4, 4)))
    yield Op("nn.BCEWithLogitsLoss", group, lambda x: nn.BCEWithLogitsLoss()(x.a(4, 4), x.b(4, 4)))
    yield Op("nn.BCELoss", group, lambda x: nn.BCELoss()(x.a(4, 4), x.b(4, 4)))
    yield Op("nn.L1Loss", group, lambda x: nn.L1Loss()(x.a(4, 4), x.b(4, 4)))


def _interpolate(mode: str, dimensions: int, antialias: bool = False) -> Callable[[Inputs], object]:
    shape = [4] * dimensions
    return lambda x: F.interpolate(x.a(2, 4, *shape), scale_factor=2, mode=mode, antialias=antialias)


def _resampling() -> Iterator[Op]:
    group = "resampling and pooling"
    for mode, dims, native in (
        ("nearest", 1, "upsample_nearest1d"),
        ("nearest", 2, "upsample_nearest2d"),
        ("nearest", 3, "upsample_nearest3d"),
        ("nearest-exact", 1, "_upsample_nearest_exact1d"),
        ("nearest-exact", 2, "_upsample_nearest_exact2d"),
        ("nearest-exact", 3, "_upsample_nearest_exact3d"),
        ("linear", 1, "upsample_linear1d"),
        ("bilinear", 2, "upsample_bilinear2d"),
        ("trilinear", 3, "upsample_trilinear3d"),
        ("bicubic", 2, "upsample_bicubic2d"),
        ("area", 2, ""),
    ):
        shown = f"{mode}, {dims}d" if mode.startswith("nearest") else mode
        yield Op(f"F.interpolate({shown})", group, _interpolate(mode, dims), covers=(native,) if native else ())
    for mode in ("bilinear", "bicubic"):
        shown, call = f"F.interpolate({mode}, antialias)", _interpolate(mode, 2, antialias=True)
        yield Op(shown, group, call, covers=(f"_upsample_{mode}2d_aa",))
    yield Op("F.upsample", group, lambda x: F.upsample(x.a(2, 4, 4, 4), scale_factor=2))
    yield Op(
        "F.grid_sample",
        group,
        lambda x: F.grid_sample(x.a(2, 4, 4, 4), x.b(2, 4, 4, 2), align_corners=False),
        covers=("grid_sampler",),
    )
    yield Op("F.affine_grid", group, lambda x: F.affine_grid(x.a(2, 2, 3), [2, 4, 4, 4], align_corners=False))
    image: Arguments = lambda x: (x.a(2, 4, 8, 8), 2)  # noqa: E731
    yield from _functionals(
        group, "max_pool2d avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d pixel_shuffle pixel_unshuffle", image
    )
    yield Op("F.lp_pool2d", group, lambda x: F.lp_pool2d(x.a(2, 4, 8, 8), 2, 2))
    yield Op("F.pad", group, lambda x: F.pad(x.a(2, 4, 8, 8), (1, 1, 1, 1)))


# ---------------------------------------------------------------- promotion, indexing, in place


def _sequence(x: Inputs) -> tuple[Any, ...]:
    return ([x.a(4, 4), x.b(4, 4)],)


def _by_keyword(name: str) -> Callable[[Inputs], object]:
    return lambda x: getattr(torch, name)(tensors=[x.a(4, 4), x.b(4, 4)])


def _promotion() -> Iterator[Op]:
    group = "promotion"
    yield from _pair(group, "add sub mul div eq ne ge gt le lt atan2", _two)
    yield from _pair(group, "addcdiv addcmul", _three)
    yield from _pair(group, "cross", lambda x: (x.a(4, 3), x.b(4, 3), 1))
    yield from _pair(group, "dot vdot", _vectors)
    for name in ("torch.equal", "Tensor.equal"):
        yield Op(name, group, _two, unprobed="its result is a Python bool read from the data; no dtype to compare")
    for op in _pair(group, "maximum minimum fmod remainder hypot true_divide floor_divide", _two):
        if op.name.startswith("torch."):
            yield op
    for name in "add sub mul truediv div eq ne ge gt le lt radd rsub rmul rtruediv rdiv".split():
        dunder = f"__{name}__"
        if hasattr(_torch.Tensor, dunder):
            yield Op(f"Tensor.{dunder}", group, _method(dunder, _two))
    yield Op("t + 1", group, lambda x: x.a(4, 4) + 1)
    yield Op("2 * t", group, lambda x: 2 * x.a(4, 4))
    yield Op("1 / t", group, lambda x: 1 / x.a(4, 4))
    yield Op("t + scalar tensor", group, lambda x: x.a(4, 4) + x.b())
    for name in ("cat", "stack"):
        yield Op(f"torch.{name}", group, _function(name, _sequence))
        yield Op(f"torch.{name}(tensors=)", group, _by_keyword(name))
    for name in ("hstack", "vstack", "concat"):
        yield Op(f"torch.{name}", group, _function(name, _sequence))
    yield Op("torch.where", group, lambda x: torch.where(x.mask(4, 4), x.a(4, 4), x.b(4, 4)))
    yield Op("torch.block_diag", group, lambda x: torch.block_diag(x.a(4, 4), x.b(4, 4)))


def _indexing() -> Iterator[Op]:
    group = "indexing"
    yield Op("torch.index_put", group, lambda x: torch.index_put(x.a(4, 4), (x.index(2),), x.b(2, 4)))
    for name in ("scatter_add", "scatter"):
        yield Op(f"torch.{name}", group, _function(name, lambda x: (x.a(4, 4), 0, x.index(4, 4), x.b(4, 4))))
    for name in ("index_copy", "index_add"):
        yield Op(f"torch.{name}", group, _function(name, lambda x: (x.a(4, 4), 0, x.index(4), x.b(4, 4))))
    yield Op("torch.gather", group, lambda x: torch.gather(x.a(4, 4), 0, x.index(4, 4)))
    yield Op("torch.masked_fill", group, lambda x: torch.masked_fill(x.a(4, 4), x.mask(4, 4), 0.0))
    yield Op("torch.masked_scatter", group, lambda x: torch.masked_scatter(x.a(4, 4), x.mask(4, 4), x.b(4, 4)))

    def assign(x: Inputs) -> object:
        target = x.a(4, 4)
        target[0] = x.b(4)
        return target

    yield Op("t[0] = y", group, assign, in_place=True)


def _operator(name: str) -> Callable[[Inputs], object]:
    return lambda x: getattr(operator, name)(x.a(4, 4), x.b(4, 4))


def _mutating() -> Iterator[Op]:
    group = "in place"

    def square(x: Inputs) -> object:
        tensor: Any = x.a(4, 4)
        tensor **= 2
        return tensor

    yield from _in_place(f"{_FP32_POINTWISE} log1p square sqrt sigmoid tanh", _one)
    yield from _in_place("pow", lambda x: (x.a(4, 4), 2))
    yield from _in_place("cumsum cumprod", _with_dim)
    yield from _in_place("renorm", lambda x: (x.a(4, 4), 2, 0, 1.0))
    yield from _in_place("add sub mul div eq ne ge gt le lt atan2", _two)
    yield from _in_place("addcdiv addcmul addmm", _three)
    yield from _in_place("addmv", lambda x: (x.a(4), x.b(4, 4), x.b(4)))
    yield from _in_place("addr", lambda x: (x.a(4, 4), x.b(4), x.b(4)))
    yield from _in_place("addbmm", lambda x: (x.a(4, 4), x.b(2, 4, 4), x.b(2, 4, 4)))
    yield from _in_place("baddbmm", lambda x: (x.a(2, 4, 4), x.b(2, 4, 4), x.b(2, 4, 4)))
    symbols = {"iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/="}
    for name, symbol in symbols.items():
        yield Op(f"t {symbol} y", group, _operator(name), covers=(f"tensor.__{name}__",), in_place=True)
    yield Op("Tensor.__idiv__", group, _method("__idiv__", _two), in_place=True)
    yield Op("t **= 2", group, square, covers=("tensor.__ipow__",), in_place=True)
    yield Op("F.relu(inplace)", group, lambda x: F.relu(x.a(4, 4), inplace=True), in_place=True)
    yield Op("torch.mm(out=float32)", group, lambda x: torch.mm(x.a(4, 4), x.b(4, 4), out=x.of(torch.float32, 4, 4)))
    yield Op("torch.exp(out=)", group, lambda x: torch.exp(x.a(4, 4), out=x.a(4, 4)))


def _devices_and_types() -> Iterator[Op]:
    group = "devices and types"
    yield Op("Tensor.cpu", group, lambda x: x.a(4, 4).cpu())
    yield Op("Tensor.to(cpu)", group, lambda x: x.a(4, 4).to("cpu"))
    yield Op("Tensor.float", group, lambda x: x.a(4, 4).float())
    f64, f32, f16, bf16 = torch.float64, torch.float32, torch.float16, torch.bfloat16
    yield Op("torch.mm(float64)", group, lambda x: torch.mm(x.of(f64, 4, 4), x.of(f64, 4, 4)))
    yield Op("torch.exp(float64)", group, lambda x: torch.exp(x.of(f64, 4, 4)))
    yield Op("F.linear(float64)", group, lambda x: F.linear(x.of(f64, 4, 4), x.of(f64, 4, 4)))
    yield Op("F.mse_loss(float64)", group, lambda x: F.mse_loss(x.of(f64, 4, 4), x.of(f64, 4, 4)))
    yield Op("torch.add(float64, float32)", group, lambda x: torch.add(x.of(f64, 4, 4), x.of(f32, 4, 4)))
    yield Op("torch.mul(float64, float16)", group, lambda x: torch.mul(x.of(f64, 4, 4), x.of(f16, 4, 4)))
    yield Op("torch.mm(bfloat16)", group, lambda x: torch.mm(x.of(bf16, 4, 4), x.of(bf16, 4, 4)))
    yield Op("torch.exp(bfloat16)", group, lambda x: torch.exp(x.of(bf16, 4, 4)))
    yield Op("torch.add(bfloat16, float16)", group, lambda x: torch.add(x.of(bf16, 4, 4), x.of(f16, 4, 4)))
    yield Op("torch.add(bfloat16, float32)", group, lambda x: torch.add(x.of(bf16, 4, 4), x.of(f32, 4, 4)))
    yield Op("torch.cat(bfloat16, float32)", group, lambda x: torch.cat([x.of(bf16, 4, 4), x.of(f32, 4, 4)]))


def _all() -> Iterable[Op]:
    yield from _matrix_products()
    yield from _convolutions()
    yield from _networks()
    yield from _pointwise()
    yield from _reductions()
    yield from _norms()
    yield from _linear_algebra()
    yield from _activations()
    yield from _normalization()
    yield from _losses()
    yield from _resampling()
    yield from _promotion()
    yield from _indexing()
    yield from _mutating()
    yield from _devices_and_types()


OPS: tuple[Op, ...] = tuple(_all())

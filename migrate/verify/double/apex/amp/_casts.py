"""O1's casts, for CPU tensors: which functions of torch `amp.init` replaces, and by what.

They are real only where a harness asks for them (`observe.real_casts`). The lists and the rules are those of
Apex 25.05 with CUDA 9.1 or newer; test_against_apex.py compares them with Apex's own. Left out: the weight
cache, and recurrent layers, which have no half precision on a CPU. Apex leaves tensors alone that are not on
the GPU; here every tensor is taken to be on it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

_CONVOLUTIONS = (
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc"
).split()  # fmt: skip

HALF_FUNCTIONAL = [*_CONVOLUTIONS, "linear"]
FLOAT_FUNCTIONAL = (
    "interpolate grid_sample softplus softmin log_softmax softmax gelu layer_norm group_norm local_response_norm "
    "normalize cosine_similarity poisson_nll_loss cosine_embedding_loss cross_entropy hinge_embedding_loss kl_div "
    "l1_loss mse_loss margin_ranking_loss multilabel_margin_loss multilabel_soft_margin_loss multi_margin_loss "
    "nll_loss binary_cross_entropy_with_logits smooth_l1_loss soft_margin_loss triplet_margin_loss ctc_loss"
).split()
HALF_TORCH = [*_CONVOLUTIONS, *"prelu addmm addmv addr matmul mm mv addbmm baddbmm bmm".split()]
FLOAT_TORCH = (
    "acos asin cosh erfinv exp expm1 log log10 log2 reciprocal rsqrt sinh tan pow cumprod cumsum dist norm prod std "
    "sum var renorm"
).split()
WIDEST_TORCH = "addcdiv addcmul atan2 cross bilinear dot add div mul eq equal ge gt le lt ne".split()
WIDEST_OF_SEQUENCE = ["cat", "stack"]
HALF_TENSOR = ["__matmul__", *HALF_TORCH]
FLOAT_TENSOR = ["__ipow__", "__pow__", "__rpow__", "cpu", *FLOAT_TORCH]
WIDEST_TENSOR = [
    *(
        "__add__ __div__ __eq__ __ge__ __gt__ __iadd__ __idiv__ __imul__ __isub__ __itruediv__ __le__ __lt__ __mul__ "
        "__ne__ __radd__ __rdiv__ __rmul__ __rsub__ __rtruediv__ __sub__ __truediv__"
    ).split(),
    *WIDEST_TORCH,
]

if TYPE_CHECKING:  # Python 3.8 has no such types
    Active = Callable[[], bool]
    Function = Callable[..., Any]


def _is_floating(value: Any) -> bool:
    """A floating tensor, or a list or tuple of nothing else."""
    if isinstance(value, (list, tuple)):
        return all(_is_floating(one) for one in value)
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _types(values: Any) -> Iterator[torch.dtype]:
    for value in values:
        if isinstance(value, (list, tuple)):
            if _is_floating(value):
                yield from _types(value)
        elif _is_floating(value):
            yield value.dtype


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if not _is_floating(value):
        return value
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(one, dtype) for one in value])
    return value if value.dtype is dtype else value.to(dtype)


def _call(function: Function, dtype: torch.dtype, args: Any, kwargs: dict[str, Any]) -> Any:
    return function(*[_cast(one, dtype) for one in args], **{name: _cast(one, dtype) for name, one in kwargs.items()})


def to_type(function: Function, dtype: torch.dtype, active: Active) -> Function:
    """Floating arguments become ``dtype``."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return _call(function, dtype, args, kwargs) if active() else function(*args, **kwargs)

    return wrapper


def to_widest(function: Function, active: Active) -> Function:
    """Half and float32 together become float32; Apex knows no other mixture."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not active():
            return function(*args, **kwargs)
        found = set(_types([*args, *kwargs.values()]))
        if len(found) <= 1:
            return function(*args, **kwargs)
        if found == {torch.float16, torch.float32}:
            return _call(function, torch.float32, args, kwargs)
        raise NotImplementedError(f"Do not know how to handle these types to promote: {found}")

    return wrapper


def _sequence_to_widest(function: Function, active: Active) -> Function:
    @functools.wraps(function)
    def wrapper(seq: Any, *args: Any, **kwargs: Any) -> Any:
        if active() and {one.dtype for one in seq} == {torch.float16, torch.float32}:
            seq = [_cast(one, torch.float32) for one in seq]
        return function(seq, *args, **kwargs)

    return wrapper


def _as_first(function: Function, active: Active) -> Function:
    """In place: the other arguments take the type of the tensor that is written to."""

    @functools.wraps(function)
    def wrapper(first: Any, *args: Any, **kwargs: Any) -> Any:
        if not active() or first.dtype not in (torch.float16, torch.float32):
            return function(first, *args, **kwargs)
        return _call(functools.partial(function, first), first.dtype, args, kwargs)

    return wrapper


def _never_half(function: Function, message: str) -> Function:
    """Refused for half arguments, whether casts are on or off."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if torch.float16 in _types([*args, *kwargs.values()]):
            raise NotImplementedError(message)
        return function(*args, **kwargs)

    return wrapper


def _never_on_half(function: Function, message: str) -> Function:
    """An in-place method that is refused for a half tensor; its arguments become float32."""

    @functools.wraps(function)
    def wrapper(first: Any, *args: Any, **kwargs: Any) -> Any:
        if first.dtype is torch.float16:
            raise NotImplementedError(message)
        return _call(functools.partial(function, first), torch.float32, args, kwargs)

    return wrapper


def _replace(owner: Any, names: list[str], wrap: Callable[[Function], Function]) -> None:
    for name in names:
        function = getattr(owner, name, None)
        if function is not None:
            setattr(owner, name, wrap(function))


def patch(active: Active) -> None:
    """Replace the functions of torch, for good: Apex never puts them back either."""

    def half(function: Function) -> Function:
        return to_type(function, torch.float16, active)

    def float32(function: Function) -> Function:
        return to_type(function, torch.float32, active)

    def widest(function: Function) -> Function:
        return to_widest(function, active)

    def in_place(names: list[str]) -> list[str]:
        return [name + "_" for name in names]

    refused = "Cannot call an in-place function of float32 with fp16 arguments."
    for owner, halves, floats in (
        (F, HALF_FUNCTIONAL, FLOAT_FUNCTIONAL),
        (torch, HALF_TORCH, FLOAT_TORCH),
        (torch.Tensor, HALF_TENSOR, FLOAT_TENSOR),
    ):
        _replace(owner, halves, half)
        _replace(owner, floats, float32)
    _replace(torch, WIDEST_TORCH, widest)
    _replace(torch.Tensor, WIDEST_TENSOR, widest)
    _replace(torch, WIDEST_OF_SEQUENCE, lambda function: _sequence_to_widest(function, active))
    _replace(torch, in_place(FLOAT_TORCH), lambda function: _never_half(function, refused))
    _replace(torch.Tensor, in_place(FLOAT_TENSOR), lambda function: _never_on_half(function, refused))
    _replace(torch.Tensor, in_place(HALF_TENSOR + WIDEST_TENSOR), lambda function: _as_first(function, active))
    _replace(
        F,
        ["binary_cross_entropy"],
        lambda function: _never_half(function, "amp does not work out-of-the-box with `F.binary_cross_entropy`"),
    )

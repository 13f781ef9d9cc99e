"""Runs one op on fake CUDA tensors and says which dtypes went in, came out and were used inside.

A fake tensor (`FakeTensorMode`) has a device, a shape and a dtype but no data, so that a machine without a
GPU can hold CUDA tensors, and calls on them pass through the same dispatcher keys, AutocastCUDA among them.
A `TorchDispatchMode` below those keys sees every aten op with the dtypes it really gets.

Only the forward pass can be run so. Nothing here changes torch: Apex is another module's matter.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Case = tuple[str, str]
"""The dtypes of an op's first and of its other floating inputs."""

FULL = "float32"

_fake_log = logging.getLogger("torch._subclasses.fake_tensor")
_Module = TypeVar("_Module", bound=nn.Module)


def cases(low: str) -> tuple[Case, ...]:
    """The dtype combinations every op is called with; `low` is "float16" or "bfloat16"."""
    return ((low, low), (FULL, FULL), (low, FULL))


_CASTS = frozenset({"_to_copy"})
_SILENT = frozenset(
    """_to_copy device view _unsafe_view reshape t transpose permute expand unsqueeze squeeze slice select split unbind
    detach alias as_strided clone contiguous empty empty_like new_empty zeros ones zeros_like ones_like full new_zeros
    new_ones arange _reshape_alias lift_fresh copy_ unsafe_split split_with_sizes empty_strided
    scalar_tensor movedim flatten unflatten""".split()
)
"""Ops that compute nothing: what is in them is a cast, a view or new memory."""
_NO_FLOATS = "no floating tensor"


@dataclass(frozen=True)
class Call:
    """One aten op as it was run."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def is_cast(self) -> bool:
        return self.op in _CASTS and self.inputs != self.outputs

    @property
    def computes(self) -> bool:
        """Whether it reads floating numbers and makes new ones, or compares them."""
        return self.op not in _SILENT and bool(self.inputs)

    def __str__(self) -> str:
        return f"{self.op}({', '.join(self.inputs)}) -> {', '.join(self.outputs) or _NO_FLOATS}"

    @classmethod
    def parse(cls, text: str) -> Call:
        """The call that `str` made this text of."""
        match = re.fullmatch(r"(\w+)\((.*)\) -> (.*)", text)
        if match is None:
            raise ValueError(f"not an aten call: {text!r}")
        op, inputs, outputs = match.groups()
        return cls(op, _names(inputs), _names(outputs))


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text and text != _NO_FLOATS else ()


@dataclass(frozen=True)
class Observation:
    """What one call did. Dtypes are torch's names without `torch.`."""

    inputs: tuple[str, ...]
    """Dtypes of the floating tensors it was given, in the order they were made."""
    outputs: tuple[str, ...] = ()
    """Dtypes of the tensors it returned; empty after an error."""
    error: str | None = None
    """Type and first line of the error it raised."""
    unprobed: str | None = None
    """Why it could not be run on fake tensors."""
    inside: tuple[Call, ...] = ()
    """The aten ops that computed, in order; casts and views are left out."""

    def to_json(self) -> dict[str, Any]:
        """What is not empty; `from_json` gives the same observation back."""
        data: dict[str, Any] = {"inputs": list(self.inputs), "outputs": list(self.outputs), "error": self.error}
        data |= {"unprobed": self.unprobed, "inside": [str(call) for call in self.inside]}
        return {key: value for key, value in data.items() if value}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Observation:
        return cls(
            tuple(data.get("inputs", ())),
            tuple(data.get("outputs", ())),
            data.get("error"),
            data.get("unprobed"),
            tuple(Call.parse(text) for text in data.get("inside", ())),
        )


# ---------------------------------------------------------------- the log of aten ops

_ONE_NAME = {"cudnn_batch_norm": "batch_norm", "native_batch_norm": "batch_norm"}
"""Names that depend on whether torch finds cuDNN, which a machine without a GPU may lack."""
_ONE_DTYPE = frozenset(
    """mm bmm addmm mv addbmm baddbmm dot vdot convolution _convolution conv_tbc linear linalg_cross
    grid_sampler_2d grid_sampler_3d index_put index_copy index_add binary_cross_entropy
    _cdist_forward addmm_ addmv_ addbmm_ baddbmm_ _scaled_dot_product_flash_attention""".split()
)
"""Ops whose real kernels refuse floating inputs of several dtypes; their fake ones do not look."""
_UNSURE_WHEN_MIXED = frozenset("huber_loss soft_margin_loss native_layer_norm native_group_norm".split())
"""Ops whose fake kernels promote where the real ones do not (losses), or accept what a CPU takes and a GPU may
not (norms with weights of another dtype): no answer is better than theirs."""


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _floating(values: object) -> tuple[str, ...]:
    """Dtypes of the floating tensors in any nesting of lists, tuples and dicts."""
    leaves = (leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor))
    return tuple(dtype_name(leaf.dtype) for leaf in leaves if leaf.dtype.is_floating_point or leaf.dtype.is_complex)


class MixedDtypes(RuntimeError):
    """An op that takes one dtype was given several: what its real kernel would have said."""


class UnsureFake(RuntimeError):
    """The fake kernel is known not to answer as the real one does."""


Guard = Callable[[], AbstractContextManager[object]]


class Log(TorchDispatchMode):
    """Every aten op below autocast, in order, while `on`.

    Each op runs inside `below()`. Some fake kernels are Python code that calls torch's functions; patches of
    those functions, which no real kernel sees, are switched off there.
    """

    def __init__(self, below: Guard = nullcontext) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls: list[Call] = []
        self.on = True
        self._below = below

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = str(func.overloadpacket.__name__)
        inputs = _floating((args, kwargs))
        if self.on and len(set(inputs)) > 1:
            if name in _ONE_DTYPE:
                raise MixedDtypes(f"{name} takes tensors of one dtype and was given {', '.join(inputs)}")
            if name in _UNSURE_WHEN_MIXED:
                raise UnsureFake(f"the fake kernel of {name} cannot be trusted on inputs of several dtypes")
        with self._below():
            out = func(*args, **(kwargs or {}))
        if self.on:
            self.calls.append(Call(_ONE_NAME.get(name, name), inputs, _floating(out)))
        return out

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inputs are made in here: they are no part of the op."""
        before, self.on = self.on, False
        try:
            yield
        finally:
            self.on = before


# ---------------------------------------------------------------- inputs


class Inputs:
    """Makes the tensors of a call, on the fake GPU. `a` has the first dtype of the case, `b` the other one."""

    def __init__(self, case: Case, log: Log) -> None:
        self._first, self._other = (cast(torch.dtype, getattr(torch, name)) for name in case)
        self._log = log
        self.made: list[str] = []

    def of(self, dtype: torch.dtype, *shape: int) -> Tensor:
        """A floating tensor of that dtype, whatever the case."""
        self.made.append(dtype_name(dtype))
        with self._log.paused():
            return torch.empty(shape, dtype=dtype, device="cuda")

    def a(self, *shape: int) -> Tensor:
        return self.of(self._first, *shape)

    def b(self, *shape: int) -> Tensor:
        return self.of(self._other, *shape)

    def index(self, *shape: int) -> Tensor:
        with self._log.paused():
            return torch.empty(shape, dtype=torch.int64, device="cuda")

    def mask(self, *shape: int) -> Tensor:
        with self._log.paused():
            return torch.empty(shape, dtype=torch.bool, device="cuda")

    def module(self, build: Callable[[], _Module]) -> _Module:
        """A module on the GPU, its parameters of the other dtype. (`Module.to` fails on fake parameters.)"""
        self.made.append(dtype_name(self._other))
        before = torch.get_default_dtype()
        torch.set_default_dtype(self._other)
        try:
            with self._log.paused(), torch.device("cuda"):
                return build()
        finally:
            torch.set_default_dtype(before)


# ---------------------------------------------------------------- running

_LIMITS = (
    fake_tensor.DataDependentOutputException,
    fake_tensor.DynamicOutputShapeException,
    fake_tensor.UnsupportedFakeTensorException,
    fake_tensor.UnsupportedOperatorException,
)
_LIMIT_TEXTS = (
    "NVIDIA driver",
    "CUDA driver",
    "CUDA error",
    "hasPrimaryContext",
    "not compiled with CUDA",
    "Cannot initialize CUDA",
    "Could not run 'aten::",
    "is not linked with support for cuda",
)


def first_line(error: BaseException) -> str:
    """`Type: first line of the text`, cut at 160 characters."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:160].rstrip()


def _limit(error: Exception) -> str | None:
    """What fake tensors lack, if that is what the error is about."""
    if isinstance(error, UnsureFake):
        return str(error)
    if isinstance(error, _LIMITS):
        return f"its result depends on the data, which a fake tensor does not have ({type(error).__name__})"
    if isinstance(error, AttributeError) and "has no attribute" in str(error):
        return f"this torch has no such function ({error})"
    if any(text in str(error) for text in _LIMIT_TEXTS):
        return f"it asks for a real GPU: {first_line(error)}"
    return None


def observe(
    call: Callable[[Inputs], object], case: Case, fake: FakeTensorMode, below: Guard = nullcontext
) -> Observation:
    """Run `call` once on fake CUDA tensors, under whatever autocast or patches are active."""
    log = Log(below)
    inputs = Inputs(case, log)
    out: object = None
    error: Exception | None = None
    with quiet(), fake, log:
        try:
            out = call(inputs)
        except Exception as raised:  # whatever an op raises is what is recorded
            error = raised
    made = tuple(inputs.made)
    if error is not None:
        limit = _limit(error)
        return Observation(made, unprobed=limit) if limit else Observation(made, error=first_line(error))
    outputs = tuple(dtype_name(leaf.dtype) for leaf in tree_leaves(out) if isinstance(leaf, Tensor))
    return Observation(made, outputs, inside=tuple(done for done in log.calls if done.computes))


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings and without torch's log of failed fake kernels: an error is in the observation."""
    before = _fake_log.disabled
    _fake_log.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _fake_log.disabled = before


def fake_cuda() -> FakeTensorMode:
    """A mode in which `device="cuda"` gives fake tensors, GPU or not."""
    return FakeTensorMode()


@contextmanager
def cuda_autocast(dtype: torch.dtype) -> Iterator[None]:
    """Switch on the CUDA autocast kernels. (`torch.autocast("cuda")` disables itself where there is no GPU.)"""
    before = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_dtype("cuda", dtype)
    torch.autocast_increment_nesting()
    try:
        yield
    finally:
        if torch.autocast_decrement_nesting() == 0:
            torch.clear_autocast_cache()
        torch.set_autocast_enabled("cuda", before[0])
        torch.set_autocast_dtype("cuda", before[1])

"""Layer and RMS normalization. Each layer is one of its own, as Apex's are: not one of torch's by ``isinstance``."""

from __future__ import annotations

import warnings
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn import Parameter


def manual_rms_norm(input: Any, normalized_shape: Any, weight: Any, eps: float) -> Any:
    """Divided by the root of the mean of squares, which is taken in float32."""
    over = tuple(range(-len(normalized_shape), 0))
    output = input * torch.rsqrt(input.float().pow(2).mean(over, keepdim=True) + eps)
    if weight is None:
        return output
    return weight * (output.to(weight.dtype) if weight.dtype in (torch.float16, torch.bfloat16) else output)


def fused_layer_norm_affine(
    input: Any, weight: Any, bias: Any, normalized_shape: Any, eps: float = 1e-6, memory_efficient: bool = False
) -> Any:
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def fused_layer_norm(input: Any, normalized_shape: Any, eps: float = 1e-6, memory_efficient: bool = False) -> Any:
    return F.layer_norm(input, normalized_shape, None, None, eps)


def fused_rms_norm_affine(
    input: Any, weight: Any, normalized_shape: Any, eps: float = 1e-6, memory_efficient: bool = False
) -> Any:
    return manual_rms_norm(input, normalized_shape, weight, eps)


def fused_rms_norm(input: Any, normalized_shape: Any, eps: float = 1e-6, memory_efficient: bool = False) -> Any:
    return manual_rms_norm(input, normalized_shape, None, eps)


mixed_dtype_fused_layer_norm_affine = fused_layer_norm_affine
mixed_dtype_fused_rms_norm_affine = fused_rms_norm_affine


class FusedLayerNormAffineFunction:
    """Has ``apply`` alone, as scripts use it."""

    apply = staticmethod(fused_layer_norm_affine)


class FusedLayerNormFunction:
    apply = staticmethod(fused_layer_norm)


class FusedRMSNormAffineFunction:
    apply = staticmethod(fused_rms_norm_affine)


class FusedRMSNormFunction:
    apply = staticmethod(fused_rms_norm)


FusedLayerNormAffineMixedDtypesFunction = FusedLayerNormAffineFunction
FusedRMSNormAffineMixedDtypesFunction = FusedRMSNormAffineFunction


class _Normalization(torch.nn.Module):
    names: tuple[str, ...]

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, memory_efficient: bool = False
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = torch.Size(shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.memory_efficient = memory_efficient
        for name in self.names:
            self.register_parameter(name, Parameter(torch.empty(self.normalized_shape)) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for name, param in self.named_parameters(recurse=False):
            torch.nn.init.constant_(param, 1.0 if name == "weight" else 0.0)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class FusedLayerNorm(_Normalization):
    names = ("weight", "bias")

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)  # type: ignore[arg-type]


class FusedRMSNorm(_Normalization):
    names = ("weight",)

    def forward(self, input: Any) -> Any:
        return manual_rms_norm(input, self.normalized_shape, self.weight, self.eps)


def _affine(name: str, options: dict[str, Any]) -> None:
    if "elementwise_affine" in options:
        warnings.warn(f"{name} does not support `elementwise_affine` argument", stacklevel=3)
        if not options.pop("elementwise_affine"):
            raise RuntimeError(f"{name} does not support `elementwise_affine = False`")


class MixedFusedLayerNorm(FusedLayerNorm):
    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, *, memory_efficient: bool = False, **options: Any
    ) -> None:
        _affine("MixedFusedLayerNorm", options)
        super().__init__(normalized_shape, eps, True, memory_efficient)


class MixedFusedRMSNorm(FusedRMSNorm):
    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, *, memory_efficient: bool = False, **options: Any
    ) -> None:
        _affine("MixedFusedRMSNorm", options)
        super().__init__(normalized_shape, eps, True, memory_efficient)

"""Models in half precision, and copies between their weights and float32 masters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

clip_grad_norm = torch.nn.utils.clip_grad_norm_


def _is_affine_batch_norm(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.affine


class tofp16(torch.nn.Module):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return input.half()


def BN_convert_float(module: torch.nn.Module) -> torch.nn.Module:
    for one in module.modules():
        if _is_affine_batch_norm(one):
            one.float()
    return module


def network_to_half(network: torch.nn.Module) -> torch.nn.Module:
    return torch.nn.Sequential(tofp16(), BN_convert_float(network.half()))


def convert_module(module: torch.nn.Module, dtype: torch.dtype) -> None:
    """The module's own weights, gradients and buffers."""
    for tensor in [*module.parameters(recurse=False), *module.buffers(recurse=False)]:
        if tensor.is_floating_point():
            tensor.data = tensor.data.to(dtype=dtype)
            if tensor.grad is not None:
                tensor.grad.data = tensor.grad.data.to(dtype=dtype)


def convert_network(network: torch.nn.Module, dtype: torch.dtype) -> torch.nn.Module:
    """All but batch norms with weights."""
    for module in network.modules():
        if not _is_affine_batch_norm(module):
            convert_module(module, dtype)
    return network


class FP16Model(torch.nn.Module):
    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = convert_network(network, dtype=torch.half)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.network(*(one.half() for one in inputs))


def prep_param_lists(model: torch.nn.Module, flat_master: bool = False) -> tuple[list[Any], list[Any]]:
    """The trainable weights, and their float32 masters: one for each, or a single flat one."""
    params = [param for param in model.parameters() if param.requires_grad]
    if flat_master:
        master = torch.nn.Parameter(_flatten_dense_tensors([param.data for param in params]).float())
        master.grad = torch.empty_like(master)
        return params, [master]
    return params, [param.detach().clone().float().requires_grad_() for param in params]


def model_grads_to_master_grads(
    model_params: Sequence[torch.Tensor], master_params: Sequence[torch.Tensor], flat_master: bool = False
) -> None:
    if flat_master:
        grads = [param.grad.data for param in model_params if param.grad is not None]
        assert len(grads) == len(model_params) and master_params[0].grad is not None
        master_params[0].grad.data.copy_(_flatten_dense_tensors(grads))
        return
    for model, master in zip(model_params, master_params):
        if model.grad is None:
            master.grad = None
            continue
        if master.grad is None:
            master.grad = torch.empty_like(master)
        master.grad.data.copy_(model.grad.data)


def master_params_to_model_params(
    model_params: Sequence[torch.Tensor], master_params: Sequence[torch.Tensor], flat_master: bool = False
) -> None:
    masters = _unflatten_dense_tensors(master_params[0].data, model_params) if flat_master else master_params
    for model, master in zip(model_params, masters):
        model.data.copy_(master.data)


def to_python_float(t: Any) -> Any:
    return t.item() if hasattr(t, "item") else t[0]

"""Weights in half precision with float32 copies. Source: apex/fp16_utils/fp16util.py at tag 25.05."""

import torch


class tofp16(torch.nn.Module):
    """Casts its input to half precision."""

    def forward(self, input):
        return input.half()


def BN_convert_float(module):
    """Sets the batch norms of a module in half precision back to float32."""
    for one in module.modules():
        if isinstance(one, torch.nn.modules.batchnorm._BatchNorm) and one.affine:
            one.float()
    return module


def convert_module(module, dtype):
    """Casts a module's own floating-point parameters, their gradients and its buffers."""
    for tensor in [*module.parameters(recurse=False), *module.buffers(recurse=False)]:
        if tensor.dtype.is_floating_point:
            tensor.data = tensor.data.to(dtype)
        if tensor.grad is not None and tensor.grad.dtype.is_floating_point:
            tensor.grad.data = tensor.grad.data.to(dtype)


def convert_network(network, dtype):
    """Casts all of a network but its batch norms."""
    for module in network.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.affine:
            continue
        for tensor in [*module.parameters(recurse=False), *module.buffers(recurse=False)]:
            if tensor.dtype.is_floating_point:
                tensor.data = tensor.data.to(dtype)
            if tensor.grad is not None and tensor.grad.dtype.is_floating_point:
                tensor.grad.data = tensor.grad.data.to(dtype)
        if isinstance(module, torch.nn.RNNBase):
            module.flatten_parameters()
    return network


def prep_param_lists(model, flat_master=False):
    """The parameters of a model that learn, and float32 copies for an optimizer, as apex.fp16_utils made them."""
    model_params = [p for p in model.parameters() if p.requires_grad]
    if not flat_master:
        return model_params, [p.detach().clone().float().requires_grad_() for p in model_params]
    flat = torch._utils._flatten_dense_tensors([p.data for p in model_params]).float()
    master = torch.nn.Parameter(flat)
    master.grad = torch.empty_like(master)
    return model_params, [master]


@torch.no_grad()
def model_grads_to_master_grads(model_params, master_params, flat_master=False):
    """Copies the gradients of a model to the float32 copies of its parameters."""
    if flat_master:
        grads = torch._utils._flatten_dense_tensors([p.grad for p in model_params])
        master_params[0].grad.copy_(grads)
        return
    for p, master in zip(model_params, master_params):
        if p.grad is None:
            master.grad = None
            continue
        if master.grad is None:
            master.grad = torch.empty_like(master)
        master.grad.copy_(p.grad)


@torch.no_grad()
def master_params_to_model_params(model_params, master_params, flat_master=False):
    """Copies float32 copies back to the parameters of a model."""
    if flat_master:
        master_params = torch._utils._unflatten_dense_tensors(master_params[0].data, model_params)
    for p, master in zip(model_params, master_params):
        p.copy_(master)

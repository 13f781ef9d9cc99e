import torch


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


model = model.half()
model_params, master_params = prep_param_lists(model)
optimizer = torch.optim.SGD(master_params, lr=0.1)
for images, labels in loader:
    model.zero_grad()
    (criterion(model(images.half()), labels) * 128.0).backward()
    model_grads_to_master_grads(model_params, master_params)
    for param in master_params:
        param.grad.data.mul_(1.0 / 128.0)
    torch.nn.utils.clip_grad_norm_(master_params, 1.0)
    optimizer.step()
    master_params_to_model_params(model_params, master_params)

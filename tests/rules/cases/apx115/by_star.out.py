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


model_params, master_params = prep_param_lists(model)

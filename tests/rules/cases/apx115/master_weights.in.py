# expect: review prep_param_lists is written out here
# expect: review model_grads_to_master_grads is written out here
# expect: review master_params_to_model_params is written out here
import torch
from apex.fp16_utils import (
    master_params_to_model_params,
    model_grads_to_master_grads,
    prep_param_lists,
)

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

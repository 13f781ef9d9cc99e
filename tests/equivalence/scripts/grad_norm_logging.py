# expect: safe
# shape: the gradient norm of every parameter is logged between the backward and the step, set to None afterwards

import torch
import torch.nn as nn
from apex import amp


def grad_norms(model):
    return {n: p.grad.data.norm(2).item() for n, p in model.named_parameters() if p.grad is not None}


torch.manual_seed(88)
model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(5):
    loss = nn.functional.mse_loss(model(torch.randn(4, 4).cuda()), torch.ones(4, 1).cuda())
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    norms = grad_norms(model)
    print(i, ' '.join('%s=%.6f' % kv for kv in norms.items()))
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

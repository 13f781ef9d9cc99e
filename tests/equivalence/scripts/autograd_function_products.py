# expect: safe
# shape: a hand-written autograd.Function multiplies in its backward, where natively no region holds
# casts: real

import torch
import torch.nn as nn
from apex import amp


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x.mm(weight.t())

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output.mm(weight), grad_output.t().mm(x).to(weight.dtype)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 4))

    def forward(self, x):
        return Product.apply(x, self.weight)


torch.manual_seed(8)
model = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), Layer()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(6, 5).cuda()), torch.arange(6).cuda() % 3)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.2f" % loss.item())

import extension
import torch
from apex import amp
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Pool(Function):
    @staticmethod
    @amp.float_function
    def forward(ctx, x, offset):
        ctx.save_for_backward(x, offset)
        return extension.pool_forward(x, offset)

    @staticmethod
    @once_differentiable
    @amp.float_function
    def backward(ctx, grad):
        x, offset = ctx.saved_tensors
        return extension.pool_backward(grad, x, offset)


model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, offset in loader:
    loss = Pool.apply(model(x), offset).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()

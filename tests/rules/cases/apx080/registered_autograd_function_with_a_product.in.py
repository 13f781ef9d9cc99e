# expect: manual
import torch
from torch.autograd.function import once_differentiable
from apex import amp

from kernels import nhwc


class ConvNHWC(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, stride=1):
        ctx.stride = stride
        ctx.save_for_backward(x, w)
        return x.mm(w)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        dx, dw = nhwc.gradients(x, w, grad, ctx.stride)
        return dx, dw, None


amp.register_half_function(ConvNHWC, 'apply')


def train(model, loader, criterion):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()

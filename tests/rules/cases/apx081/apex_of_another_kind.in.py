import torch

apex = (0.0, 1.0)


class Cone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.mm(x)

    @staticmethod
    def backward(ctx, grad):
        return grad.mm(grad)

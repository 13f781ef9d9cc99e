# expect: safe
# casts: real

import torch, torch.nn as nn, torch.nn.functional as F
from apex import amp
class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lambd):
        ctx.lambd = lambd
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.lambd, None
class MyLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x.matmul(w.t())
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g.matmul(w), g.t().matmul(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.w = nn.Parameter(torch.randn(2, 8) * 0.3)
        self.d = nn.Linear(8, 2)
    def forward(self, x, lam):
        f = self.f(x)
        return MyLinear.apply(f, self.w), self.d(GradReverse.apply(f, lam))
def main():
    torch.manual_seed(0)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    out = []
    for i in range(5):
        x, y = torch.randn(4, 4), torch.randint(0, 2, (4,))
        opt.zero_grad()
        c, d = net(x, 0.1)
        loss = F.cross_entropy(c, y) + F.cross_entropy(d, 1 - y)
        with amp.scale_loss(loss, opt) as s:
            s.backward()
        opt.step()
        out.append(loss.item())
    return out + list(net.parameters())

if __name__ == "__main__":
    print(main())

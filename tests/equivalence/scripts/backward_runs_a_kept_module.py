# expect: safe

# Function.backward that runs a module kept on ctx (deep equilibrium, invertible nets)
import torch, torch.nn as nn
from apex import amp
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, m):
        ctx.m = m
        return x * 2.0
    @staticmethod
    def backward(ctx, g):
        with torch.no_grad():
            return ctx.m(g) + g, None
def main():
    torch.manual_seed(0)
    a, b, c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
    net = nn.ModuleList([a, b, c])
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    loss = net[2](Fn.apply(net[0](torch.randn(3, 4)), net[1]) + 0).pow(2).mean() + 0 * net[1].weight.sum()
    opt.zero_grad()
    with amp.scale_loss(loss, opt) as s: s.backward()
    opt.step()
    return list(net.parameters())

if __name__ == "__main__":
    print(main())

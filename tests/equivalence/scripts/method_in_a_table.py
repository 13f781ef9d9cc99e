# expect: safe

import torch, torch.nn as nn, torch.nn.functional as F
from apex import amp
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 2)
    def forward(self, x): return self.a(x)
    def tta(self, x): return self(x) + self(x.flip(1))
def main():
    torch.manual_seed(0)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    x, y = torch.randn(4, 4), torch.randint(0, 2, (4,))
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    with amp.scale_loss(loss, opt) as s: s.backward()
    opt.step()
    with torch.no_grad():
        p = {"tta": net.tta, "plain": net}["tta"](x)
    print(p.dtype)
    return list(net.parameters())

if __name__ == "__main__":
    print(main())

# expect: safe

import torch, torch.nn as nn, torch.nn.functional as F
from apex import amp
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.o = nn.Embedding(9, 8), nn.Linear(8, 9)
    def forward(self, x): return self.o(torch.tanh(self.e(x)))
    def generate(self, x, n):
        for _ in range(n):
            x = torch.cat([x, self(x)[:, -1].argmax(-1, keepdim=True)], 1)
        return x
    def score(self, x): return self(x[:, :-1]).float().log_softmax(-1).sum()
def main():
    torch.manual_seed(0)
    net = LM()
    opt = torch.optim.Adam(net.parameters(), lr=0.05)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    out = []
    for i in range(4):
        x = torch.randint(0, 9, (3, 6))
        net.train()
        loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s: s.backward()
        opt.step()
        net.eval()
        gen_fn = net.module.generate if hasattr(net, "module") else net.generate
        with torch.no_grad():
            out.append(gen_fn(x[:, :1], 4).float())
        out.append(loss.item())
    return out + list(net.parameters())

if __name__ == "__main__":
    print(main())

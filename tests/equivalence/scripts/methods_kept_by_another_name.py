# expect: safe

import torch, torch.nn as nn, torch.nn.functional as F
from apex import amp
class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.h = nn.Linear(4, 8), nn.Linear(8, 2)
    def encode(self, x): return torch.relu(self.l(x))
    def forward(self, x): return self.h(self.encode(x))
class Evaluator:
    def __init__(self, fn): self.fn = fn
    @torch.no_grad()
    def run(self, data): return [self.fn(x).float().sum().item() for x, _ in data]
class Trainer:
    def __init__(self):
        self.net = Enc()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")
        self.infer = self.net.encode
        self.evaluator = Evaluator(self.net.forward)
    def fit(self, data):
        out = []
        for x, y in data:
            loss = F.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            with amp.scale_loss(loss, self.opt) as s: s.backward()
            self.opt.step()
            with torch.no_grad():
                z = self.infer(x)
                print(z.dtype)
                out.append(z.float().sum().item())
        return out + self.evaluator.run(data)
def main():
    torch.manual_seed(0)
    t = Trainer()
    return t.fit([(torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(3)]) + list(t.net.parameters())

if __name__ == "__main__":
    print(main())

# expect: safe

import torch, torch.nn as nn
from apex import amp
class WarmupAdam(torch.optim.Adam):
    def __init__(self, params, lr, warm=4):
        super().__init__(params, lr=lr)
        self.base_lr, self.warm, self.calls = lr, warm, 0
    def step(self, closure=None):
        self.calls += 1
        for g in self.param_groups:
            g["lr"] = self.base_lr * min(1.0, self.calls / self.warm)
        return super().step(closure)
def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    opt = WarmupAdam(model.parameters(), lr=0.05)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    for i in range(6):
        x, y = torch.randn(4, 4), torch.randint(0, 2, (4,))
        if i == 2: x = x * 1e37
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, opt) as s:
            s.backward()
        opt.step()
        print(i, opt.calls)
    return [opt.calls] + list(model.parameters())


if __name__ == "__main__":
    print(main())

# expect: review: where this step is left out after an overflow
# shape: guard.ok(norm) and optimizer.step()

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Guard:
    def __init__(self, limit):
        self.limit, self.bad = limit, 0

    def ok(self, norm):
        self.bad += norm > self.limit
        return norm <= self.limit


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    guard, out = Guard(5.0), []
    for i in range(6):
        x, y = torch.randn(6, 4) * (100 if i == 2 else 1), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        norm = float(nn.utils.clip_grad_norm_(amp.master_params(opt), 1.0))
        guard.ok(norm) and opt.step()
        out.append(loss.item())
    return out + [guard.bad]


for value in main():
    print("%.6f" % value)

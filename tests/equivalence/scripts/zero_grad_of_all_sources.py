# expect: safe
# shape: one optimizer over a model and a criterion that has parameters, cleared one after the other, by loops, or as one

import torch
import torch.nn as nn
from apex import amp


class Proxies(nn.Module):
    def __init__(self):
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(3, 8))

    def forward(self, x, y):
        return (x - self.proxies[y]).pow(2).mean()


def main():
    torch.manual_seed(5)
    model, criterion, plain = nn.Linear(4, 8).cuda(), Proxies().cuda(), nn.CrossEntropyLoss()
    params = [{"params": model.parameters()}, {"params": criterion.parameters(), "lr": 0.5}]
    optimizer = torch.optim.SGD(params + [{"params": plain.parameters()}], lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    both = nn.ModuleList([model, criterion])
    for step in range(9):
        x, y = torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()
        if step % 3 == 0:
            model.zero_grad()
            criterion.zero_grad()
        elif step % 3 == 1:
            for p in filter(lambda p: p.requires_grad, model.parameters()):
                p.grad = None
            for p in criterion.parameters():
                p.grad = None
        else:
            both.zero_grad()
        out = model(x * (1e36 if step == 4 else 1))
        loss = criterion(out, y) + plain(out[:, :3], y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print("%.6f" % criterion.proxies.sum().item())
    print(model.weight)


main()

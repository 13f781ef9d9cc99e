# expect: safe
# shape: gradients of an input behind the rounds of each epoch, by a plain backward

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def run(model, opt, epochs=2):
    out = []
    probe = torch.randn(2, 4)
    for epoch in range(epochs):
        for _ in range(3):
            x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            with amp.scale_loss(loss, opt) as scaled:
                scaled.backward()
            opt.step()
            out.append(loss.item())
        model.eval()
        x = probe.clone().requires_grad_(True)
        score = model(x).max(1)[0].sum()
        score.backward()
        out.append(x.grad.abs().sum().item())
        model.train()
    return out


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    return run(model, opt)


for value in main():
    print("%.6f" % value)

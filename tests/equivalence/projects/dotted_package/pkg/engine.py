import torch
from apex import amp


def fit(model, opt, n):
    out = []
    for i in range(n):
        loss = model(torch.randn(4, 3)).pow(2).mean() * (1e37 if i == 2 else 1)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        opt.step()
        out.append(loss.item())
    return out

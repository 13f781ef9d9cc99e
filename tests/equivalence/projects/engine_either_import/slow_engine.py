import torch
from apex import amp


def fit(model, opt, n):
    out = []
    for i in range(n):
        x = torch.randn(4, 3)
        loss = model(x).pow(2).mean() * (1e37 if i == 1 else 1)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        norm = torch.nn.utils.clip_grad_norm_(amp.master_params(opt), 1.0)
        opt.step()
        out.append(loss.item())
    return out

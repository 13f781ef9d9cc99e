import torch
from apex import amp

USE_APEX = False
MAX_NORM = None


def fit(model, opt, n):
    out = []
    for i in range(n):
        loss = model(torch.randn(4, 3)).pow(2).mean() * (1e37 if i == 2 else 1)
        opt.zero_grad()
        if USE_APEX:
            with amp.scale_loss(loss, opt) as scaled:
                scaled.backward()
        else:
            loss.backward()
        if MAX_NORM:
            torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        opt.step()
        out.append(loss.item())
    return out

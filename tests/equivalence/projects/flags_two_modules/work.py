import torch
from apex import amp

from options_b import FP16


def fit(model, opt):
    out = []
    for i in range(3):
        loss = model(torch.randn(4, 3)).pow(2).mean()
        if i == 1:
            loss = loss * 1e36
        opt.zero_grad()
        if FP16:
            with amp.scale_loss(loss, opt) as scaled:
                scaled.backward()
        else:
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        out.append(loss.item())
    return out

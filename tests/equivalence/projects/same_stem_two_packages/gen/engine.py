import torch
from apex import amp

from .options import CLIP


def train(d, g, opt, z):
    opt.zero_grad()
    loss = -d(g(z)).mean()
    with amp.scale_loss(loss, opt) as scaled:
        scaled.backward()
    if CLIP:
        torch.nn.utils.clip_grad_norm_(g.parameters(), 0.1)
    opt.step()
    return loss.item()

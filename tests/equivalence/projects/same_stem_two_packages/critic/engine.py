import torch
from apex import amp

from .options import CLIP


def train(d, g, opt, real, z):
    opt.zero_grad()
    loss = d(g(z).detach()).mean() - d(real).mean()
    with amp.scale_loss(loss, opt) as scaled:
        scaled.backward()
    if CLIP:
        torch.nn.utils.clip_grad_norm_(d.parameters(), 0.1)
    opt.step()
    for p in d.parameters():
        p.data.clamp_(-0.5, 0.5)
    return loss.item()

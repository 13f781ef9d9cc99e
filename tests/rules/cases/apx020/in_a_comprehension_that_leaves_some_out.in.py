# expect: manual part of an expression that may leave it out
import torch
from apex import amp


def train(nets, opts, chosen, loader):
    pairs = [amp.initialize(n, o, opt_level="O1") for n, o in zip(nets, opts) if n in chosen]
    for x, y in loader:
        for net, opt in pairs:
            loss = net(x).sum()
            opt.zero_grad()
            with amp.scale_loss(loss, opt) as scaled_loss:
                scaled_loss.backward()
            opt.step()

# expect: manual scaler.step() is called twice before update()
import torch
from apex import amp


def train(nets, opts, loader):
    for k in range(2):
        nets[k], opts[k] = amp.initialize(nets[k], opts[k], opt_level="O1")
    for x, y in loader:
        for k in range(2):
            loss = nets[k](x).sum()
            opts[k].zero_grad()
            with amp.scale_loss(loss, opts[k]) as scaled_loss:
                scaled_loss.backward()
            opts[k - 1].step()

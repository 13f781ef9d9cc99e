# expect: manual handed to extras()
import torch
from apex import amp


def train(net, optimizer, loader, path, extras):
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x in loader:
        loss = net(x).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    parts = extras(net, optimizer, amp)
    for part in [net, *parts, amp]:
        torch.save(part.state_dict(), path)

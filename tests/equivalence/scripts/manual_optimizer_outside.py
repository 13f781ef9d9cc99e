# expect: manual: the optimizer and the call of initialize come from outside of the file
# shape: train_step(model, optimizer, batch) of a package, no caller in the file

import torch.nn.functional as F
from apex import amp


def train_step(model, optimizer, batch, max_norm):
    inputs, targets = batch
    loss = F.cross_entropy(model(inputs), targets)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    grads = [p for p in amp.master_params(optimizer)]
    optimizer.step()
    return loss.item(), len(grads), max_norm


__all__ = ["train_step"]
print(__all__)

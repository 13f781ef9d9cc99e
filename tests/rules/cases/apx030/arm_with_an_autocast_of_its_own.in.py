# expect: review alone says whether this runs under autocast
import torch
from apex import amp
from torch.cuda.amp import autocast


def main(model, optimizer, loader, half, native=True, with_apex=False):
    if with_apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        if native:
            with autocast(enabled=half):
                loss = torch.nn.functional.cross_entropy(model(x), y)
        else:
            loss = torch.nn.functional.cross_entropy(model(x), y)
        if with_apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()

import sys

import torch
try:
    import apex
    from apex import amp
except ImportError:
    pass


def main(model, loader, half=False):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if half:
        assert "apex" in sys.modules, "no mixed precision without apex"
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        if half:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()

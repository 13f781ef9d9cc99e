# expect: manual this asks whether Apex was imported, which is not the case in all runs
# rule: APX091
import sys

import torch


def main(model, loader, half=False):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if half:
        from apex import amp
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        if "apex" in sys.modules:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()

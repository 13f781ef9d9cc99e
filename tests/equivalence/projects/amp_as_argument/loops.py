import torch.nn.functional as F


def train_epoch(model, optimizer, loader, amp=None, log=print):
    model.train()
    out = []
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if amp is not None:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        out.append(loss.item())
    log("mean", round(sum(out) / len(out), 4))
    return out

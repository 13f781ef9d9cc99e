import torch.nn.functional as F


def run_epoch(args, model, optimizer, data):
    total = 0
    for x, y in data:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if args.mixed:
            with args.amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()
        total += loss.item()
    return total

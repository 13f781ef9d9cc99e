from apex import amp


def run_epoch(model, optimizer, criterion, loader, fp16=False, boom=-1):
    total = 0
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        if i == boom:
            loss = loss * 1e37
        optimizer.zero_grad()
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)

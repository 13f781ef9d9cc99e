from apex import amp


def train_epoch(model, optimizer, loader, fp16=False):
    out = []
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out

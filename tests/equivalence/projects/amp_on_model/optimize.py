def optimize(model, optimizer, x):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    if getattr(model, "amp", None) is not None:
        with model.amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
    else:
        loss.backward()
    optimizer.step()
    return loss.item()

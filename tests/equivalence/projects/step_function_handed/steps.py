from apex import amp


def mse_step(model, optimizer, batch):
    x, y = batch
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    return loss.item()

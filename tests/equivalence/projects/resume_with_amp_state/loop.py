from apex import amp
from torch.nn.functional import mse_loss


def one_epoch(model, opt, data, epoch):
    losses = []
    for i, (x, y) in enumerate(data):
        loss = mse_loss(model(x), y)
        if epoch == 1 and i == 1:
            loss = loss * 1e37
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        opt.step()
        losses.append(loss.item())
    return losses

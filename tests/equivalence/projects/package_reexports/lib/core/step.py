from torch.nn import functional as F

from ..utils import amp, clip_gradients


def train_step(cfg, model, optimizer, batch, explode=False):
    x, y = batch
    loss = F.mse_loss(model(x), y)
    if explode:
        loss = loss * 1e37
    optimizer.zero_grad()
    if cfg.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    clip_gradients(cfg, model, optimizer)
    optimizer.step()
    return float(loss)

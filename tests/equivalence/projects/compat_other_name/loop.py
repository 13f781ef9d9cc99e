import torch
import torch.nn.functional as F

from third_party import mixed_precision as apex_amp


def loop(net, opt):
    losses = []
    for _ in range(4):
        loss = F.mse_loss(net(torch.randn(4, 3)), torch.zeros(4, 2))
        opt.zero_grad()
        if apex_amp is None:
            loss.backward()
        else:
            with apex_amp.scale_loss(loss, opt) as scaled:
                scaled.backward()
        opt.step()
        losses.append(loss.item())
    return losses

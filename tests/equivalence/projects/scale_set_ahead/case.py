# expect: safe

import torch
import torch.nn.functional as F
from apex import amp
from apex.amp import _amp_state
from data import batches
from model import Net


def build(args_scale):
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic")
    if args_scale is not None:
        for scaler in _amp_state.loss_scalers:
            scaler._loss_scale = float(args_scale)
    return model, optimizer


def main():
    torch.manual_seed(0)
    model, optimizer = build(512)
    out = []
    for x, y in batches(6, 1, bad=(2,)):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        optimizer.step()
        out.append(loss.item())
    return out, [p.sum() for p in model.parameters()]


if __name__ == "__main__":
    print(main())

# expect: review

import torch
import torch.nn.functional as F
from apex import amp
from data import batches
from model import Net
from utils.scaler import ApexScaler


def train_epoch(model, loader, optimizer, loss_fn, loss_scaler=None, clip_grad=None):
    out = []
    for x, y in loader:
        loss = loss_fn(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, clip_grad=clip_grad, parameters=model.parameters())
        else:
            loss.backward()
            optimizer.step()
        out.append(loss.item())
    return out


def main():
    torch.manual_seed(0)
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    use_amp = True
    loss_scaler = None
    if use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
    out = train_epoch(model, batches(8, 1, bad=(3,)), optimizer, F.cross_entropy, loss_scaler, clip_grad=1.0)
    state = {"model": model.state_dict()}
    if loss_scaler is not None:
        state[loss_scaler.state_dict_key] = loss_scaler.state_dict()
    return out, [p.sum() for p in model.parameters()], sorted(state)


if __name__ == "__main__":
    print(main())

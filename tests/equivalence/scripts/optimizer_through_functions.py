# expect: safe
# shape: the optimizer passed through two functions under other names, step in the innermost

import torch
import torch.nn as nn
from apex import amp


def backward_and_step(loss, opt):
    opt.zero_grad()
    with amp.scale_loss(loss, opt) as scaled_loss:
        scaled_loss.backward()
    opt.step()


def train_one_batch(net, optim, x, y):
    pred = net(x)
    loss = nn.functional.mse_loss(pred, y)
    backward_and_step(loss, optim)
    return loss.item()


def train_epoch(model, optimizer, n):
    for i in range(n):
        x = torch.randn(4, 3).cuda()
        if i == 1:
            x = x * 3e38
        print(i, train_one_batch(model, optimizer, x, torch.zeros(4, 2).cuda()))


def main():
    torch.manual_seed(81)
    model = nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train_epoch(model, optimizer, 5)


if __name__ == "__main__":
    main()

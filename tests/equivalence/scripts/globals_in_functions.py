# expect: safe
# shape: model and optimizer are globals set under __main__, the functions read them

import torch
import torch.nn as nn
from apex import amp


def train(epoch):
    model.train()
    for batch_idx in range(3):
        data, target = torch.randn(4, 5).cuda(), torch.tensor([0, 1, 1, 0]).cuda()
        optimizer.zero_grad()
        output = model(data)
        loss = nn.functional.nll_loss(output, target)
        if epoch == 2 and batch_idx == 0:
            loss = loss * float('inf')
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print('Train Epoch: {} [{}]\tLoss: {:.6f}'.format(epoch, batch_idx, loss.item()))


def test():
    model.eval()
    with torch.no_grad():
        data = torch.ones(2, 5).cuda()
        print('Test: %.6f' % model(data).sum().item())


if __name__ == '__main__':
    torch.manual_seed(159)
    model = nn.Sequential(nn.Linear(5, 2), nn.LogSoftmax(dim=1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    for epoch in range(1, 3):
        train(epoch)
        test()

# expect: review
# shape: of two optimizers that share a loss the second steps from the third epoch on; both are cleared in each round

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(8)
    net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).cuda()
    body = torch.optim.SGD(net[0].parameters(), lr=0.1)
    head = torch.optim.SGD(net[2].parameters(), lr=0.1, momentum=0.9)
    net, [body, head] = amp.initialize(net, [body, head], opt_level="O1")
    for epoch in range(4):
        for step in range(3):
            x, y = torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()
            loss = F.cross_entropy(net(x), y)
            body.zero_grad()
            head.zero_grad()
            with amp.scale_loss(loss, [body, head]) as scaled_loss:
                scaled_loss.backward()
            head.step()
            if epoch >= 2:
                body.step()
            print(round(loss.item(), 4))
    print(net[0].weight, net[2].weight)


main()

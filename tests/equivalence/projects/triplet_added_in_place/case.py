# expect: safe
# casts: real

import torch
from apex import amp
from losses import TripletLoss
from evalm import R1mAP
from net import Net


def main():
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    crit = TripletLoss(0.3)
    h = []
    for i in range(4):
        x = torch.randn(8, 5)
        y = torch.arange(8) // 2
        loss = crit(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as s:
            s.backward()
        optimizer.step()
        h.append(loss.item())
    m = R1mAP()
    model.eval()
    with torch.no_grad():
        for i in range(2):
            m.update(model(torch.randn(4, 5)))
    return [h, list(model.parameters()), m.compute()]

if __name__ == "__main__":
    print(main())

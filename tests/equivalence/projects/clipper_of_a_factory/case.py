# expect: safe

import torch
from apex import amp
from solver import build_clipper
from net import Net


def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    clipper = build_clipper(model, 0.1)
    h = []
    for i in range(6):
        loss = model(torch.randn(8, 5)).pow(2).mean()
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s:
            s.backward()
        clipper()
        opt.step()
        h.append(loss.item())
    return [h, list(model.parameters())]

if __name__ == "__main__":
    print(main())

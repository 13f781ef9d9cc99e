# expect: review
# casts: real

import torch
from apex import amp

import helper
from helper import norm_rows
from net import Net


def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    for _ in range(3):
        loss = model(torch.randn(4, 4)).pow(2).mean()
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        opt.step()
    found, saver, index = [], helper.Saver(), helper.Index()
    with torch.no_grad():
        for _ in range(2):
            out = model(torch.randn(4, 4))
            saver(out)
            index.add(helper.to_np(out))
            found.append([norm_rows(out), str(helper.to_np(out).dtype)])
    return [found, saver.result(), list(model.parameters())]


if __name__ == "__main__":
    print(main())
